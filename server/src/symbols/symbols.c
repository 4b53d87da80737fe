/*
 * symbols.c - finds the files of a module, and keeps modules open.
 *
 * The list of open modules is short (tens), so it is searched from end to end; the fullest use moves to the front.
 */
#include "symbols/symbols.h"
#include "symbols/module.h"
#include "symbols/rust.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status); /* libstdc++ */

#define MANGLED_MAX 8192 /* bytes of a name that is demangled; time grows with it */

struct entry {
    struct entry *next;
    uint8_t id[MIRE_SYMBOL_ID_MAX];
    size_t id_len;
    char *path;            /* of a module without build id */
    struct module *module; /* NULL: was not found */
    uint64_t found_ms;
};

struct symbols {
    struct symbols_options options;
    struct entry *entries; /* most recently used first */
};

int symbols_open(struct symbols **out, const struct symbols_options *options)
{
    struct symbols *symbols = calloc(1, sizeof *symbols);
    if (!symbols)
        return -1;
    symbols->options = *options;
    *out = symbols;
    return 0;
}

static void free_entry(struct entry *entry)
{
    module_free(entry->module);
    free(entry->path);
    free(entry);
}

void symbols_close(struct symbols *symbols)
{
    while (symbols && symbols->entries) {
        struct entry *entry = symbols->entries;
        symbols->entries = entry->next;
        free_entry(entry);
    }
    free(symbols);
}

static int add_uploaded(enum elf_kind *best, struct module *module, const struct symbols_options *options,
                        const uint8_t *id, size_t id_len)
{
    char path[PATH_MAX];
    if (!options->uploaded || !id_len)
        return 0;
    int found = options->uploaded(options->uploaded_context, path, sizeof path, id, id_len);
    if (found > 0)
        *best = module_add(module, path, id, id_len);
    return found < 0 ? found : 0;
}

static void add_from_dirs(enum elf_kind *best, struct module *module, const struct symbols_options *options,
                          const uint8_t *id, size_t id_len)
{
    char hex[2 * MIRE_SYMBOL_ID_MAX + 1] = "";
    char path[PATH_MAX];
    for (size_t i = 0; i < id_len; i++)
        snprintf(hex + 2 * i, 3, "%02x", id[i]);
    for (size_t i = 0; id_len > 1 && i < options->dir_count && *best != MIRE_ELF_DEBUG; i++) {
        int len = snprintf(path, sizeof path, "%s/.build-id/%.2s/%s.debug", options->dirs[i], hex, hex + 2);
        enum elf_kind kind = len < (int)sizeof path ? module_add(module, path, id, id_len) : MIRE_ELF_NONE;
        *best = kind > *best ? kind : *best;
    }
}

/* Open what can be found of a module; *out is NULL if that is nothing. */
static int load(struct module **out, const struct symbols_options *options, const uint8_t *id, size_t id_len,
                const char *path)
{
    enum elf_kind best = MIRE_ELF_NONE;
    struct module *module = module_new();
    if (!module)
        return -1;
    int rc = add_uploaded(&best, module, options, id, id_len);
    if (rc) {
        module_free(module);
        return rc;
    }
    if (best != MIRE_ELF_DEBUG)
        add_from_dirs(&best, module, options, id, id_len);
    if (options->local_images && path[0] == '/') {
        enum elf_kind kind = module_add(module, path, id, id_len);
        best = kind > best ? kind : best;
    }
    module_seal(module);
    if (best == MIRE_ELF_NONE) {
        module_free(module);
        module = NULL;
    }
    *out = module;
    return 0;
}

static bool is_entry(const struct entry *entry, const uint8_t *id, size_t id_len, const char *path)
{
    if (entry->id_len != id_len || (id_len && memcmp(entry->id, id, id_len) != 0))
        return false;
    return id_len || !strcmp(entry->path, path);
}

/* Take an entry out of the list; closes the ones beyond open_max on the way. */
static struct entry *take(struct symbols *symbols, const uint8_t *id, size_t id_len, const char *path)
{
    struct entry *found = NULL;
    size_t kept = 0;
    for (struct entry **link = &symbols->entries; *link;) {
        struct entry *entry = *link;
        if (!found && is_entry(entry, id, id_len, path)) {
            *link = entry->next;
            found = entry;
        } else if (++kept >= symbols->options.open_max && kept > 1) {
            *link = entry->next;
            free_entry(entry);
        } else {
            link = &entry->next;
        }
    }
    return found;
}

int symbols_find(struct module **out, struct symbols *symbols, const uint8_t *id, size_t id_len, const char *path,
                 uint64_t now_ms)
{
    *out = NULL;
    if (id_len > MIRE_SYMBOL_ID_MAX || (!id_len && !symbols->options.local_images))
        return 0;
    if (symbols->options.admit && !symbols->options.admit(symbols->options.admit_context, id, id_len))
        return 0;
    struct entry *entry = take(symbols, id, id_len, path);
    if (entry && !entry->module && now_ms - entry->found_ms >= symbols->options.retry_ms) {
        free_entry(entry);
        entry = NULL;
    }
    if (!entry) {
        entry = calloc(1, sizeof *entry);
        int rc = entry && (entry->path = strdup(path)) ? load(&entry->module, &symbols->options, id, id_len, path) : -1;
        if (rc) {
            if (entry)
                free_entry(entry);
            return rc;
        }
        if (id_len)
            memcpy(entry->id, id, id_len);
        entry->id_len = id_len;
        entry->found_ms = now_ms;
    }
    entry->next = symbols->entries;
    symbols->entries = entry;
    *out = entry->module;
    return 0;
}

size_t symbol_demangle(char *out, size_t room, const char *name)
{
    char *plain = NULL;
    int status;
    size_t mangled_len = strlen(name);
    const char *llvm = strstr(name, ".llvm."); /* a number that differs from build to build */
    if (llvm)
        mangled_len = (size_t)(llvm - name);
    size_t rust_len = rust_v0(out, room, name, mangled_len);
    if (rust_len)
        return rust_len;
    if (!strncmp(name, "_Z", 2) && mangled_len <= MANGLED_MAX) {
        char mangled[MANGLED_MAX + 1];
        memcpy(mangled, name, mangled_len);
        mangled[mangled_len] = '\0';
        plain = __cxa_demangle(mangled, NULL, NULL, &status);
        if (plain)
            (void)rust_clean(plain);
    }
    int len = snprintf(out, room, "%s", plain ? plain : name);
    free(plain);
    return len < 0 ? 0 : (size_t)len < room ? (size_t)len : room - 1;
}
