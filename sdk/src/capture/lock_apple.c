/* lock_apple.c - see lock.h. The kernel tells nobody which lock a thread waits for. */
#include "capture/lock.h"

void mire__lock_find(struct lock *out, const struct thread_state *waiter)
{
    (void)waiter;
    *out = (struct lock){.kind = MIRE_LOCK_NONE};
}
