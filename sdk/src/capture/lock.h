/*
 * lock.h - who holds the lock that a sleeping thread waits for.
 *
 * Learnt from the futex it sleeps on: from the word itself where the kernel's protocol puts the holder there
 * (priority-inheriting and robust mutexes), else from the fields that glibc keeps beside it. Memory around the word is
 * a guess until it is proved: a layout counts only where every field of it can be one, and the holder is a living
 * thread of this process.
 *
 *     pthread_mutex_t, std::mutex, the loader's lock     holder known
 *     pthread_rwlock_t held by a writer                  holder known
 *     FILE (stdio) locked by another thread              holder known
 *     pthread_join                                       the thread that is to end
 *     pthread_rwlock_t held by readers, malloc's arenas,
 *     locks that languages and libraries make of futexes a lock, its holder is not written anywhere
 *     condition variables, semaphores, barriers          nobody holds these
 *
 * The layouts are those of glibc 2.25 and later on 64-bit machines; with another libc only the first row's kernel
 * protocol is understood. Thread: check thread.
 */
#ifndef MIRE_CAPTURE_LOCK_H
#define MIRE_CAPTURE_LOCK_H

#include "platform/platform.h"

enum mire__lock_kind {
    MIRE_LOCK_NONE,   /* not asleep on a futex */
    MIRE_LOCK_EVENT,  /* something that nobody holds */
    MIRE_LOCK_UNTOLD, /* a lock that does not say who holds it */
    MIRE_LOCK_MUTEX,
    MIRE_LOCK_RWLOCK,
    MIRE_LOCK_FILE,
    MIRE_LOCK_JOIN
};

struct lock {
    enum mire__lock_kind kind;
    uint64_t address; /* of the futex's word; 0 if NONE or EVENT */
    uint32_t holder;  /* tid; 0 up to UNTOLD. The waiter itself where it locked twice. */
};

/*
 * What does a thread in this state wait for?
 * True as long as it waits: look at the state again afterwards.
 */
void mire__lock_find(struct lock *out, const struct thread_state *waiter);

#endif
