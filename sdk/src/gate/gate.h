/*
 * gate.h - records when a thread is busy and when it is idle.
 *
 *     poll() called        -> idle      the thread waits for work
 *     poll() returned      -> busy      a new turn begins, since now
 *
 * Waiting calls reach the gate through hooks: patched into the modules' GOTs (libmire), or found first by the loader
 * (libmire-preload.so). Each watched thread has its own words, numbered like its lane in the blackbox. For other
 * threads a call costs one thread-local load more.
 *
 * The gate's words are a global, because hooks have no context argument.
 */
#ifndef MIRE_GATE_GATE_H
#define MIRE_GATE_GATE_H

#include "base/base.h"
#include "platform/ticks.h"

/* The maximal wait of a waiting call. A program that checks for a key during work waits for no time, or hardly any. */
#define MIRE_WAIT_SHORT_MS 2
enum mire__wait_length {
    MIRE_WAIT_LONG,
    MIRE_WAIT_SHORT, /* MIRE_WAIT_SHORT_MS at most */
    MIRE_WAIT_LOOK,  /* not at all */
    MIRE_WAIT_ASKED  /* long, and nothing is there yet: it has asked */
};

/* The outcome of a call that may wait. */
enum mire__wait {
    MIRE_WAIT_COUNTS, /* the thread is idle in it */
    MIRE_WAIT_NESTED, /* it belongs to the work, or lies inside another wait */
    MIRE_WAIT_ASKS    /* a long one from deep inside the work: begin again, with MIRE_WAIT_ASKED, if nothing is there */
};

/* Identifies a call: two waits of one loop have the same caller at the same depth of the stack. */
struct gate_call {
    uintptr_t from;  /* return address */
    uintptr_t frame; /* of the called function: larger is further out */
};
/* The call of the enclosing function. It needs no frame pointer, which is unknown for a sleeping thread. */
#define MIRE_CALL_HERE ((struct gate_call){(uintptr_t)__builtin_return_address(0), (uintptr_t)__builtin_dwarf_cfa()})

#define MIRE_KNOWN_CALLS 4 /* remembered calls that have slept */

/* A consistent copy of a watched thread's words. */
struct gate_view {
    uint64_t turn;        /* grows with every change; odd: busy, even: idle */
    uint64_t since_ticks; /* busy: begin of the turn */
    uint64_t begun_turn;  /* not 0: this turn began at begun_ns, before the gate was open; its ticks are not valid */
    uint64_t begun_ns;
    uint64_t ended_turn; /* the last turn with a stored end, 0: none; its begin and its end */
    uint64_t ended_since_ticks;
    uint64_t end_ns;
    uint32_t kind; /* source of the last change: 0 none yet, 1 a waiting call, 2 a mark, 3 a ping */
    uint32_t tid;
    uint64_t ours;         /* as mire__gate_ours */
    bool all_count;        /* every wait counts as the loop's: the app has not named its waits */
    struct gate_call wait; /* idle: the present call; busy: the last call; zeros: a mark */
};

struct gate_options {
    _Atomic uint32_t *wake;     /* futex word of the check thread, static; raised and woken when a thread comes to be
                                   watched, when it is parked and a turn begins, when a turn ends whose end was asked for */
    _Atomic uint64_t *left_ns;  /* set to the time when the program ends itself by _exit, exec or their like; 0 again if
                                   that fails. Borrowed until mire__gate_stop; may be NULL */
    _Atomic uint32_t *left_how; /* the same, set to enum mire__left, abort among them */
    void (*on_child)(void *context); /* called in a forked child on the first waiting call of its only thread, if it was
                                        forked while the gate was open; may be NULL */
    void *context;
    const char (*names)[MIRE_GATE_NAME_BYTES]; /* threads of these names are watched from their next waiting call on */
    uint32_t names_count;                      /* 0..MIRE_THREAD_NAMES_MAX */
};

/* Open the gate: from now on threads can be watched, at first those with given names. */
void mire__gate_open(const struct gate_options *options);

/*
 * Watch the calling thread, busy from now on.
 *
 *   begun_ns  not 0: busy since then; CLOCK_MONOTONIC
 *   name      the thread's name; NULL or "": its name in the system
 *
 * Returns its lane, 0..MIRE_WATCHED_MAX-1; -1 if the gate is closed, or MIRE_WATCHED_MAX threads are watched. A watched
 * thread keeps its lane, turn and name.
 */
int mire__gate_enter(uint64_t begun_ns, const char *name);

/* Stop watching the calling thread. False: it was not watched. */
bool mire__gate_exit(void);

/*
 * Watch no thread yet: the calling thread's first waiting call calls `start`, once, which may call mire__gate_open. For
 * a process that may be too short-lived for a check thread. Arguments as on_child above.
 */
void mire__gate_await(void (*start)(void *context), void *context);

/*
 * From now on call `notify` before the process executes another program, with the time, and with 0 after an execution
 * that failed or at an exit. `notify` is signal-safe. Thread: before any other.
 */
void mire__gate_on_exec(void (*notify)(uint64_t now_ns));

/* Stop watching all threads. Hooks stay, without effect. */
void mire__gate_stop(void);

/* Is this a forked child that has not started again? */
bool mire__gate_in_child(void);

/* Copy a lane's words. False: the lane has no thread. Thread: check thread, as the next six. */
bool mire__gate_look(struct gate_view *out, uint32_t lane);

/* The end of the turn, if it was stored, of a thread that is no longer watched, which may have left in it. False: it
 * was not stored. */
bool mire__gate_look_last(struct gate_view *out, uint32_t lane, uint64_t turn);

/* The calls that have slept, the outermost first, with the number of each. Returns how many there are. */
uint32_t mire__gate_calls(struct gate_call out[MIRE_KNOWN_CALLS], uint64_t counts[MIRE_KNOWN_CALLS], uint32_t lane);

/* Grows with every mire__gate_as_ours_begin; the lowest bits are the number of open ones. Thread: any. */
#define MIRE_OURS_DEPTH 0xffu
uint64_t mire__gate_ours(uint32_t lane);

/* An address in the C library that has the waiting calls. */
uintptr_t mire__gate_libc(void);

/* This descriptor is a terminal: reads of it wait for the user. Descriptors from 64 on are ignored. Thread: any. */
void mire__gate_know_terminal(uint64_t fd);

/* The watched thread's given name; "": none. Borrowed while the lane has a thread. */
const char *mire__gate_name(uint32_t lane);

/*
 * Before the check thread sleeps without a deadline: have every lane in `lanes` (a bit each) wake it at the next turn.
 * Returns the lanes that are busy already, which will not.
 */
uint32_t mire__gate_park(uint32_t lanes);

/*
 * keep_end: have the end of the current turn stored, as always for a thread's first turn and for a turn that woke the
 * check thread. watch_end: also be woken by the end. False: the turn has ended already.
 */
void mire__gate_keep_end(uint32_t lane);
bool mire__gate_watch_end(uint32_t lane, uint64_t turn);
void mire__gate_unwatch(uint32_t lane);

/* Free the lane of a dead thread; or of a living one, which leaves the lane at its next pass (dismiss). */
void mire__gate_release(uint32_t lane);
void mire__gate_dismiss(uint32_t lane);

/*
 * Around a waiting call, on any thread; effective on a watched one, for waits that count, see mire_loop_set_waits. A
 * short wait or look counts while no call has slept yet. Then it counts in calls that have slept (the loop's, and those
 * of loops inside its callbacks), and if it is no deeper in the stack than the outermost of them. A long wait elsewhere
 * has to ask first: an answer within MIRE_WAIT_SHORT_MS, such as a server's to a request of the work, ends no turn. In
 * one turn of a loop that has waited often, 64 such calls may do so. Before that, the second one with the same caller
 * counts, because it may be a loop that finds something each time.
 *   on    the epoll descriptor, otherwise MIRE_WAITS_ALL
 *   call  identifies the call
 * Pass begin's result to end, except MIRE_WAIT_ASKS, which has no end. errno is kept. Signal handler: yes.
 */
enum mire__wait mire__gate_as_wait_begin(int on, enum mire__wait_length length, struct gate_call call);
void mire__gate_as_wait_end(enum mire__wait wait);

/*
 * Around a call that ends the program if it succeeds; see left_ns of struct gate_options. No effect in a child,
 * including a vforked one. Thread: any. Signal handler: yes.
 */
void mire__gate_as_leave(enum mire__left how);
void mire__gate_as_stay(void);

/*
 * Around sending a signal to a thread of this process, on one thread at a time. False: a thread is in exec, and no
 * signal may be sent; do not call end then.
 */
bool mire__gate_send_begin(void);
void mire__gate_send_end(void);

/*
 * Around work of the library on a thread of the program. It may sleep there, which is no wait of the loop: the turn
 * continues. Pass begin's result to end. errno is kept.
 */
bool mire__gate_as_ours_begin(void);
void mire__gate_as_ours_end(bool begun);

/* Marks: see mire_loop_enter in mire.h. Signal handler: yes. */
void mire__gate_as_mark_enter(void);
void mire__gate_as_mark_leave(void);

/*
 * For a loop that reports its turns itself (run_loop.h): another turn begins, also within one; and the loop waits. The
 * thread's first turn, its launch, goes on until the loop waits. Signal handler: yes.
 */
void mire__gate_as_turn_begin(void);
void mire__gate_as_turn_end(void);

/* See mire_loop_set_waits in mire.h. */
void mire__gate_as_set_waits(int waits);

/* The calling thread's loop has answered a ping. This ends its launch, if it has neither waits nor marks. */
void mire__gate_as_answered(void);

/* The calling thread's lane; -1: it is not watched. Signal handler: yes. */
int mire__gate_as_lane(void);

/* Wake the check thread, while the gate is open. Signal handler: yes. */
void mire__gate_as_wake(void);

/*
 * Hook the waiting calls in every loaded module; mire__patch_refresh hooks those of modules loaded since.
 * Returns MIRE_OK, MIRE_E_FULL, MIRE_E_SYSTEM (this C library has none of them).
 * Thread: as mire__patch_add, and never the check thread.
 */
enum mire_err mire__gate_patch(void);

/* Unhook all. Thread: as mire__gate_patch. */
void mire__gate_unpatch(void);

#endif
