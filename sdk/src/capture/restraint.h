/*
 * restraint.h - which records are sent, and which only counted. A hang that happens at every scroll is worth one
 * report and a count, not a thousand reports.
 *
 *     first of its stack ----------> sent; wait 1 unit     units of settings.anneal_ms
 *     again while waiting ---------> annealed: counted, told by the next one sent
 *     again after the wait --------> sent; wait 1, 2, 3, 5, 8, ... units: the Fibonacci numbers
 *     a whole wait without one ----> begins with 1 again
 *     at least twice as long as the longest sent of its stack: sent at once
 *
 * Of each stack settings.daily_cap records are sent in a day, by all processes of the app together, over restarts; one
 * if its stacks are too short to mean anything. Records without any stack are not known to be alike: none waits, and
 * their daily cap is of those that lasted about as long. Whatever is not sent is counted twice: by reason in the
 * store's drops, told by the next report of all; and by stack, told by the next report of that stack.
 *
 * Stacks are the same if their spines are (ring/spine.h) and so is what made the record. What tests the library itself
 * (MIRE_TRIGGER_TEST) always passes; what the app asks for by name (MIRE_TRIGGER_CALL) has its daily cap only. A hang
 * that the process does not survive never comes by here: the next start reports it from the blackbox.
 *
 * Thread: check thread. Memory is the caller's, zeroed.
 */
#ifndef MIRE_CAPTURE_RESTRAINT_H
#define MIRE_CAPTURE_RESTRAINT_H

#include "capture/settings.h"
#include "ring/spine.h"
#include "store/store.h"

#define MIRE_RESTRAINT_STACKS 16 /* waited for at a time; of more, those seen last */

struct restraint_stack {
    uint64_t number;     /* mire__spine_number; 0: the row is free */
    uint64_t seen_ns;    /* when it came last */
    uint64_t sent_ns;    /* when it was sent last */
    uint64_t longest_ns; /* of those sent */
    uint32_t wait, next; /* units: two neighbours of the Fibonacci numbers */
    uint32_t held;       /* came during the wait */
    uint32_t trigger;
    bool launch;
    struct spine spine;
};

struct restraint {
    uint64_t judged; /* number of the stack judged last */
    struct restraint_stack stacks[MIRE_RESTRAINT_STACKS];
};

enum mire__verdict { MIRE_VERDICT_SEND, MIRE_VERDICT_SHORT, MIRE_VERDICT_ANNEALED, MIRE_VERDICT_DAILY };

/*
 * Is it the time for another record of this stack? Pure: settles all but what needs the store.
 *
 *   number_out  the stack's number for the store's ledger; never 0
 *   hang        ended
 *   now_ns      CLOCK_MONOTONIC, never falling from call to call
 *
 * Returns MIRE_VERDICT_SEND, noted as sent; MIRE_VERDICT_ANNEALED.
 */
enum mire__verdict mire__restraint_wait(uint64_t *number_out, struct restraint *restraint, const struct hang *hang,
                                        const struct spine *spine, uint64_t now_ns,
                                        const struct capture_settings *settings);

/*
 * The whole decision on an ended record, with the store's ledger. What is not sent has been counted when this returns.
 *
 *   held_out  what was held back of the stack since the last one sent, for the report to tell; zeros unless it is sent
 *   now_ns, wall_ms   monotonic and wall clock
 *
 * Returns the verdict. A store that cannot be written holds nothing back but what is annealed.
 */
enum mire__verdict mire__restraint_judge(struct annealed_fact *held_out, struct restraint *restraint,
                                         struct store *store, const struct hang *hang, const struct spine *spine,
                                         uint64_t now_ns, uint64_t wall_ms, const struct capture_settings *settings);

/* The record judged last could not be sent: it and what it would have told go back into the store's ledger. */
void mire__restraint_undo(const struct restraint *restraint, struct store *store, const struct hang *hang,
                          uint64_t wall_ms);

#endif
