/*
 * anr.h - Android's dump of all threads ("----- pid N at ..."), as it lies in /data/anr, in the trace of an
 * ApplicationExitInfo, in DropBox and in xCrash's files. Inside decode/ only.
 *
 *     Subject: Input dispatching timed out (... Waited 5002ms for MotionEvent(...))
 *     ----- pid 20232 at 2025-07-17 10:31:01.609265466+0200 -----
 *     Cmd line: com.example.app
 *     DALVIK THREADS (38):
 *     "main" prio=5 tid=1 Blocked
 *       | sysTid=20232 ...
 *       at com.example.Work.step(Work.kt:151)
 *       - waiting to lock <0x0b7a434d> (a java.lang.String) held by thread 3
 *
 * Unknown lines are skipped: versions and makers of devices add lines.
 */
#ifndef MIRE_DECODE_ANR_H
#define MIRE_DECODE_ANR_H

#include "decode/backtrace.h"
#include "decode/decode.h"

struct anr_thread {
    const char *name;
    uint64_t art_tid; /* 0: the thread is not attached to the runtime */
    uint64_t sys_tid; /* 0: unknown */
    char state;       /* the kernel's letter */
    uint32_t node;
    bool waits;       /* to enter a monitor */
    uint64_t monitor; /* 0: unknown */
    uint64_t held_by; /* art_tid; 0: unknown */
    int32_t owner;    /* row of the thread that holds it; -1: not known */
};

struct anr_lock { /* "- locked <0x...>" */
    uint64_t monitor;
    size_t thread;
};

struct anr {
    struct build build;
    struct backtrace_modules modules;
    struct build_list threads, locks;
    uint32_t frames[MIRE_BACKTRACE_MAX];
    size_t frame_count;
    size_t deeper;        /* frames beyond that */
    size_t kernel_frames; /* not kept */
    uint64_t pid;
    size_t main; /* row; SIZE_MAX: none yet */
};

/*
 * Read thread headers, their attributes, frames and locks up to the end of the process's dump.
 *
 *   lines  behind the last line read
 */
void anr_read_threads(struct anr *anr, struct text_lines *lines);

/* Find the holder of each monitor, and put the threads into the report; the main thread becomes the event's. */
void anr_finish_threads(struct anr *anr);

/* Main's stack becomes the event's only sample, `at_ms` after the event's begin. */
void anr_add_sample(struct anr *anr, uint32_t duration_ms);

struct anr_subject {
    const char *subject;
    uint64_t end_ms; /* when the dump was taken */
    bool end_known, zone_known;
};

/* The event: when it began, how long it lasted, and main's stack. After anr_finish_threads. */
void anr_set_event(struct anr *anr, const struct anr_subject *subject);

/* Take facts about device and process from Android's lines. A fact that the report has already stays. */
void anr_fingerprint(struct build *build, const char *fingerprint);
void anr_process(struct build *build, const char *name);
const char *anr_arch(const char *abi); /* static; "" if unknown */

/* Read such a file. */
enum decode_outcome anr_decode(struct report *out, struct arena *arena, struct decode_fault *fault, const char *bytes,
                               size_t len);

#endif
