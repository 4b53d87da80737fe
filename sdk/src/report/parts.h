/*
 * parts.h - what a footprint is made of, so that the rows of a report add up to it. Private to report/.
 *
 *     blocks by category + "VM: ..." by kind + the four below = footprint
 *
 *     Allocator's own and free   what allocators hold beyond the blocks: headers, rounding, what was freed, gaps
 *     Libraries                  data that libraries and the program have written to, copies of their pages
 *     Mire                       the notes, and whatever else is the library's
 *     Not explained              the rest
 *
 * Of a living process the kernel says what each mapping holds; of large blocks every page is looked at, small ones were
 * written to when they were made. Of a dead one is known what the tables hold, what was seen at the last look, and
 * mostly the largest resident set, by which whoever waited for the process bounds the sum.
 */
#ifndef MIRE_REPORT_PARTS_H
#define MIRE_REPORT_PARTS_H

#include "report/memory_draft.h"

/* Categories of their own behind those of mappings. */
enum memory_part { MIRE_PART_ALLOCATOR, MIRE_PART_LIBRARIES, MIRE_PART_OWN, MIRE_PART_UNEXPLAINED, MIRE_PARTS };
#define MIRE_CATEGORY_PARTS (MIRE_CATEGORY_KINDS + MIRE_HEAP_KINDS)

/* The largest block that is taken to lie in memory unseen; the C library asks the kernel for larger ones by themselves.
 */
#define MIRE_PART_SMALL_BYTES (128u << 10)

const char *mire__part_name(enum memory_part part);

/*
 * Fill rows' resident_bytes, those of the parts, and the draft's footprint and where it comes from. After all blocks
 * and mappings are in the rows.
 */
void mire__parts_settle(struct memory_draft *draft);

/*
 * What is kept of a look for a report of the run when it is dead (report/snapshot.h).
 *   small_bytes  of blocks that were not added to the pieces; 0: all were
 */
void mire__parts_note(struct residency *out, const struct pieces *pieces, uint64_t small_bytes);

/* What an allocator takes for a block beyond its bytes: glibc's header and rounding. */
uint64_t mire__part_rounding(uint64_t size_bytes);

#endif
