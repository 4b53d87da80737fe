/*
 * asking.h - pings of the watched threads' loops. A lane looks once in every step: this posts a due token, and returns
 * the state of the loop. gate/ping.h decides when to post, and what an answer means.
 *
 * A loop is pinged from mire_ping_start to mire_ping_stop. `post` runs on the check thread; mire_ping_stop waits for
 * it:
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
    uint32_t round; /* number of the start that the ping belongs to; 0: none */
};

/* The state of a pinged loop. Times are 0 where they do not apply. */
struct loop_response {
    uint64_t waiting_ns;  /* age of the unanswered token, less late_ns; 0: no token is out */
    uint64_t posted_ns;   /* when it was posted */
    uint64_t slack_ns;    /* the loop last ran at most this long before posted_ns */
    uint64_t late_ns;     /* time excused since then */
    uint64_t answered_ns; /* when the token of the last look was answered, or the pings were stopped */
    uint64_t next_ns;     /* time of the next look; UINT64_MAX: an answer wakes the check thread, or no token is out */
};

/*
 * Post a due token, and return the state of the loop.
 *   late_ns      time since the last look in which the loop's thread could not run; excused
 *   patience_ns  age of a token from which the next look is due
 * Thread: check thread.
 */
void mire__asking_look(struct loop_response *out, struct asking *asking, const struct check *check, uint32_t lane,
                       uint64_t late_ns, uint64_t patience_ns);

/* Time up to `until_ns` is reported already: the token's age counts from there. Thread: check thread. */
void mire__asking_reported(struct asking *asking, uint64_t until_ns);

/*
 * The implementation of mire_ping_start, mire_ping_stop and mire_ping_answer.
 *   lane        the calling thread's
 *   number_out  of this start, not 0, for stop. A later start in the same lane has another number
 * start does not wake the check thread. answer returns whether the token is awaited.
 */
enum mire_err mire__asking_start(uint64_t *number_out, uint32_t lane, mire_post_fn *post, void *context,
                                 uint32_t interval_ms);
enum mire_err mire__asking_stop(uint64_t number);
bool mire__asking_as_answer(uint64_t token);

/* The lane's thread has ended without notice: its loop is not asked again. Thread: check thread. */
void mire__asking_drop(uint32_t lane);

/* Nobody is response any more. Thread: any, while there is no check thread; in a forked child as well. */
void mire__asking_reset(void);

#endif
