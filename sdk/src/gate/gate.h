/*
 * gate.h - where busy and idle are learnt.
 *
 *     poll() called        -> idle      the thread waits for work
 *     poll() returned      -> busy      a new turn begins, since now
 *
 * Waiting calls reach the gate through hooks: patched into the modules' GOTs (libmire), or by being found first
 * (libmire-preload.so). Threads other than the watched one pass through at the cost of one thread-local load.
 *
 * The gate's words are the SDK's one global besides core's: hooks have no argument through which they could be handed
 * anything.
 */
#ifndef MIRE_GATE_GATE_H
#define MIRE_GATE_GATE_H

#include "base/base.h"

/* One look at the watched thread. */
struct gate_view {
    uint64_t turn;     /* grows with every change; odd: busy, even: idle */
    uint64_t since_ns; /* busy: when the turn began. Coarse clock, right to 4 ms */
    uint64_t end_ns;   /* idle, and asked for with mire__gate_watch_end: when the turn ended */
    uint32_t kind;     /* how busy was learnt last: 0 nothing yet, 1 a waiting call, 2 a mark */
};

/*
 * Make the calling thread the watched one, busy since now.
 *
 *   wake      futex word of the check thread, static; raised and woken when it is parked and a turn begins, or when a
 *             turn ends whose end was asked for
 *   left_ns   set to the time when the program ends itself by _exit, exec or their like; 0 again if that fails.
 * Borrowed until mire__gate_stop. May be NULL on_child  called in a forked child on the first waiting call of its only
 * thread; may be NULL
 */
void mire__gate_start(_Atomic uint32_t *wake, _Atomic uint64_t *left_ns, void (*on_child)(void *context),
                      void *context);

/*
 * Watch nobody yet: the calling thread's first waiting call calls `start`, once, which may lead to mire__gate_start.
 * For a process that may be too short-lived to be worth a check thread. Arguments as on_child's above.
 */
void mire__gate_await(void (*start)(void *context), void *context);

/* No thread is watched any more. Hooks stay in place and pass through. */
void mire__gate_stop(void);

/* Is this a forked child that has not started anew? */
bool mire__gate_in_child(void);

/* Thread: check thread. */
void mire__gate_look(struct gate_view *out);

/* Before the check thread sleeps for good: true if it may (the thread is idle); the next turn then wakes it. */
bool mire__gate_park(void);

/* Be woken when the current turn ends, and have its end timed. False: it has ended already. */
bool mire__gate_watch_end(uint64_t turn);
void mire__gate_unwatch(void);

/*
 * Around a waiting call, on any thread; only the watched one has an effect.
 *   begin's result goes to end: true if the wait lies inside another one (a signal handler that polls)
 * errno stays as it was. Signal handler: yes.
 */
bool mire__gate_as_wait_begin(void);
void mire__gate_as_wait_end(bool nested);

/*
 * Around a call that ends the program if it succeeds; see left_ns of mire__gate_start. Without effect in a child, also
 * one that shares this process's memory. Thread: any. Signal handler: yes.
 */
void mire__gate_as_leave(void);
void mire__gate_as_stay(void);

/* Marks: see mire_loop_enter in mire.h. Signal handler: yes. */
void mire__gate_as_mark_enter(void);
void mire__gate_as_mark_leave(void);

/*
 * Hook the waiting calls of every module loaded now; again (refresh) those of modules loaded since.
 * Returns MIRE_OK, MIRE_E_SYSTEM (this libc lacks what it takes); a module whose table cannot be written is left alone.
 * Thread: any but the check thread and, for refresh, the watched one: waits for the loader's lock.
 */
enum mire_err mire__gate_patch(void);
void mire__gate_refresh(void);

/* Put every table back. Thread: as mire__gate_patch. */
void mire__gate_unpatch(void);

#endif
