/*
 * mire/ping.h - pings a loop: for hangs that cannot be observed from outside.
 *
 *     static int post(void *queue, uint64_t token) { return queue_push(queue, mire_ping_answer, token); }
 *     ...
 *     mire_ping_start(post, queue, 0);      on the loop's thread, after mire_start
 *
 * Once per interval the library posts a token to the loop's queue. The loop's thread answers when it reaches the token.
 * A token without an answer for the threshold is a hang. Use pings for a loop whose waiting call the library does not
 * know. They also help beside waiting calls and marks: a ping alone notices a thread that waits in a known call but
 * serves no events, and a queue that is never reached although the loop turns.
 *
 * Detection. The interval is a, the threshold is T, and a hang of length x begins at a time independent of the posts.
 * The first token within the hang is posted f after the hang began, f uniform in [0, a). It waits for x - f, and the
 * hang is detected if x - f >= T:
 *
 *     P(x) = 0             x < T             no false hangs
 *            (x - T) / a   T <= x < T + a
 *            1             T + a <= x        no missed hangs
 *
 * The default a = T / 4 detects every hang from 1.25 T on. The report has the exact end of a detected hang. Its begin
 * lies between the last answer and the post, at most a apart; the report has both, and its length counts from the post.
 *
 * Cost per interval: one turn of the loop, one wake-up of the library's thread for the post, and one more if the loop
 * was idle. No cost without mire_ping_start.
 */
#ifndef MIRE_PING_H
#define MIRE_PING_H

#include <mire/mire.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Queues a token behind the app's own events and wakes the loop. The loop's thread must call mire_ping_answer(token)
 * when it reaches the token. The next token follows only after the answer.
 *
 *   context  the pointer given to mire_ping_start
 *   token    1..2^63
 *
 * Returns 0 if the token is queued; not 0 if not, and the library tries again an interval later.
 * Thread: a library thread. The callback must return soon. It must not allocate, and must not take a lock that the
 * loop's thread could hold during a hang; one write to a pipe or an eventfd is best. The only function of the
 * library that it may call is mire_ping_answer.
 */
typedef int mire_post_fn(void *context, uint64_t token);

/*
 * Start to ping the loop of the calling thread. In a forked child the pings do not continue.
 *
 *   post, context  called once per interval; context must stay valid until mire_ping_stop
 *   interval_ms    milliseconds, 1..60000; 0: a quarter of the threshold
 *
 * Returns MIRE_OK
 *         MIRE_E_ARG     post is NULL
 *         MIRE_E_RANGE   interval_ms
 *         MIRE_E_STATE   the calling thread is not watched (also in an installation that is sampled out), or its loop
 *                        is pinged already
 *         MIRE_E_SYSTEM  no thread-specific key is left, which would announce the thread's end
 * Thread: a watched one.  Signal handler: no.
 */
MIRE_API enum mire_err mire_ping_start(mire_post_fn *post, void *context, uint32_t interval_ms);

/*
 * Answer a token that the loop has reached. An outdated or repeated token has no effect.
 * Cost: one clock reading and three atomic stores.  Thread: any.  Signal handler: yes.
 */
MIRE_API void mire_ping_answer(uint64_t token);

/*
 * Stop to ping the loop of the calling thread. On return, post does not run and is not called again; a token may still
 * be in the queue. mire_unwatch_thread, mire_stop, and the end of the thread stop the pings as well.
 *
 * Returns MIRE_OK, MIRE_E_STATE (the loop is not pinged).
 * Thread: the one that called mire_ping_start.  Signal handler: no.
 */
MIRE_API enum mire_err mire_ping_stop(void);

#ifdef __cplusplus
}
#endif
#endif
