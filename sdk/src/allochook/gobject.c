/* gobject.c - see gobject.h. The hooks are signal-safe as far as the real calls are. */
#include "allochook/gobject.h"

#include "allochook/call_site.h"
#include "allochook/hooks.h"
#include "heap/heap.h"
#include "platform/own.h"

#include <dlfcn.h>
#include <link.h>
#include <stdarg.h>
#include <string.h>

/* As in GLib's binary interface. */
typedef uintptr_t gtype;

#define NAME           "libgobject-2.0.so"
#define LIBRARY        NAME ".0"
#define SLICES_UNTIL   76u   /* GLib 2.76 has none */
#define ALWAYS_MALLOC  1     /* G_SLICE_CONFIG_ALWAYS_MALLOC */
#define ALIGNMENT      16u   /* of a block, and of the private data before an instance */
#define PRIVATE_MAX    8192u /* bytes in front of an instance at most; more, and it has no class */
#define PRIVATE_DRAWN  1024u /* the same in sampled mode, where most searches fail */
#define TYPES_MAX      2048u /* remembered */
#define OFFSET_UNKNOWN 0xffffu

/* clang-format off */
#define HOOKS(X) \
    X(g_object_new) X(g_object_new_with_properties) X(g_object_newv) X(g_object_new_valist) X(g_type_create_instance) \
    X(g_slice_alloc0) X(g_slice_free1)
#define NUMBER(name) NUMBER_##name,
enum { HOOKS(NUMBER) COUNT };
/* clang-format on */

/* The known facts of a type. An entry's type never changes. */
struct type_entry {
    _Atomic gtype type;
    _Atomic uint64_t value; /* run << 48 | class << 16 | bytes in front of an instance; another run's: nothing */
};

static struct {
    bool hooked;
    uint32_t run; /* of tables, 1.. */
    const char *(*name_of)(gtype type);
    uintptr_t text_start, text_end; /* libgobject's code */
    unsigned long long adds;        /* the loader's count of modules when libgobject was looked for */
    struct type_entry types[TYPES_MAX];
} objects;

static struct hook hooks[COUNT];

#define REAL(name) ((__typeof__(&hook_##name))atomic_load_explicit(&hooks[NUMBER_##name].real, memory_order_relaxed))

/* ---- types ---- */

static struct type_entry *entry_of(gtype type)
{
    uint32_t at = (uint32_t)((type >> 3) * 0x9e3779b97f4a7c15ull >> 40);

    for (uint32_t i = 0; i < 8; i++) {
        struct type_entry *entry = &objects.types[(at + i) % TYPES_MAX];
        gtype none = 0;

        if (atomic_load_explicit(&entry->type, memory_order_acquire) == type ||
            atomic_compare_exchange_strong(&entry->type, &none, type) || none == type)
            return entry;
    }
    return NULL;
}

/* Class and offset of a type; the class is found by its name. False: it has none. */
static bool type_value(uint32_t *class, uint32_t *offset, struct heap *heap, struct type_entry *entry, gtype type)
{
    uint64_t value = entry ? atomic_load_explicit(&entry->value, memory_order_relaxed) : 0;
    const char *name;

    if (value >> 48 == (objects.run & 0xffff)) {
        *class = (uint32_t)(value >> 16);
        *offset = (uint32_t)value & 0xffff;
        return *class != 0;
    }
    name = objects.name_of(type);
    *class = name ? mire__classes_as_find(heap, name) : 0;
    *offset = OFFSET_UNKNOWN;
    return *class != 0;
}

static void remember(struct type_entry *entry, uint32_t class, uint32_t offset)
{
    if (entry)
        atomic_store_explicit(&entry->value, (uint64_t)(objects.run & 0xffff) << 48 | (uint64_t) class << 16 | offset,
                              memory_order_relaxed);
}

/* ---- instances ---- */

/* The instance's offset within its block: private data comes first. */
static uint32_t find_offset(struct live_block *block, const struct heap *heap, uint64_t instance)
{
    uint32_t most = mire__heap_as_mode(heap) == MIRE_HEAP_EXACT ? PRIVATE_MAX : PRIVATE_DRAWN;

    for (uint32_t offset = 0; offset <= most; offset += ALIGNMENT) {
        if (mire__block_as_find(block, heap, instance - offset))
            return block->size > offset ? offset : OFFSET_UNKNOWN;
    }
    return OFFSET_UNKNOWN;
}

static void tag(struct collect_thread *self, struct heap *heap, uint64_t instance, gtype type)
{
    struct type_entry *entry = entry_of(type);
    struct live_block block;
    uint32_t class, offset;

    if (!type_value(&class, &offset, heap, entry, type))
        return;
    if (offset == OFFSET_UNKNOWN) {
        offset = find_offset(&block, heap, instance);
        remember(entry, class, offset);
        if (offset == OFFSET_UNKNOWN)
            return;
    } else if (!mire__block_as_find(&block, heap, instance - offset)) {
        return;
    }
    if (!block.tagged || mire__node_as_class(heap, block.node) != class)
        mire__block_as_tag(heap, self->slot, instance - offset, class);
}

/* An instance came back: its first word is its class, whose first word is its type. */
static void *made(void *instance, uint64_t sp)
{
    struct collect_thread *self = instance && mire__collect_as_on() ? mire__collect_as_enter(sp) : NULL;
    struct heap *heap;

    if (!self)
        return instance;
    mire__collect_as_return(self);
    heap = mire__collect_as_open(self);
    if (!heap)
        return instance;
    tag(self, heap, (uintptr_t)instance & MIRE_HEAP_ADDRESS_MASK, **(gtype *const *)instance);
    mire__collect_as_close(self);
    return instance;
}

#define SP ((uintptr_t)__builtin_dwarf_cfa())

MIRE_SLOW static void *hook_g_object_new_valist(gtype type, const char *first, va_list rest)
{
    return made(REAL(g_object_new_valist)(type, first, rest), SP);
}

MIRE_SLOW static void *hook_g_object_new(gtype type, const char *first, ...)
{
    va_list rest;
    void *instance;

    va_start(rest, first);
    instance = REAL(g_object_new_valist)(type, first, rest);
    va_end(rest);
    return made(instance, SP);
}

MIRE_SLOW static void *hook_g_object_new_with_properties(gtype type, unsigned count, const char **names,
                                                         const void *values)
{
    return made(REAL(g_object_new_with_properties)(type, count, names, values), SP);
}

MIRE_SLOW static void *hook_g_object_newv(gtype type, unsigned count, void *parameters)
{
    return made(REAL(g_object_newv)(type, count, parameters), SP);
}

MIRE_SLOW static void *hook_g_type_create_instance(gtype type)
{
    return made(REAL(g_type_create_instance)(type), SP);
}

/* ---- slices ---- */

static bool is_libgobject(const void *pc)
{
    return (uintptr_t)pc - objects.text_start < objects.text_end - objects.text_start;
}

MIRE_SLOW static void *slice_slow(size_t size)
{
    const struct self_frame site = MIRE_CALL_SITE;
    void *(*real)(size_t) = (void *(*)(size_t))atomic_load(&hooks[NUMBER_g_slice_alloc0].real);
    struct collect_thread *self = mire__collect_as_enter(site.sp);
    void *block = real(size);

    if (!self)
        return block;
    mire__collect_as_return(self);
    if (block)
        mire__collect_as_alloc(self, &site, block, size);
    return block;
}

MIRE_HIDDEN static void *hook_g_slice_alloc0(size_t size)
{
    if (!is_libgobject(__builtin_return_address(0)) || mire__site_is_covered(size))
        return REAL(g_slice_alloc0)(size);
    return slice_slow(size);
}

MIRE_HIDDEN static void hook_g_slice_free1(size_t size, void *block)
{
    if (is_libgobject(__builtin_return_address(0)))
        mire__site_end(block, SP);
    REAL(g_slice_free1)(size, block);
}

/* ---- hooking ---- */

/* clang-format off */
#define ROW(name) {#name, (void *)hook_##name, NULL},
static struct hook hooks[COUNT] = {HOOKS(ROW)};
/* clang-format on */

static int find_text(struct dl_phdr_info *info, size_t size, void *function)
{
    (void)size;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + part->p_vaddr;

        if (part->p_type != PT_LOAD || (uintptr_t)function - start >= part->p_memsz)
            continue;
        objects.text_start = start;
        objects.text_end = start + part->p_memsz;
        return 1;
    }
    return 0;
}

static bool has_slices(void *library)
{
    const unsigned *minor = dlsym(library, "glib_minor_version");
    int64_t (*config)(int) = (int64_t(*)(int))dlsym(library, "g_slice_get_config");

    return minor && *minor < SLICES_UNTIL && config && config(ALWAYS_MALLOC) == 0;
}

static bool bind_all(void *library)
{
    bool slices = has_slices(library);

    for (size_t i = 0; i < COUNT; i++) {
        bool is_slice = i == NUMBER_g_slice_alloc0 || i == NUMBER_g_slice_free1;

        atomic_store(&hooks[i].real, is_slice && !slices ? NULL : dlsym(library, hooks[i].name));
    }
    objects.name_of = (const char *(*)(gtype))dlsym(library, "g_type_name");
    return objects.name_of && REAL(g_object_new_valist) && REAL(g_type_create_instance) &&
           dl_iterate_phdr(find_text, (void *)REAL(g_type_create_instance));
}

void mire__objects_begin(void)
{
    objects.run++;
}

void mire__objects_sweep(struct heap *heap)
{
    (void)heap;
}

/* Has a stack led through libgobject? */
static bool was_met(const struct heap *heap)
{
    uint32_t count = atomic_load_explicit(&heap->header->images_used, memory_order_acquire);

    for (uint32_t i = 0; i < count; i++) {
        const struct heap_image *image = &heap->images[i];

        if (!atomic_load(&image->gone) && strstr(heap->paths + image->path_at, "/" LIBRARY))
            return true;
    }
    return false;
}

/* Is it loaded, by its name in the loader's list? dlopen would search the file system for it. */
static int may_be_it(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    (void)context;
    return info->dlpi_name && strstr(info->dlpi_name, NAME) != NULL; /* some loaders' first entry has none */
}

void mire__objects_hook(const struct heap *heap)
{
    unsigned long long adds;
    void *library;

    if (objects.hooked || (heap && mire__own_is_beside() && !was_met(heap)))
        return;
    adds = mire__patch_modules_loaded();
    if (adds == objects.adds)
        return;
    objects.adds = adds;
    if (!dl_iterate_phdr(may_be_it, NULL))
        return;
    library = dlopen(LIBRARY, RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return;
    /* It cannot be unloaded, so the handle only counts. */
    objects.hooked = bind_all(library) && mire__patch_add(hooks, COUNT) == MIRE_OK;
    dlclose(library);
}

void mire__objects_unhook(void)
{
    if (objects.hooked)
        mire__patch_remove(hooks);
    objects.hooked = false;
    objects.adds = 0;
}
