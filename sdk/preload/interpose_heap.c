/*
 * interpose_heap.c - the calls that map, found here first because the library is preloaded. Each is a jump to its hook
 * (allochook/hooks.h); malloc and similar functions are their own hooks (allochook/malloc.c). Declared here alone: the
 * libraries' own declarations differ in words.
 */
#include "allochook/allochook.h"

/* clang-format off */
#define EXPORT(result, name, parameters, arguments)                                      \
    __attribute__((visibility("default"))) MIRE_HIDDEN result name parameters;           \
    result name parameters                                                               \
    {                                                                                    \
        return mire__heap_##name arguments;                                              \
    }

EXPORT(void *, mmap, (void *at, size_t size, int protection, int flags, int fd, off_t offset),
       (at, size, protection, flags, fd, offset))
EXPORT(void *, mmap64, (void *at, size_t size, int protection, int flags, int fd, off_t offset),
       (at, size, protection, flags, fd, offset))
EXPORT(int, munmap, (void *at, size_t size), (at, size))
EXPORT(void *, mremap, (void *old, size_t old_size, size_t size, int flags, void *at), (old, old_size, size, flags, at))
EXPORT(int, mprotect, (void *at, size_t size, int protection), (at, size, protection))
EXPORT(int, brk, (void *end), (end))
EXPORT(void *, sbrk, (intptr_t by), (by))
EXPORT(int, pthread_create,
       (pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument),
       (thread, attributes, run, argument))
EXPORT(int, dlclose, (void *handle), (handle))
EXPORT(int, mlockall, (int flags), (flags))
EXPORT(int, munlockall, (void), ())
/* clang-format on */
