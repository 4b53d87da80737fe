/* bind.c - see hooks.h: the real calls, looked up by the loader. */
#include "allochook/hooks.h"

#include "platform/locals.h"

#include <dlfcn.h>
#include <link.h>

void mire__heap_bind(void *handle)
{
    for (size_t i = 0; i < MIRE_HEAP_HOOK_COUNT; i++) {
        void *real = dlsym(handle, mire__heap_hooks[i].name);

        if (real && real != mire__heap_hooks[i].hook)
            atomic_store_explicit(&mire__heap_hooks[i].real, real, memory_order_relaxed);
    }
    mire__heap_hooks_dispatch();
}

struct search {
    uintptr_t address;
    const void *found;
};

static int look_at_library(struct dl_phdr_info *info, size_t size, void *context)
{
    struct search *search = context;

    (void)size;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];

        if (part->p_type == PT_LOAD && search->address - (info->dlpi_addr + part->p_vaddr) < part->p_memsz)
            search->found = info->dlpi_phdr;
    }
    return search->found != NULL;
}

/* An address that identifies a function's library; NULL if unknown. (dladdr would search all of its names.) */
static const void *library_of(const void *function)
{
    struct search search = {.address = (uintptr_t)function};

    if (function)
        dl_iterate_phdr(look_at_library, &search);
    return search.found;
}

/* The C library: it defines a function that nobody replaces. */
static const void *libc_itself(void)
{
    return library_of(dlsym(RTLD_DEFAULT, "getppid"));
}

/* Are both in one library, and is that not the C library? */
static bool brings_both(const void *allocate, const void *create)
{
    const void *library = library_of(allocate);

    return library && library == library_of(create) && library != libc_itself();
}

bool mire__heap_blocks_have_one_phase(void)
{
#ifdef __GLIBC__ /* whose least chunk is 32 bytes */
    const void *library = library_of(atomic_load(&mire__heap_hooks[MIRE_HEAP_HOOK_malloc].real));

    return library && library == libc_itself();
#else
    return false;
#endif
}

bool mire__heap_bind_new(void *handle)
{
    void *allocate = atomic_load(&mire__heap_hooks[MIRE_HEAP_HOOK_malloc].real);
    void *create = dlsym(handle, mire__new_hooks[0].name);

    /* Without the first of them there are none of the others. */
    for (size_t i = 0; i < mire__new_hooks_count; i++)
        atomic_store(&mire__new_hooks[i].real, create ? dlsym(handle, mire__new_hooks[i].name) : NULL);
    return allocate && create && brings_both(allocate, create);
}

void *mire__heap_real_unbound(enum mire__heap_hook hook)
{
    bool *is_binding = &mire__locals_as_own()->is_binding;

    if (*is_binding) /* dlsym allocates: with no memory as the answer it copes */
        return NULL;
    *is_binding = true;
    mire__heap_bind(RTLD_NEXT);
    *is_binding = false;
    return atomic_load_explicit(&mire__heap_hooks[hook].real, memory_order_relaxed);
}
