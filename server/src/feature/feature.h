/*
 * feature.h - resolved stacks -> the feature of an event: who is to blame, in which scene, what kind of trouble, and
 * why.
 *
 *     root                         weighted call tree of all samples, functions merged
 *      `- main            100 %
 *         `- aeMain       100 %    dispatch: hands events out
 *            `- readQuery  99 %    <- Caller2: the outermost app frame inside the loop's dispatch
 *               `- call    98 %
 *                  `- keys 97 %    <- Caller1: the deepest app frame of the path that holds 60 % of its parent
 *                     |- dictNext 41 %      (containers, allocators, libc ... are passed over)
 *                     `- match    38 %
 *
 * Where samples are several threads', the tree is everybody's; if nobody's function dominates it, that of the thread
 * with most time. A capture or a scene that the app has a name for has that name as Caller2.
 *
 * Where app functions have time and none is on the path, or only a main that just calls them, the feature is "diffuse
 * at" its end, and the document has no verdict. Shares are of all samples, also of those that have no stack or are left
 * out; with too many without a stack nobody is blamed; `why` says what is missing. Where no stack has app functions,
 * the report is of the kind system; where most stacks wait for events, of the kind idle: nobody is to blame, and
 * neither is ranked. A hang without stacks has its thread as its scene, and why it has none.
 *
 * Blame follows time, not the innermost frame of one stack, so one cause has one key however its leaves vary.
 * Everything here is computed from the arguments alone.
 */
#ifndef MIRE_FEATURE_FEATURE_H
#define MIRE_FEATURE_FEATURE_H

#include "base/arena.h"
#include "feature/names.h"
#include "feature/rules.h"
#include "model/category.h"
#include "model/resolved.h"

#define MIRE_FEATURE_KEY   16 /* bytes */
#define MIRE_FEATURE_SHARE 60 /* percent of its parent's time that each step of the blamed path holds */
#define MIRE_FEATURE_LEAST 30 /* percent of all sampled time: what holds less is told from chance by nothing */

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
    MIRE_REASON_BYTES,   /* of memory: too many bytes, too many objects, it grows */
    MIRE_REASON_OBJECTS,
    MIRE_REASON_GROWTH,
    MIRE_REASON_COUNT
};

struct caller {
    const char *function;    /* as people read it; "(no stack)" if there is none */
    const char *image;       /* base name; "" if unknown */
    const char *location;    /* file:line, or "" */
    const char *build;       /* of a function without a name: build id of its module, if that has one; else NULL */
    const struct name *name; /* of a function of the stack: what enters the key, and why; else NULL */
};

struct feature {
    struct caller caller1;
    struct caller caller2;
    enum event_category category;
    enum event_reason reason;
    const char *topic;               /* of an exception or a crash: its type, which is the reason; "" of all else */
    const char *subject;             /* of memory: the category there is too much of; "" of all else */
    uint64_t subject_bytes;          /* what it holds */
    uint8_t key[MIRE_FEATURE_KEY];   /* BLAKE2b-128 of the parts */
    uint8_t blame[MIRE_FEATURE_KEY]; /* of the parts without the scene */
    bool joins;                      /* the scene was worked out, and may be one of several of one trouble */
    int rules_version;
    const char *holder;    /* who held the lock waited for: "writer in flushPages"; "" if nobody is known */
    const char *why;       /* how it came to that, for people; also in the document */
    int32_t tree;          /* level 3: hash of the calls from the thread's entry to Caller1; 0: no stack */
    uint32_t stack;        /* innermost node of the stack that stands for it; 0: none */
    int32_t stack_caller1; /* frame of it that is Caller1, counted from the innermost; -1: it is not in it */
};

/*
 * Find the feature.
 *
 *   out    texts lie in the arena
 *   doc    what symbolicate made; this fills the locations' roles, `hot`, `verdict`, `holder` and `parts`
 *   report the same report
 *
 * Returns 0, or MIRE_FAULT_MEMORY.
 */
int feature_find(struct feature *out, struct arena *arena, struct resolved *doc, const struct report *report,
                 const struct rules *rules);

/*
 * Why a location was kept or passed over, in words: "system: line 345 of the pack linux_c 3, libc.so* read".
 *
 *   out    always ended by NUL
 *   doc    after feature_find
 */
void feature_explain(char *out, size_t room, const struct resolved *doc, const struct resolved_location *location);

/* What the feature's reason is called in rows and API: the topic, else the reason's name; of zeros "unknown". */
const char *feature_reason(const struct feature *feature);

/* The name in rows and API; static. */
const char *reason_name(enum event_reason reason);

#endif
