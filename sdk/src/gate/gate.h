/*
 * gate.h - where busy and idle are learnt.
 *
 *     poll() called        -> idle      the thread waits for work
 *     poll() returned      -> busy      a new turn begins, since now
 *
 * Waiting calls reach the gate through hooks: patched into the modules' GOTs (libmire), or by being found first
 * (libmire-preload.so). Each watched thread has words of its own, numbered like its lane in the blackbox; a thread
 * without any passes through at the cost of one thread-local load.
 *
 * The gate's words are the SDK's one global besides core's: hooks have no argument through which they could be handed
 * anything.
 */
#ifndef MIRE_GATE_GATE_H
#define MIRE_GATE_GATE_H

#include "base/base.h"
#include "platform/ticks.h"

/* How long a waiting call may wait. A program that works and looks for a key meanwhile asks for no time, or hardly any.
 */
#define MIRE_WAIT_SHORT_MS 2
enum mire__wait_length {
    MIRE_WAIT_LONG,
    MIRE_WAIT_SHORT, /* MIRE_WAIT_SHORT_MS at most */
    MIRE_WAIT_LOOK,  /* not at all */
    MIRE_WAIT_ASKED  /* long, and nothing is there yet: it has asked */
};

/* What becomes of a call that may wait. */
enum mire__wait {
    MIRE_WAIT_COUNTS, /* the thread is idle in it */
    MIRE_WAIT_NESTED, /* it belongs to the work, or lies inside another wait */
    MIRE_WAIT_ASKS    /* a long one from deep inside the work: begin again, with MIRE_WAIT_ASKED, if nothing is there */
};

/* Which call it is: two waits of one loop have the same caller at the same depth of the stack. */
struct gate_call {
    uintptr_t from;  /* return address */
    uintptr_t frame; /* of the called function: larger is further out */
};
/* Of the function that it is written in, which needs no frame pointer for it: a thread asleep does not show one. */
#define MIRE_CALL_HERE ((struct gate_call){(uintptr_t)__builtin_return_address(0), (uintptr_t)__builtin_dwarf_cfa()})

#define MIRE_KNOWN_CALLS 4 /* calls that have slept are known, this many of them */

/* One look at a watched thread. */
struct gate_view {
    uint64_t turn;        /* grows with every change; odd: busy, even: idle */
    uint64_t since_ticks; /* busy: when the turn began */
    uint64_t begun_turn;  /* not 0: this one began at begun_ns, before there was a gate; its ticks do not count */
    uint64_t begun_ns;
    uint64_t ended_turn; /* the last turn of which the end is known, 0 if none; its begin and its end */
    uint64_t ended_since_ticks;
    uint64_t end_ns;
    uint32_t kind; /* how busy was learnt last: 0 nothing yet, 1 a waiting call, 2 a mark, 3 a ping */
    uint32_t tid;
    uint64_t ours;         /* as mire__gate_ours */
    bool all_count;        /* every wait counts as the loop's: the app has not said which ones are */
    struct gate_call wait; /* idle: in which call; busy: after which; zeros if by a mark */
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

/* Let threads be watched. None is yet but by its name. */
void mire__gate_open(const struct gate_options *options);

/*
 * Watch the calling thread, busy since now.
 *
 *   begun_ns  since then, if not 0; on CLOCK_MONOTONIC
 *   name      what to call it; NULL or "": by the name the system has for it
 *
 * Returns its lane, 0..MIRE_WATCHED_MAX-1, -1 if the gate is not open or MIRE_WATCHED_MAX are watched already. A thread
 * that is watched already keeps its lane, its turn and its name.
 */
int mire__gate_enter(uint64_t begun_ns, const char *name);

/* The calling thread is not to be watched any more. False: it was not. */
bool mire__gate_exit(void);

/*
 * Watch nobody yet: the calling thread's first waiting call calls `start`, once, which may lead to mire__gate_open.
 * For a process that may be too short-lived to be worth a check thread. Arguments as on_child's above.
 */
void mire__gate_await(void (*start)(void *context), void *context);

/* No thread is watched any more. Hooks stay in place and pass through. */
void mire__gate_stop(void);

/* Is this a forked child that has not started anew? */
bool mire__gate_in_child(void);

/* False: the lane has no thread. Thread: check thread, as the next five. */
bool mire__gate_look(struct gate_view *out, uint32_t lane);

/* Calls that have slept and how often each was made; the first is the outermost. Returns how many there are. */
uint32_t mire__gate_calls(struct gate_call out[MIRE_KNOWN_CALLS], uint64_t counts[MIRE_KNOWN_CALLS], uint32_t lane);

/* Grows with every mire__gate_as_ours_begin; its lowest bits are how many of them have not ended. Thread: any. */
#define MIRE_OURS_DEPTH 0xffu
uint64_t mire__gate_ours(uint32_t lane);

/* An address in the C library that the waiting calls go on to. */
uintptr_t mire__gate_libc(void);

/* That descriptor is a terminal: a read of it waits for the user from now on. Those from 64 on are not kept. Thread:
 * any. */
void mire__gate_know_terminal(uint64_t fd);

/* The watched thread's given name; "" if none. Borrowed while the lane has a thread. */
const char *mire__gate_name(uint32_t lane);

/*
 * Before the check thread sleeps for good: every lane in `lanes` (a bit each) shall wake it with its next turn. Returns
 * those that are busy already, which will not.
 */
uint32_t mire__gate_park(uint32_t lanes);

/*
 * Have the end of the current turn kept for later looks: that of a thread's first turn, and of one that woke the check
 * thread, is. watch_end is to be woken by it as well. False: it has ended already; if it was kept, that is known.
 */
void mire__gate_keep_end(uint32_t lane);
bool mire__gate_watch_end(uint32_t lane, uint64_t turn);
void mire__gate_unwatch(uint32_t lane);

/* The lane's thread is gone: the lane is free. Dismissed, it is there: the lane is free once it has passed. */
void mire__gate_release(uint32_t lane);
void mire__gate_dismiss(uint32_t lane);

/*
 * Around a waiting call, on any thread; only a watched one has an effect, and only a wait that counts, see
 * mire_loop_set_waits. A call that hardly waits counts as long as no wait is known to have slept; then it does at the
 * calls that have slept (the loop's, and those of loops inside its callbacks), and no deeper in the stack than the
 * outermost of them. A long wait anywhere else has to ask first: an answer that comes within MIRE_WAIT_SHORT_MS, such
 * as a server's to a request of the work, ends no turn. The second such call from one place in one turn counts: a loop
 * that finds something each time. on    the epoll descriptor it waits on, else MIRE_WAITS_ALL call  whose it is begin's
 * result goes to end, but for MIRE_WAIT_ASKS, which has no end. errno stays as it was. Signal handler: yes.
 */
enum mire__wait mire__gate_as_wait_begin(int on, enum mire__wait_length length, struct gate_call call);
void mire__gate_as_wait_end(enum mire__wait wait);

/*
 * Around a call that ends the program if it succeeds; see left_ns of struct gate_options. Without effect in a child,
 * also one that shares this process's memory. Thread: any. Signal handler: yes.
 */
void mire__gate_as_leave(enum mire__left how);
void mire__gate_as_stay(void);

/*
 * Around sending a signal to a thread of this process, on one thread at a time. False: the program is about to be
 * replaced by exec, and nothing may be sent; end is not due then.
 */
bool mire__gate_send_begin(void);
void mire__gate_send_end(void);

/*
 * Around work of Mire's own on the program's thread, which may sleep in it: that is no wait of the thread's loop, and
 * the turn goes on. begin's result goes to end. errno stays as it was.
 */
bool mire__gate_as_ours_begin(void);
void mire__gate_as_ours_end(bool begun);

/* Marks: see mire_loop_enter in mire.h. Signal handler: yes. */
void mire__gate_as_mark_enter(void);
void mire__gate_as_mark_leave(void);

/* See mire_loop_set_waits in mire.h. */
void mire__gate_as_set_waits(int waits);

/* The calling thread's loop has come to a ping. Where nothing else is ever known of it, this ends its launch. */
void mire__gate_as_answered(void);

/* The calling thread's lane; -1: it is not watched. Signal handler: yes. */
int mire__gate_as_lane(void);

/* Have the check thread look at everything. While the gate is open. Signal handler: yes. */
void mire__gate_as_wake(void);

/*
 * Hook the waiting calls of every module loaded now; those of modules loaded since with mire__patch_refresh.
 * Returns MIRE_OK, MIRE_E_FULL, MIRE_E_SYSTEM (this libc lacks what it takes).
 * Thread: as mire__patch_add, and never the check thread.
 */
enum mire_err mire__gate_patch(void);

/* Put every table back. Thread: as mire__gate_patch. */
void mire__gate_unpatch(void);

#endif
