/* cell.c - values are sorted, so that a cell has few, and equal cells have equal bytes. */
#include "rollup/cell.h"

#include "base/fault.h"
#include "base/text.h"

#include <stdbool.h>
#include <string.h>

static int make_sessions(struct cell_sums *sums, struct arena *arena)
{
    if (!sums->sessions)
        sums->sessions = arena_alloc(arena, sizeof *sums->sessions);
    return sums->sessions ? 0 : MIRE_FAULT_MEMORY;
}

static int sums_add(struct cell_sums *sums, struct arena *arena, const struct cell_event *event)
{
    sums->reports++;
    sums->weight += event->weight;
    sums->events += event->events;
    sums->waited_ms += event->waited_ms;
    if (event->longest_ms > sums->longest_ms)
        sums->longest_ms = event->longest_ms;
    int rc = sketch_add(&sums->lengths, arena, event->length_ms, 1);
    if (!rc)
        rc = distinct_add(&sums->devices, arena, event->device);
    if (!rc && event->session)
        rc = make_sessions(sums, arena);
    return rc || !event->session ? rc
                                 : session_all_add(sums->sessions, arena, event->session, event->device, event->weight);
}

int cell_sums_merge(struct cell_sums *sums, struct arena *arena, const struct cell_sums *more)
{
    sums->reports += more->reports;
    sums->weight += more->weight;
    sums->events += more->events;
    sums->waited_ms += more->waited_ms;
    if (more->longest_ms > sums->longest_ms)
        sums->longest_ms = more->longest_ms;
    int rc = sketch_merge(&sums->lengths, arena, &more->lengths);
    if (!rc)
        rc = distinct_merge(&sums->devices, arena, &more->devices);
    if (!rc && more->sessions)
        rc = make_sessions(sums, arena);
    return rc || !more->sessions ? rc : session_all_merge(sums->sessions, arena, more->sessions);
}

/* Where a value is, or would be. */
static size_t place_of(const struct cell *cell, enum cell_facet facet, const char *text, bool *found_out)
{
    size_t low = 0, high = cell->value_count;

    *found_out = false;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct cell_value *value = &cell->values[middle];
        int order = value->facet != facet ? (value->facet < facet ? -1 : 1) : strcmp(value->text, text);
        if (!order) {
            *found_out = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t count_of(const struct cell *cell, enum cell_facet facet)
{
    bool found;
    return place_of(cell, facet + 1, "", &found) - place_of(cell, facet, "", &found);
}

size_t cell_text_length(const char *text)
{
    return text_cut(text, strnlen(text, MIRE_CELL_TEXT_MAX + 1), MIRE_CELL_TEXT_MAX);
}

/* The value, made if there is none; one too many is MIRE_CELL_OTHERS. NULL: no memory. */
static struct cell_value *value_of(struct cell *cell, struct arena *arena, enum cell_facet facet, const char *text)
{
    bool found;
    size_t at = place_of(cell, facet, text, &found);

    if (found)
        return &cell->values[at];
    if (cell->value_count >= MIRE_CELL_VALUES && count_of(cell, facet) >= MIRE_CELL_VALUES) {
        text = MIRE_CELL_OTHERS;
        at = place_of(cell, facet, text, &found);
        if (found)
            return &cell->values[at];
    }
    if (cell->value_count == cell->room) {
        size_t room = cell->room ? cell->room * 2 : MIRE_FACET_COUNT;
        struct cell_value *values = arena_array(arena, room, sizeof *values);
        if (!values)
            return NULL;
        if (cell->value_count)
            memcpy(values, cell->values, cell->value_count * sizeof *values);
        cell->values = values;
        cell->room = room;
    }
    const char *copy = arena_strdup(arena, text);
    if (!copy)
        return NULL;
    memmove(&cell->values[at + 1], &cell->values[at], (cell->value_count - at) * sizeof *cell->values);
    cell->values[at] = (struct cell_value){.facet = facet, .text = copy};
    cell->value_count++;
    return &cell->values[at];
}

static void widen(int64_t *oldest_us, int64_t *newest_us, uint64_t reports, int64_t from_us, int64_t to_us)
{
    *oldest_us = !reports || from_us < *oldest_us ? from_us : *oldest_us;
    *newest_us = !reports || to_us > *newest_us ? to_us : *newest_us;
}

static void widen_value(struct cell_value *value, int64_t from_us, int64_t to_us)
{
    if (value->facet == MIRE_FACET_VERSION)
        widen(&value->oldest_us, &value->newest_us, value->sums.reports, from_us, to_us);
}

int cell_add(struct cell *cell, struct arena *arena, const struct cell_event *event)
{
    widen(&cell->oldest_us, &cell->newest_us, cell->all.reports, event->occurred_us, event->occurred_us);
    int rc = sums_add(&cell->all, arena, event);
    for (size_t i = 0; i < MIRE_CELL_COUNTS; i++)
        cell->counts[i] += event->counts[i];
    for (int facet = 0; !rc && facet < MIRE_FACET_COUNT; facet++) {
        if (!event->values[facet])
            continue;
        const char *text = event->values[facet];
        if (strnlen(text, MIRE_CELL_TEXT_MAX + 1) > MIRE_CELL_TEXT_MAX)
            text = arena_copy(arena, text, cell_text_length(text));
        struct cell_value *value = text ? value_of(cell, arena, (enum cell_facet)facet, text) : NULL;
        if (value)
            widen_value(value, event->occurred_us, event->occurred_us);
        rc = value ? sums_add(&value->sums, arena, event) : MIRE_FAULT_MEMORY;
    }
    return rc;
}

int cell_merge(struct cell *cell, struct arena *arena, const struct cell *more)
{
    if (!more->all.reports)
        return 0;
    widen(&cell->oldest_us, &cell->newest_us, cell->all.reports, more->oldest_us, more->newest_us);
    int rc = cell_sums_merge(&cell->all, arena, &more->all);
    for (size_t i = 0; i < MIRE_CELL_COUNTS; i++)
        cell->counts[i] += more->counts[i];
    for (size_t i = 0; !rc && i < more->value_count; i++) {
        struct cell_value *value = value_of(cell, arena, more->values[i].facet, more->values[i].text);
        if (value)
            widen_value(value, more->values[i].oldest_us, more->values[i].newest_us);
        rc = value ? cell_sums_merge(&value->sums, arena, &more->values[i].sums) : MIRE_FAULT_MEMORY;
    }
    return rc;
}

const struct cell_sums *cell_find(const struct cell *cell, enum cell_facet facet, const char *text)
{
    bool found;
    size_t at = place_of(cell, facet, text, &found);
    return found ? &cell->values[at].sums : NULL;
}
