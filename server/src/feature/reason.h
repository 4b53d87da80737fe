/*
 * reason.h - why the thread did not get on. The door hands on the names; reason_find is inside feature/ only.
 */
#ifndef MIRE_FEATURE_REASON_H
#define MIRE_FEATURE_REASON_H

#include "feature/rules.h"
#include "model/resolved.h"

enum event_reason {
    MIRE_REASON_UNKNOWN,
    MIRE_REASON_CPU,
    MIRE_REASON_IO,
    MIRE_REASON_LOCK,
    MIRE_REASON_SLEEP,
    MIRE_REASON_WAIT,
    MIRE_REASON_PAGE_IN, /* for pages of files or swap to be read */
    MIRE_REASON_IPC,     /* for another process to answer */
    MIRE_REASON_IDLE,    /* the stacks wait for events: they were taken too late */
    MIRE_REASON_LATE,    /* hardly anybody ran, not the thread that watches either: frozen or starved */
    MIRE_REASON_BYTES,   /* memory: too many bytes, too many objects, growth */
    MIRE_REASON_OBJECTS,
    MIRE_REASON_GROWTH,
    MIRE_REASON_COUNT
};

/* The name in rows and API; static. */
const char *reason_name(enum event_reason reason);

/*
 * Weigh the scheduler state and the innermost classified frame of every sample, and the thread's CPU time.
 *
 *   classes  one a location
 */
enum event_reason reason_find(const struct resolved *doc, const struct report *report, const enum rule_class *classes);

#endif
