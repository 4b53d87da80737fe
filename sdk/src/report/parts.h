/*
 * parts.h - the parts of a footprint, so that the rows of a report add up to it. Private to report/.
 *
 *     blocks by category + "VM: ..." by kind + the four below = footprint
 *
 *     Allocator's own and free   memory of allocators beyond the blocks: headers, rounding, freed blocks, gaps
 *     Libraries                  data that libraries and the program have written to, copies of their pages
 *     Mire                       the tables, and all other memory of the library
 *     Not explained              the rest
 *
 * For a living process the kernel reports the memory of each mapping. Every page of a large block is checked; small
 * blocks count as touched. For a dead process the sources are the tables, the last look, and usually the largest
 * resident set from the parent's wait, which bounds the sum.
 */
#ifndef MIRE_REPORT_PARTS_H
#define MIRE_REPORT_PARTS_H

#include "report/memory_draft.h"

/* Categories after those of mappings. */
enum memory_part { MIRE_PART_ALLOCATOR, MIRE_PART_LIBRARIES, MIRE_PART_OWN, MIRE_PART_UNEXPLAINED, MIRE_PARTS };
#define MIRE_CATEGORY_PARTS (MIRE_CATEGORY_KINDS + MIRE_HEAP_KINDS)

/* The largest block that counts as touched without a check; the C library maps larger ones separately. */
#define MIRE_PART_SMALL_BYTES (128u << 10)

const char *mire__part_name(enum memory_part part);

/*
 * Set resident_bytes of the rows and of the parts, and the draft's footprint with its source. Call it when all blocks
 * and mappings are in the rows.
 */
void mire__parts_settle(struct memory_draft *draft);

/*
 * Store the results of a look, for a report after the run's death (report/snapshot.h).
 *   small_bytes  bytes of blocks that are not in the pieces; 0: all are
 */
void mire__parts_note(struct residency *out, const struct pieces *pieces, uint64_t small_bytes);

/* The overhead of an allocator for a block: glibc's header and rounding. */
uint64_t mire__part_rounding(uint64_t size_bytes);

#endif
