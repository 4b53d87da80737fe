/*
 * cell_bytes.c - a cell as bytes (pack.h).
 *
 *     1 of events or 2 of sessions, sums, counts, oldest, newest - oldest, values, then for each: facet, text, same; unless
 *     it is, its sums, and of a version how much later than the cell's its oldest is, and how much earlier its newest
 *     sums: reports, weight, events, waited, longest, bins, then for each its number less the one before and its weight,
 *           devices, and of sessions their sums (sessions.h)
 *
 * A value that all events have is the same as the cell: that is one byte, and what most values of a small cell are.
 */
#include "rollup/cell.h"

#include "base/fault.h"
#include "rollup/pack.h"

#include <string.h>

#define EVENTS   1
#define SESSIONS 2
#define YEAR_MAX 4102444800000000ull /* 2100, microseconds */

static void pack_sums(struct pack_out *out, const struct cell_sums *sums)
{
    pack_number(out, sums->reports);
    pack_real(out, sums->weight);
    pack_real(out, sums->events);
    pack_real(out, sums->waited_ms);
    pack_number(out, sums->longest_ms);
    pack_sketch(out, &sums->lengths);
    distinct_pack(out, &sums->devices);
    if (sums->sessions)
        session_all_pack(out, sums->sessions);
}

int cell_encode(unsigned char **bytes_out, size_t *len_out, struct arena *arena, const struct cell *cell)
{
    struct pack_out out = {.arena = arena};

    pack_number(&out, cell->all.sessions ? SESSIONS : EVENTS);
    pack_sums(&out, &cell->all);
    for (size_t i = 0; i < MIRE_CELL_COUNTS; i++)
        pack_number(&out, cell->counts[i]);
    pack_number(&out, (uint64_t)cell->oldest_us);
    pack_number(&out, (uint64_t)(cell->newest_us - cell->oldest_us));
    pack_number(&out, cell->value_count);
    for (size_t i = 0; i < cell->value_count; i++) {
        const struct cell_value *value = &cell->values[i];
        bool same = value->sums.reports == cell->all.reports;
        pack_number(&out, value->facet);
        pack_text(&out, value->text);
        pack_number(&out, same);
        if (!same)
            pack_sums(&out, &value->sums);
        if (!same && value->facet == MIRE_FACET_VERSION) {
            pack_number(&out, (uint64_t)(value->oldest_us - cell->oldest_us));
            pack_number(&out, (uint64_t)(cell->newest_us - value->newest_us));
        }
    }
    *bytes_out = out.bytes;
    *len_out = out.len;
    return out.failed ? MIRE_FAULT_MEMORY : 0;
}

static void unpack_sums(struct cell_sums *out, struct pack_in *in, bool of_sessions)
{
    out->reports = pack_get_number(in, UINT64_MAX);
    out->weight = pack_get_real(in);
    out->events = pack_get_real(in);
    out->waited_ms = pack_get_real(in);
    out->longest_ms = pack_get_number(in, UINT64_MAX);
    pack_get_sketch(&out->lengths, in);
    if (!in->bad)
        distinct_unpack(&out->devices, in);
    if (in->bad || !of_sessions)
        return;
    out->sessions = arena_alloc(in->arena, sizeof *out->sessions);
    in->bad |= !out->sessions;
    if (!in->bad)
        session_all_unpack(out->sessions, in);
}

/* The cell's own sums again, for a value that is the same. */
static void copy_sums(struct cell_sums *out, struct pack_in *in, const unsigned char *from, const unsigned char *to,
                      bool of_sessions)
{
    struct pack_in again = {.arena = in->arena, .at = from, .end = to};
    unpack_sums(out, &again, of_sessions);
    in->bad |= again.bad;
}

/* The instants of a version's events: the cell's, unless they are told. */
static void unpack_instants(struct cell_value *value, struct pack_in *in, const struct cell *cell, bool same)
{
    if (value->facet != MIRE_FACET_VERSION)
        return;
    uint64_t length = (uint64_t)(cell->newest_us - cell->oldest_us);
    uint64_t later = same ? 0 : pack_get_number(in, length), earlier = same ? 0 : pack_get_number(in, length);
    value->oldest_us = cell->oldest_us + (int64_t)later;
    value->newest_us = cell->newest_us - (int64_t)earlier;
}

static void unpack_values(struct cell *cell, struct pack_in *in, const unsigned char *from, const unsigned char *to)
{
    size_t count = pack_get_count(in, MIRE_FACET_COUNT * (MIRE_CELL_VALUES + 1), 3);

    if (!count)
        return;
    cell->values = arena_array(in->arena, count, sizeof *cell->values);
    in->bad |= !cell->values;
    for (size_t i = 0; i < count && !in->bad; i++) {
        struct cell_value *value = &cell->values[i];
        value->facet = (enum cell_facet)pack_get_number(in, MIRE_FACET_COUNT - 1);
        value->text = pack_get_text(in, MIRE_CELL_TEXT_MAX);
        bool same = pack_get_number(in, 1);
        if (same)
            copy_sums(&value->sums, in, from, to, cell->all.sessions);
        else
            unpack_sums(&value->sums, in, cell->all.sessions);
        unpack_instants(value, in, cell, same);
        const struct cell_value *before = value - (i > 0);
        in->bad |= value->sums.reports > cell->all.reports;
        in->bad |= i && (before->facet > value->facet ||
                         (before->facet == value->facet && strcmp(before->text, value->text) >= 0));
    }
    cell->value_count = cell->room = count;
}

int cell_decode(struct cell *out, struct arena *arena, const void *bytes, size_t len)
{
    struct pack_in in = {.arena = arena, .at = bytes, .end = (const unsigned char *)bytes + len};

    *out = (struct cell){0};
    uint64_t kind = pack_get_number(&in, SESSIONS);
    in.bad |= kind != EVENTS && kind != SESSIONS;
    const unsigned char *from = in.at;
    unpack_sums(&out->all, &in, kind == SESSIONS);
    const unsigned char *to = in.at;
    for (size_t i = 0; i < MIRE_CELL_COUNTS; i++)
        out->counts[i] = pack_get_number(&in, UINT64_MAX);
    out->oldest_us = (int64_t)pack_get_number(&in, YEAR_MAX);
    out->newest_us = out->oldest_us + (int64_t)pack_get_number(&in, YEAR_MAX);
    unpack_values(out, &in, from, to);
    if (!in.bad && in.at == in.end)
        return 0;
    *out = (struct cell){0};
    return MIRE_FAULT_BROKEN;
}
