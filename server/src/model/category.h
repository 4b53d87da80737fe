/*
 * category.h - the kinds of trouble a report can tell of, as rows and API name them.
 *
 *     hang background launch killed threads   a watched thread did not come back: somebody waited
 *     frames                                  the display stood still: somebody waited
 *     cpu power disk                          the process used too much: nobody waited for it
 *     foom memory                             it was killed for the memory it held, or held much: the same
 *     crash                                   it ended by its own fault: the same
 *     custom test                             the app asked for a report
 *     system idle                             one of the first two rows, but nobody is to blame: no stack has code
 *                                             of the app, or most wait for events
 */
#ifndef MIRE_MODEL_CATEGORY_H
#define MIRE_MODEL_CATEGORY_H

#include "model/report.h"

enum event_category {
    MIRE_CATEGORY_HANG,
    MIRE_CATEGORY_LAUNCH,     /* before the loop waited for the first time */
    MIRE_CATEGORY_BACKGROUND, /* while nobody looked */
    MIRE_CATEGORY_KILLED,     /* the process was killed, or crashed, before it was over */
    MIRE_CATEGORY_THREADS,    /* the thread wanted the processor, and too many others did too */
    MIRE_CATEGORY_CPU,
    MIRE_CATEGORY_POWER, /* the same on average over a long time */
    MIRE_CATEGORY_DISK,
    MIRE_CATEGORY_FRAMES,
    MIRE_CATEGORY_FOOM,   /* the kernel took the process away for the memory it held */
    MIRE_CATEGORY_MEMORY, /* it lived, and told what it held */
    MIRE_CATEGORY_CRASH,  /* a signal, or an exception nobody caught, ended the process */
    MIRE_CATEGORY_CUSTOM,
    MIRE_CATEGORY_TEST,   /* never ranked with the others */
    MIRE_CATEGORY_SYSTEM, /* nor these */
    MIRE_CATEGORY_IDLE,
    MIRE_CATEGORY_COUNT
};

/* The name in rows and API; static. */
const char *category_name(enum event_category category);

/* The kind of that name; false if there is none. */
bool category_named(enum event_category *out, const char *name);

/* Is the whole process the subject, not one thread? */
bool category_is_of_process(enum event_category category);

/* Is it counted apart, and in no list unless asked for? */
bool category_is_apart(enum event_category category);

/* May it turn out to be nobody's? Not what is about memory, a crash, or what the app asked for. */
bool category_may_be_nobodys(enum event_category category);

/* Milliseconds that somebody waited in the event itself: 0 for kinds in which nobody did. */
uint64_t category_waited_ms(enum event_category category, const struct report *report);

#endif
