/*
 * pieces.h - the areas of this process cut where the noted mappings begin and end, and the blocks in them. Private to
 * report/.
 *
 *     areas     [------------- anonymous -------------][-- heap --]
 *     mappings        [- mmap by the program -]
 *     pieces    [ ?? ][- VM: anonymous -------][ ?? -- ][-- heap --]
 *     blocks      ## #                                   # ### ## #   so the first is an allocator's too
 */
#ifndef MIRE_REPORT_PIECES_H
#define MIRE_REPORT_PIECES_H

#include "heapread/read.h"
#include "report/areas.h"

#define MIRE_PIECE_NONE MIRE_HEAP_KINDS /* no mapping was noted there */

struct piece {
    uint64_t start, end;
    double held_bytes, block_bytes; /* block_bytes: of blocks in it, as far as they lie in memory */
    enum area_of of;
    uint32_t kind; /* enum heap_kind, MIRE_PIECE_NONE */
    bool asked;    /* the program asked for it: by whom is known */
};

struct pieces {
    struct piece *list;
    uint32_t count, cap, last; /* last: found last */
    const struct areas *areas; /* borrowed */
};

/* Returns MIRE_OK, MIRE_E_MEMORY; mire__pieces_fini is due whatever it returns. */
enum mire_err mire__pieces_make(struct pieces *out, const struct areas *areas, const struct heap_reader *reader);
void mire__pieces_fini(struct pieces *pieces);

/*
 * Add a block to the piece that it lies in. Returns how much of it lies in memory: of a small one all, for it was
 * written to when it was made.
 */
uint64_t mire__pieces_add_block(struct pieces *pieces, const struct heap_live *block);

/* Is it cut into blocks by an allocator? Ask when all blocks are added. */
bool mire__piece_is_of_allocator(const struct piece *piece);

#endif
