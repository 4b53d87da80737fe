/*
 * mire/ping.h - asks a loop whether it still runs, for what cannot be observed from outside.
 *
 *     static int post(void *queue, uint64_t token) { return queue_push(queue, mire_ping_answer, token); }
 *     ...
 *     mire_ping_start(post, queue, 0);      on the loop's thread, after mire_start
 *
 * Every interval a token is queued onto the loop, whose thread hands it back when it comes to it. A token that waits
 * for the threshold or longer is a hang. Use it for a loop that waits in something the library does not know, and
 * beside the waiting calls or marks of any loop: it alone notices a thread that waits where the library sees it wait,
 * but in a place where nothing of the app is served, and a queue that is never reached though the loop turns.
 *
 * What it misses. A token is posted every a, the threshold is T, and a hang of length x begins at an instant that has
 * nothing to do with the posting. The first token that falls into it is posted f after it began, f uniform in [0, a);
 * it is answered when the hang is over, so it has waited for x - f, and the hang is noticed if that is T or more:
 *
 *     P(x) = 0             x < T             never invented
 *            (x - T) / a   T <= x < T + a
 *            1             T + a <= x        never missed
 *
 * With a = T, where the next post is also the look at the one before, that is x / a - 1, sure from 2 a on. The default
 * a = T / 4 is sure from 1.25 T on. Of a hang that was noticed the end is exact, and the begin is known to lie between
 * two instants: the answer before it and the post, a apart at most; both are in the report, whose length is the sure
 * part, from the post on.
 *
 * Cost, every interval: one turn of the loop, and two wake-ups of the library's thread, one that posts and, where the
 * loop idled, one by the turn that follows. Nothing without mire_ping_start.
 */
#ifndef MIRE_PING_H
#define MIRE_PING_H

#include <mire/mire.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Queue a token onto the loop and wake the loop: its thread is to call mire_ping_answer(token) when the token's turn
 * has come, in line with the app's own events. Another token follows only when this one was answered.
 *
 *   context  what was given to mire_ping_start
 *   token    1..2^63
 *
 * Returns 0 when it is queued; else the loop is asked again an interval later.
 * Called on a thread of the library. It must return soon and must neither allocate nor take a lock that the loop's
 * thread could hold while it hangs: one write to a pipe or an eventfd is best. It must call nothing of the library but
 * mire_ping_answer.
 */
typedef int mire_post_fn(void *context, uint64_t token);

/*
 * Ask the calling thread's loop from now on.
 *
 *   post, context  called every interval; context is borrowed until mire_ping_stop
 *   interval_ms    1..60000, or 0: a quarter of the threshold
 *
 * Returns MIRE_OK
 *         MIRE_E_ARG     post is NULL
 *         MIRE_E_RANGE   interval_ms
 *         MIRE_E_STATE   the calling thread is not watched, as in an installation outside the sample, or its loop is
 *                        asked already
 *         MIRE_E_SYSTEM  the thread's end could not be noticed
 * Thread: a watched one. A forked child's loop is not asked.  Signal handler: no.
 */
MIRE_API enum mire_err mire_ping_start(mire_post_fn *post, void *context, uint32_t interval_ms);

/*
 * The loop has come to a token. One that is not waited for, because it came late or twice, has no effect.
 * Cost: a clock reading and three atomic stores.  Thread: any.  Signal handler: yes.
 */
MIRE_API void mire_ping_answer(uint64_t token);

/*
 * Ask no more. When it returns, post is not running and is not called again; a token may still lie in the queue.
 * So do mire_unwatch_thread, mire_stop, and the end of the thread.
 *
 * Returns MIRE_OK, MIRE_E_STATE: the calling thread's loop is not asked.
 * Thread: the one that started it.  Signal handler: no.
 */
MIRE_API enum mire_err mire_ping_stop(void);

#ifdef __cplusplus
}
#endif
#endif
