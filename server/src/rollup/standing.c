/*
 * standing.c - see standing.h.
 *
 *     1, rows; then for each: two keys (the first less the one before), which figures are there, those, and the newest
 *     event from the beginning. A figure that is as usual is left out: of most rows, which have one report, nearly all.
 *     Numbers that may be below zero: twice the number, or twice its amount less one.
 */
#include "rollup/standing.h"

#include "base/fault.h"
#include "rollup/pack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VERSION      1
#define ROW_LEAST    4 /* bytes */
#define CHANGE_LEAST 7
#define ROWS_MAX     (1u << 24)
#define HOUR_US      3600000000ll
#define WHOLE_MAX    4503599627370496.0 /* 2^52 */

const int16_t standing_lengths[MIRE_STANDING_KINDS][MIRE_STANDING_LENGTHS + 1] = {
    [MIRE_STANDING_ISSUES] = {1, 6, 24, 96, 384},
    [MIRE_STANDING_VERSIONS] = {1, 24},
    [MIRE_STANDING_TURNS] = {1, 24},
    [MIRE_STANDING_VERSION] = {1, 24},
    [MIRE_STANDING_ISSUE] = {24},
};

static int64_t floor_to(int64_t value, int64_t step)
{
    int64_t rest = value % step;
    return value - (rest < 0 ? rest + step : rest);
}

/* The longest span of a kind that begins here and does not end after to_us. */
static int16_t longest_at(enum standing_kind kind, int16_t most, int64_t at_us, int64_t to_us)
{
    int16_t found = standing_lengths[kind][0];

    for (const int16_t *hours = standing_lengths[kind]; *hours && *hours <= most; hours++)
        if (floor_to(at_us, *hours * HOUR_US) == at_us && at_us + *hours * HOUR_US <= to_us)
            found = *hours;
    return found;
}

struct standing_block *standing_blocks(size_t *count, struct arena *arena, enum standing_kind kind, int16_t most,
                                       int64_t from_us, int64_t to_us)
{
    struct standing_block *blocks = NULL;
    int64_t at_us = floor_to(from_us, standing_lengths[kind][0] * HOUR_US);

    *count = 0;
    for (int64_t at = at_us; at < to_us; at += longest_at(kind, most, at, to_us) * HOUR_US)
        ++*count;
    blocks = arena_array(arena, *count + 1, sizeof *blocks);
    for (size_t i = 0; blocks && i < *count; at_us += blocks[i++].hours * HOUR_US)
        blocks[i] = (struct standing_block){longest_at(kind, most, at_us, to_us), at_us};
    return blocks;
}

/* --- sums by key --- */

static int compare(const struct standing_key *x, const struct standing_key *y)
{
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    if (x->b != y->b)
        return x->b < y->b ? -1 : 1;
    if (x->c != y->c)
        return x->c < y->c ? -1 : 1;
    return (x->d > y->d) - (x->d < y->d);
}

static size_t hash_of(const struct standing_key *key)
{
    uint64_t x = (uint64_t)key->a * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)key->b * UINT64_C(0xc2b2ae3d27d4eb4f) ^
                 (uint64_t)(uint32_t)key->c << 32 ^ (uint32_t)key->d;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return (size_t)(x ^ x >> 31);
}

static int grow(struct standing *standing, struct arena *arena)
{
    size_t room = standing->room ? standing->room * 2 : 32;
    struct standing_row *rows = arena_array(arena, room, sizeof *rows);
    uint32_t *table = arena_array(arena, room * 2, sizeof *table);

    if (!rows || !table)
        return MIRE_FAULT_MEMORY;
    if (standing->count)
        memcpy(rows, standing->rows, standing->count * sizeof *rows);
    standing->rows = rows;
    standing->room = room;
    standing->table = table;
    standing->mask = room * 2 - 1;
    for (size_t i = 0; i < standing->count; i++) {
        size_t at = hash_of(&rows[i].key) & standing->mask;
        while (table[at])
            at = (at + 1) & standing->mask;
        table[at] = (uint32_t)i + 1;
    }
    return 0;
}

static void add_sums(struct standing_sums *sums, const struct standing_sums *more)
{
    sums->reports += more->reports;
    sums->events += more->events;
    sums->waited_ms += more->waited_ms;
    sums->above_bytes += more->above_bytes;
    sums->longest_ms = more->longest_ms > sums->longest_ms ? more->longest_ms : sums->longest_ms;
    sums->most_bytes = more->most_bytes > sums->most_bytes ? more->most_bytes : sums->most_bytes;
    sums->first_us = more->first_us < sums->first_us ? more->first_us : sums->first_us;
    sums->last_us = more->last_us > sums->last_us ? more->last_us : sums->last_us;
    sums->low = more->low < sums->low ? more->low : sums->low;
    sums->high = more->high > sums->high ? more->high : sums->high;
}

int standing_add(struct standing *standing, struct arena *arena, const struct standing_key *key,
                 const struct standing_sums *sums)
{
    if (standing->count == standing->room && grow(standing, arena))
        return MIRE_FAULT_MEMORY;
    size_t at = hash_of(key) & standing->mask;
    for (; standing->table[at]; at = (at + 1) & standing->mask) {
        struct standing_row *row = &standing->rows[standing->table[at] - 1];
        if (!compare(&row->key, key)) {
            add_sums(&row->sums, sums);
            return 0;
        }
    }
    standing->rows[standing->count] = (struct standing_row){*key, *sums};
    standing->table[at] = (uint32_t)++standing->count;
    return 0;
}

static int by_key(const void *a, const void *b)
{
    return compare(&((const struct standing_row *)a)->key, &((const struct standing_row *)b)->key);
}

void standing_sort(struct standing *standing)
{
    size_t kept = 0;

    for (size_t i = 0; i < standing->count; i++) {
        const struct standing_sums *sums = &standing->rows[i].sums;
        if (sums->reports || sums->events >= 0.5) /* turns have no reports; less is what rounding left */
            standing->rows[kept++] = standing->rows[i];
    }
    standing->count = kept;
    standing->table = NULL;
    if (kept)
        qsort(standing->rows, kept, sizeof *standing->rows, by_key);
}

/* --- bytes --- */

static void put_signed(struct pack_out *out, int64_t value)
{
    pack_number(out, value < 0 ? ((uint64_t)(-(value + 1)) << 1) + 1 : (uint64_t)value << 1);
}

static int64_t get_signed(struct pack_in *in)
{
    uint64_t value = pack_get_number(in, UINT64_MAX);
    return value & 1 ? -(int64_t)(value >> 1) - 1 : (int64_t)(value >> 1);
}

/* A whole number twice, any other as 1 and its eight bytes. */
static void put_amount(struct pack_out *out, double value)
{
    if (value == floor(value) && fabs(value) <= WHOLE_MAX) {
        put_signed(out, (int64_t)value * 2);
        return;
    }
    put_signed(out, 1);
    pack_bytes(out, &value, sizeof value);
}

static double get_amount(struct pack_in *in)
{
    int64_t whole = get_signed(in);
    double value = 0;

    if (!(whole & 1))
        return (double)(whole / 2);
    const unsigned char *bytes = pack_get_bytes(in, sizeof value);
    if (bytes)
        memcpy(&value, bytes, sizeof value);
    in->bad = in->bad || whole != 1 || !isfinite(value);
    return value;
}

/* Which figures are there, and how each is else. */
enum {
    HAS_C = 1,       /* 0 */
    HAS_REPORTS = 2, /* 1 */
    HAS_EVENTS = 4,  /* as many as reports */
    HAS_LONGEST = 8, /* 0 */
    HAS_WAITED = 16, /* as the longest */
    HAS_MOST = 32,   /* 0 */
    HAS_FIRST = 64,  /* the beginning */
    HAS_ABOVE = 128, /* 0 */
    HAS_ALL = 255
};

static unsigned figures_of(int32_t c, const struct standing_sums *sums, int64_t at_us)
{
    return (c ? HAS_C : 0) | (sums->reports != 1 ? HAS_REPORTS : 0) |
           (sums->events != (double)sums->reports ? HAS_EVENTS : 0) | (sums->longest_ms ? HAS_LONGEST : 0) |
           (sums->waited_ms != (double)sums->longest_ms ? HAS_WAITED : 0) | (sums->most_bytes ? HAS_MOST : 0) |
           (sums->first_us != at_us ? HAS_FIRST : 0) | (sums->above_bytes != 0 ? HAS_ABOVE : 0);
}

static void put_sums(struct pack_out *out, int32_t c, const struct standing_sums *sums, int64_t at_us)
{
    unsigned has = figures_of(c, sums, at_us);

    pack_number(out, has);
    if (has & HAS_C)
        put_signed(out, c);
    if (has & HAS_REPORTS)
        put_signed(out, sums->reports);
    if (has & HAS_EVENTS)
        put_amount(out, sums->events);
    if (has & HAS_LONGEST)
        put_signed(out, sums->longest_ms);
    if (has & HAS_WAITED)
        put_amount(out, sums->waited_ms);
    if (has & HAS_MOST)
        put_signed(out, sums->most_bytes);
    if (has & HAS_FIRST)
        put_signed(out, (sums->first_us - at_us) / HOUR_US);
    if (has & HAS_ABOVE)
        put_amount(out, sums->above_bytes);
    put_signed(out, sums->last_us - at_us);
}

static void get_sums(int32_t *c, struct standing_sums *sums, struct pack_in *in, int64_t at_us)
{
    unsigned has = (unsigned)pack_get_number(in, HAS_ALL);

    *c = has & HAS_C ? (int32_t)get_signed(in) : 0;
    *sums = (struct standing_sums){.reports = has & HAS_REPORTS ? get_signed(in) : 1};
    sums->events = has & HAS_EVENTS ? get_amount(in) : (double)sums->reports;
    sums->longest_ms = has & HAS_LONGEST ? get_signed(in) : 0;
    sums->waited_ms = has & HAS_WAITED ? get_amount(in) : (double)sums->longest_ms;
    sums->most_bytes = has & HAS_MOST ? get_signed(in) : 0;
    sums->first_us = (int64_t)((uint64_t)at_us + (has & HAS_FIRST ? (uint64_t)get_signed(in) : 0) * HOUR_US);
    sums->above_bytes = has & HAS_ABOVE ? get_amount(in) : 0;
    sums->last_us = (int64_t)((uint64_t)at_us + (uint64_t)get_signed(in));
}

int standing_encode(unsigned char **bytes_out, size_t *len_out, struct arena *arena, const struct standing *standing,
                    int64_t at_us)
{
    struct pack_out out = {.arena = arena};
    int64_t before = 0;

    pack_number(&out, VERSION);
    pack_number(&out, standing->count);
    for (size_t i = 0; i < standing->count; i++) {
        const struct standing_row *row = &standing->rows[i];
        put_signed(&out, row->key.a - before);
        put_signed(&out, row->key.b);
        put_sums(&out, row->key.c, &row->sums, at_us);
        before = row->key.a;
    }
    *bytes_out = out.bytes;
    *len_out = out.len;
    return out.failed ? MIRE_FAULT_MEMORY : 0;
}

int standing_each(const void *bytes, size_t len, int64_t at_us, standing_take take, void *context)
{
    struct pack_in in = {.at = bytes, .end = (const unsigned char *)bytes + len};
    struct standing_key key = {0};
    struct standing_sums sums;
    int rc = 0;

    in.bad = pack_get_number(&in, UINT64_MAX) != VERSION;
    size_t count = pack_get_count(&in, ROWS_MAX, ROW_LEAST);
    for (size_t i = 0; !rc && !in.bad && i < count; i++) {
        key.a = (int64_t)((uint64_t)key.a + (uint64_t)get_signed(&in));
        key.b = get_signed(&in);
        get_sums(&key.c, &sums, &in, at_us);
        if (!in.bad)
            rc = take(context, &key, &sums);
    }
    return rc ? rc : in.bad || in.at != in.end ? MIRE_FAULT_BROKEN : 0;
}

int standing_changes_encode(unsigned char **bytes_out, size_t *len_out, struct arena *arena,
                            const struct standing_change *changes, size_t count)
{
    struct pack_out out = {.arena = arena};
    int64_t hour_us = 0;

    pack_number(&out, VERSION);
    pack_number(&out, count);
    for (size_t i = 0; i < count; i++) {
        pack_number(&out, changes[i].kind);
        put_signed(&out, (changes[i].sums.first_us - hour_us) / HOUR_US);
        hour_us = changes[i].sums.first_us;
        put_signed(&out, changes[i].issue);
        put_signed(&out, changes[i].version);
        put_sums(&out, changes[i].part, &changes[i].sums, hour_us);
    }
    *bytes_out = out.bytes;
    *len_out = out.len;
    return out.failed ? MIRE_FAULT_MEMORY : 0;
}

int standing_changes_decode(struct standing_change **out, size_t *count, struct arena *arena, const void *bytes,
                            size_t len)
{
    struct pack_in in = {.arena = arena, .at = bytes, .end = (const unsigned char *)bytes + len};
    int64_t hour_us = 0;

    in.bad = pack_get_number(&in, UINT64_MAX) != VERSION;
    *count = pack_get_count(&in, ROWS_MAX, CHANGE_LEAST);
    *out = arena_array(arena, *count + 1, sizeof **out);
    in.bad = in.bad || !*out;
    for (size_t i = 0; !in.bad && i < *count; i++) {
        struct standing_change *change = &(*out)[i];
        change->kind = (enum standing_kind)pack_get_number(&in, MIRE_STANDING_TURNS);
        hour_us = (int64_t)((uint64_t)hour_us + (uint64_t)get_signed(&in) * HOUR_US);
        change->issue = get_signed(&in);
        change->version = get_signed(&in);
        get_sums(&change->part, &change->sums, &in, hour_us);
    }
    return in.bad || in.at != in.end ? MIRE_FAULT_BROKEN : 0;
}
