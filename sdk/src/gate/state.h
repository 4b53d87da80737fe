/*
 * state.h - the gate's words. Private to gate/; gate.c has their writers.
 */
#ifndef MIRE_GATE_STATE_H
#define MIRE_GATE_STATE_H

#include "gate/gate.h"

/*
 *     FREE --a thread--> TAKEN --the same--> WATCHED --mire__gate_stop--> LEFT --its thread passes--> FREE
 *                                               '-- its thread leaves, or is gone --> FREE
 *     CHILD: the first waiting call of the thread that is here starts the watch
 */
enum mire__gate_state { MIRE_GATE_FREE, MIRE_GATE_TAKEN, MIRE_GATE_WATCHED, MIRE_GATE_LEFT, MIRE_GATE_CHILD };

/*
 * The request of the check thread for the next change of turn.
 *   TURN  wake me when a turn begins; its end is then stored
 *   KEEP  store the end, for a check thread that runs too late
 *   END   store the end, and wake me
 */
enum mire__gate_asked { ASKED_NOTHING, ASKED_TURN, ASKED_KEEP, ASKED_END };

/*
 * A call that has slept, at least once. Writer: the watched thread. Reader: the check thread; a row that is just being
 * replaced can be inconsistent, and then matches no call on the stack.
 */
struct known_call {
    _Atomic uintptr_t from; /* 0: the row is free, as those after it are */
    _Atomic uintptr_t frame;
    _Atomic uint64_t count; /* calls since it is known */
};

/* Long waits from inside the work of one turn, which had to ask first. */
#define MIRE_ASKED_CALLS 16
struct asked_calls {
    uint64_t turn;
    uint32_t count; /* larger than MIRE_ASKED_CALLS where not all of them are kept */
    struct gate_call calls[MIRE_ASKED_CALLS];
};

/* One watched thread's words, on cache lines of their own, so that other threads do not slow it down. */
struct gate {
    _Alignas(128) _Atomic uint32_t state;
    _Atomic uint32_t asked;
    _Atomic uint64_t turn;
    _Atomic uint64_t since_ticks;
    _Atomic uint64_t ended_turn; /* the last turn with a stored end, its begin and its end */
    _Atomic uint64_t ended_since_ticks;
    _Atomic uint64_t end_ns;
    _Atomic uint32_t kind;
    _Atomic uint64_t ours;    /* see mire__gate_ours */
    _Atomic int waits;        /* MIRE_WAITS_*, or an epoll descriptor */
    uint32_t mark_depth;      /* the thread itself only */
    uint32_t replaced;        /* the same: how many known calls gave way to others */
    struct known_call *usual; /* the same: the last wait's call, if it is known; NULL while not every wait counts */
    uint32_t untried;         /* the same: waits still to come that are not timed */
    uint32_t patience;        /* the same: how many that was the last time */
    uint64_t tried_ns;        /* the same: the wait under way may turn out to sleep, and began then; 0: it is known */
    _Atomic uintptr_t wait_from; /* the call of the outermost wait under way; 0 if idle by a mark */
    _Atomic uintptr_t wait_frame;
    struct known_call known[MIRE_KNOWN_CALLS];
    struct asked_calls deep;     /* the thread itself only */
    _Atomic uint64_t begun_turn; /* this turn began at begun_ns, before there was a gate; 0 if none did */
    uint64_t begun_ns;
    _Atomic uint32_t tid;
    char name[MIRE_GATE_NAME_BYTES];
};

/*
 * `lanes` has pages of its own, which the kernel clears in a child made by a direct system call (clone, clone3), where no
 * fork handler runs: its thread finds its lane FREE, and runs the handler at its first wait.
 */
#define MIRE_GATE_ALIGN 4096
struct gates {
    _Alignas(MIRE_GATE_ALIGN) struct gate lanes[MIRE_WATCHED_MAX];
    _Alignas(MIRE_GATE_ALIGN) uint32_t after_lanes; /* unused */
    _Atomic uint32_t awaits;                        /* lane 0 is MIRE_GATE_CHILD, or was until the kernel cleared it */
    _Atomic uint32_t names_count;                   /* names to be watched for; 0 while the gate is off */
    char names[MIRE_THREAD_NAMES_MAX][MIRE_GATE_NAME_BYTES];
    _Atomic uint32_t open;  /* mire__gate_open has been called, mire__gate_stop has not */
    _Atomic uint32_t *wake; /* this and the next two: written by open, before `open` */
    void (*on_child)(void *context);
    void *context;
    int waits;                            /* of each thread at first; written by open, before `open` */
    uint32_t pid;                         /* the owner of `left`: a vforked child has the same memory */
    _Atomic(_Atomic uint64_t *) left;     /* receives the time when the program ends itself; NULL: none */
    _Atomic(_Atomic uint32_t *) left_how; /* receives enum mire__left; NULL: none */
    void (*on_exec)(uint64_t now_ns);     /* see mire__gate_on_exec; NULL: nobody asked */
    _Atomic uint32_t leaving;             /* threads that may be storing there */
    _Atomic uint32_t executing;           /* threads in exec: no signal may be sent */
    _Atomic uint32_t sending;             /* a thread may be sending one */
};
extern struct gates mire__gates;

/* The calling thread's words; NULL: it is not watched. */
struct gate *mire__gate_as_own(void);
void mire__gate_as_set_own(struct gate *gate);

/* Give free words to the calling thread, which is watched from now on. NULL: all are taken. Signal handler: yes. */
struct gate *mire__gate_as_take(uint64_t begun_ns, const char *name);

/* The calling thread is watched no longer: store the end of its open turn. */
void mire__gate_as_keep_last(struct gate *gate);

/* Watch the calling thread if its name is one of the given names. Signal handler: yes. */
struct gate *mire__gate_as_look_for_name(void);

/*
 * Is it a wait, a look from inside the work, or does it have to ask first? `turn` is the gate's. Sets gate->usual: to
 * NULL if its call is not known. Signal handler: yes.
 */
enum mire__wait mire__gate_as_counts(struct gate *gate, enum mire__wait_length length, struct gate_call call,
                                     uint64_t turn);

/*
 * Of a wait that began with gate->tried_ns: did it sleep? Then its call is known from now on; the outermost one is
 * row 0. Signal handler: yes.
 */
void mire__gate_as_try_ends(struct gate *gate);

/*
 * Open the gate, once the hooks are ready for it.
 *   waits  of each thread at first: MIRE_WAITS_ALL, or MIRE_WAITS_MARKED where the system has no hooks and its loops
 *          report their turns
 */
void mire__gate_publish(const struct gate_options *options, int waits);

/* In a forked child: its only thread may start again. */
void mire__gate_as_forked(void);

#endif
