/*
 * inside.h - the state of a report during symbolication. Inside symbolicate/ only.
 */
#ifndef MIRE_SYMBOLICATE_INSIDE_H
#define MIRE_SYMBOLICATE_INSIDE_H

#include "symbolicate/symbolicate.h"
#include "java/retrace.h"

#define MIRE_PLACE_NAME 4096                 /* bytes of a function's name as shown */
#define MIRE_NAMES_NS   UINT64_C(1000000000) /* processor time for the slow names of one report */

struct chain { /* locations of one frame, innermost first */
    uint32_t first;
    uint32_t count;
};

struct outlined { /* a wire node whose frame is an outline, and its replacement */
    bool known;
    struct chain chain; /* the calling frame, at the location before R8 moved the code; none: the node is left out */
    uint32_t under;     /* the parent: a wire node */
};

struct symbolicate_job {
    struct arena *arena;
    const struct report *report;
    uint64_t now_ms;
    struct chain *chains;      /* per frame */
    struct outlined *outlined; /* per wire node; NULL: the report has no outline */
    struct resolved_location *locations;
    size_t location_count;
    size_t place_room;
    size_t unresolved;
    uint64_t names_ns; /* left for slow names */
    struct symbolicate_missing *missing;
    size_t missing_count;
};

struct where { /* the image of a frame */
    const char *name;
    const char *build; /* its build id, in hexadecimal; "" without one */
    bool system;       /* its file says that it is a library of Apple's systems */
    uint64_t base;     /* subtracted from an offset of the report to get an address of the file */
};

/* Make room for one more location, zeroed; NULL: no memory. */
struct resolved_location *symbolicate_add(struct symbolicate_job *job);

/* The frames of one image of Java. */
struct java_image {
    int32_t image;
    const uint32_t *order; /* their numbers */
    size_t count;
    struct retrace *retrace; /* NULL: the mapping is missing */
    struct where where;
    bool missing; /* set if a mapping would give better names */
};

/* Resolve these frames, and the nodes of outlines among them. 0 or a fault. */
int symbolicate_java(struct symbolicate_job *job, struct java_image *java);

/* Locations of the frames order[0..count), which are rows of a script. 0 or a fault. */
int symbolicate_script(struct symbolicate_job *job, const struct report_image *image, const uint32_t *order,
                       size_t count);

/* After every frame has its chain: the nodes, samples, threads, choices and memory stacks of the report, with a node for each
 * inlined call. 0 or a fault. */
int symbolicate_trie(struct resolved *out, const struct symbolicate_job *job);

#endif
