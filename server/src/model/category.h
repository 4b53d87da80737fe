/*
 * category.h - the kinds of trouble that a report can be about, as rows and API name them.
 *
 *     hang background launch killed threads   a watched thread did not come back: somebody waited
 *     frames                                  the display froze: somebody waited
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
    MIRE_CATEGORY_KILLED,     /* the process was killed, or crashed, before the event ended */
    MIRE_CATEGORY_THREADS,    /* the thread wanted the processor, and too many others did too */
    MIRE_CATEGORY_CPU,
    MIRE_CATEGORY_POWER, /* the same on average over a long time */
    MIRE_CATEGORY_DISK,
    MIRE_CATEGORY_FRAMES,
    MIRE_CATEGORY_FOOM,   /* the kernel killed the process for its memory */
    MIRE_CATEGORY_MEMORY, /* the process lived, and reported its memory */
    MIRE_CATEGORY_CRASH,  /* a signal, or an exception nobody caught, ended the process */
    MIRE_CATEGORY_CUSTOM,
    MIRE_CATEGORY_TEST,   /* never ranked with the others */
    MIRE_CATEGORY_SYSTEM, /* nor these */
    MIRE_CATEGORY_IDLE,
    MIRE_CATEGORY_COUNT
};

/* The name in rows and API; static. */
const char *category_name(enum event_category category);

/* The kind with that name; false if there is none. */
bool category_named(enum event_category *out, const char *name);

/* Is the subject the whole process, not one thread? */
bool category_is_of_process(enum event_category category);

/* Is the kind counted apart, and listed on request only? */
bool category_is_apart(enum event_category category);

/* May an event of this kind be without a function to blame? Not a memory event, a crash, or an event that the app asked
 * for. */
bool category_may_be_nobodys(enum event_category category);

/* Milliseconds that a user waited in the event itself: 0 for kinds in which no user waits. */
uint64_t category_waited_ms(enum event_category category, const struct report *report);

#endif
