/*
 * rate_limiter.h - which events are sent, and which are only counted. A hang at every scroll is worth one report and a
 * count, not a thousand reports.
 *
 *     first event of a stack ------> sent; then wait 1 unit     units of settings.suppress_ms
 *     again during the wait -------> suppressed: counted, and in the next report of the stack
 *     again after the wait --------> sent; then wait 1, 2, 3, 5, 8, ... units: the Fibonacci numbers
 *     no event for a whole wait ---> the next wait is 1 unit again
 *     at least twice as long as the longest sent event of the stack: sent at once
 *
 * At most settings.daily_cap events of a stack are sent in a day, counted over all processes of the app and over
 * restarts; only one if the stacks are too short to be telling. Events without any stack are never suppressed by the
 * wait, and the daily cap counts those of about the same duration. An unsent event is counted twice: by reason in the
 * store's drops, for the next report of any stack; and by stack, for the next report of the same stack.
 *
 * Two events have the same stack if their signatures (ring/signature.h) and triggers are equal. MIRE_TRIGGER_TEST
 * always passes; MIRE_TRIGGER_CALL is limited by the daily cap only. A hang that the process does not survive does not
 * pass through here: the next start reports it from the blackbox.
 *
 * Thread: check thread. The memory is the caller's, zeroed.
 */
#ifndef MIRE_CAPTURE_RATE_LIMITER_H
#define MIRE_CAPTURE_RATE_LIMITER_H

#include "capture/settings.h"
#include "ring/signature.h"
#include "store/store.h"

#define MIRE_RATE_LIMITER_STACKS 16 /* stacks with a wait at one time: those seen last */

struct limited_stack {
    uint64_t number;     /* mire__signature_number; 0: the row is free */
    uint64_t seen_ns;    /* time of the last event */
    uint64_t sent_ns;    /* time of the last sent event */
    uint64_t longest_ns; /* longest sent event */
    uint32_t wait, next; /* units: two neighbours of the Fibonacci numbers */
    uint32_t held;       /* events during the wait */
    uint32_t trigger;
    bool launch;
    struct stack_signature signature;
};

struct rate_limiter {
    uint64_t judged; /* number of the stack judged last */
    struct limited_stack stacks[MIRE_RATE_LIMITER_STACKS];
};

enum mire__verdict { MIRE_VERDICT_SEND, MIRE_VERDICT_SHORT, MIRE_VERDICT_SUPPRESSED, MIRE_VERDICT_DAILY };

/*
 * The part of the decision that needs no store: is the event within the wait of its stack? Pure.
 *
 *   number_out  the stack's number in the store's ledger; never 0
 *   event       ended
 *   now_ns      CLOCK_MONOTONIC, never falling from call to call
 *
 * Returns MIRE_VERDICT_SEND (recorded as sent) or MIRE_VERDICT_SUPPRESSED.
 */
enum mire__verdict mire__rate_limiter_wait(uint64_t *number_out, struct rate_limiter *limiter,
                                           const struct event *event, const struct stack_signature *signature,
                                           uint64_t now_ns, const struct capture_settings *settings);

/*
 * The whole decision on an ended event, with the store's ledger. An unsent event is counted when this returns.
 *
 *   held_out  events of the stack that were suppressed since the last report, for this report; zeros unless it is sent
 *   now_ns, wall_ms   monotonic and wall clock
 *
 * Returns the verdict. If the store cannot be written, only the wait limits.
 */
enum mire__verdict mire__rate_limiter_judge(struct suppressed_fact *held_out, struct rate_limiter *limiter,
                                            struct store *store, const struct event *event,
                                            const struct stack_signature *signature, uint64_t now_ns, uint64_t wall_ms,
                                            const struct capture_settings *settings);

/* The event judged last could not be stored: it and its suppressed events go back into the store's ledger. */
void mire__rate_limiter_undo(const struct rate_limiter *limiter, struct store *store, const struct event *event,
                             uint64_t wall_ms);

#endif
