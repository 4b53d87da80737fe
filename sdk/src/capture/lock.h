/*
 * lock.h - the owner of the lock that a sleeping thread waits for.
 *
 * The source is the futex that the thread sleeps on: the word itself if the kernel's protocol stores the owner there
 * (priority-inheriting and robust mutexes), otherwise the fields that glibc has beside it. These fields are a guess until
 * they are verified: every field must be plausible, and the owner a living thread of this process.
 *
 *     pthread_mutex_t, std::mutex, the loader's lock      owner known
 *     pthread_rwlock_t held by a writer                   owner known
 *     FILE (stdio) locked by another thread               owner known
 *     pthread_join                                        the joined thread
 *     pthread_rwlock_t held by readers, malloc's arenas,
 *     futex locks of languages and libraries              a lock without a stored owner
 *     condition variables, semaphores, barriers           not locks
 *
 * The layouts are those of glibc 2.25 and later on 64-bit machines. With another libc only the kernel's protocol is
 * understood. Thread: check thread.
 */
#ifndef MIRE_CAPTURE_LOCK_H
#define MIRE_CAPTURE_LOCK_H

#include "platform/platform.h"

enum mire__lock_kind {
    MIRE_LOCK_NONE,     /* not asleep on a futex */
    MIRE_LOCK_EVENT,    /* a wait for an event: nothing is held */
    MIRE_LOCK_NO_OWNER, /* a lock without a stored owner */
    MIRE_LOCK_MUTEX,
    MIRE_LOCK_RWLOCK,
    MIRE_LOCK_FILE,
    MIRE_LOCK_JOIN
};

struct lock {
    enum mire__lock_kind kind;
    uint64_t address; /* of the futex's word; 0 if NONE or EVENT */
    uint32_t holder;  /* tid of the owner; 0 up to NO_OWNER. The waiter itself if it locked twice */
};

/*
 * Find the lock that a thread in this state waits for. The result holds only while it waits: read the state again
 * afterwards.
 */
void mire__lock_find(struct lock *out, const struct thread_state *waiter);

#endif
