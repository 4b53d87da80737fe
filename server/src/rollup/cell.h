/*
 * cell.h - many events, or many session records, summed up: sums, lengths and installations of all of them, and of the
 * ones with each value of a facet.
 *
 *     event event event ...  ->  12 events, 3 installations, p95 2.1 s   model Pixel 7: 9 events, 2 installations, ...
 *                                                                        version 1.2.0: 4 events, ...
 *
 * Cells of several hours, issues or machines add up, in any order and grouping, but for the values of a facet beyond
 * MIRE_CELL_VALUES: those that come first are kept, the others are summed up in the value "\x7f" (MIRE_CELL_OTHERS). No
 * event can be taken out. Facets are marginal: no figure is of two facets together. Pure; one thread at a time.
 */
#ifndef MIRE_ROLLUP_CELL_H
#define MIRE_ROLLUP_CELL_H

#include "model/context.h"
#include "model/sketch.h"
#include "rollup/distinct.h"
#include "rollup/sessions.h"

#define MIRE_CELL_VALUES   256  /* of a facet */
#define MIRE_CELL_TEXT_MAX 1023 /* bytes of a value */
#define MIRE_CELL_OTHERS   "\x7f"

enum cell_facet {
    MIRE_FACET_VERSION, /* of the app */
    MIRE_FACET_OS,
    MIRE_FACET_OS_VERSION,
    MIRE_FACET_ARCH,
    MIRE_FACET_MODEL,
    MIRE_FACET_PROCESS,
    MIRE_FACET_HOLDER, /* of the lock waited for; events without one have no value */
    MIRE_FACET_CLASS,  /* of the device */
    MIRE_FACET_CHANNEL,
    MIRE_FACET_STATE,   /* foreground or background */
    MIRE_FACET_SCENE,   /* that the app told */
    MIRE_FACET_COUNTRY, /* that a proxy told */
    MIRE_FACET_TAGS,    /* the first of the tags that the app keeps, as "name=value" */
    MIRE_FACET_COUNT = MIRE_FACET_TAGS + MIRE_TAGS_KEPT
};

enum cell_count { /* reports of which that is true, unless another unit is given */
                  MIRE_CELL_KILLED,
                  MIRE_CELL_LAUNCH,
                  MIRE_CELL_FOREGROUND,
                  MIRE_CELL_BACKGROUND,
                  MIRE_CELL_MANY_THREADS,
                  MIRE_CELL_FRAMES,     /* frames */
                  MIRE_CELL_UNRESOLVED, /* frames */
                  MIRE_CELL_SUPPRESSED, /* events */
                  MIRE_CELL_COUNTS
};

struct cell_event {
    int64_t occurred_us;
    uint32_t device;                      /* distinct_hash */
    double weight;                        /* reports it stands for: 1 / sampling probability */
    double events, waited_ms;             /* weighted, with the suppressed ones */
    uint64_t length_ms, longest_ms;       /* of the event; of a wait in it */
    uint64_t counts[MIRE_CELL_COUNTS];    /* what it adds */
    const char *values[MIRE_FACET_COUNT]; /* NULL: it has none */
    const struct session_one *session;    /* NULL: no session record */
};

struct cell_sums {
    uint64_t reports;
    double weight; /* reports they stand for */
    double events, waited_ms;
    uint64_t longest_ms;
    struct sketch lengths; /* of the events, milliseconds; each report once */
    struct distinct devices;
    struct session_all *sessions; /* in the arena; NULL: of events */
};

struct cell_value {
    enum cell_facet facet;
    const char *text;
    int64_t oldest_us, newest_us; /* of a version: the instants of its events; 0 of other facets */
    struct cell_sums sums;
};

/* Zeroed: empty. */
struct cell {
    struct cell_sums all;
    uint64_t counts[MIRE_CELL_COUNTS];
    int64_t oldest_us, newest_us; /* 0: empty */
    size_t value_count, room;
    struct cell_value *values; /* by facet, then text; in the arena, as their texts are */
};

/* Length of a text as cells keep it: at most MIRE_CELL_TEXT_MAX bytes, ended between two characters. */
size_t cell_text_length(const char *text);

/* Add one event; its values are copied, and cut to that length. 0, or MIRE_FAULT_MEMORY. */
int cell_add(struct cell *cell, struct arena *arena, const struct cell_event *event);

/* Add all of `more`. 0, or MIRE_FAULT_MEMORY. */
int cell_merge(struct cell *cell, struct arena *arena, const struct cell *more);

/* Add all of `more`'s sums. 0, or MIRE_FAULT_MEMORY. */
int cell_sums_merge(struct cell_sums *sums, struct arena *arena, const struct cell_sums *more);

/* Sums of a value, or NULL. */
const struct cell_sums *cell_find(const struct cell *cell, enum cell_facet facet, const char *text);

/* The same as bytes in the arena. 0, or MIRE_FAULT_MEMORY. */
int cell_encode(unsigned char **bytes_out, size_t *len_out, struct arena *arena, const struct cell *cell);

/* Read it back; texts and arrays are in the arena. 0, or MIRE_FAULT_BROKEN: the bytes are no cell, or there is no memory;
 * *out is then empty. */
int cell_decode(struct cell *out, struct arena *arena, const void *bytes, size_t len);

#endif
