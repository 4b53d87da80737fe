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
 * The thread that calls mire_start is watched, and others if the app says so. A thread is busy whenever it is not
 * inside a waiting call (poll, epoll_wait, select and their kin); busy for longer than the threshold is a hang. While
 * it lasts its stack is sampled, and when it ends a report is stored, and sent if a server was given. A hang that the
 * process does not survive is reported by the next start.
 *
 * The library never prints, never aborts and never raises an error later than mire_start: after a failed start, or
 * without one, every call here returns at once and does nothing. Strings are UTF-8, copied by the call that takes them.
 *
 * The end of the thread that called mire_start (pthread_exit) ends watching like mire_stop, and the process lives no
 * longer than the app's own threads.
 *
 * Signals: see mire/exit.h for those that the library handles, and how to have it not.
 *
 * fork: the child is not watched until it waits in a poll call of its own; then it is watched as a process of its own.
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

/* What a call answers. 0 is success; what is below is why it did nothing. */
enum mire_err {
    MIRE_OK = 0,
    MIRE_E_ARG = -1,     /* an argument is NULL, empty, or not what the call takes */
    MIRE_E_RANGE = -2,   /* a number lies outside its documented range */
    MIRE_E_STATE = -3,   /* already started (mire_start), or not started (mire_stop, mire_flush) */
    MIRE_E_MEMORY = -4,  /* out of memory */
    MIRE_E_STORE = -5,   /* the store directory cannot be made or written */
    MIRE_E_SYSTEM = -6,  /* the system refused a thread, a signal or a mapping */
    MIRE_E_TIMEOUT = -7, /* reports are still waiting when the time is over (mire_flush) */
    MIRE_E_FULL = -8,    /* inside the library: no room; what did not fit is dropped and counted */
    MIRE_E_FORMAT = -9   /* inside the library: a file on disk is not what it should be */
};

/*
 * The code's own name ("MIRE_E_STORE"), and a sentence about it. An unknown code has both as well.
 * Result: static.  Thread: any.  Signal handler: yes.
 */
MIRE_API const char *mire_err_name(enum mire_err err);
MIRE_API const char *mire_err_text(enum mire_err err);

/* The library's version, "1.2.3". Static.  Thread: any.  Signal handler: yes. */
MIRE_API const char *mire_version(void);

/* How much a line of the log matters. */
enum mire_log_level { MIRE_LOG_ERROR = 1, MIRE_LOG_WARNING = 2, MIRE_LOG_INFO = 3 };

/*
 * Receives one line of the library's log, without newline.
 *
 *   context  what was given to mire_options_set_log
 *   text     borrowed until the callback returns
 *
 * Called on the library's worker thread, or on the caller's own inside mire_start and mire_stop. It must not call
 * mire_start or mire_stop.
 */
typedef void mire_log_fn(void *context, enum mire_log_level level, const char *text);

typedef struct mire_options mire_options;

/*
 * Options with every default set; NULL when memory is short, which every call below takes as MIRE_E_ARG.
 * Owned by the caller; mire_start copies what it needs, so they can be freed right after it. free(NULL) is fine.
 * Thread: one at a time per object.
 */
MIRE_API mire_options *mire_options_new(void);
MIRE_API void mire_options_free(mire_options *options);

/*
 * Which app this is. Needed before mire_start.
 *
 *   name, version   1..128 bytes, no control characters
 *
 * Returns MIRE_OK, MIRE_E_ARG. After a failure the options are as before. This holds for all setters.
 */
MIRE_API enum mire_err mire_options_set_app(mire_options *options, const char *name, const char *version);

/*
 * What tells two builds of one version apart (default: the executable's build id).
 * The release channel: "public" (default), "gray" or "internal". Unless the rollout says otherwise, the server lets all
 * installations of the last two be watched, and a share of the public.
 *
 *   build, channel  1..128 bytes, no control characters
 *
 * Return MIRE_OK, MIRE_E_ARG.
 */
MIRE_API enum mire_err mire_options_set_build(mire_options *options, const char *build);
MIRE_API enum mire_err mire_options_set_channel(mire_options *options, const char *channel);

/*
 * Where reports are sent. Without this call they stay in the store.
 *
 *   url   "http://" or "https://", host, optional port and path; reports go to <url>/api/v1/reports. 1..2048 bytes
 *   key   the app's ingest key, 1..256 printable ASCII characters without spaces
 *
 * Returns MIRE_OK, MIRE_E_ARG.
 */
MIRE_API enum mire_err mire_options_set_server(mire_options *options, const char *url, const char *key);

/*
 * The directory that keeps records and unsent reports. Made if absent, readable by its owner only. Processes of one app
 * may share it. Default, the first that can be written: $XDG_STATE_HOME/mire/<app>, ~/.local/state/mire/<app>,
 * /var/tmp/mire-<uid>/<app>.
 *
 *   path  1..4000 bytes
 *
 * Returns MIRE_OK, MIRE_E_ARG.
 */
MIRE_API enum mire_err mire_options_set_store(mire_options *options, const char *path);

/*
 * How long busy may last before it is a hang, and how often the stack is then sampled.
 *
 *   threshold_ms  250..60000, default 2000; for every kind of turn alike, see mire_options_set_number
 *   period_ms     1..60000, default 50
 *
 * Return MIRE_OK, MIRE_E_ARG, MIRE_E_RANGE.
 */
MIRE_API enum mire_err mire_options_set_threshold_ms(mire_options *options, uint32_t threshold_ms);
MIRE_API enum mire_err mire_options_set_period_ms(mire_options *options, uint32_t period_ms);

/* clang-format off */
/*
 * Change one of the numbers that watching goes by. A limit of 0 switches off what it limits.
 *
 *   name                default  bounds          what it is
 *   "foreground_ms"        2000  250..60000      the threshold of a turn while the app is in the foreground, or does
 *                                                not tell (mire_set_foreground)
 *   "background_ms"        2000  250..60000      the same while it is in the background
 *   "launch_ms"            2000  250..60000      the same from the process's start to the first wait
 *   "unanswered_ms"        2000  250..60000      the same of a ping that nobody answers (mire/ping.h)
 *   "sample_from_ppm"    500000  0..1000000      stacks are taken after this share of the threshold, in millionths
 *   "period_ms"              50  1..60000        between two stacks
 *   "cpu_percent"            80  0..100000       CPU too high: of one processor, over cpu_window_ms
 *   "cpu_window_ms"        5000  1000..60000
 *   "power_percent"          80  0..100000       CPU high on average: of one processor, over power_window_ms
 *   "power_window_ms"     60000  5000..600000
 *   "disk_kib"           102400  0..16777216     disk I/O too much: read and written, over disk_window_ms
 *   "disk_window_ms"      10000  1000..600000
 *   "frame_us"            16667  1000..100000    a frame's time, for mire_frame_tick
 *   "frames_dropped"         30  0..10000        dropped frames that make a record
 *   "footprint_kib"           0  0..4294967295   a footprint that is reported, where memory is noted (mire/memory.h)
 *   "pressure_ppm"       100000  0..1000000      the system stalls for want of memory this share of 10 s, or less than a
 *                                                20th of the limit is left: reported, where memory is noted
 *   "baseline_ms"        600000  0..86400000     a healthy process is reported after this, then after twice as long, ...
 *   "snapshot_ms"        300000  0..86400000     between two looks at memory that growth is counted from
 *   "anneal_ms"           60000  0..3600000      a stack just sent is only counted for this times 1, 1, 2, 3, 5, ...
 *   "daily_cap"              10  1..1000         records of one stack in a day
 *   "budget_ppm"           5000  100..1000000    the library's own CPU time, of one processor, over a minute
 *   "budget_peak_ppm"     30000  1000..1000000   the same over a second; beyond either, stacks are taken less often
 *
 * Returns MIRE_OK, MIRE_E_ARG (there is none of that name), MIRE_E_RANGE.
 */
/* clang-format on */
MIRE_API enum mire_err mire_options_set_number(mire_options *options, const char *name, uint32_t value);

/*
 * Watch another thread, by the name it has in the system (pthread_setname_np): from its next waiting call on. Names are
 * looked at once a second at most. See mire_watch_thread.
 *
 *   name  1..15 bytes; 8 names at most
 *
 * Returns MIRE_OK, MIRE_E_ARG, MIRE_E_FULL.
 */
MIRE_API enum mire_err mire_options_add_thread(mire_options *options, const char *name);

/*
 * Is the launch watched? By default the thread that calls mire_start is taken to be busy since the process started,
 * until its first waiting call; unless that is longer ago than "launch_ms" and the thread has computed for less than
 * half of it: then the app's loop may well have run before, and the thread is busy since mire_start.
 *
 *   watched  0: the loop has run before, the thread is busy since mire_start
 *            else: it has not, the thread is busy since the process started, whatever it did
 *
 * Returns MIRE_OK, MIRE_E_ARG.
 */
MIRE_API enum mire_err mire_options_set_launch(mire_options *options, int watched);

/*
 * The share of installations that are watched where no server says it: until the first rollout document has come, and
 * for plugins it is silent about. Which ones is decided by a hash of a random identifier kept in the store, so raising
 * the share keeps those that were in. An installation that is out starts successfully and watches nothing; it asks the
 * server for the rollout all the same.
 *
 * A rollout document can switch the watch off while it runs, and changes numbers of mire_options_set_number within
 * their bounds. What it switches on begins with the next mire_start.
 *
 *   probability  0..1, default 1; sent along, so that the server can weigh its counts
 *
 * Returns MIRE_OK, MIRE_E_ARG, MIRE_E_RANGE (also for not-a-number).
 */
MIRE_API enum mire_err mire_options_set_sampling(mire_options *options, double probability);

/* Who hears the log; NULL for nobody, the default. `context` is borrowed until mire_stop. Returns MIRE_OK, MIRE_E_ARG.
 */
MIRE_API enum mire_err mire_options_set_log(mire_options *options, mire_log_fn *log, void *context);

/*
 * Watch the calling thread from now on. Also turns what earlier runs left behind into reports.
 *
 *   options  borrowed for the call
 *
 * Returns MIRE_OK
 *         MIRE_E_ARG     options is NULL or mire_options_set_app was not called
 *         MIRE_E_STATE   already started
 *         MIRE_E_MEMORY, MIRE_E_STORE, MIRE_E_SYSTEM   nothing was started
 * Thread: the one to watch, normally main. Starts two threads with all signals blocked. Signal handler: no.
 */
MIRE_API enum mire_err mire_start(const mire_options *options);

/*
 * Stop watching, store what is known, give up sending and free everything. Waits for the library's threads, at most
 * some 100 ms for a transfer under way: the end of a program is never held up by the network. What is unsent stays in
 * the store for the next start; a program that rather waits calls mire_flush first. mire_start may follow.
 * Also done by exit() and by returning from main.
 *
 *   counts_out  what became of reports; zeros unless MIRE_OK; NULL is fine
 *
 * Returns MIRE_OK, MIRE_E_STATE when not started.
 * Thread: any, one at a time; not in a function that the library calls.  Signal handler: no.
 */
struct mire_counts {
    uint64_t sent;    /* reports and session records the server has taken from this process since mire_start */
    uint64_t kept;    /* that are in the store now, for the next start; of any process of the app */
    uint64_t dropped; /* that this process has lost since mire_start, for whatever reason; what was held back because
                         the same stack had just been told is not among them */
};
MIRE_API enum mire_err mire_stop(struct mire_counts *counts_out);

/*
 * Wait until the report of every hang that ended before the call, and of every mire_capture and mire_test that returned
 * before it, is sent or dropped. What may not be sent (mire/delivery.h) keeps it waiting.
 *
 *   timeout_ms  0..600000; 0 only asks
 *
 * Returns MIRE_OK, MIRE_E_STATE when not started, MIRE_E_RANGE, MIRE_E_TIMEOUT.
 * Thread: any but the watched one if its time matters: the wait counts as busy.  Signal handler: no.
 */
MIRE_API enum mire_err mire_flush(uint32_t timeout_ms);

/*
 * Watch the calling thread too: one more that draws or takes input, busy whenever it is not inside a waiting call.
 * Eight threads can be watched at a time, the one that called mire_start included. It is watched until it ends,
 * mire_unwatch_thread, or mire_stop.
 *
 *   name  what its reports call it, 1..15 bytes; NULL: the name it has in the system. Copied
 *
 * Return MIRE_OK (also if it is watched, or is not, already), MIRE_E_ARG, MIRE_E_STATE when not started, MIRE_E_FULL.
 * Thread: the one to watch.  Signal handler: no.
 */
MIRE_API enum mire_err mire_watch_thread(const char *name);
MIRE_API enum mire_err mire_unwatch_thread(void);

/*
 * Tell whether the app is in the foreground: every report says so, and a hang in the background has a threshold of its
 * own. Until the first call it is not known. Kept over mire_stop.
 *
 *   foreground  0: in the background; else in the foreground
 *
 * Thread: any.  Signal handler: yes.
 */
MIRE_API void mire_set_foreground(int foreground);

/*
 * Change a number of mire_options_set_number while watching, until mire_stop: the rollout of a version may. It holds
 * for what begins after it; a hang that is being sampled keeps its threshold.
 *
 * Returns MIRE_OK, MIRE_E_ARG, MIRE_E_RANGE, MIRE_E_STATE when not started.
 * Thread: any.  Signal handler: no.
 */
MIRE_API enum mire_err mire_set_number(const char *name, uint32_t value);

/*
 * Mark a loop by hand, where the thread waits in something the library does not know: call mire_loop_enter when a turn
 * of the loop begins and mire_loop_leave when it ends. Between the two the thread is busy, outside it is idle. From the
 * first call on, marks and the waiting calls that the library sees both count.
 *
 * A thread that neither waits nor marks seems busy for ever. If it is in its launch, that is watched for a minute: a
 * process killed meanwhile leaves a report of it, one that ends by itself does not, and after the minute the library
 * takes it for a program without a loop and lets it be until it waits. So mark, or ask (mire/ping.h), such a loop.
 *
 * Cost: two stores and a reading of the processor's counter.  Thread: a watched one; others are ignored.  Signal
 * handler: no.
 */
MIRE_API void mire_loop_enter(void);
MIRE_API void mire_loop_leave(void);

/*
 * Say which waits of the calling thread are its loop's. Unless told, every waiting call is taken for idleness, also one
 * inside a turn that waits for something else: an answer from the network, say. The hang that it is then goes unseen.
 * For GLib and libuv mire/glib.h and mire/uv.h do this.
 *
 *   which  MIRE_WAITS_ALL: every waiting call counts.
 *          MIRE_WAITS_MARKED: none does, only marks and pings tell; for a loop that is marked around its wait, or that
 *          waits in nothing the library knows.
 *          0 or more, an epoll descriptor: waits on it count, and marks.
 *
 * Holds until the watch of this thread ends; made anew, MIRE_WAITS_ALL. Thread: a watched one, after mire_start,
 * outside of a wait; others are ignored. Signal handler: no.
 */
enum { MIRE_WAITS_ALL = -1, MIRE_WAITS_MARKED = -2 };
MIRE_API void mire_loop_set_waits(int which);

/*
 * Report where the caller is now, and where the watched threads are: the app has noticed something by itself. Of one
 * stack daily_cap reports are sent in a day, the others are counted. mire_test makes a report that is always sent, to
 * see that all of the way to the dashboard works.
 *
 *   name  what the app calls it; 1..63 bytes, longer ones are cut
 *
 * Waits until the stacks are taken: usually a fraction of a millisecond, 200 ms at most.
 * Returns MIRE_OK
 *         MIRE_E_ARG      name is NULL or empty
 *         MIRE_E_STATE    not started
 *         MIRE_E_TIMEOUT  another thread is just calling it, or the library is busy with another report: nothing taken
 * Thread: any.  Signal handler: no.
 */
MIRE_API enum mire_err mire_capture(const char *name);
MIRE_API enum mire_err mire_test(void);

/*
 * Tell that a frame was shown, or drawn. Frames are counted in windows of 10 s; one in which "frames_dropped"
 * (mire_options_set_number) did not come makes a report, with the stacks of the ticking thread while they did not.
 *
 *   when_ns  CLOCK_MONOTONIC; 0: nothing moves for now, so that no frame is missed until the next call. More than a
 *            second without a frame is taken for that, except within a scene
 *
 * Cost: some ten nanoseconds.  Thread: one at a time, as the next two.  Signal handler: no.
 */
MIRE_API void mire_frame_tick(uint64_t when_ns);

/*
 * A scene: what the user should see move without a jerk, as a scroll or a transition. Its frames are counted by
 * themselves, every gap from begin to end, and reported under its name. A scene begun before the last one's end ends
 * that without a report.
 *
 *   name  1..63 bytes, longer ones are cut; NULL or "": "scene"
 */
MIRE_API void mire_scene_begin(const char *name);
MIRE_API void mire_scene_end(void);

#ifdef __cplusplus
}
#endif
#endif
