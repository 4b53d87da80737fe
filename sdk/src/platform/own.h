/*
 * own.h - the C library's functions that allocate or create threads, for the library's own use.
 *
 * glibc takes no locks while the program has one thread, in its allocator and elsewhere. A further thread would end
 * that for ever, even an idle one. So a second copy of the C library, in a link-map namespace of its own (dlmopen), may
 * create the library's threads, which then allocate with that copy only:
 *
 *     the program's threads --> its C library          __libc_single_threaded until the program creates a thread
 *     mire-check, worker    --> the second copy        thread stacks and their storage are the loader's, shared by both
 *
 * Two rules for code on the library's threads. It calls the functions of struct own_calls through mire__own, and no
 * other function of libc that allocates. Before it takes a lock that the program's threads take too, the loader's, it
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
 * Begin to use a second copy, in a program that has one thread; in a forked child another one, for a thread of its
 * parent's may have been inside that.
 *   library  a file by the loader's rules that is loaded beside it, and uses it
 *   environment MIRE_SECOND_LIBC=0 is obeyed
 * Returns whether there is one: not with another C library than glibc 2.34 and later, nor under sanitizers, nor in the
 * child of a child of a child.
 * Thread: the program's, outside of handlers, while none of ours runs and nothing of ours is allocated.
 */
bool mire__own_open(const char *library);

/* Is a sanitizer's runtime in the process? Its own threads and its view of memory are no place for ours. */
bool mire__own_is_sanitized(void);

/* A function of `library` or of the second copy; NULL. Thread: as mire__own_open, after it. */
void *mire__own_find(const char *name);

/* Is the calling thread ours, and does the program's C library take no locks because it knows of none but its own? */
bool mire__own_is_beside(void);

/*
 * The calling thread is going to take a lock that the program's threads take too: if it is beside, the program's C
 * library is made to know that it is not alone, for good; takes 10 ms then.
 */
void mire__own_share(void);

/*
 * Attributes of a thread with at least so much stack: RLIMIT_STACK, which says how much others get, may be small.
 * Returns false if there is no memory; else pthread_attr_destroy them.
 */
bool mire__thread_attributes(pthread_attr_t *out, size_t stack_bytes);

/* Join a thread if it has ended, without a system call. Always false where the C library cannot. */
bool mire__own_has_joined(pthread_t thread);

/* Give the calling thread a name in the system: 15 bytes at most. */
void mire__thread_call_self(const char *name);

/*
 * Give back the pages of the second copy's files that loading it and making threads has touched: few of them are needed
 * later, and they come again. Thread: any of ours.
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
