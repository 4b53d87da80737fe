/*
 * loop.h - distinguishes the loop's own wait from a sleep inside its work.
 *
 *     main > run > wait_for_events > poll       the stack of a wait, stored once while the thread slept in it
 *     main > run > nanosleep                    a sleep in a call of run itself: the loop waits
 *     main > run > handle > load > read         deeper than run: the work sleeps, and the user waits for it
 *
 * The loop's frame is the innermost function that a stack shares with the stack of a wait. Calls of the C library
 * belong to the frame. Calls of one other library, a few functions deep, belong to it too: wrappers of a sleep or of a
 * condition variable.
 *
 * If a loop has a hooked wait that it returns to, and its frame sleeps elsewhere once between two of these waits, that
 * sleep is in a callback that the compiler has inlined. A second sleep at the same pc in one turn is the loop's. The
 * same holds for timed sleeps. A sleep of 2 ms or less is never such a loop's wait: work yields in this way.
 *
 * A wait that the thread made once or twice and never returned to may not be the loop's. Then a deeper sleep is the
 * loop's wait as well if the same stack sleeps repeatedly: a program that reads its input in a function of its own, or
 * an interpreter.
 *
 * A thread that sleeps in poll or a similar call waits for events, unless the C library made the call, for the answer
 * of a name server.
 *
 * Private to capture/. Thread: check thread.
 */
#ifndef MIRE_CAPTURE_LOOP_H
#define MIRE_CAPTURE_LOOP_H

#include "capture/check.h"
#include "gate/gate.h"

enum loop_sleep {
    LOOP_AWAKE,  /* or at work in the kernel */
    LOOP_WAITS,  /* for events: idle */
    LOOP_WAITED, /* the same; earlier samples with LOOP_MAYBE or LOOP_ONCE were waits as well */
    LOOP_INSIDE, /* asleep inside the work */
    LOOP_MAYBE,  /* in a call of a frame that has a hooked wait, the first time in this turn: counts as work */
    LOOP_ONCE, /* a timed sleep in a frame not known to be a loop's, or one of an unknown frame: counts as work, unsure */
    LOOP_UNSURE /* asleep, and the loop's frame is not known */
};

#define MIRE_LOOP_SLEEPS 4

struct loop {
    struct gate_call noted[MIRE_WAIT_PATHS]; /* waits whose stacks are in the blackbox, by row; .from 0: none */
    uint32_t noted_count;                    /* number of stacks stored so far */
    uint64_t note_ns;                        /* earliest time to store the next */
    uint64_t noted_turn;                     /* the turn that was looked at */
    uint64_t sleeps[MIRE_LOOP_SLEEPS];       /* known sleeps of the loop: pcs, or hashes of whole stacks */
    uint32_t sleep_count;
    uint64_t sleep; /* the last sleep in this turn, with the thread's CPU time then */
    uint64_t sleep_turn;
    uint64_t sleep_cpu_ns;
    uint64_t counter; /* see mire__sleep_kind */
    uint32_t repeats; /* how often in a row that sleep followed itself */
    bool fresh;       /* the last sample was the first in that sleep */
};

/* Another thread enters the lane. */
void mire__loop_begin(struct loop *loop, struct check *check, uint32_t lane);

/* The thread idles: store the stack of its wait if it is new. The thread is not disturbed. */
void mire__loop_note(struct loop *loop, struct check *check, uint32_t lane, const struct gate_view *view);

/*
 * Classify a sample of a busy thread.
 *   sample  the sampler's last one
 */
enum loop_sleep mire__loop_judge(struct loop *loop, struct check *check, uint32_t lane, const struct gate_view *view,
                                 const struct sample *sample);

#endif
