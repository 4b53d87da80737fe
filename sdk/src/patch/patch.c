/*
 * patch.c - see patch.h.
 *
 * All work happens inside dl_iterate_phdr, whose lock keeps modules from being unloaded. Stores to slots are atomic,
 * because other threads call through the slots at any time (slots.h).
 *
 * A module has thousands of slots and calls few of the hooked functions. So the hooked symbols are looked up first, and
 * slots are chosen by the number of their symbol.
 *
 * dlsym is hooked as well, so that a library is patched before the program can call into it. dlopen is not hooked: its
 * search path depends on the calling library.
 *
 * Adding and removing exclude each other. A refresh may run at any time on any thread.
 */
#include "patch/patch.h"

#include "base/hash.h"
#include "patch/slots.h"
#include "patch/tables.h"
#include "platform/arch.h"
#include "platform/holder.h"
#include "platform/own.h"
#include "platform/platform.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

/* musl has no _r_debug. It fills in a module's tables before the module can be found. */
extern struct r_debug _r_debug __attribute__((weak));

static void *hook_dlsym(void *handle, const char *name);
static struct hook lookup = {"dlsym", (void *)hook_dlsym, NULL};

/* Added tables. hooks is NULL in a free row, and stored after the other fields. */
static struct added {
    _Atomic(struct hook *) hooks;
    size_t count;
    const char *module; /* the only one that is hooked; NULL: all are */
} added[MIRE_PATCH_TABLES];
static _Atomic unsigned long long patched_adds; /* struct changes: its value at the last patching */

/* Counts kept by the loader. Android's before 11 keeps none: then both are a hash over all modules. */
struct changes {
    unsigned long long adds, subs; /* modules ever loaded, and unloaded */
    size_t seen;                   /* modules visited for these values */
};

/* Returns false if all modules must be visited. */
static bool see_changes(struct changes *changes, const struct dl_phdr_info *info, size_t size)
{
    const bool counts = size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof(info->dlpi_subs);

    if (counts) {
        changes->adds = info->dlpi_adds;
        changes->subs = info->dlpi_subs;
    } else {
        changes->adds = changes->subs = mire__hash_step(changes->subs, info->dlpi_addr) + 1;
    }
    changes->seen++;
    return counts;
}

/* Symbols of a module that are hooked. */
#define SYMBOLS_MAX 64u
struct hooked_symbols {
    struct symbol {
        uint32_t number;
        const struct hook *hook;
    } all[SYMBOLS_MAX];
    size_t count;    /* more than SYMBOLS_MAX: compare the name of every symbol */
    bool those[256]; /* by the low byte of the symbol's number; rules out most other symbols */
};

/* The work of one pass over the modules. */
struct pass {
    const struct hook *only; /* this table; NULL: all */
    bool patch;
    const char *module; /* the one at hand, by the last part of its path; NULL: any */
    struct changes changes, again;
    bool letters[256]; /* first letters of the hooks' names */
    struct hooked_symbols symbols;
    struct slot_stores stores;
};

/* The tables of a pass: the added ones, then the hook of dlsym. */
static const struct hook *table_at(size_t *count, const struct pass *pass, size_t i)
{
    const struct hook *hooks;

    if (i >= MIRE_PATCH_TABLES) {
        *count = 1;
        return pass->only && !pass->patch ? NULL : &lookup;
    }
    hooks = atomic_load(&added[i].hooks);
    *count = added[i].count;
    if (!hooks || (pass->only && pass->only != hooks))
        return NULL;
    return !pass->module || !added[i].module || strcmp(added[i].module, pass->module) == 0 ? hooks : NULL;
}

static void gather_letters(struct pass *pass)
{
    for (size_t i = 0, count; i <= MIRE_PATCH_TABLES; i++) {
        const struct hook *hooks = table_at(&count, pass, i);

        for (size_t k = 0; hooks && k < count; k++)
            pass->letters[(unsigned char)hooks[k].name[0]] = true;
    }
}

static const struct hook *find_hook(const struct pass *pass, const char *name)
{
    if (!pass->letters[(unsigned char)name[0]])
        return NULL;
    for (size_t i = 0, count; i <= MIRE_PATCH_TABLES; i++) {
        const struct hook *hooks = table_at(&count, pass, i);

        for (size_t k = 0; hooks && k < count; k++) {
            if (hooks[k].name[0] == name[0] && strcmp(hooks[k].name, name) == 0)
                return &hooks[k];
        }
    }
    return NULL;
}

static void note_symbol(struct hooked_symbols *symbols, uint32_t number, const struct hook *hook)
{
    if (symbols->count < SYMBOLS_MAX)
        symbols->all[symbols->count] = (struct symbol){number, hook};
    symbols->those[number & 255] = true;
    symbols->count++;
}

/* The module's own symbols of that name. */
static void find_own(struct hooked_symbols *out, const struct module_tables *tables, const struct hook *hook)
{
    const uint32_t *head = tables->hash, *buckets = mire__hash_buckets(head);
    const uint32_t *chain = buckets + head[HASH_BUCKETS], first = head[HASH_FIRST_OWN];
    const uint32_t bits = 8 * sizeof(ElfW(Addr));
    uint32_t hash = 5381, number;
    ElfW(Addr) word;

    for (const char *at = hook->name; *at; at++)
        hash = hash * 33 + (unsigned char)*at;
    word = mire__hash_filter(head)[hash / bits % head[HASH_FILTER_WORDS]];
    number = buckets[hash % head[HASH_BUCKETS]];
    if (!(word >> hash % bits & word >> (hash >> head[HASH_SHIFT]) % bits & 1) || number < first)
        return;
    do {
        if ((chain[number - first] | 1) == (hash | 1) &&
            strcmp(tables->names + tables->symbols[number].st_name, hook->name) == 0)
            note_symbol(out, number, hook);
    } while (!(chain[number++ - first] & 1));
}

static void find_symbols(struct pass *pass, const struct module_tables *tables)
{
    struct hooked_symbols *out = &pass->symbols;

    out->count = tables->hash ? 0 : SYMBOLS_MAX + 1;
    if (!tables->hash)
        return;
    memset(out->those, 0, sizeof(out->those));
    for (uint32_t i = 1; i < tables->hash[HASH_FIRST_OWN]; i++) {
        const struct hook *hook = find_hook(pass, tables->names + tables->symbols[i].st_name);

        if (hook)
            note_symbol(out, i, hook);
    }
    for (size_t i = 0, count; i <= MIRE_PATCH_TABLES; i++) {
        const struct hook *hooks = table_at(&count, pass, i);

        for (size_t k = 0; hooks && k < count; k++)
            find_own(out, tables, &hooks[k]);
    }
}

static const struct hook *hook_of(const struct pass *pass, const struct module_tables *tables, uint32_t number)
{
    const struct hooked_symbols *symbols = &pass->symbols;

    if (symbols->count > SYMBOLS_MAX)
        return find_hook(pass, tables->names + tables->symbols[number].st_name);
    for (size_t i = 0; symbols->those[number & 255] && i < symbols->count; i++) {
        if (symbols->all[i].number == number)
            return symbols->all[i].hook;
    }
    return NULL;
}

static void treat_slot(const struct dl_phdr_info *info, const struct module_tables *tables,
                       const ElfW(Rela) * relocation, struct pass *pass)
{
    uint32_t type = (uint32_t)ELF64_R_TYPE(relocation->r_info);
    const uint32_t number = (uint32_t)ELF64_R_SYM(relocation->r_info);
    const struct hook *hook;
    _Atomic(void *) *slot;
    void *real, *now;

    if (type != mire__arch.reloc_slot && type != mire__arch.reloc_data && type != mire__arch.reloc_word)
        return;
    hook = hook_of(pass, tables, number);
    real = hook ? atomic_load(&hook->real) : NULL;
    slot = (_Atomic(void *) *)(info->dlpi_addr + relocation->r_offset);
    if (!real || (uintptr_t)slot % sizeof(*slot) != 0) /* packed data: arm64 cannot load it at once */
        return;
    now = atomic_load(slot);
    if (!pass->patch && now == hook->hook)
        mire__slot_store(&pass->stores, slot, real);
    if (pass->patch && now != hook->hook && (type != mire__arch.reloc_word || now == real))
        mire__slot_store(&pass->stores, slot, hook->hook);
}

/*
 * Under ThreadSanitizer no hook may run on a thread that the runtime does not know yet. The C library allocates on such
 * threads, so its own calls are not patched.
 */
static bool is_left_alone(const struct dl_phdr_info *info)
{
#ifdef __SANITIZE_THREAD__
    return info->dlpi_name && (strstr(info->dlpi_name, "/libc.so") || strstr(info->dlpi_name, "/libtsan.so"));
#else
    (void)info;
    return false;
#endif
}

static const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;

    return slash ? slash + 1 : path ? path : "";
}

static int treat_module(struct dl_phdr_info *info, size_t size, void *context)
{
    struct pass *pass = context;
    struct module_tables tables;

    see_changes(&pass->changes, info, size);
    patched_adds = pass->changes.adds;
    pass->module = base_name(info->dlpi_name);
    if (is_left_alone(info) || !mire__module_tables(&tables, info))
        return 0;
    find_symbols(pass, &tables);
    for (int i = 0; i < 2 && pass->symbols.count > 0; i++) {
        for (size_t k = 0; k < tables.counts[i]; k++)
            treat_slot(info, &tables, &tables.relocations[i][k], pass);
    }
    return 0;
}

/* Check again inside dl_iterate_phdr: if a module was unloaded since, nothing found in the modules is valid. */
static int finish(struct dl_phdr_info *info, size_t size, void *context)
{
    struct pass *pass = context;

    see_changes(&pass->again, info, size);
    if (pass->again.seen < pass->changes.seen)
        return 0;
    if (pass->again.subs == pass->changes.subs)
        mire__slots_store_all(&pass->stores);
    return 1;
}

static void treat_all(struct pass *pass)
{
    gather_letters(pass);
    do {
        pass->stores.count = 0;
        pass->changes = pass->again = (struct changes){0};
        dl_iterate_phdr(treat_module, pass);
        if (pass->stores.count > 0)
            dl_iterate_phdr(finish, pass);
    } while (pass->stores.count > 0);
}

static int read_changes(struct dl_phdr_info *info, size_t size, void *context)
{
    return see_changes(context, info, size);
}

unsigned long long mire__patch_modules_loaded(void)
{
    struct changes changes = {0};

    mire__own_share();
    dl_iterate_phdr(read_changes, &changes);
    return changes.adds;
}

static _Atomic uint32_t changing; /* a holder */

static enum mire_err add(const char *module, struct hook *hooks, size_t count)
{
    struct pass pass = {.only = hooks, .patch = true};

    for (size_t i = 0; i < MIRE_PATCH_TABLES; i++) {
        if (atomic_load(&added[i].hooks))
            continue;
        if (!atomic_load(&lookup.real))
            atomic_store(&lookup.real, (void *)dlsym);
        added[i].count = count;
        added[i].module = module;
        atomic_store(&added[i].hooks, hooks);
        treat_all(&pass);
        return MIRE_OK;
    }
    return MIRE_E_FULL;
}

enum mire_err mire__patch_add_in(const char *module, struct hook *hooks, size_t count)
{
    enum mire_err err;

    mire__own_share();
    mire__holder_take(&changing);
    err = add(module, hooks, count);
    mire__holder_leave(&changing);
    return err;
}

enum mire_err mire__patch_add(struct hook *hooks, size_t count)
{
    return mire__patch_add_in(NULL, hooks, count);
}

static bool any_added(void)
{
    for (size_t i = 0; i < MIRE_PATCH_TABLES; i++)
        if (atomic_load(&added[i].hooks))
            return true;
    return false;
}

void mire__patch_refresh(void)
{
    struct pass pass = {.patch = true};

    /* While the loader adds modules their tables are incomplete. The next turn tries again. */
    if (!any_added() || (&_r_debug && _r_debug.r_state != RT_CONSISTENT))
        return;
    if (mire__patch_modules_loaded() == patched_adds)
        return;
    treat_all(&pass);
}

/* A tail call, so that dlsym sees the caller: RTLD_NEXT and RTLD_DEFAULT depend on it. */
static void *hook_dlsym(void *handle, const char *name)
{
    void *(*real)(void *, const char *) = (void *(*)(void *, const char *))atomic_load(&lookup.real);

    if (handle != RTLD_NEXT && handle != RTLD_DEFAULT)
        mire__patch_refresh();
    return real(handle, name);
}

/* The hook of dlsym is removed with the last table. */
void mire__patch_remove(const struct hook *hooks)
{
    struct pass pass = {.patch = false};
    size_t tables = 0, which = MIRE_PATCH_TABLES;

    mire__holder_take(&changing);
    for (size_t i = 0; i < MIRE_PATCH_TABLES; i++) {
        tables += atomic_load(&added[i].hooks) != NULL;
        if (atomic_load(&added[i].hooks) == hooks)
            which = i;
    }
    if (which < MIRE_PATCH_TABLES) {
        mire__own_share();
        pass.only = tables > 1 ? hooks : NULL;
        treat_all(&pass);
        atomic_store(&added[which].hooks, NULL);
    }
    mire__holder_leave(&changing);
}
