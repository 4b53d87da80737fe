/*
 * blocks.c - segments -> blocks.
 */
#include "cache/blocks.h"

#include "base/bytes.h"
#include "base/grow.h"

#include <stdlib.h>

#define LINE_MAX_  ((1u << MIRE_CACHE_LINE_BITS) - 1)
#define BLOCK_MEAN 128 /* average bytes of a block, in large files */

/* One of a block's three numbers: its minimum except 0, and the width of the differences in bits. */
struct column {
    uint32_t least;
    uint32_t most;
    unsigned bits;
};

static void column_add(struct column *column, uint32_t value)
{
    if (!value)
        return;
    column->least = !column->least || value < column->least ? value : column->least;
    column->most = value > column->most ? value : column->most;
}

static void column_end(struct column *column)
{
    uint32_t span = column->most ? column->most - column->least + 1 : 0; /* 0 is one more value */
    column->bits = span ? 32u - (unsigned)__builtin_clz(span) : 0;
}

/* The stored form of a value: its distance from the minimum, plus one; 0 stays 0. */
static uint64_t in_column(uint32_t value, const struct column *column)
{
    return value ? value - column->least + 1 : 0;
}

/* Write the numbers of each segment. Returns their end; up to 8 bytes after it are overwritten. */
static uint8_t *put_rows(uint8_t *to, const struct pack_segment *segments, unsigned count, const struct column *scope,
                         const struct column *file, const struct column *line)
{
    unsigned bits = scope->bits + file->bits + line->bits;
    unsigned used = 0; /* bits of *to, 0..7 */
    uint64_t word = 0;
    for (unsigned i = 0; i < count; i++) {
        uint64_t row = in_column(segments[i].scope, scope) | in_column(segments[i].file, file) << scope->bits |
                       in_column(segments[i].line, line) << (scope->bits + file->bits);
        word |= row << used;
        memcpy(to, &word, sizeof word);
        unsigned whole = (used + bits) / 8;
        word = word >> 4 * whole >> 4 * whole; /* two shifts, since a shift by all 64 bits is undefined */
        to += whole;
        used = (used + bits) % 8;
    }
    return to + (used != 0);
}

/* Write the pending segments [from, to) as one block, or as two if a row has too many bits. */
static void write_block(struct blocks *blocks, unsigned from, unsigned to)
{
    const struct pack_segment *segments = blocks->pending;
    struct column scope = {0}, file = {0}, line = {0};
    for (unsigned i = from; i < to; i++) {
        column_add(&scope, segments[i].scope);
        column_add(&file, segments[i].file);
        column_add(&line, segments[i].line);
    }
    column_end(&scope);
    column_end(&file);
    column_end(&line);
    if (scope.bits + file.bits + line.bits > MIRE_CACHE_ROW_BITS) { /* a single segment has 3 bits */
        write_block(blocks, from, from + (to - from) / 2);
        write_block(blocks, from + (to - from) / 2, to);
        return;
    }
    uint8_t *rows = grow(blocks->data.rows, &blocks->data.room, blocks->data.count, MIRE_CACHE_PAD, 1);
    if (rows)
        blocks->data.rows = rows;
    if (!rows || !GROW(&blocks->places) || blocks->data.count > UINT32_MAX - MIRE_CACHE_PAD) {
        blocks->failed = true;
        return;
    }
    uint32_t words[3] = {scope.least | scope.bits << MIRE_CACHE_SCOPE_BITS,
                         file.least | file.bits << MIRE_CACHE_FILE_BITS | (to - from - 1) << (MIRE_CACHE_FILE_BITS + 5),
                         line.least | line.bits << MIRE_CACHE_LINE_BITS};
    size_t in_line = blocks->data.count % MIRE_CACHE_LINE;
    if (blocks->data.count >= MIRE_CACHE_NEAR && in_line > MIRE_CACHE_LINE - MIRE_CACHE_BLOCK) {
        memset(rows + blocks->data.count, 0, MIRE_CACHE_LINE - in_line);
        blocks->data.count += MIRE_CACHE_LINE - in_line;
    }
    uint8_t *p = rows + blocks->data.count;
    memcpy(p, words, sizeof words);
    p += sizeof words;
    for (unsigned i = from; i < from + MIRE_CACHE_SEGMENTS; i++, p += 2) {
        uint16_t distance = (uint16_t)(i < to ? segments[i].at - segments[from].at : MIRE_CACHE_REACH);
        memcpy(p, &distance, sizeof distance);
    }
    p = put_rows(p, segments + from, to - from, &scope, &file, &line);
    blocks->places.rows[blocks->places.count++] = (struct cache_block){segments[from].at, (uint32_t)blocks->data.count};
    blocks->data.count = (size_t)(p - rows);
}

static void write_pending(struct blocks *blocks)
{
    write_block(blocks, 0, blocks->pending_count);
    blocks->pending_count = 0;
}

static void add(struct blocks *blocks, struct pack_segment segment)
{
    segment.line = segment.line > LINE_MAX_ ? 0 : segment.line;
    if (blocks->failed)
        return;
    if (!blocks->pending_count && !blocks->places.count && segment.at) /* the first block begins at 0 */
        add(blocks, (struct pack_segment){0});
    if ((blocks->pending_count || blocks->places.count) && blocks->last.scope == segment.scope &&
        blocks->last.file == segment.file && blocks->last.line == segment.line)
        return;
    if (blocks->pending_count == MIRE_CACHE_SEGMENTS ||
        (blocks->pending_count && segment.at - blocks->pending[0].at >= MIRE_CACHE_REACH))
        write_pending(blocks);
    blocks->pending[blocks->pending_count++] = segment;
    blocks->last = segment;
}

void blocks_reserve(struct blocks *blocks, size_t segments)
{
    size_t count = segments / MIRE_CACHE_SEGMENTS;
    struct cache_block *places =
        grow(blocks->places.rows, &blocks->places.room, blocks->places.count, count, sizeof *places);
    blocks->places.rows = places ? places : blocks->places.rows;
    uint8_t *rows = grow(blocks->data.rows, &blocks->data.room, blocks->data.count, count * BLOCK_MEAN, 1);
    blocks->data.rows = rows ? rows : blocks->data.rows;
}

void blocks_add(struct blocks *blocks, const struct pack_segment *segments, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add(blocks, segments[i]);
}

void blocks_end(struct blocks *blocks)
{
    if (!blocks->pending_count && !blocks->places.count)
        add(blocks, (struct pack_segment){0});
    if (blocks->pending_count && !blocks->failed)
        write_pending(blocks);
}

void blocks_fini(struct blocks *blocks)
{
    free(blocks->places.rows);
    free(blocks->data.rows);
    *blocks = (struct blocks){0};
}
