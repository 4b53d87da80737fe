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
}

/* Are both in one library, and is that not the C library? (Which is told by a call that nobody stands in for.) */
static bool brings_both(void *allocate, void *create)
{
    Dl_info one, other, libc;

    return dladdr(allocate, &one) && dladdr(create, &other) && dladdr((void *)dlsym(RTLD_DEFAULT, "getppid"), &libc) &&
           one.dli_fbase == other.dli_fbase && one.dli_fbase != libc.dli_fbase;
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
