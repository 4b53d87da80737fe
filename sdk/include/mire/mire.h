/*
 * mire.h - finds what makes an app's main thread hang.
 *
 *     mire_options *options = mire_options_new();
 *     mire_options_set_app(options, "mapview", "8.0.38");
 *     mire_options_set_server(options, "https://mire.example.com", "mk_...");
 *     mire_start(options);               on the main thread, once
 *     mire_options_free(options);
 *     ... run the main loop ...
 *     mire_stop(NULL);                   optional; exit does the same
 *
 * The thread that calls mire_start is watched; mire_watch_thread adds others. A watched thread is busy whenever it is
 * outside of a waiting call (poll, epoll_wait, select and similar calls). A thread that is busy for longer than the
 * threshold hangs. During a hang the library samples the thread's stack. When the hang ends, the library stores a
 * report, and sends it if a server is set. If the process dies during a hang, its next start makes the report.
 *
 * Errors: the library never prints and never aborts. If mire_start fails or was not called, every other function
 * returns at once and has no effect.
 * Strings are UTF-8. A function that takes a string copies it.
 * Thread end: if the thread that called mire_start ends (pthread_exit), watching ends as if by mire_stop. The library's
 * threads do not keep the process alive.
 * Signals: mire/exit.h lists the signals that the library handles, and how to disable each.
 * fork: a child process is unwatched until its first waiting call. From then on it is watched as a separate process.
 */
#ifndef MIRE_MIRE_H
#define MIRE_MIRE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MIRE_API __attribute__((visibility("default")))
#else
#define MIRE_API
#endif

/* Result of a call: 0 on success, otherwise a negative error code, and the call had no effect. */
enum mire_err {
    MIRE_OK = 0,
    MIRE_E_ARG = -1,     /* an argument is NULL, empty or malformed */
    MIRE_E_RANGE = -2,   /* a number is outside its documented range */
    MIRE_E_STATE = -3,   /* already started (mire_start), or not started (all other functions) */
    MIRE_E_MEMORY = -4,  /* out of memory */
    MIRE_E_STORE = -5,   /* the store directory cannot be created or written */
    MIRE_E_SYSTEM = -6,  /* the system refused a thread, a signal or a mapping */
    MIRE_E_TIMEOUT = -7, /* the time limit passed first (mire_flush), or the library is busy (mire_capture) */
    MIRE_E_FULL = -8,    /* a fixed limit is reached: 8 watched threads, 8 thread names */
    MIRE_E_FORMAT = -9   /* internal: a file on disk is damaged */
};

/*
 * The name of an error code ("MIRE_E_STORE"), and a sentence that explains it. Never NULL, for unknown codes either.
 * Ownership: the string is static.  Thread: any.  Signal handler: yes.
 */
MIRE_API const char *mire_err_name(enum mire_err err);
MIRE_API const char *mire_err_text(enum mire_err err);

/* The library's version, such as "1.2.3". Ownership: the string is static.  Thread: any.  Signal handler: yes. */
MIRE_API const char *mire_version(void);

/* Severity of a log line. */
enum mire_log_level { MIRE_LOG_ERROR = 1, MIRE_LOG_WARNING = 2, MIRE_LOG_INFO = 3 };

/*
 * Receives one line of the library's log.
 *
 *   context  the pointer given to mire_options_set_log
 *   text     the line, without a newline; valid until the callback returns
 *
 * Thread: the library calls it on its worker thread, and inside mire_start and mire_stop on the caller's thread.
 * The callback must not call mire_start or mire_stop.
 */
typedef void mire_log_fn(void *context, enum mire_log_level level, const char *text);

typedef struct mire_options mire_options;

/*
 * Create options with all defaults, and free them. mire_options_new returns NULL if memory is short; the functions
 * below then return MIRE_E_ARG, so that one check, of mire_start, is enough. mire_options_free(NULL) does nothing.
 *
 * Ownership: the caller owns the object. mire_start copies it, so it can be freed right after mire_start.
 * Thread: any, one at a time per object.
 */
MIRE_API mire_options *mire_options_new(void);
MIRE_API void mire_options_free(mire_options *options);

/*
 * Set the app's name and version. Required before mire_start.
 *
 *   name, version   1..128 bytes, no control characters
 *
 * Returns MIRE_OK, MIRE_E_ARG. A setter that fails leaves the options unchanged; this holds for all setters.
 */
MIRE_API enum mire_err mire_options_set_app(mire_options *options, const char *name, const char *version);

/*
 * Set the build, which distinguishes two builds of one version, and the release channel.
 *
 *   build    1..128 bytes, no control characters; default: the executable's build id
 *   channel  the same; "public" (default), "gray" or "internal". Without a rollout of your own, the server enables all
 *            "gray" and "internal" installations, and a fraction of the "public" ones
 *
 * Return MIRE_OK, MIRE_E_ARG.
 */
MIRE_API enum mire_err mire_options_set_build(mire_options *options, const char *build);
MIRE_API enum mire_err mire_options_set_channel(mire_options *options, const char *channel);

/*
 * Set the server that receives the reports. Without a server, reports stay in the store.
 *
 *   url   "http://" or "https://", host, optional port and path, 1..2048 bytes. Reports go to <url>/api/v1/reports
 *   key   the app's ingest key, 1..256 printable ASCII characters without spaces
 *
 * Returns MIRE_OK, MIRE_E_ARG.
 */
MIRE_API enum mire_err mire_options_set_server(mire_options *options, const char *url, const char *key);

/*
 * Set the store: the directory for unsent reports and for the state of running processes. The library creates it,
 * readable by its owner only. Several processes of one app may share it. Default: the first writable directory of
 * $XDG_STATE_HOME/mire/<app>, ~/.local/state/mire/<app> (on Apple's systems ~/Library/Caches/mire/<app>, which is in no
 * backup), /var/tmp/mire-<uid>/<app>.
 *
 *   path  1..4000 bytes
 *
 * Returns MIRE_OK, MIRE_E_ARG.
 */
MIRE_API enum mire_err mire_options_set_store(mire_options *options, const char *path);

/*
 * Set the duration from which a busy thread hangs, and the time between two stack samples.
 *
 *   threshold_ms  milliseconds, 250..60000, default 2000. Sets the four thresholds of mire_options_set_number at once
 *   period_ms     milliseconds, 1..60000, default 50
 *
 * Return MIRE_OK, MIRE_E_ARG, MIRE_E_RANGE.
 */
MIRE_API enum mire_err mire_options_set_threshold_ms(mire_options *options, uint32_t threshold_ms);
MIRE_API enum mire_err mire_options_set_period_ms(mire_options *options, uint32_t period_ms);

/* clang-format off */
/*
 * Set one parameter of the monitors. A limit of 0 disables its monitor.
 *
 *   name                default  bounds          meaning
 *   "foreground_ms"        2000  250..60000      hang threshold while the app is in the foreground, or has not called
 *                                                mire_set_foreground
 *   "background_ms"        2000  250..60000      hang threshold while the app is in the background
 *   "launch_ms"            2000  250..60000      hang threshold from the start of the process to the first waiting call
 *   "unanswered_ms"        2000  250..60000      hang threshold for a ping without an answer (mire/ping.h)
 *   "sample_from_ppm"    500000  0..1000000      share of the threshold after which sampling begins, in millionths
 *   "period_ms"              50  1..60000        time between two samples
 *   "cpu_percent"            80  0..100000       CPU limit, in percent of one processor, averaged over cpu_window_ms
 *   "cpu_window_ms"        5000  1000..60000
 *   "power_percent"          80  0..100000       CPU limit, in percent of one processor, averaged over power_window_ms
 *   "power_window_ms"     60000  5000..600000
 *   "disk_kib"           102400  0..16777216     disk limit: KiB read and written within disk_window_ms
 *   "disk_window_ms"      10000  1000..600000
 *   "frame_us"            16667  1000..100000    duration of one frame, for mire_frame_tick
 *   "frames_dropped"         30  0..10000        limit of dropped frames in one window
 *   "footprint_kib"           0  0..4294967295   memory limit: a larger footprint is reported (mire/memory.h)
 *   "pressure_ppm"       100000  0..1000000      memory pressure limit: the share of 10 s, in millionths, in which the
 *                                                system stalled for memory. Less than 1/20 of the memory limit left
 *                                                counts as well
 *   "baseline_ms"        600000  0..86400000     uptime at which a healthy process first reports its memory; the time
 *                                                to the next such report doubles
 *   "snapshot_ms"        300000  0..86400000     time between two memory snapshots, from which growth is computed
 *   "suppress_ms"         60000  0..3600000      rate limit per stack: after a report, events of the same stack are
 *                                                suppressed for this times 1, 1, 2, 3, 5, ... and only counted
 *   "daily_cap"              10  1..1000         rate limit per stack: reports in a day
 *   "budget_ppm"           5000  100..1000000    CPU limit of the library itself, in millionths of one processor, over
 *                                                a minute
 *   "budget_peak_ppm"     30000  1000..1000000   the same over a second. Beyond either limit, samples become rarer
 *
 * Returns MIRE_OK, MIRE_E_ARG (unknown name), MIRE_E_RANGE.
 */
/* clang-format on */
MIRE_API enum mire_err mire_options_set_number(mire_options *options, const char *name, uint32_t value);

/*
 * Watch a further thread, chosen by its name in the system (pthread_setname_np). Watching begins at the thread's next
 * waiting call; the library compares names at most once a second. See also mire_watch_thread.
 *
 *   name  1..15 bytes; at most 8 names
 *
 * Returns MIRE_OK, MIRE_E_ARG, MIRE_E_FULL.
 */
MIRE_API enum mire_err mire_options_add_thread(mire_options *options, const char *name);

/*
 * Set whether the launch of the process counts as busy time of the thread that calls mire_start.
 *
 *   watched  0: the loop ran before mire_start; the thread is busy since mire_start
 *            not 0: the loop did not run before; the thread is busy since the process started
 *
 * Default: busy since the process started, with one exception. If the process is older than "launch_ms", and the thread
 * used the CPU for less than half of that time, its loop has probably run already; then the thread is busy since
 * mire_start.
 *
 * Returns MIRE_OK, MIRE_E_ARG.
 */
MIRE_API enum mire_err mire_options_set_launch(mire_options *options, int watched);

/*
 * Set the fraction of installations that are watched. It holds until the first rollout document arrives from the
 * server, and for plugins that the document does not mention.
 *
 *   probability  0..1, default 1. Reports carry it; the server weights its counts by it if one of its rollouts has the
 *                same probability, otherwise each report counts once
 *
 * A hash of a random identifier in the store decides whether this installation is in; a larger fraction keeps all
 * installations that were in before. In an installation that is out, mire_start succeeds, nothing is watched, and the
 * server is still asked for the rollout.
 *
 * A rollout document can stop monitors while they run, and can change parameters of mire_options_set_number within
 * their bounds. Monitors that it enables begin at the next mire_start.
 *
 * Returns MIRE_OK, MIRE_E_ARG, MIRE_E_RANGE (also for not-a-number).
 */
MIRE_API enum mire_err mire_options_set_sampling(mire_options *options, double probability);

/*
 * Set the log callback; NULL, the default, disables the log.
 * Ownership: `context` must stay valid until mire_stop.  Returns MIRE_OK, MIRE_E_ARG.
 */
MIRE_API enum mire_err mire_options_set_log(mire_options *options, mire_log_fn *log, void *context);

/*
 * Start watching the calling thread. In the background the library also makes the reports of earlier runs that died.
 *
 * Returns MIRE_OK
 *         MIRE_E_ARG     options is NULL, mire_options_set_app was not called, or the server is plain http over a
 *                        network (mire_options_set_plain_http)
 *         MIRE_E_STATE   already started
 *         MIRE_E_MEMORY, MIRE_E_STORE, MIRE_E_SYSTEM
 * Thread: the one to watch, normally main.  Signal handler: no.
 * Effect on the process: two more threads, in which all signals are blocked.
 */
MIRE_API enum mire_err mire_start(const mire_options *options);

/*
 * Stop watching, store all pending data, and free all resources. exit() and the return from main do the same.
 *
 * mire_stop joins the library's threads. It waits at most about 100 ms for a transfer in progress, then cancels it, so
 * that the network never delays the end of a program. Unsent reports stay in the store for the next start; call
 * mire_flush first to wait for them. mire_start may be called again afterwards.
 *
 *   counts_out  receives the counts; all 0 unless the result is MIRE_OK. May be NULL
 *
 * Returns MIRE_OK, MIRE_E_STATE (not started).
 * Thread: any, one at a time; not inside a callback of the library.  Signal handler: no.
 */
struct mire_counts {
    uint64_t sent;    /* reports and session records that the server accepted from this process since mire_start */
    uint64_t kept;    /* reports that are in the store now, of all processes of the app */
    uint64_t dropped; /* reports that this process lost since mire_start; suppressed events are not counted here */
};
MIRE_API enum mire_err mire_stop(struct mire_counts *counts_out);

/*
 * Wait until all reports made so far are sent or dropped: those of hangs that have ended, and of calls of mire_capture
 * and mire_test that have returned. Reports that may not be sent (mire/delivery.h) are waited for as well.
 *
 *   timeout_ms  milliseconds, 0..600000; 0 returns at once
 *
 * Returns MIRE_OK, MIRE_E_STATE (not started), MIRE_E_RANGE, MIRE_E_TIMEOUT (reports are still unsent).
 * Thread: any; on a watched thread the wait counts as busy time.  Signal handler: no.
 */
MIRE_API enum mire_err mire_flush(uint32_t timeout_ms);

/*
 * Watch the calling thread as well, or stop watching it. At most 8 threads are watched at a time, including the thread
 * that called mire_start. Watching ends with the thread, with mire_unwatch_thread, or with mire_stop.
 *
 *   name  the thread's name in reports, 1..15 bytes; NULL: its name in the system
 *
 * Return MIRE_OK (also if there was nothing to change), MIRE_E_ARG, MIRE_E_STATE (not started), MIRE_E_FULL.
 * Thread: the one to watch.  Signal handler: no.
 */
MIRE_API enum mire_err mire_watch_thread(const char *name);
MIRE_API enum mire_err mire_unwatch_thread(void);

/*
 * Tell the library whether the app is in the foreground. Reports carry the state, and it selects the hang threshold.
 * It is unknown until the first call, and survives mire_stop.
 *
 *   foreground  0: background; not 0: foreground
 *
 * Thread: any.  Signal handler: yes.
 */
MIRE_API void mire_set_foreground(int foreground);

/*
 * Change one parameter of mire_options_set_number at run time, until mire_stop. A hang that is being sampled keeps its
 * threshold.
 *
 * Returns MIRE_OK, MIRE_E_ARG (unknown name), MIRE_E_RANGE, MIRE_E_STATE (not started).
 * Thread: any.  Signal handler: no.
 */
MIRE_API enum mire_err mire_set_number(const char *name, uint32_t value);

/*
 * Mark the turns of a loop whose waiting call the library does not know. Call mire_loop_enter when a turn begins and
 * mire_loop_leave when it ends: the thread is busy between the two, and idle outside. Waiting calls that the library
 * knows keep counting as idle.
 *
 * A loop that is neither marked, nor pinged (mire/ping.h), nor waits in a known call looks like one endless launch. The
 * library watches it for one minute: if the process is killed in that minute, the next start reports the hang. After
 * the minute the library ignores the thread until it waits.
 *
 * Cost: two stores and one read of the processor's counter.
 * Thread: a watched one; the calls have no effect on others.  Signal handler: no.
 */
MIRE_API void mire_loop_enter(void);
MIRE_API void mire_loop_leave(void);

/*
 * Choose the waiting calls in which the calling thread is idle. By default every waiting call counts as idle, also one
 * inside a turn, for example for an answer from the network; a hang in such a wait is then missed. mire/glib.h and
 * mire/uv.h make this choice for GLib and libuv.
 *
 *   which  MIRE_WAITS_ALL     every waiting call (default)
 *          MIRE_WAITS_MARKED  no waiting call, only marks and pings. For loops that are marked around their wait
 *          0 or more          an epoll descriptor: waits on this descriptor, and marks
 *
 * The choice holds until the thread is no longer watched.
 * Thread: a watched one, outside of a wait; the call has no effect on others.  Signal handler: no.
 */
enum { MIRE_WAITS_ALL = -1, MIRE_WAITS_MARKED = -2 };
MIRE_API void mire_loop_set_waits(int which);

/*
 * Make a report of the current stacks of the calling thread and of the watched threads, when the app itself has noticed
 * a problem. At most "daily_cap" reports per stack and day are sent; further ones are counted. mire_test makes a report
 * that is exempt from all limits, to check the path to the dashboard.
 *
 *   name  the problem's name on the dashboard, 1..63 bytes; longer names are cut
 *
 * Returns MIRE_OK
 *         MIRE_E_ARG      name is NULL or empty
 *         MIRE_E_STATE    not started
 *         MIRE_E_TIMEOUT  another thread is in this function, or the library is busy with another report; no report
 * Cost: the caller waits until the stacks are taken, usually less than 1 ms, at most 200 ms.
 * Thread: any.  Signal handler: no.
 */
MIRE_API enum mire_err mire_capture(const char *name);
MIRE_API enum mire_err mire_test(void);

/*
 * Tell the library that a frame was drawn. The library counts dropped frames in windows of 10 s. A window with at least
 * "frames_dropped" (mire_options_set_number) makes a report, with the stacks of the calling thread during the gaps.
 *
 *   when_ns  time of the frame, CLOCK_MONOTONIC nanoseconds. 0: the animation pauses, and no frame is due before the
 *            next call. A gap of more than a second counts as a pause too, except within a scene
 *
 * Cost: about 10 ns.  Thread: any, one at a time for this and the next two functions.  Signal handler: no.
 */
MIRE_API void mire_frame_tick(uint64_t when_ns);

/*
 * On iOS: have the library itself call mire_frame_tick for each frame of the display while the user scrolls, from
 * mire_start to mire_stop, by a CADisplayLink that is paused otherwise. Off by default. No effect on other systems.
 *
 * Returns MIRE_OK, MIRE_E_ARG (options is NULL).
 */
MIRE_API enum mire_err mire_options_set_display(mire_options *options, int watches);

/*
 * Begin and end a scene: an animation that should be smooth, such as a scroll or a transition. A scene is a window of
 * its own: every gap between its begin and its end counts, and its report carries its name. A scene that begins inside
 * another one discards the other one without a report.
 *
 *   name  1..63 bytes, longer names are cut; NULL or "" stands for "scene"
 */
MIRE_API void mire_scene_begin(const char *name);
MIRE_API void mire_scene_end(void);

#ifdef __cplusplus
}
#endif
#endif
