/*
 * loop.h - which sleep is the loop's own, and which lies inside its work.
 *
 *     main > run > wait_for_events > poll       the path of a wait, noted once while the thread slept in it
 *     main > run > nanosleep                    asleep in a call of run's own: the loop waits
 *     main > run > handle > load > read         deeper than run: the work sleeps, and somebody waits for it
 *
 * The loop's frame is the innermost function that a stack has in common with the path of a wait. Calls of the C library
 * are the frame's own, as are those of one other library that is not the loop's, a few functions deep: what wraps a
 * sleep or a condition variable.
 *
 * A loop that comes back to its hooked wait waits there; if its frame sleeps elsewhere, once between two of these
 * waits, that is a callback which the compiler made part of the frame. Its second sleep at the same place in one turn
 * is a loop's. So it is with sleeps for a time: once is no loop. But a nap of 2 ms or less is never the wait of such a
 * loop: work lets others run so.
 *
 * A wait that the thread made once or twice and never came back to may be no loop's. Then a sleep deeper in the stack
 * is the loop's as well if the same stack sleeps again and again: a program that reads its input in a function of its
 * own, an interpreter.
 *
 * A thread that sleeps in poll, or a call of its kind, waits for events, however it made the call; not so where the C
 * library itself does it, for the answer of a name server.
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
    LOOP_WAITED, /* the same, and it did so when samples said LOOP_MAYBE or LOOP_ONCE */
    LOOP_INSIDE, /* asleep inside the work */
    LOOP_MAYBE,  /* in a call of the frame that has a wait of its own, the first time in this turn: taken for work */
    LOOP_ONCE,   /* asleep for a time, in a call of a frame that is not known to be a loop's: the same, and unsure */
    LOOP_UNSURE  /* asleep, and nobody can tell where the loop is */
};

#define MIRE_LOOP_PLACES 4

struct loop {
    struct gate_call noted[MIRE_WAIT_PATHS]; /* whose paths are in the blackbox, row by row; .from 0: none is */
    uint32_t noted_count;                    /* how many were noted, in all */
    uint64_t note_ns;                        /* the next may be noted from then on */
    uint64_t noted_turn;                     /* looked at in this turn */
    uint64_t places[MIRE_LOOP_PLACES];       /* in which the loop is known to sleep: a call's, or a whole stack's */
    uint32_t place_count;
    uint64_t place; /* in which it slept last, in this turn, with the thread's CPU time then */
    uint64_t place_turn;
    uint64_t place_cpu_ns;
    uint32_t repeats; /* how many sleeps in a row there followed another */
    bool fresh;       /* the last sample was the first one there */
};

/* The thread in the lane is another one. */
void mire__loop_begin(struct loop *loop, struct check *check, uint32_t lane);

/* The thread idles: note the path of the wait it is in, if that is not known. It is not disturbed. */
void mire__loop_note(struct loop *loop, struct check *check, uint32_t lane, const struct gate_view *view);

/*
 * What does this sample of a busy thread show?
 *   sample  the sampler's last one
 */
enum loop_sleep mire__loop_judge(struct loop *loop, struct check *check, uint32_t lane, const struct gate_view *view,
                                 const struct sample *sample);

#endif
