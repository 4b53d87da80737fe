/*
 * inside.h - a report while it is resolved. Inside symbolicate/ only.
 */
#ifndef MIRE_SYMBOLICATE_INSIDE_H
#define MIRE_SYMBOLICATE_INSIDE_H

#include "symbolicate/symbolicate.h"
#include "java/retrace.h"

#define MIRE_PLACE_NAME 4096                 /* bytes of a function's name as shown */
#define MIRE_NAMES_NS   UINT64_C(1000000000) /* processor time for names of a report that take long */

struct chain { /* locations of one frame, innermost first */
    uint32_t first;
    uint32_t count;
};

struct outlined { /* of a wire node whose frame is an outline: what it stands for */
    bool known;
    struct chain chain; /* the frame that called it, at the location it was moved out of; none: it is left out */
    uint32_t under;     /* below this wire node */
};

struct symbolicate_job {
    struct arena *arena;
    const struct report *report;
    uint64_t now_ms;
    struct chain *chains;      /* per frame */
    struct outlined *outlined; /* per wire node; NULL: there is no outline */
    struct resolved_location *locations;
    size_t location_count;
    size_t place_room;
    size_t unresolved;
    uint64_t names_ns; /* left for names that take long */
    struct symbolicate_missing *missing;
    size_t missing_count;
};

struct where { /* the image of a frame */
    const char *name;
    const char *build; /* its build id, as hexadecimal digits; "" if it has none */
    uint64_t base;     /* what its module's addresses count from */
};

/* Room for one location more, with zeros; NULL: no memory. */
struct resolved_location *symbolicate_add(struct symbolicate_job *job);

/* The frames of one image of Java. */
struct java_image {
    int32_t image;
    const uint32_t *order; /* numbers of its frames */
    size_t count;
    struct retrace *retrace; /* NULL: there is no mapping */
    struct where where;
    bool missing; /* set: a mapping would name them better */
};

/* Resolve them, and the nodes of those that are outlines. 0 or a fault. */
int symbolicate_java(struct symbolicate_job *job, struct java_image *java);

/* Locations of the frames order[0..count), which are rows of a script. 0 or a fault. */
int symbolicate_script(struct symbolicate_job *job, const struct report_image *image, const uint32_t *order,
                       size_t count);

#endif
