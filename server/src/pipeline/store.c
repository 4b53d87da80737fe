/*
 * store.c - the rows of a batch, table by table in the order of rows/derive.c. Counters come last, so that they are
 * locked briefly.
 */
#include "pipeline/batch.h"
#include "pipeline/enough.h"
#include "pipeline/kinds.h"
#include "pipeline/known.h"
#include "pipeline/modules.h"

#include "base/fault.h"
#include "rows/counters.h"
#include "rows/derive.h"
#include "rows/enough.h"
#include "rows/memory.h"
#include "rows/rollup.h"
#include "rows/session.h"

#include <stdlib.h>
#include <string.h>

/* New items of a batch whose rows are made in the same way, and these rows. */
struct batch_part {
    struct item **items;
    struct aggregate_facts *facts;
    size_t count;
};

/* All rows that a batch adds to counters. */
struct added {
    struct hour_row *hours;
    struct loss_row *losses;
    struct delta_entry *entries; /* of events and sessions */
    int16_t slot;                /* of the first of them */
    int32_t app_id;
    size_t hour_count, loss_count, entry_count;
};

/* The items of a kind that have no row yet. */
static int take_part(struct batch_part *out, struct batch *batch, enum rows_table rows)
{
    struct report_key *keys = arena_array(batch->arena, batch->count + 1, sizeof *keys);
    bool *stored = arena_array(batch->arena, batch->count + 1, sizeof *stored);
    size_t found = 0;

    *out = (struct batch_part){arena_array(batch->arena, batch->count + 1, sizeof(struct item *)),
                               arena_array(batch->arena, batch->count + 1, sizeof *out->facts), 0};
    if (!keys || !stored || !out->items || !out->facts)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < batch->count; i++) {
        struct item *item = &batch->items[i];
        if (batch_skips(item) || kind_of(item)->rows != rows)
            continue;
        out->items[found] = item;
        stages_facts(&out->facts[found], item);
        keys[found] = out->facts[found].key;
        found++;
    }
    int rc = found ? rows_stored(stored, batch->tx, batch->arena, rows, keys, found) : 0;
    for (size_t i = 0; !rc && i < found; i++) {
        if (stored[i])
            continue;
        out->items[out->count] = out->items[i];
        out->facts[out->count++] = out->facts[i];
    }
    return rc;
}

static void add_losses(struct added *added, const struct item *item, const struct aggregate_facts *facts)
{
    aggregate_losses(&added->losses[added->loss_count], &item->report, facts);
    added->loss_count += added->losses[added->loss_count].count > 0;
}

/* --- events --- */

/* Store the stacks of reports that are kept whole; cut the others down. */
static int store_stacks(const struct batch *batch, const struct batch_part *part)
{
    struct rows_stack *stacks = arena_array(batch->arena, part->count + 1, sizeof *stacks);
    struct rows_cut *cuts = arena_array(batch->arena, part->count + 1, sizeof *cuts);
    size_t stack_count = 0, cut_count = 0;

    if (!stacks || !cuts)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < part->count; i++) {
        struct rows_stack stack = {part->facts[i].key, part->items[i]->document};
        struct rows_cut cut = {.key = part->facts[i].key};
        int rc = part->items[i]->is_counted ? enough_cut(&cut.body, &stack.document, part->items[i]) : 0;
        if (rc)
            return rc;
        if (part->items[i]->is_counted)
            cuts[cut_count++] = cut;
        if (stack.document.len)
            stacks[stack_count++] = stack;
    }
    int rc = rows_stacks_store(batch->tx, stacks, stack_count);
    return rc ? rc : rows_reports_cut(batch->tx, batch->arena, cuts, cut_count);
}

static int by_build(const void *a, const void *b)
{
    const struct missing_debug_row *x = a, *y = b;
    size_t len = x->build_id_len < y->build_id_len ? x->build_id_len : y->build_id_len;
    int order = memcmp(x->build_id, y->build_id, len);
    return order ? order : (x->build_id_len > y->build_id_len) - (x->build_id_len < y->build_id_len);
}

static bool same_image(const struct missing_debug_row *a, const struct missing_debug_row *b)
{
    return !by_build(a, b) && !strcmp(a->had, b->had) && !strcmp(a->defect, b->defect) &&
           a->split_count == b->split_count;
}

/* Many reports lack the same images: each image is stored once. */
static int store_missing(const struct batch *batch, const struct batch_part *part)
{
    struct rows_missing *reports = arena_array(batch->arena, part->count + 1, sizeof *reports);
    size_t all_count = 0, kept = 0;

    for (size_t i = 0; i < part->count; i++)
        all_count += part->items[i]->counts.missing_count;
    struct missing_debug_row *all = arena_array(batch->arena, all_count + 1, sizeof *all);
    if (!all || !reports)
        return MIRE_FAULT_MEMORY;
    all_count = 0;
    for (size_t i = 0; i < part->count; i++) {
        struct missing_debug_row *rows;
        size_t count = part->items[i]->counts.missing_count;
        if (part->items[i]->is_counted || part->items[i]->aside >> MIRE_KNOWN_ISSUE & 1)
            count = 0; /* no debug file is waited for */
        if (stages_missing(&rows, part->items[i]))
            return MIRE_FAULT_MEMORY;
        reports[i] = (struct rows_missing){part->facts[i].key, part->facts[i].app_id, rows, count};
        for (size_t k = 0; k < count; k++)
            all[all_count++] = rows[k];
    }
    if (all_count)
        qsort(all, all_count, sizeof *all, by_build);
    for (size_t i = 0; i < all_count; i++)
        if (!kept || !same_image(&all[kept - 1], &all[i]))
            all[kept++] = all[i];
    int rc = rows_images_store(batch->tx, all, kept);
    return rc ? rc : rows_missing_debug_store(batch->tx, batch->arena, reports, part->count);
}

static int by_sum(const void *a, const void *b)
{
    const struct rows_held *x = a, *y = b;
    return rows_issue_memory_compare(x->event, y->event);
}

/* Add the memory of processes, all reports of one sum at once. */
static int store_memory(const struct batch *batch, const struct batch_part *part, const struct event_row *events)
{
    struct rows_held *held = arena_array(batch->arena, part->count + 1, sizeof *held);
    size_t count = 0;
    int rc = 0;

    if (!held)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < part->count; i++)
        if (kind_of(part->items[i])->has_memory)
            held[count++] = (struct rows_held){&events[i], &part->items[i]->resolved.memory};
    if (count)
        qsort(held, count, sizeof *held, by_sum);
    for (size_t at = 0, to; !rc && at < count; at = to) {
        for (to = at + 1; to < count && !by_sum(&held[at], &held[to]);)
            to++;
        rc = rows_issue_memory_add(batch->tx, batch->arena, &held[at], to - at);
    }
    return rc;
}

/* The parts of the context that the event keeps. */
static int keep_context(struct event_row *event, const struct item *item)
{
    const struct report_context *context = &item->report.context;

    if (context->user && context->user[0] && !event->is_counted) {
        event->has_user = true;
        int rc = context_user(event->user_hash, item->arena, context->user);
        if (rc)
            return rc;
    }
    return context_tags(event->tags, &event->tag_count, item->arena, context, item->kept_tags);
}

static int store_events(struct batch *batch, struct added *added)
{
    struct batch_part part;
    int rc = take_part(&part, batch, ROWS_OF_EVENTS);
    struct event_row *events = rc ? NULL : arena_array(batch->arena, part.count + 1, sizeof *events);

    if (!events)
        return rc ? rc : MIRE_FAULT_MEMORY;
    rc = part.count ? enough_find(part.items[0]->enough, part.items, part.count) : 0;
    if (rc)
        return rc;
    for (size_t i = 0; i < part.count; i++) {
        struct aggregate_rows rows;
        aggregate_rows(&rows, &part.items[i]->report, &part.facts[i]);
        const char *version = stages_cut(part.items[i], part.items[i]->report.app.version);
        if (!version)
            return MIRE_FAULT_MEMORY;
        events[i] = rows.event;
        events[i].is_counted = part.items[i]->is_counted;
        events[i].country = part.items[i]->claim.country;
        if ((rc = keep_context(&events[i], part.items[i])))
            return rc;
        added->slot = events[0].key.slot;
        added->app_id = events[0].app_id;
        rows_rollup_entry(&added->entries[added->entry_count++], &events[i], &rows.hour, version);
        added->hours[added->hour_count++] = rows.hour;
        add_losses(added, part.items[i], &part.facts[i]);
    }
    rc = rows_events_store(batch->tx, events, part.count);
    if (!rc)
        rc = store_stacks(batch, &part);
    if (!rc)
        rc = store_missing(batch, &part);
    if (!rc)
        rc = store_memory(batch, &part, events);
    return rc || !part.count ? rc : modules_store(part.items[0]->modules, part.items, part.count);
}

/* --- baselines --- */

static int by_healthy(const void *a, const void *b)
{
    const struct rows_healthy_one *x = a, *y = b;
    return rows_healthy_compare(x->baseline, y->baseline);
}

/* Add the memory of healthy processes, all baselines of one sum at once. */
static int add_healthy(const struct batch *batch, const struct batch_part *part, const struct baseline_row *baselines)
{
    struct rows_healthy_one *healthy = arena_array(batch->arena, part->count + 1, sizeof *healthy);
    size_t count = 0;
    int rc = 0;

    if (!healthy)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < part->count; i++)
        if (part->items[i]->report.memory.category_count)
            healthy[count++] = (struct rows_healthy_one){&baselines[i], &part->items[i]->report.memory};
    if (count)
        qsort(healthy, count, sizeof *healthy, by_healthy);
    for (size_t at = 0, to; !rc && at < count; at = to) {
        for (to = at + 1; to < count && !by_healthy(&healthy[at], &healthy[to]);)
            to++;
        rc = rows_healthy_add(batch->tx, batch->arena, &healthy[at], to - at);
    }
    return rc;
}

static int store_baselines(struct batch *batch, struct added *added)
{
    struct batch_part part;
    int rc = take_part(&part, batch, ROWS_OF_BASELINES);
    struct baseline_row *baselines = rc ? NULL : arena_array(batch->arena, part.count + 1, sizeof *baselines);

    if (!baselines)
        return rc ? rc : MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < part.count; i++) {
        aggregate_baseline(&baselines[i], &part.items[i]->report, &part.facts[i]);
        baselines[i].os = kinds_os(part.items[i]);
        baselines[i].device_class = kinds_device_class(part.items[i]);
        add_losses(added, part.items[i], &part.facts[i]);
    }
    rc = rows_baselines_store(batch->tx, baselines, part.count);
    return rc ? rc : add_healthy(batch, &part, baselines);
}

/* --- sessions --- */

/* The ends of runs in the records. */
static int add_ends(const struct batch *batch, const struct batch_part *part, const struct session_row *sessions)
{
    struct rows_session_end *ends;
    size_t count = 0;

    for (size_t i = 0; i < part->count; i++)
        count += part->items[i]->report.session.end_count;
    ends = arena_array(batch->arena, count + 1, sizeof *ends);
    if (!ends)
        return MIRE_FAULT_MEMORY;
    count = 0;
    for (size_t i = 0; i < part->count; i++) {
        const struct report_session *session = &part->items[i]->report.session;
        for (size_t k = 0; k < session->end_count; k++) {
            const char *verdict = exit_counted(session->ends[k].verdict);
            ends[count++] = (struct rows_session_end){&sessions[i], verdict, 1};
        }
    }
    return rows_session_ends_add(batch->tx, batch->arena, ends, count, 1);
}

static int store_sessions(struct batch *batch, struct added *added)
{
    struct batch_part part;
    int rc = take_part(&part, batch, ROWS_OF_SESSIONS);
    struct session_row *sessions = rc ? NULL : arena_array(batch->arena, part.count + 1, sizeof *sessions);
    struct rows_arrival *arrivals = rc ? NULL : arena_array(batch->arena, part.count + 1, sizeof *arrivals);

    if (!sessions || !arrivals)
        return rc ? rc : MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < part.count; i++) {
        aggregate_session(&sessions[i], &part.items[i]->report, &part.facts[i]);
        sessions[i].channel = stages_cut(part.items[i], sessions[i].channel);
        sessions[i].device_class = kinds_device_class(part.items[i]);
        sessions[i].country = part.items[i]->claim.country;
        const char *version = stages_cut(part.items[i], part.items[i]->report.app.version);
        if (!sessions[i].channel || !version ||
            rows_rollup_session_entry(&added->entries[added->entry_count], batch->arena, &sessions[i], version))
            return MIRE_FAULT_MEMORY;
        added->entry_count++;
        added->slot = sessions[0].key.slot;
        added->app_id = sessions[0].app_id;
        arrivals[i] = (struct rows_arrival){sessions[i].occurred_day, sessions[i].delay, sessions[i].weight};
        add_losses(added, part.items[i], &part.facts[i]);
    }
    rc = rows_sessions_store(batch->tx, sessions, part.count);
    if (!rc)
        rc = rows_sessions_add(batch->tx, batch->arena, sessions, part.count, 1);
    if (!rc)
        rc = add_ends(batch, &part, sessions);
    return rc || !part.count
               ? rc
               : rows_arrivals_add(batch->tx, batch->arena, sessions->app_id, "session", arrivals, part.count);
}

int batch_store(struct batch *batch)
{
    struct added added = {.hours = arena_array(batch->arena, batch->count + 1, sizeof *added.hours),
                          .losses = arena_array(batch->arena, batch->count + 1, sizeof *added.losses),
                          .entries = arena_array(batch->arena, batch->count + 1, sizeof *added.entries)};

    if (!added.hours || !added.losses || !added.entries)
        return MIRE_FAULT_MEMORY;
    int rc = store_events(batch, &added);
    if (!rc)
        rc = store_baselines(batch, &added);
    if (!rc)
        rc = store_sessions(batch, &added);
    if (!rc)
        rc = rows_rollup_delta_store(batch->tx, batch->arena, added.app_id, added.slot, added.entries,
                                     added.entry_count);
    if (!rc)
        rc = rows_hours_add(batch->tx, batch->arena, added.hours, added.hour_count);
    if (!rc && added.loss_count)
        rc = rows_losses_add(batch->tx, batch->arena, added.losses, added.loss_count);
    return rc ? rc : known_count(batch->items, batch->count);
}
