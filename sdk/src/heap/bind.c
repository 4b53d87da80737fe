/* bind.c - what the hooks stand for, by the loader's word. */
#include "heap/hooks.h"

#include <dlfcn.h>

/* The thread that is binding: dlsym may allocate, which is told that there is no memory, and takes it well. */
static __thread bool binding __attribute__((tls_model("initial-exec")));

void mire__heap_bind(void *handle)
{
    for (size_t i = 0; i < MIRE_HEAP_HOOK_COUNT; i++) {
        void *real = dlsym(handle, mire__heap_hooks[i].name);

        if (real && real != mire__heap_hooks[i].hook)
            atomic_store_explicit(&mire__heap_hooks[i].real, real, memory_order_relaxed);
    }
    mire__heap_hooks_turn();
}

/* Where the library lies that a function is in; NULL: nobody knows. */
static void *base_of(void *function)
{
    Dl_info info;

    return function && dladdr(function, &info) ? info.dli_fbase : NULL;
}

/* The C library, told by a call that nobody stands in for. */
static void *base_of_libc(void)
{
    return base_of(dlsym(RTLD_DEFAULT, "getppid"));
}

/* Are both in one library, and is that not the C library? */
static bool brings_both(void *allocate, void *create)
{
    void *base = base_of(allocate);

    return base && base == base_of(create) && base != base_of_libc();
}

bool mire__heap_blocks_apart(void)
{
#ifdef __GLIBC__ /* whose least chunk is 32 bytes */
    void *base = base_of(atomic_load(&mire__heap_hooks[MIRE_HEAP_HOOK_malloc].real));

    return base && base == base_of_libc();
#else
    return false;
#endif
}

bool mire__heap_bind_new(void *handle)
{
    void *allocate = atomic_load(&mire__heap_hooks[MIRE_HEAP_HOOK_malloc].real), *create;

    for (size_t i = 0; i < mire__new_hooks_count; i++)
        atomic_store(&mire__new_hooks[i].real, dlsym(handle, mire__new_hooks[i].name));
    create = atomic_load(&mire__new_hooks[0].real);
    return allocate && create && brings_both(allocate, create);
}

void *mire__heap_real_late(enum mire__heap_hook hook)
{
    if (binding)
        return NULL;
    binding = true;
    mire__heap_bind(RTLD_NEXT);
    binding = false;
    return atomic_load_explicit(&mire__heap_hooks[hook].real, memory_order_relaxed);
}
