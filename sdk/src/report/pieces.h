/*
 * pieces.h - the areas of this process, cut at the begin and end of recorded mappings, with the blocks in them. Private
 * to report/.
 *
 *     areas     [------------- anonymous -------------][-- heap --]
 *     mappings        [- mmap by the program -]
 *     pieces    [ ?? ][- VM: anonymous -------][ ?? -- ][-- heap --]
 *     blocks      ## #                                   # ### ## #   so the first belongs to an allocator too
 */
#ifndef MIRE_REPORT_PIECES_H
#define MIRE_REPORT_PIECES_H

#include "heapread/read.h"
#include "report/areas.h"

#define MIRE_PIECE_NONE MIRE_HEAP_KINDS /* no recorded mapping */

struct piece {
    uint64_t start, end;
    double held_bytes, block_bytes; /* block_bytes: the part of its blocks in memory */
    enum area_of of;
    uint32_t kind; /* enum heap_kind, MIRE_PIECE_NONE */
    bool asked;    /* mapped by the program, with a known stack */
};

struct pieces {
    struct piece *list;
    uint32_t count, cap, last; /* last: found last */
    const struct areas *areas; /* borrowed */
};

/* Returns MIRE_OK, MIRE_E_MEMORY. Call mire__pieces_fini after any result. */
enum mire_err mire__pieces_make(struct pieces *out, const struct areas *areas, const struct heap_reader *reader);
void mire__pieces_fini(struct pieces *pieces);

/*
 * Add a block to its piece. Returns the block's bytes in memory: all of a small one, which counts as touched.
 */
uint64_t mire__pieces_add_block(struct pieces *pieces, const struct heap_live *block);

/* Does an allocator cut it into blocks? Valid after all blocks are added. */
bool mire__piece_is_of_allocator(const struct piece *piece);

#endif
