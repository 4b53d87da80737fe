/*
 * ksreport.h - a report of KSCrash, or of Tencent Matrix for iOS, which is a variant of it: its sender, its
 * modules, its threads. Inside decode/ only.
 */
#ifndef MIRE_DECODE_KSREPORT_H
#define MIRE_DECODE_KSREPORT_H

#include "decode/apple.h"
#include "decode/formats.h"

struct ks {
    struct foreign *foreign;
    const struct json *json;
    struct build *b;
    struct apple_modules modules;
    uint32_t report, system, crash, error; /* places; 0: absent */
    const char *id;                        /* report.id; "" */
    struct fact wall_ms;                   /* report.timestamp */
    uint32_t *frames;                      /* room for one stack */
    size_t frame_room;
};

/* Head, device, process, modules. False: out of memory. */
bool ks_begin(struct ks *ks, struct foreign *foreign, struct build *b, const struct json *json);

struct ks_stack { /* a stack of a thread */
    uint32_t node;
    uint32_t count;          /* frames as written */
    uint32_t skipped;        /* frames that the producer left out */
    const uint32_t *repeats; /* repeat_count of each, innermost first; NULL: unknown */
};

/* The stack of the thread at `at` (an object with backtrace.contents). */
void ks_stack(struct ks_stack *out, struct ks *ks, uint32_t at);

/* The frame of an object of a backtrace. */
uint32_t ks_frame(struct ks *ks, uint32_t at, bool caller);

/* A thread's row, with its stack and its place in the file as its number; `role` is borrowed. */
void ks_thread(struct ks *ks, uint32_t at, const char *role);

/* The type of error, and the section exit. */
void ks_crash(struct ks *ks);

/* The event and its threads, by the table of kscrash.c. After ks_begin. */
enum decode_outcome kscrash_rest(struct ks *ks);

/* Ends the report and hands it on. `own` distinguishes it from others with the same report.id. */
enum decode_outcome ks_end(struct ks *ks, const char *own);

/* User, tags and the state of app and device. */
void ks_context(struct ks *ks);

#endif
