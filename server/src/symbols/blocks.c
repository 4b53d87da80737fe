/*
 * blocks.c - segments -> blocks.
 *
 * A belt is a ring of parts. One thread fills a part, the other writes it; both wait by semaphores, and only where the
 * other is a whole belt behind or has nothing left. What the thread changes with every segment is on its own stack: it
 * would share a line of memory with what the other reads with every segment.
 */
#include "symbols/blocks.h"

#include "base/bytes.h"
#include "base/grow.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#define LINE_MAX_  ((1u << MIRE_CACHE_LINE_BITS) - 1)
#define BELT_PARTS 4
#define BELT_PART  4096 /* segments: some tenths of a millisecond's work */

struct belt {
    pthread_t thread;
    sem_t filled; /* parts that wait for the thread */
    sem_t empty;  /* parts that can be filled beside the one that is */
    unsigned filling;
    struct part {
        size_t count; /* 0: it was the last one */
        struct pack_segment rows[BELT_PART];
    } parts[BELT_PARTS];
};

static void free_belt(struct belt *belt)
{
    sem_destroy(&belt->filled);
    sem_destroy(&belt->empty);
    free(belt);
}

static void sem_wait_whole(sem_t *semaphore)
{
    while (sem_wait(semaphore) && errno == EINTR)
        ;
}

/* One of a block's three numbers: its least value but 0, and how many bits each segment needs. */
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
    uint32_t span = column->most ? column->most - column->least + 1 : 0; /* 0 itself is one more value */
    column->bits = span ? 32u - (unsigned)__builtin_clz(span) : 0;
}

struct bits {
    uint8_t *to;
    uint64_t word;
    unsigned count;
};

static void bits_put(struct bits *bits, uint32_t value, const struct column *column)
{
    uint64_t number = value ? value - column->least + 1 : 0;
    bits->word |= number << bits->count;
    for (bits->count += column->bits; bits->count >= 8; bits->count -= 8, bits->word >>= 8)
        *bits->to++ = (uint8_t)bits->word;
}

/* Write the pending segments [from, to) as one block, or as two where one has too many bits. */
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
    if (scope.bits + file.bits + line.bits > MIRE_CACHE_ROW_BITS) { /* one segment by itself has 3 */
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
    struct bits bits = {.to = p};
    for (unsigned i = from; i < to; i++) {
        bits_put(&bits, segments[i].scope, &scope);
        bits_put(&bits, segments[i].file, &file);
        bits_put(&bits, segments[i].line, &line);
    }
    if (bits.count)
        *bits.to++ = (uint8_t)bits.word;
    blocks->places.rows[blocks->places.count++] = (struct cache_block){segments[from].at, (uint32_t)blocks->data.count};
    blocks->data.count = (size_t)(bits.to - rows);
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

/* All that is put on the belt, until an empty part comes. */
static void *write_all(void *context)
{
    struct blocks *blocks = context;
    struct blocks own = *blocks;
    struct belt *belt = blocks->belt;
    for (size_t i = 0, count = 1; count; i++) {
        struct part *part = &belt->parts[i % BELT_PARTS];
        sem_wait_whole(&belt->filled);
        count = part->count;
        for (size_t k = 0; k < count; k++)
            add(&own, part->rows[k]);
        sem_post(&belt->empty);
    }
    *blocks = own;
    return NULL;
}

void blocks_begin_thread(struct blocks *blocks)
{
    struct belt *belt = calloc(1, sizeof *belt);
    if (!belt)
        return;
    blocks->belt = belt;
    sem_init(&belt->filled, 0, 0);
    sem_init(&belt->empty, 0, BELT_PARTS - 1);
    if (pthread_create(&belt->thread, NULL, write_all, blocks)) {
        blocks->belt = NULL;
        free_belt(belt);
    }
}

/* The part that is being filled goes to the thread. */
static void hand_over(struct belt *belt)
{
    sem_post(&belt->filled);
    sem_wait_whole(&belt->empty);
    belt->filling = (belt->filling + 1) % BELT_PARTS;
    belt->parts[belt->filling].count = 0;
}

void blocks_add(struct blocks *blocks, struct pack_segment segment)
{
    struct belt *belt = blocks->belt;
    if (!belt) {
        add(blocks, segment);
        return;
    }
    struct part *part = &belt->parts[belt->filling];
    part->rows[part->count++] = segment;
    if (part->count == BELT_PART)
        hand_over(belt);
}

/* The thread has written all, and is gone. */
static void end_thread(struct blocks *blocks)
{
    struct belt *belt = blocks->belt;
    if (!belt)
        return;
    if (belt->parts[belt->filling].count)
        hand_over(belt);
    sem_post(&belt->filled);
    pthread_join(belt->thread, NULL);
    blocks->belt = NULL;
    free_belt(belt);
}

void blocks_end(struct blocks *blocks)
{
    end_thread(blocks);
    if (!blocks->pending_count && !blocks->places.count)
        add(blocks, (struct pack_segment){0});
    if (blocks->pending_count && !blocks->failed)
        write_pending(blocks);
}

void blocks_fini(struct blocks *blocks)
{
    end_thread(blocks);
    free(blocks->places.rows);
    free(blocks->data.rows);
    *blocks = (struct blocks){0};
}
