/*
 * judge.c - see judge.h.
 */
#include "oracle/judge.h"

#include "oracle/script.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_LOG  17u
#define LOOSE_MAX  4096u
#define MAYBE_MAX  (2 * TRUTH_WORKERS_MAX * TRUTH_SPAN_PAGES)
#define FRAMES_MAX 512u

/* A block or page that must be in the tables. */
struct known {
    uint64_t address, size; /* address 0: none */
    uint32_t stack, kind;
    bool seen;
};

struct bench {
    const struct heap_reader *reader;
    const struct truth *truth;
    struct verdict *out;
    struct known *table;               /* by address, 1 << TABLE_LOG rows; blocks, then pages */
    struct heap_live loose[LOOSE_MAX]; /* blocks read whose stack is the program's and that are not in the table */
    uint32_t loose_stack[LOOSE_MAX];
    uint32_t loose_count;
    uint64_t maybe[MAYBE_MAX]; /* pages that calls in flight were about to change */
    uint32_t maybe_count;
    uint32_t pages_under_way[UINT8_MAX + 1]; /* by site: pages of calls in flight without a known address */
};

__attribute__((format(printf, 2, 3))) static void wrong(struct bench *bench, const char *format, ...)
{
    va_list arguments;

    if (bench->out->wrong++ > 0)
        return;
    va_start(arguments, format);
    vsnprintf(bench->out->first, sizeof(bench->out->first), format, arguments);
    va_end(arguments);
}

static struct known *place_of(struct bench *bench, uint64_t address)
{
    uint64_t at = (address >> 3) * 0x9e3779b97f4a7c15ull >> (64 - TABLE_LOG);

    while (bench->table[at].address != 0 && bench->table[at].address != address)
        at = (at + 1) & ((1u << TABLE_LOG) - 1);
    return &bench->table[at];
}

/* ---- stacks ---- */

static bool named(const struct heap_read_image *image, const char *name, uint32_t *digit_out)
{
    size_t length = strlen(name), at = image->path_bytes;

    while (at > 0 && image->path[at - 1] != '/')
        at--;
    if (image->path_bytes - at < length || memcmp(image->path + at, name, length) != 0)
        return false;
    *digit_out = image->path_bytes - at > length ? (uint32_t)image->path[at + length] - '0' : 0;
    return true;
}

/* The code of the program that contains an address; TRUTH_NEITHER: other code. */
static uint32_t what_is(const struct truth *truth, uint64_t offset)
{
    uint32_t what = TRUTH_NEITHER;

    for (uint32_t i = 0; i < truth->codes_count && truth->codes[i].start <= offset; i++)
        what = truth->codes[i].what;
    return what;
}

/* The stack in the form of truth.h; 0: without a site of the program. */
static uint32_t stack_of(const struct bench *bench, uint32_t node)
{
    uint32_t site = 0, steps = 0, count = 0, digit;
    struct heap_frame frame;
    struct heap_read_image image;

    for (uint32_t depth = 0; depth < FRAMES_MAX && mire__read_frame(&frame, bench->reader, &node); depth++) {
        uint32_t what;

        if (!mire__read_image(&image, bench->reader, frame.image))
            continue;
        if (site == 0 && named(&image, "liboracle_plugin_", &digit))
            site = TRUTH_SITE + oracle_sites_count + digit;
        if (!named(&image, "oracle_app", &digit))
            continue;
        what = what_is(bench->truth, frame.address - image.load);
        if (site == 0 && what >= TRUTH_SITE && what != TRUTH_NEITHER)
            site = what;
        else if (site != 0 && what < 3 && count < TRUTH_STEPS_MAX)
            steps |= (what + 1) << (2 * count++);
    }
    return site == 0 ? 0 : steps << 8 | (site - TRUTH_SITE);
}

/* ---- blocks ---- */

static void expect_blocks(struct bench *bench)
{
    for (uint32_t i = 0; i < bench->truth->slots_count; i++) {
        const struct truth_slot *slot = &bench->truth->slots[i];
        const struct truth_block *block = &slot->blocks[slot->state & 1];

        if (slot->state & TRUTH_CALLING)
            bench->out->in_flight++;
        else if (block->address != 0)
            *place_of(bench, block->address) =
                (struct known){.address = block->address, .size = block->size, .stack = block->stack};
    }
}

/* The name of the call that allocated a block. */
static const char *name_of(uint32_t stack)
{
    uint32_t site = stack & 0xff;

    return site < oracle_sites_count ? oracle_sites[site].name : "a plugin";
}

static bool on_block(void *context, const struct heap_live *live)
{
    struct bench *bench = context;
    struct known *known = place_of(bench, live->address);
    uint32_t stack = stack_of(bench, live->node);

    if (known->address == 0 && stack != 0 && bench->loose_count < LOOSE_MAX) {
        bench->loose_stack[bench->loose_count] = stack;
        bench->loose[bench->loose_count++] = *live;
    }
    if (known->address == 0)
        return true;
    if (known->seen)
        wrong(bench, "block %llx is there twice", (unsigned long long)live->address);
    else if (known->size != live->size)
        wrong(bench, "block %llx of %s has %llu bytes, not %llu", (unsigned long long)live->address,
              name_of(known->stack), (unsigned long long)live->size, (unsigned long long)known->size);
    else if (known->stack != stack)
        wrong(bench, "block %llx of %llu bytes has stack %x, not %x", (unsigned long long)live->address,
              (unsigned long long)live->size, stack, known->stack);
    else if (live->category != mire__size_class(live->size) || live->chance != 1)
        wrong(bench, "block %llx is in category %u", (unsigned long long)live->address, live->category);
    known->seen = true;
    return true;
}

static bool is(const struct truth_block *block, const struct heap_live *live, uint32_t stack)
{
    return block->stack == stack && block->size == live->size &&
           (block->address == 0 || block->address == live->address);
}

/* Remove the blocks that the slot's call in flight explains: the block before the call or the one after it. */
static void explain(struct bench *bench, const struct truth_slot *slot)
{
    const struct truth_block *before = &slot->blocks[slot->state & 1], *after = &slot->blocks[!(slot->state & 1)];
    bool had = false, has = false;

    for (uint32_t i = 0; i < bench->loose_count; i++) {
        bool old = !had && before->address != 0 && is(before, &bench->loose[i], bench->loose_stack[i]);
        bool new = !has && !old && after->stack != 0 && is(after, &bench->loose[i], bench->loose_stack[i]);

        if (!old && !new)
            continue;
        had |= old, has |= new;
        bench->loose[i] = bench->loose[--bench->loose_count];
        bench->loose_stack[i] = bench->loose_stack[bench->loose_count];
        i--;
    }
    if (had && has)
        wrong(bench, "block %llx is there both before and after a call", (unsigned long long)before->address);
}

/* Remove the exceptions that the C++ library holds while failing calls return. */
static void explain_exceptions(struct bench *bench)
{
    uint32_t at_most = bench->out->in_flight;

    for (uint32_t i = 0; i < bench->loose_count && at_most > 0; i++) {
        uint32_t site = bench->loose_stack[i] & 0xff;

        if (site >= oracle_sites_count || oracle_sites[site].function != oracle_new_fails)
            continue;
        bench->loose[i] = bench->loose[--bench->loose_count];
        bench->loose_stack[i] = bench->loose_stack[bench->loose_count];
        i--, at_most--;
    }
}

static void judge_blocks(struct bench *bench)
{
    uint64_t torn;

    expect_blocks(bench);
    torn = mire__read_blocks(bench->reader, on_block, bench);
    if (torn > bench->out->in_flight)
        wrong(bench, "%llu entries torn, %u calls in flight", (unsigned long long)torn, bench->out->in_flight);
    for (uint32_t i = 0; i < bench->truth->slots_count; i++)
        if (bench->truth->slots[i].state & TRUTH_CALLING)
            explain(bench, &bench->truth->slots[i]);
    explain_exceptions(bench);
    for (uint32_t i = 0; i < bench->loose_count; i++)
        wrong(bench, "block %llx of %llu bytes, stack %x, is not live", (unsigned long long)bench->loose[i].address,
              (unsigned long long)bench->loose[i].size, bench->loose_stack[i]);
    for (uint32_t i = 0; i < 1u << TABLE_LOG; i++) {
        const struct known *known = &bench->table[i];

        bench->out->blocks += known->seen;
        if (known->address != 0 && !known->seen)
            wrong(bench, "block %llx of %llu bytes, stack %x, is missing", (unsigned long long)known->address,
                  (unsigned long long)known->size, known->stack);
    }
}

/* ---- pages ---- */

static void expect_span(struct bench *bench, const struct truth_span *span)
{
    const uint32_t now = span->state & 1;

    for (uint32_t which = 0; which < 2; which++) {
        const struct truth_pages *pages = &span->pages[which];
        bool calling = span->state & TRUTH_CALLING, known = pages->address != 0;

        for (uint32_t i = 0; i < TRUTH_SPAN_PAGES && (calling || (known && which == now)); i++) {
            uint64_t page = pages->address + (uint64_t)i * TRUTH_PAGE_BYTES;

            if (pages->stack[i] != 0 && calling && !known)
                bench->pages_under_way[pages->stack[i]]++;
            else if (pages->stack[i] != 0 && calling)
                bench->maybe[bench->maybe_count++] = page;
            else if (pages->stack[i] != 0)
                *place_of(bench, page) = (struct known){.address = page, .stack = pages->stack[i], .kind = pages->kind};
        }
        bench->out->in_flight += calling && which == now;
    }
}

static bool is_maybe(const struct bench *bench, uint64_t page)
{
    for (uint32_t i = 0; i < bench->maybe_count; i++)
        if (bench->maybe[i] == page)
            return true;
    return false;
}

static bool on_region(void *context, const struct heap_live *live)
{
    static const uint32_t kinds[] = {
        [TRUTH_ANONYMOUS] = MIRE_KIND_ANONYMOUS, [TRUTH_SHARED] = MIRE_KIND_SHARED, [TRUTH_FILE] = MIRE_KIND_FILE};
    struct bench *bench = context;
    uint32_t site = stack_of(bench, live->node) & 0xff, untold = 0;

    if (site < SITE_MPROTECT)
        return true;
    for (uint64_t page = live->address; page < live->address + live->size; page += TRUTH_PAGE_BYTES) {
        struct known *known = place_of(bench, page);

        if (known->address == 0)
            untold += !is_maybe(bench, page);
        else if ((known->stack & 0xff) != site && !is_maybe(bench, page))
            wrong(bench, "page %llx is of site %x, not %x", (unsigned long long)page, site, known->stack & 0xff);
        else if (live->category != MIRE_CATEGORY_KINDS + kinds[known->kind])
            wrong(bench, "page %llx is in category %u", (unsigned long long)page, live->category);
        known->seen |= known->address != 0;
    }
    if (untold <= bench->pages_under_way[site])
        bench->pages_under_way[site] -= untold;
    else
        wrong(bench, "%u pages from %llx on are not mapped (%llu bytes, site %x)", untold,
              (unsigned long long)live->address, (unsigned long long)live->size, site);
    return true;
}

static void judge_pages(struct bench *bench)
{
    memset(bench->table, 0, sizeof(bench->table[0]) << TABLE_LOG);
    for (uint32_t i = 0; i < TRUTH_SPANS; i++)
        expect_span(bench, &bench->truth->spans[i]);
    (void)mire__read_mappings(bench->reader, on_region, bench);
    for (uint32_t i = 0; i < 1u << TABLE_LOG; i++) {
        const struct known *known = &bench->table[i];

        bench->out->pages += known->seen;
        if (known->address != 0 && !known->seen && !is_maybe(bench, known->address))
            wrong(bench, "page %llx of site %x is missing", (unsigned long long)known->address, known->stack & 0xff);
    }
}

static void judge_facts(struct bench *bench)
{
    struct heap_facts facts;

    mire__read_facts(&facts, bench->reader);
    for (uint32_t i = 0; i < MIRE_HEAP_DROPS; i++)
        if (facts.drops[i] > 0)
            wrong(bench, "%llu dropped: %s", (unsigned long long)facts.drops[i],
                  mire__read_drop_name((enum heap_drop)i));
    if (facts.mode != MIRE_HEAP_EXACT || facts.inexact_ns != 0 || facts.stopped)
        wrong(bench, "mode %d, stopped %d", (int)facts.mode, (int)facts.stopped);
}

bool judge(struct verdict *out, const struct heap_reader *reader, const struct truth *truth)
{
    struct bench *bench = calloc(1, sizeof(*bench));

    memset(out, 0, sizeof(*out));
    if (bench)
        bench->table = calloc(1u << TABLE_LOG, sizeof(bench->table[0]));
    if (!bench || !bench->table) {
        free(bench);
        return false;
    }
    bench->reader = reader, bench->truth = truth, bench->out = out;
    judge_facts(bench);
    judge_blocks(bench);
    judge_pages(bench);
    free(bench->table);
    free(bench);
    return true;
}
