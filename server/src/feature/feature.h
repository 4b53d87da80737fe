/*
 * feature.h - resolved stacks -> the feature of an event: the function to blame, its scene, the kind and the reason.
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
 * Samples of several threads are one tree of all threads; if no function dominates it, the tree of the thread with the
 * most time counts. A capture or a scene with a name from the app has that name as Caller2.
 *
 * If app functions have time and none is on the path, or only a main that calls them, the feature is "diffuse at" the
 * path's end, and the document has no verdict. Shares are of all samples, also of those without a stack and those that
 * are left out. With too many samples without a stack no function is blamed, and `why` names the loss. If no stack has
 * app functions, the event has the kind system; if most stacks wait for events, the kind idle. Neither has a function
 * to blame, and neither is ranked. A hang without stacks has its thread and the reason for the loss as its scene.
 *
 * Blame follows time, not the innermost frame of one stack, so one cause has one key although its leaves vary. Pure:
 * the result depends on the arguments alone.
 */
#ifndef MIRE_FEATURE_FEATURE_H
#define MIRE_FEATURE_FEATURE_H

#include "base/arena.h"
#include "feature/names.h"
#include "feature/reason.h"
#include "feature/rules.h"
#include "feature/seen.h"
#include "model/category.h"
#include "model/resolved.h"

#define MIRE_FEATURE_KEY   16 /* bytes */
#define MIRE_FEATURE_SHARE 60 /* percent of its parent's time that each step of the blamed path has */
#define MIRE_FEATURE_LEAST 30 /* percent of all sampled time: a smaller share may be chance */

struct caller {
    const char *function;    /* for people; "(no stack)" without one */
    const char *image;       /* base name; "" if unknown */
    const char *location;    /* file:line, or "" */
    const char *build;       /* of a function without a name: build id of its module, or NULL */
    const struct name *name; /* of a function of the stack: its name in the key, and the reasons; otherwise NULL */
};

struct feature {
    struct caller caller1;
    struct caller caller2;
    enum event_category category;
    enum event_reason reason;
    const char *topic;               /* type of an exception or a crash, which is its reason; otherwise "" */
    const char *subject;             /* memory: the category to blame; otherwise "" */
    uint64_t subject_bytes;          /* its held bytes */
    uint64_t above_bytes;            /* of these, above the healthy median; all without one */
    uint8_t key[MIRE_FEATURE_KEY];   /* BLAKE2b-128 of the parts */
    uint8_t blame[MIRE_FEATURE_KEY]; /* of the parts without the scene */
    bool joins;                      /* the scene was computed, so it may be one of several scenes of one cause */
    int rules_version;
    const char *holder;    /* holder of the lock: "writer in flushPages"; "" if unknown */
    const char *why;       /* the explanation, for people; also in the document */
    int32_t tree;          /* level 3: hash of the calls from the thread's entry to Caller1; 0: no stack */
    uint32_t stack;        /* innermost node of the stack that stands for the event; 0: none */
    int32_t stack_caller1; /* index of Caller1 in it, from the innermost; -1: not there */
};

/*
 * Find the feature.
 *
 *   out    texts lie in the arena
 *   doc    what symbolicate made; this fills the locations' roles, `hot`, `verdict`, `holder` and `parts`
 *   report the same report
 *   seen   answers of rules that earlier reports got, in the same arena (seen.h); NULL: none are shared
 *
 * Returns 0, or MIRE_FAULT_MEMORY.
 */
int feature_find(struct feature *out, struct arena *arena, struct resolved *doc, const struct report *report,
                 const struct rules *rules, struct rules_seen *seen);

/*
 * Why a location was kept or passed over, in words: "system: line 345 of the pack linux_c 3, libc.so* read".
 *
 *   out    always ended by NUL
 *   doc    after feature_find
 */
void feature_explain(char *out, size_t room, const struct resolved *doc, const struct resolved_location *location);

/* The reason of a feature in rows and API: the topic, otherwise the reason's name; for zeros "unknown". */
const char *feature_reason(const struct feature *feature);

#endif
