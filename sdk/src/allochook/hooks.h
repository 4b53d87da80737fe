/*
 * hooks.h - the calls that allocate and map, one row each.
 *
 *   X(name)   `mire__heap_NAME` stands in for NAME: by patching in libmire, by name in the preload library
 *
 * A hook's stack begins at its caller. What is quick (sampled, nothing drawn) jumps on to the real call; the rest is
 * done in a function of its own, that is jumped to as well, so that none of ours lies between the caller and the block.
 * Where a compiler puts a frame there all the same, it is known by its section and left out (MIRE_HIDDEN).
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
 * Bind them. Returns whether they are to be patched in: the allocator has its own. Else what operator new calls is
 * noted, and its own frames are left out.
 *   handle  as for mire__heap_bind, which comes before
 */
bool mire__heap_bind_new(void *handle);

#define MIRE_HIDDEN __attribute__((section("mire_hidden")))

/* Look up the real calls. handle: RTLD_DEFAULT where hooks are patched in, RTLD_NEXT where they are found by name. */
void mire__heap_bind(void *handle);

/*
 * The mode has changed, or the tables that are noted in, or the real calls were bound: have the hooks go by it. Until
 * it returns they may go by what was before. Thread: any, inside its slot too.
 */
void mire__heap_hooks_turn(void);

/* Do any two blocks of the allocator that is bound begin 32 bytes apart or more (MIRE_HOW_APART)? */
bool mire__heap_blocks_apart(void);

/*
 * A real call's address. One that is called before mire__heap_bind is bound by its first call, with RTLD_NEXT; NULL
 * while that is going on, and where there is no such call.
 */
void *mire__heap_real_late(enum mire__heap_hook hook);

static inline void *mire__heap_real(enum mire__heap_hook hook)
{
    void *real = atomic_load_explicit(&mire__heap_hooks[hook].real, memory_order_relaxed);

    return __builtin_expect(real != NULL, 1) ? real : mire__heap_real_late(hook);
}

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

/* A module may go with it. */
int mire__heap_dlclose(void *handle);

#endif
