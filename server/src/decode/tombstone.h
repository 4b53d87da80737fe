/*
 * tombstone.h - crash reports of Android's debuggerd and of xCrash. Inside decode/ only.
 *
 *     tombstone.c        the protobuf of Android 12 and later (system/core, debuggerd/proto/tombstone.proto)
 *     tombstone_text.c   the text of any version, and xCrash's, whose ANR files have the runtime's dump inside (anr.h)
 *
 * The crashed thread becomes the event's, with one sample; the others stay threads.
 */
#ifndef MIRE_DECODE_TOMBSTONE_H
#define MIRE_DECODE_TOMBSTONE_H

#include "decode/backtrace.h"
#include "decode/decode.h"

struct tombstone_crash {
    uint64_t pid, tid;
    struct fact signal, code, address;
    const char *signal_name; /* "SIGSEGV" */
    const char *message;     /* of abort, or the exception */
    uint64_t wall_ms;        /* 0: unknown */
    struct fact uptime_ms;
    bool java;
};

/* A thread of the tombstone. */
struct tombstone_thread {
    uint64_t tid;
    const char *name;
    uint32_t node;
};

/* Make the event of it, and the report's threads. */
void tombstone_finish(struct build *build, const struct tombstone_crash *crash, const struct tombstone_thread *threads,
                      size_t count);

enum decode_outcome tombstone_decode(struct report *out, struct arena *arena, struct decode_fault *fault,
                                     const char *bytes, size_t len);
enum decode_outcome tombstone_text_decode(struct report *out, struct arena *arena, struct decode_fault *fault,
                                          const char *bytes, size_t len);

#endif
