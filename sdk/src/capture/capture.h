/*
 * capture.h - the check thread: it notices that a watched thread is busy for too long, samples its stack, and reports
 * the end of the hang.
 *
 *     idle ---> the check thread sleeps on a futex, without wake-ups; a turning loop is checked five times a second
 *     busy ---> it sleeps until the turn is MIRE_MICRO_NS old, then until sampling begins, then for one period at a
 *               time until the turn ends
 *
 * A sample of a thread that sleeps in the kernel is copied from outside, without interrupting it. A running thread gets
 * a signal, whose handler copies its registers and stack. The check thread unwinds the copy.
 */
#ifndef MIRE_CAPTURE_CAPTURE_H
#define MIRE_CAPTURE_CAPTURE_H

#include "base/base.h"
#include "capture/settings.h"
#include "ring/blackbox.h"

struct watch_options {
    struct capture_settings settings; /* within their bounds: set by mire__settings_set and _wish */
    struct blackbox *box;             /* borrowed until mire__watch_stop; its facts are set */
    uint64_t begun_ns; /* CLOCK_MONOTONIC: the calling thread is busy with its launch since then; 0: since now */
    const char (*names)[MIRE_GATE_NAME_BYTES]; /* names of threads to watch, see gate.h */
    uint32_t names_count;

    /*
     * A thread enters a lane. Returns whether there is disk for its events; if not, it is not watched. Called on the
     * check thread. May be NULL.
     */
    bool (*on_lane)(void *context, uint32_t lane);

    /*
     * An event that counts has ended: the lane's event is ENDED, images and ring are complete. Called on the check
     * thread, which writes nothing until the callback returns, and sees no hang that begins and ends meanwhile.
     * Afterwards the event is NONE. May use the heap. Must not call mire__watch_stop.
     */
    void (*on_event)(void *context, struct blackbox *box, uint32_t lane);

    /*
     * A loop has turned. Called on the check thread at most once a second, and never while the program idles. Must
     * return at once. Used to have the worker hook new modules. May be NULL.
     */
    void (*on_turning)(void *context);

    /*
     * The process has used CPU time. Called on the check thread about twice a second, and never while the process
     * idles. Must return at once. May be NULL.
     */
    void (*on_use)(void *context);

    /*
     * The thread that started the watch has ended unnoticed: by a direct system call, or by a seccomp filter. Called on
     * the check thread, MIRE_MICRO_NS into the thread's last turn; the check thread then ends. The receiver must call
     * mire__watch_stop on another thread, so that the process can end with the app's last thread. May be NULL.
     */
    void (*on_gone)(void *context);

    /*
     * A forked child makes its first waiting call. Called on its only thread, once per child. May be NULL.
     */
    void (*on_child)(void *context);

    void *context; /* for the six callbacks */

    _Atomic uint32_t *left_how; /* see gate.h; may be NULL */
};

/*
 * Start to watch the calling thread, which is busy until its first waiting call. Further threads are watched if they
 * call mire__gate_enter, or if their names are given.
 *
 *   options  borrowed for the call
 *
 * Returns MIRE_OK, MIRE_E_STATE (running already), MIRE_E_MEMORY, MIRE_E_SYSTEM (no thread, no signal, or no way to
 * read own memory safely); after a failure nothing has changed.
 * Thread: the one to watch. A forked child may call it without mire__watch_stop: inherited state is abandoned, not
 * freed.
 */
enum mire_err mire__watch_start(const struct watch_options *options);

/*
 * Stop watching. An open event that counts is closed with exited = 1 and given to on_event, the check thread is joined,
 * and the signal's action restored. On return no callback runs, and none will. No effect in a forked child that has not
 * started again. Thread: any but the check thread.
 */
void mire__watch_stop(void);

/* Wait until the check thread has opened its files of /proc, right after a start; 1 s at most. */
void mire__watch_await_begun(void);

/*
 * End the check thread and keep its state, then continue with a new thread: for a moment in which the process must not
 * have a thread of the library. Thread: as mire__watch_stop, which may follow instead of resume.
 *
 * Resume returns MIRE_OK, or MIRE_E_MEMORY or MIRE_E_SYSTEM (no thread; the watch stays paused).
 */
void mire__watch_pause(void);
enum mire_err mire__watch_resume(void);

/*
 * In a program that has confined itself (platform/filter.h): end the check thread without a system call. Returns when
 * it has ended, or at until_ns. No effect in a forked child. Thread: one of the program's.
 */
void mire__watch_end_quietly(uint64_t until_ns);

/* Wake the check thread for a round. Thread: any, while it runs. */
void mire__watch_wake(void);

/*
 * Change settings, from the check thread's next round on; an open event keeps its threshold. No effect without a watch.
 * Thread: any; if two threads set different values, each number is one of the two.
 *
 *   apply     all settings, each within its bounds
 *   set       one, by its name. Returns as mire__settings_set
 *   settings  the values set last, by either function or by mire__watch_start
 */
void mire__watch_apply(const struct capture_settings *settings);
enum mire_err mire__watch_set(const char *name, uint32_t value);
void mire__watch_settings(struct capture_settings *out);

/* Is the app in the foreground? Kept over stop and start; unknown at first. Thread: any. */
void mire__watch_set_foreground(enum mire__ground ground);

/* Have all ended events and captures been given to on_event, and has it returned? Thread: any. */
bool mire__watch_settled(void);

#endif
