/*
 * memory.h - the memory of a process: categories of blocks, the stacks that allocated them, and the suspects.
 *
 *     categories  c: kind + name      "Malloc 48 B", "VM: stack", "GtkWidget"      most held bytes first
 *     stacks      s: category c, node n, bytes, count                              by category, most bytes first
 *     found       one a category: why it is suspect, and what healthy processes of the kind hold
 *
 * The same in a report, where nodes are the wire's, and in the resolved-stack document, where they are the document's.
 * The amounts of a sampled report are estimates, already scaled.
 */
#ifndef MIRE_MODEL_MEMORY_H
#define MIRE_MODEL_MEMORY_H

#include "base/fact.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report_named_number { /* a row of drops */
    const char *name;
    uint64_t value;
};

enum memory_kind {
    MIRE_MEMORY_HEAP,   /* blocks of an allocator, by size */
    MIRE_MEMORY_VM,     /* mappings, by kind */
    MIRE_MEMORY_OBJECT, /* blocks with a class name, from the program or its object system */
    MIRE_MEMORY_PART,   /* other parts of the footprint: allocators' own, libraries, the monitor, the rest */
    MIRE_MEMORY_GAUGE,  /* amounts that the app measures: a managed heap, threads */
    MIRE_MEMORY_KIND_COUNT
};

enum memory_reason { /* why a category is suspect */
                     MIRE_MEMORY_NOT_SUSPECT,
                     MIRE_MEMORY_TOO_MANY_BYTES,
                     MIRE_MEMORY_TOO_MANY_OBJECTS,
                     MIRE_MEMORY_GROWS,
                     MIRE_MEMORY_REASON_COUNT
};

struct memory_growth { /* since the last snapshot of the run */
    bool known;
    int64_t bytes;
    int64_t count;
};

struct memory_category {
    const char *name;
    enum memory_kind kind;
    uint64_t live_count;
    uint64_t live_bytes; /* of a mapping: all its addresses, in memory or not */
    uint64_t held_bytes; /* its part of the footprint, or live_bytes if that is unknown: the sort key */
    struct fact total_count, total_bytes; /* since the monitor started */
    struct fact peak_count, peak_bytes;
    struct fact error_count, error_bytes; /* of an estimate: within so much of the truth, 95 times of 100 */
    struct fact stack_count;              /* on the device: the report may have fewer, or none */
    struct memory_growth grown;
};

struct memory_stack {
    uint32_t category;
    uint32_t node; /* 0: not known */
    uint64_t count, bytes;
    struct fact total_count, total_bytes; /* ever allocated; in foreign profiles, not in Mire's own reports */
    struct fact error_count, error_bytes; /* as of a category; of all stacks, or of none */
    struct memory_growth grown;
    int32_t caller1; /* index of the frame to blame, from the innermost; -1: not searched, or none */
};

struct memory_point {
    uint32_t at_ms; /* since the process began */
    uint64_t footprint_bytes;
    struct fact available_bytes;
};

struct memory_found { /* one for each category */
    enum memory_reason reason;
    uint32_t rank;                            /* place among the suspects, from 1; 0: none */
    unsigned rule;                            /* line of the rule that decided; 0: none */
    bool may_be_suspect;                      /* a rule sets a limit for it; not in the document */
    struct fact healthy_bytes, healthy_count; /* medians */
};

/* The healthy processes that a report was compared with. */
enum healthy_scope {
    MIRE_HEALTHY_NONE,    /* too few */
    MIRE_HEALTHY_VERSION, /* of the same version and device class */
    MIRE_HEALTHY_CLASS,   /* of the same device class, any version */
    MIRE_HEALTHY_APP,     /* any */
    MIRE_HEALTHY_SCOPE_COUNT
};

struct memory {
    bool known;
    const char *trigger; /* why the device looked: foom, demand, pressure, footprint, baseline, test */
    const char *name;    /* the app's name for it; "" */
    uint64_t taken_ns;   /* monotonic clock of the device */
    struct fact taken_wall_ms;
    bool foreground;
    bool foreground_known;
    bool sampled;
    struct fact interval_bytes; /* of a sampled report: mean distance between samples */
    struct fact footprint_bytes, footprint_peak_bytes;
    const char *footprint_from; /* now, look, tables, exit, or a word of a later version; "": unknown */
    struct fact limit_bytes, limit_used_bytes;
    struct fact threshold_bytes;
    struct fact explained_bytes;     /* of the footprint, by the watched calls */
    uint64_t live_bytes, live_count; /* of kinds heap and object */
    struct fact error_count, error_bytes;
    struct fact mapped_bytes;
    struct fact grown_ms;
    uint64_t held_bytes; /* of all categories except allocators' mappings */
    size_t category_count;
    const struct memory_category *categories;
    size_t stack_count;
    const struct memory_stack *stacks;
    size_t point_count;
    const struct memory_point *trail; /* at_ms never falling */
    struct memory_degraded {
        uint64_t times; /* 0: never */
        struct fact since_ns;
        bool sampled; /* asked for */
        struct fact interval_bytes;
    } degraded;
    struct memory_cost {
        struct fact budget_bytes, used_bytes, calls, stacks, build_us;
    } cost;
    size_t drop_count;
    const struct report_named_number *drops; /* calls that are in no table, by reason */

    /* After the feature stage. */
    enum healthy_scope healthy_scope;
    uint64_t healthy_reports; /* how many the medians are of */
    struct fact healthy_footprint_bytes;
    const struct memory_found *found; /* one for each category; NULL before the feature stage */
};

struct arena;

/*
 * Sort the categories by held bytes, then by name, and the stacks by category, then by bytes. Both are copied into the
 * arena. 0, or MIRE_FAULT_MEMORY.
 */
int memory_arrange(struct memory *memory, struct arena *arena);

/* Is it a mapping of an allocator, or the break? Its blocks are counted by themselves, so it is in no sum. */
bool memory_is_of_allocator(const struct memory_category *category);

/* Are its bytes those of other categories too? So they are in no sum: mappings of allocators, gauges. */
bool memory_is_beside(const struct memory_category *category);

/*
 * The part of a stack's bytes that is in memory. For a mapping of which only the category is known, each stack has the
 * category's share of addresses in memory.
 */
uint64_t memory_stack_held(const struct memory_category *category, const struct memory_stack *stack);

/* Names in rows, API and documents, static. memory_kind_of is the inverse: COUNT for an unknown name. */
const char *memory_kind_name(enum memory_kind kind);
enum memory_kind memory_kind_of(const char *name);
const char *memory_reason_name(enum memory_reason reason);
const char *healthy_scope_name(enum healthy_scope scope);

/* Stacks of one category: the first, and their number. */
struct memory_stacks {
    size_t first, count;
};
struct memory_stacks memory_stacks_of(const struct memory *memory, size_t category);

#endif
