/*
 * asking.h - the pings of the watched threads' loops, as a lane uses them: it looks once in every step, which posts
 * what is due, and hears how the loop does. When to post and what an answer says is told in gate/ping.h.
 *
 * A thread's loop is response from mire_ping_start to mire_ping_stop. `post` runs on the check thread, and mire_ping_stop
 * waits for it:
 *
 *     OFF --start--> ON <--check thread--> POSTING --stop--> STOPPING --check thread--> OFF
 *                     '-- stop --> OFF
 */
#ifndef MIRE_CAPTURE_ASKING_H
#define MIRE_CAPTURE_ASKING_H

#include "capture/check.h"
#include "gate/ping.h"
#include "mire/ping.h"

/* One lane's; check thread only, zeros at first. */
struct asking {
    struct ping ping;
    uint32_t round; /* of starts: which one the ping belongs to; 0: none */
};

/* How a loop does. Instants are 0 where they say nothing. */
struct loop_response {
    uint64_t waiting_ns;  /* the token has waited for so long, time excused left out; 0: nothing is waited for */
    uint64_t posted_ns;   /* since then */
    uint64_t slack_ns;    /* the loop ran for the last time so long before it, or later */
    uint64_t late_ns;     /* what was excused meanwhile */
    uint64_t answered_ns; /* the token waited for at the last look was answered, then; or nobody asks any more */
    uint64_t next_ns;     /* when to look again; UINT64_MAX: an answer wakes, or nothing is to be awaited */
};

/*
 * Post what is due and say how the loop does.
 *   late_ns      since the last look, in which the loop's thread could not run; it is excused
 *   patience_ns  how long a token may wait until a look is worth it
 * Thread: check thread.
 */
void mire__asking_look(struct loop_response *out, struct asking *asking, const struct check *check, uint32_t lane,
                       uint64_t late_ns, uint64_t patience_ns);

/* What happened up to `until_ns` is told already: the token has waited since then. Thread: check thread. */
void mire__asking_told(struct asking *asking, uint64_t until_ns);

/*
 * The inside of mire_ping_start, mire_ping_stop and mire_ping_answer; see there.
 *   lane        the calling thread's
 *   number_out  of this asking, not 0: what stop takes. A later one of the same lane has another
 * start does not wake the check thread. answer says whether somebody waits for the token.
 */
enum mire_err mire__asking_start(uint64_t *number_out, uint32_t lane, mire_post_fn *post, void *context,
                                 uint32_t interval_ms);
enum mire_err mire__asking_stop(uint64_t number);
bool mire__asking_as_answer(uint64_t token);

/* The lane's thread is gone without a word: its loop is response no more. Thread: check thread. */
void mire__asking_drop(uint32_t lane);

/* Nobody is response any more. Thread: any, while there is no check thread; in a forked child as well. */
void mire__asking_reset(void);

#endif
