/*
 * hooks.h - the intercepted calls, one row each.
 *
 *   X(name)   `mire__heap_NAME` replaces NAME: by patching in libmire, by its name in the preload library
 *
 * A recorded stack begins at the hook's caller. A hook jumps to the real call, or to a function that records; so no
 * frame of the SDK lies between the caller and the allocator. Where a compiler makes a frame all the same, its
 * section tells it, and it is left out of stacks (MIRE_HIDDEN).
 *
 * errno is the real call's. Thread: any.  Signal handler: where the real call may.
 */
#ifndef MIRE_ALLOCHOOK_HOOKS_H
#define MIRE_ALLOCHOOK_HOOKS_H

#include "patch/patch.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/types.h>

/* clang-format off */
#define MIRE_HEAP_HOOKS(X) \
    X(malloc) X(calloc) X(realloc) X(reallocarray) X(free) \
    X(aligned_alloc) X(posix_memalign) X(memalign) X(valloc) X(pvalloc) \
    X(mmap) X(mmap64) X(munmap) X(mremap) X(mprotect) X(brk) X(sbrk) X(dlclose) X(mlockall) X(munlockall) X(pthread_create)

#define MIRE_HEAP_HOOK_NUMBER(name) MIRE_HEAP_HOOK_##name,
enum mire__heap_hook { MIRE_HEAP_HOOKS(MIRE_HEAP_HOOK_NUMBER) MIRE_HEAP_HOOK_COUNT };
/* clang-format on */
extern struct hook mire__heap_hooks[MIRE_HEAP_HOOK_COUNT] __attribute__((visibility("hidden")));

/* Operator new and delete (cxx_new.c), operator new's eight forms first. */
#define MIRE_NEW_COUNT 8
extern struct hook mire__new_hooks[];
extern const size_t mire__new_hooks_count;

/*
 * Bind them. Returns true if they are to be patched in, for the allocator's library defines operator new itself.
 * Otherwise the malloc that operator new calls is recorded, and operator new's frames are left out.
 *   handle  as for mire__heap_bind, which must come first
 */
bool mire__heap_bind_new(void *handle);

#ifdef __ELF__
#define MIRE_HIDDEN __attribute__((section("mire_hidden")))
#else
#define MIRE_HIDDEN __attribute__((section("__TEXT,mire_hidden,regular,pure_instructions")))
#endif

/* Is it the address of hidden code? */
bool mire__hooks_hold(uint64_t pc);

/* Look up the real calls. handle: RTLD_DEFAULT where hooks are patched in, RTLD_NEXT in the preload library */
void mire__heap_bind(void *handle);

/*
 * Set the hooks' function pointers (malloc.c) after a change of the mode, of the tables in use or of the real calls.
 * Until it returns hooks may act on the old state. Thread: any, inside its slot too.
 */
void mire__heap_hooks_dispatch(void);

/* Do any two blocks of the bound allocator begin 32 bytes apart or more? See MIRE_FLAG_ONE_PHASE. */
bool mire__heap_blocks_have_one_phase(void);

/*
 * The address of a real call. A call before mire__heap_bind binds all of them, with RTLD_NEXT; NULL meanwhile, and
 * where there is no such call.
 */
void *mire__heap_real_unbound(enum mire__heap_hook hook);

static inline void *mire__heap_real(enum mire__heap_hook hook)
{
    void *real = atomic_load_explicit(&mire__heap_hooks[hook].real, memory_order_relaxed);

    return __builtin_expect(real != NULL, 1) ? real : mire__heap_real_unbound(hook);
}

/* The same by the name of the hook. */
#define MIRE_REAL(name) ((__typeof__(&mire__heap_##name))mire__heap_real(MIRE_HEAP_HOOK_##name))

/*
 * In the preload library the hooks have the names of the real calls, so a call of the program reaches them without
 * another jump.
 */
#define MIRE_INTERPOSE(name) \
    extern __typeof__(mire__heap_##name) name __attribute__((alias("mire__heap_" #name), visibility("default")));

void *mire__heap_malloc(size_t size);
void *mire__heap_calloc(size_t count, size_t size);
void *mire__heap_realloc(void *old, size_t size);
void *mire__heap_reallocarray(void *old, size_t count, size_t size);
void mire__heap_free(void *block);
void *mire__heap_aligned_alloc(size_t alignment, size_t size);
int mire__heap_posix_memalign(void **out, size_t alignment, size_t size);
void *mire__heap_memalign(size_t alignment, size_t size);
void *mire__heap_valloc(size_t size);
void *mire__heap_pvalloc(size_t size);

void *mire__heap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *mire__heap_mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset);
int mire__heap_munmap(void *at, size_t size);
void *mire__heap_mremap(void *old, size_t old_size, size_t size, int flags, void *at);
int mire__heap_mprotect(void *at, size_t size, int protection);
int mire__heap_brk(void *end);
void *mire__heap_sbrk(intptr_t by);

int mire__heap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                              void *argument);

/* Nothing of the library's is locked, or counted (mlock.c). */
int mire__heap_mlockall(int flags);
int mire__heap_munlockall(void);

/* A module may be unloaded by it. */
int mire__heap_dlclose(void *handle);

#endif
