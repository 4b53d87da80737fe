/*
 * capture.h - the check thread: notices that a watched thread is busy for too long, takes its stacks, and says when
 * the hang is over.
 *
 *     idle ---> parked on a futex, no wake-ups; a loop that turns is looked at five times a second
 *     busy ---> sleeps until the turn is MIRE_MICRO_NS old, then until it is old enough to be sampled, then a sample
 *               every period until the turn ends
 *
 * How a sample is taken: a thread that sleeps in the kernel is read where it is, uninterrupted; a running one is sent a
 * signal whose handler copies its registers and stack and returns. Unwinding happens on the check thread, from the
 * copy.
 */
#ifndef MIRE_CAPTURE_CAPTURE_H
#define MIRE_CAPTURE_CAPTURE_H

#include "base/base.h"
#include "capture/settings.h"
#include "ring/blackbox.h"

struct watch_options {
    struct capture_settings settings; /* within their bounds, as mire__settings_set and _wish see to */
    struct blackbox *box;             /* borrowed until mire__watch_stop; its facts are filled in */
    uint64_t begun_ns; /* the calling thread is busy since then, with its launch; 0: since now. CLOCK_MONOTONIC */
    const char (*names)[MIRE_GATE_NAME_BYTES]; /* threads to watch by their names, see gate.h */
    uint32_t names_count;

    /*
     * A thread has come to a lane: is there room for its records? Else it is not watched. Called on the check thread.
     * May be NULL.
     */
    bool (*on_lane)(void *context, uint32_t lane);

    /*
     * A hang that counts has ended: the lane's record is ENDED, images and ring are filled. Called on the check thread,
     * which writes nothing until it returns; so build the report and seal it here. Afterwards the record is NONE again.
     * May use the heap. Must not call mire__watch_stop.
     */
    void (*on_hang)(void *context, struct blackbox *box, uint32_t lane);

    /*
     * A loop has turned; called on the check thread at most once a second, never while nothing happens. Must return
     * at once. The place to tell a worker to run mire__patch_refresh. May be NULL.
     */
    void (*on_turning)(void *context);

    /*
     * The process has used CPU time; called on the check thread about twice a second while it does, never while it
     * idles. Must return at once. May be NULL.
     */
    void (*on_use)(void *context);

    /*
     * The thread that started the watch has ended and nobody was told: by a system call of its own making, or a seccomp
     * filter. Called on the check thread, which sees it once that thread seems busy for MIRE_MICRO_NS, and which ends
     * afterwards. To be answered by mire__watch_stop on another thread, so that the process can end with the last
     * thread of the app. May be NULL.
     */
    void (*on_gone)(void *context);

    /*
     * A forked child has made its first waiting call; called on its only thread, once per child. May be NULL.
     */
    void (*on_child)(void *context);

    void *context; /* handed to the six */

    _Atomic uint32_t *left_how; /* see gate.h; may be NULL */
};

/*
 * Watch the calling thread, busy from this moment until its first waiting call, and let others be watched: those that
 * call mire__gate_enter, and those whose names are given.
 *
 *   options  borrowed for the call
 *
 * Returns MIRE_OK, MIRE_E_STATE (running already), MIRE_E_MEMORY, MIRE_E_SYSTEM (no thread, no signal, or no way to
 * read own memory safely); after a failure nothing has changed.
 * Thread: the one to watch. In a forked child it may be called again without mire__watch_stop: what was inherited is
 * forgotten, not freed.
 */
enum mire_err mire__watch_start(const struct watch_options *options);

/*
 * Stop watching: a hang going on that counts is ended (hang.exited = 1) and handed to on_hang; the check thread is
 * joined and the signal's handler put back. Returns when no callback can come any more. Thread: any but the check
 * thread. Not after fork in a child that has not started anew: there it does nothing.
 */
void mire__watch_stop(void);

/* Wait until the check thread has opened what it reads of /proc: right after a start; 1 s at most. */
void mire__watch_await_begun(void);

/*
 * Have the check thread end, and nothing else: what it has noticed stays, and goes on with another thread. For a moment
 * in which the process is to have no thread of ours. Thread: as mire__watch_stop, which may follow as well.
 *
 * Resuming returns MIRE_OK, MIRE_E_MEMORY, MIRE_E_SYSTEM: no thread is to be had; it stays paused.
 */
void mire__watch_pause(void);
enum mire_err mire__watch_resume(void);

/*
 * In a program that has confined itself (platform/filter.h): have the check thread end, without a system call, and come
 * back when it has, or at until_ns. Thread: one of the program's. In a forked child it does nothing.
 */
void mire__watch_end_quietly(uint64_t until_ns);

/* Have the check thread play a round now. Thread: any, while it runs. */
void mire__watch_wake(void);

/*
 * Go by other settings from the check thread's next round on; what is open already keeps its threshold. Without a
 * watch: does nothing. Thread: any; of two at a time each number is one or the other's.
 *
 *   apply     all of them, each within its bounds
 *   set       one, by its name. Returns as mire__settings_set
 *   settings  what was asked for last, by either or by mire__watch_start
 */
void mire__watch_apply(const struct capture_settings *settings);
enum mire_err mire__watch_set(const char *name, uint32_t value);
void mire__watch_settings(struct capture_settings *out);

/* Is the app in the foreground? Kept over stop and start; unknown at first. Thread: any. */
void mire__watch_set_foreground(enum mire__ground ground);

/* Is there no hang that has ended, and nothing that the app has captured, still to be handed to on_hang, or just being?
 * Thread: any. */
bool mire__watch_settled(void);

#endif
