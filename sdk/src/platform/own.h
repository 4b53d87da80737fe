/*
 * own.h - the C library's functions that allocate or create threads, for the library's own use.
 *
 * While the program has one thread, glibc takes no locks, in its allocator and elsewhere. A second thread, even an idle
 * one, would end this optimisation for ever. Therefore a second copy of the C library, in a separate link-map namespace
 * (dlmopen), can create the library's threads, which then allocate with that copy only:
 *
 *     the program's threads --> its C library          __libc_single_threaded until the program creates a thread
 *     mire-check, worker    --> the second copy        thread stacks and their storage are the loader's, shared by both
 *
 * Two rules for code on the library's threads. The code calls the functions of struct own_calls through mire__own, and no
 * other allocating function of libc. Before the code takes a lock that the program's threads take too (the loader's), it
 * calls mire__own_share.
 *
 * Without a second copy, mire__own is the program's C library.
 */
#ifndef MIRE_PLATFORM_OWN_H
#define MIRE_PLATFORM_OWN_H

#include "base/base.h"

#include <dirent.h>
#include <pthread.h>

/* As the C library's functions, but without errno. A block must be freed by the copy that allocated it. */
struct own_calls {
    void *(*malloc)(size_t size);
    void *(*realloc)(void *block, size_t size);
    void (*free)(void *block);
    DIR *(*opendir)(const char *path);
    struct dirent *(*readdir)(DIR *dir);
    int (*closedir)(DIR *dir);
    void (*qsort)(void *items, size_t count, size_t size, int (*compare)(const void *one, const void *other));
    int (*pthread_create)(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
};
extern struct own_calls mire__own;

/*
 * Load a second copy, in a program that has one thread. A forked child loads a new copy, because a thread of the parent
 * may have been inside the parent's copy.
 *   library  a file name by the loader's rules: a library that is loaded beside the copy, and uses it
 *   MIRE_SECOND_LIBC=0 in the environment prevents the copy
 * Returns whether there is a copy: only with glibc 2.34 and later, not under sanitizers, and not in the child of a
 * child of a child. Thread: the program's, outside of handlers, while no thread of the library runs and the library has
 * allocated nothing.
 */
bool mire__own_open(const char *library);

/* Is a sanitizer's runtime in the process? The library's threads would conflict with the runtime's view of memory. */
bool mire__own_is_sanitized(void);

/* A function of `library` or of the second copy; NULL. Thread: as mire__own_open, after it. */
void *mire__own_find(const char *name);

/* Is the calling thread the library's, and does the program's C library take no locks, as it knows only its one
 * thread? */
bool mire__own_is_beside(void);

/*
 * Prepare for a lock that the program's threads take too: if mire__own_is_beside, make the program's C library take
 * locks from now on, which takes 10 ms.
 */
void mire__own_share(void);

/*
 * Attributes of a thread with at least stack_bytes of stack; the default, RLIMIT_STACK, may be smaller.
 * Returns false if there is no memory; otherwise the caller calls pthread_attr_destroy.
 */
bool mire__thread_attributes(pthread_attr_t *out, size_t stack_bytes);

/* Join a thread if it has ended, without a system call. Always false where the C library cannot. */
bool mire__own_has_joined(pthread_t thread);

/* Give the calling thread a name in the system: 15 bytes at most. */
void mire__thread_call_self(const char *name);

/*
 * Release the pages of the second copy's files that were touched by loading and by creating threads: few of them are
 * needed later, and the kernel reads those again. Thread: any of the library's.
 */
void mire__own_rest(void);

/*
 * Let the addresses that the second copy's allocator has reserved for the calling thread be known as ours
 * (platform/mine.h): 64 MiB of them. It reserves them now if it has not. Thread: any of ours that allocates.
 */
void mire__own_claim_arena(void);

/*
 * The program is going to change its user. The C library changes that of each thread it knows of, if it knows that
 * there are any: a second copy is made to know it, by an ordinary thread that ends at once. Its allocations
 * are the program's. Returns false if there is no thread to be had: our threads would stay who they are. Thread: any of
 * the program's, outside of handlers.
 */
bool mire__own_meet(void);

#endif
