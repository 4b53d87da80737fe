/* parts.c - see parts.h. */
#include "report/parts.h"

#include <string.h>

const char *mire__part_name(enum memory_part part)
{
    static const char *const names[MIRE_PARTS] = {
        [MIRE_PART_ALLOCATOR] = "Allocator's own and free",
        [MIRE_PART_LIBRARIES] = "Libraries",
        [MIRE_PART_OWN] = "Mire",
        [MIRE_PART_UNEXPLAINED] = "Not explained",
    };

    return names[part];
}

uint64_t mire__part_rounding(uint64_t size_bytes)
{
    if (size_bytes > MIRE_PART_SMALL_BYTES)
        return ((size_bytes + 16 + 4095) & ~UINT64_C(4095)) - size_bytes;
    return size_bytes <= 24 ? 32 - size_bytes : ((size_bytes + 8 + 15) & ~UINT64_C(15)) - size_bytes;
}

static double *part(struct memory_draft *draft, enum memory_part which)
{
    return &draft->rows[MIRE_CATEGORY_PARTS + which].resident_bytes;
}

static struct memory_row *kind_row(struct memory_draft *draft, uint32_t kind)
{
    return &draft->rows[MIRE_CATEGORY_KINDS + kind];
}

static bool is_of_blocks(uint32_t category)
{
    return mire__memory_kind(category) == 0 || mire__memory_kind(category) == 2;
}

/* Ratio of the resident bytes of blocks to the counted ones. */
static void scale_blocks(struct memory_draft *draft, double factor)
{
    for (uint32_t i = 0; i < MIRE_CATEGORIES_MAX; i++)
        if (is_of_blocks(i))
            draft->rows[i].resident_bytes *= factor;
}

static double blocks_in_memory(const struct memory_draft *draft)
{
    double sum = 0;

    for (uint32_t i = 0; i < MIRE_CATEGORIES_MAX; i++)
        if (is_of_blocks(i))
            sum += draft->rows[i].resident_bytes;
    return sum;
}

/* All rows except mappings that only hold blocks: these are counted as blocks and as the allocator's. */
static double sum_of(const struct memory_draft *draft)
{
    double sum = blocks_in_memory(draft);

    for (uint32_t kind = 0; kind < MIRE_HEAP_KINDS; kind++)
        if (kind != MIRE_KIND_BRK && kind != MIRE_KIND_ALLOCATOR)
            sum += draft->rows[MIRE_CATEGORY_KINDS + kind].resident_bytes;
    for (uint32_t i = 0; i < MIRE_PARTS; i++)
        sum += draft->rows[MIRE_CATEGORY_PARTS + i].resident_bytes;
    return sum;
}

/* Subtract up to `from`. Returns the rest that could not be subtracted. */
static double take(double *from, double much)
{
    double taken = *from < much ? *from : much;

    *from -= taken;
    return much - taken;
}

/* ---- of a living process ---- */

/* The kind of an unrecorded mapping, by its content; MIRE_PIECE_NONE: a part. */
static uint32_t kind_of(const struct piece *piece)
{
    if (piece->kind != MIRE_PIECE_NONE)
        return piece->kind;
    switch (piece->of) {
    case AREA_STACK:
        return MIRE_KIND_STACK;
    case AREA_FILE:
        return MIRE_KIND_FILE;
    case AREA_SHARED:
        return MIRE_KIND_SHARED;
    default:
        return MIRE_PIECE_NONE;
    }
}

/* The part for a piece without a kind of mapping; MIRE_PARTS: the piece has a kind. */
static enum memory_part part_of(const struct piece *piece)
{
    if (piece->of == AREA_OWN)
        return MIRE_PART_OWN;
    if (mire__piece_is_of_allocator(piece))
        return MIRE_PART_ALLOCATOR;
    if (piece->of == AREA_LIBRARY && !piece->asked)
        return MIRE_PART_LIBRARIES;
    return kind_of(piece) == MIRE_PIECE_NONE ? MIRE_PART_UNEXPLAINED : MIRE_PARTS;
}

/* Add every piece to its row. Returns by how much the blocks exceed the pieces that contain them. */
static double add_pieces(struct memory_draft *draft, const struct pieces *pieces)
{
    double excess = 0, held[MIRE_PARTS] = {0};

    for (uint32_t i = 0; i < pieces->count; i++) {
        const struct piece *piece = &pieces->list[i];
        enum memory_part which = part_of(piece);
        double left = piece->held_bytes - piece->block_bytes;

        if (which == MIRE_PART_ALLOCATOR && kind_of(piece) < MIRE_HEAP_KINDS)
            kind_row(draft, kind_of(piece))->resident_bytes += piece->held_bytes;
        if (which == MIRE_PART_ALLOCATOR) {
            held[which] += left;
            continue;
        }
        excess += left < 0 ? -left : 0;
        left = left > 0 ? left : 0;
        if (which < MIRE_PARTS)
            held[which] += left;
        else
            kind_row(draft, kind_of(piece))->resident_bytes += left;
    }
    if (held[MIRE_PART_ALLOCATOR] < 0) { /* because of estimates, or of unknown arenas */
        excess -= held[MIRE_PART_ALLOCATOR];
        held[MIRE_PART_ALLOCATOR] = 0;
    }
    for (uint32_t i = 0; i < MIRE_PARTS; i++)
        *part(draft, i) += held[i];
    return excess;
}

static void settle_living(struct memory_draft *draft)
{
    const struct areas *areas = draft->said->areas;
    double excess = add_pieces(draft, &draft->pieces), blocks = blocks_in_memory(draft), missing;

    draft->footprint_bytes = (double)areas->held_bytes;
    draft->footprint_from = MIRE_FOOTPRINT_NOW;
    excess = take(part(draft, MIRE_PART_UNEXPLAINED), excess);
    if (excess > 0 && blocks > excess)
        scale_blocks(draft, (blocks - excess) / blocks);
    missing = draft->footprint_bytes - sum_of(draft);
    if (missing > 0)
        *part(draft, MIRE_PART_UNEXPLAINED) += missing;
    else
        take(part(draft, MIRE_PART_ALLOCATOR), take(part(draft, MIRE_PART_UNEXPLAINED), -missing));
}

/* ---- of a dead one ---- */

/* The mappings at the last look, and those created later, which count as fully resident, except stacks and files. */
static void recall_kinds(struct memory_draft *draft, const struct residency *then)
{
    static const struct residency nothing;

    for (uint32_t kind = 0; kind < MIRE_HEAP_KINDS; kind++) {
        const struct residency_row *before = &(then ? then : &nothing)->kinds[kind];
        struct memory_row *row = kind_row(draft, kind);
        double share = before->mapped_bytes > 0 ? row->live.bytes / (double)before->mapped_bytes : 0;

        if (kind == MIRE_KIND_STACK)
            row->resident_bytes = (double)before->resident_bytes * share;
        else if (kind == MIRE_KIND_FILE || kind == MIRE_KIND_DEVICE || kind == MIRE_KIND_OTHER)
            row->resident_bytes = (double)before->resident_bytes * (share < 1 ? share : 1);
        else
            row->resident_bytes = (double)mire__residency_since(before, (uint64_t)row->live.bytes);
        if (row->resident_bytes > row->live.bytes)
            row->resident_bytes = row->live.bytes;
    }
}

/* Memory that allocators hold beyond the blocks: headers, and free blocks. */
static double allocators_own(const struct memory_draft *draft, const struct residency *then, double blocks)
{
    double own = then ? (double)then->free_bytes : 0;

    if (then && then->footprint_bytes > 0 && blocks < (double)then->block_bytes)
        own += (double)then->block_bytes - blocks;
    return own > draft->rounding_bytes ? own : draft->rounding_bytes;
}

/* Add the growth of the notes since the last look. */
static double librarys_own(const struct memory_draft *draft, const struct residency *then)
{
    uint64_t used = draft->facts.used_bytes;

    if (!then || then->own_bytes == 0)
        return (double)used;
    return (double)then->own_bytes + (used > then->used_bytes ? (double)(used - then->used_bytes) : 0);
}

static uint64_t last_footprint(const struct memory_said *said)
{
    return said->trail_rows > 0 ? said->trail[said->trail_rows - 1].footprint_bytes : 0;
}

/*
 * The footprint at the end. The parent's wait gives the largest resident set. If that set exceeds all looks, and the
 * process was growing at the last look, or the set exceeds the looks by far, the process died at that size. Otherwise
 * the footprint is the sum of the tables, at least the last look and at most that set.
 */
static void find_footprint(struct memory_draft *draft, double known)
{
    const struct exit_end *end = draft->said->end;
    double last = (double)last_footprint(draft->said), most = 0;
    double seen = (double)(end ? end->looked_peak_bytes : draft->said->footprint_peak_bytes);

    if (end && end->parent_peak_bytes > end->file_bytes)
        most = (double)(end->parent_peak_bytes - end->file_bytes);
    seen = seen > last ? seen : last;
    draft->footprint_bytes = known > last ? known : last;
    draft->footprint_from = known > last ? MIRE_FOOTPRINT_TABLES : MIRE_FOOTPRINT_LOOK;
    if (most > seen && (most > seen + seen / 16 || last > seen - seen / 16 || known > seen)) {
        draft->footprint_bytes = most;
        draft->footprint_from = MIRE_FOOTPRINT_EXIT;
    } else if (most > 0 && draft->footprint_bytes > seen) {
        draft->footprint_bytes = seen;
        draft->footprint_from = MIRE_FOOTPRINT_EXIT;
    }
}

/* Memory whose residency was not read: large blocks, and mappings made since the look. */
static double unseen(struct memory_draft *draft, double factor)
{
    double sum = 0;

    for (uint32_t i = 0; i < MIRE_CATEGORIES_MAX; i++) {
        bool large = i < MIRE_HEAP_SIZES && mire__size_class_bytes(i) > MIRE_PART_SMALL_BYTES;

        if (!large && i != MIRE_CATEGORY_KINDS + MIRE_KIND_ANONYMOUS && i != MIRE_CATEGORY_KINDS + MIRE_KIND_SHARED)
            continue;
        draft->rows[i].resident_bytes *= factor;
        sum += draft->rows[i].resident_bytes;
    }
    return sum;
}

/* The rows exceed the footprint: reduce rows whose residency was not read, the least certain first. */
static void give_way(struct memory_draft *draft, double over)
{
    double *own = part(draft, MIRE_PART_ALLOCATOR);
    double spare = *own > draft->rounding_bytes ? *own - draft->rounding_bytes : 0, much;

    *own -= spare;
    over = take(&spare, take(part(draft, MIRE_PART_UNEXPLAINED), over));
    *own += spare;
    much = unseen(draft, 1);
    if (over > 0 && much > 0) {
        unseen(draft, over < much ? (much - over) / much : 0);
        over = over > much ? over - much : 0;
    }
    over = take(own, over);
    much = blocks_in_memory(draft);
    if (over > 0 && much > over)
        scale_blocks(draft, (much - over) / much);
}

static void settle_dead(struct memory_draft *draft, const struct residency *then)
{
    double blocks = blocks_in_memory(draft), known;

    recall_kinds(draft, then);
    *part(draft, MIRE_PART_ALLOCATOR) = allocators_own(draft, then, blocks);
    *part(draft, MIRE_PART_LIBRARIES) = then ? (double)then->library_bytes : 0;
    *part(draft, MIRE_PART_OWN) = librarys_own(draft, then);
    known = sum_of(draft);
    find_footprint(draft, known);
    if (draft->footprint_bytes > known)
        *part(draft, MIRE_PART_UNEXPLAINED) = draft->footprint_bytes - known;
    else
        give_way(draft, known - draft->footprint_bytes);
}

void mire__parts_settle(struct memory_draft *draft)
{
    const struct memory_said *said = draft->said;
    size_t size;
    const void *extra = mire__read_extra(&size, draft->reader);

    if (said->areas)
        settle_living(draft);
    else if (!said->resident && said->trail_rows > 0)
        settle_dead(draft, mire__extra_residency(extra, size));
    else
        return;
    draft->knows_resident = true;
    draft->knows_parts = true;
    for (uint32_t i = 0; i < MIRE_PARTS; i++) {
        struct memory_row *row = &draft->rows[MIRE_CATEGORY_PARTS + i];

        row->live.bytes = row->resident_bytes;
    }
}

void mire__parts_note(struct residency *out, const struct pieces *pieces, uint64_t small_bytes)
{
    double free_bytes = -(double)small_bytes;

    out->footprint_bytes = pieces->areas->held_bytes;
    for (uint32_t i = 0; i < pieces->count; i++) {
        const struct piece *piece = &pieces->list[i];
        uint64_t held = (uint64_t)piece->held_bytes;
        enum memory_part which = part_of(piece);

        if (which == MIRE_PART_OWN)
            out->own_bytes += held;
        else if (which == MIRE_PART_LIBRARIES)
            out->library_bytes += held;
        else if (which == MIRE_PART_ALLOCATOR)
            free_bytes += piece->held_bytes - piece->block_bytes;
        if (which != MIRE_PART_OWN && which != MIRE_PART_LIBRARIES && kind_of(piece) < MIRE_HEAP_KINDS)
            out->kinds[kind_of(piece)].resident_bytes += held;
    }
    out->free_bytes = free_bytes > 0 ? (uint64_t)free_bytes : 0;
}
