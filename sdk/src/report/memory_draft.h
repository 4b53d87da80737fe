/*
 * memory_draft.h - the data of a memory report. Private to report/.
 */
#ifndef MIRE_REPORT_MEMORY_DRAFT_H
#define MIRE_REPORT_MEMORY_DRAFT_H

#include "report/memory.h"
#include "report/pieces.h"
#include "report/script_rows.h"
#include "report/tally.h"
#include "report/trie.h"
#include "wire/wire.h"

/* A category; counts and bytes as in tally_pair. */
struct memory_row {
    struct tally_pair live;    /* its node is 0 */
    double resident_bytes;     /* its part of the footprint; if knows_resident */
    struct draw_spread spread; /* of the estimates */
    uint32_t stack_count;
    int32_t rank; /* its row in the report, -1 if it has none */
    struct snapshot_row before;
    struct heap_category now;
};

struct memory_stack {
    uint32_t rank; /* of its category */
    uint32_t node; /* of the trie */
    uint64_t count, bytes;
    struct draw_spread spread;
    struct snapshot_row before;
};

/* Where the footprint is from, so that a reader knows how old it is. */
enum footprint_from {
    MIRE_FOOTPRINT_NOW,    /* the kernel says so while the report is made */
    MIRE_FOOTPRINT_LOOK,   /* the last look, while the process lived */
    MIRE_FOOTPRINT_TABLES, /* the tables, with the data of the last look: more than that look had */
    MIRE_FOOTPRINT_EXIT    /* the largest resident set, from the parent's wait */
};

struct memory_draft {
    const struct heap_reader *reader;
    const struct memory_said *said;
    struct heap_facts facts;
    const struct memory_snapshot *before; /* NULL: there is none */
    bool knows_resident;    /* rows of mappings have resident_bytes: looked at now, or known from before */
    bool knows_parts;       /* all rows have, and with those of the parts (parts.h) they are the footprint */
    double footprint_bytes; /* if knows_parts */
    enum footprint_from footprint_from; /* likewise */
    double rounding_bytes;              /* overhead of a common allocator for these blocks */
    struct pieces pieces;               /* of said->areas */
    bool exact;                         /* totals, peaks and sums leave nothing out */
    struct tally tally;
    uint64_t blocks_read;
    struct memory_row all;   /* heap and object categories together */
    double mapped_bytes;     /* vm categories */
    struct memory_row *rows; /* MIRE_CATEGORIES_MAX of them, by the file's numbers */
    uint32_t row_count;
    struct memory_row gauges[MIRE_GAUGES_MAX]; /* amounts that the app measures */
    uint32_t gauge_count;
    uint32_t *ranked; /* numbers of the rows in the report, most live bytes first */
    struct memory_stack *stacks;
    uint32_t stack_count;
    struct trie trie;
    struct perf_map perf; /* names of code made at run time */
    struct script_rows scripts;
    uint32_t image_count;
    uint32_t images[MIRE_HEAP_IMAGES_MAX];  /* the file's number of each image used */
    int32_t image_no[MIRE_HEAP_IMAGES_MAX]; /* the reverse; -1 if not used */
    uint64_t build_ns;
};

/*
 * Gather it. The draft borrows the reader, what is said, and the bytes.
 * Returns MIRE_OK, MIRE_E_MEMORY. Call mire__memory_draft_fini after any result.
 */
enum mire_err mire__memory_draft_init(struct memory_draft *draft, const struct heap_reader *reader,
                                      const struct memory_said *said);
void mire__memory_draft_fini(struct memory_draft *draft);

/* Store the live memory as the run's snapshot. Without memory the last one stays. */
void mire__memory_draft_keep(struct memory_extra *extra, const struct memory_draft *draft);

/* How much of a mapping lies in memory; said->resident is not NULL. */
static inline uint64_t mire__memory_resident(const struct memory_said *said, const struct heap_live *mapping)
{
    return said->resident(said->residence, mapping->address, mapping->size,
                          mapping->category == MIRE_CATEGORY_KINDS + MIRE_KIND_FILE);
}

#define MIRE_KIND_GAUGE 4u /* of the wire, besides those below: a gauge of the app */

/* 0 heap, 1 vm, 2 object, 3 part of the footprint: the wire's numbers. */
static inline uint32_t mire__memory_kind(uint32_t category)
{
    if (category < MIRE_CATEGORY_KINDS)
        return 0;
    if (category >= MIRE_CATEGORY_CLASSES)
        return 2;
    return category < MIRE_CATEGORY_KINDS + MIRE_HEAP_KINDS ? 1 : 3;
}

/* The whole document. */
void mire__memory_document_write(struct wire *wire, const struct memory_draft *draft);

#endif
