/* counters.c - see counters.h. The tables come in the order in which pipeline/store.c adds to them. */
#include "forget/counters.h"

#include "base/clock.h"
#include "base/fault.h"
#include "pipeline/kinds.h"
#include "rows/counters_take.h"
#include "rows/memory.h"
#include "rows/rollup.h"

#include <stdlib.h>
#include <string.h>

/* The rows that the batch takes out, by table. */
struct taken {
    struct hour_row *hours;
    struct loss_row *losses;
    struct session_row *sessions;
    struct rows_session_end *ends;
    size_t hour_count, loss_count, session_count, end_count;
};

static void find_facts(struct aggregate_facts *out, const struct forget_one *one)
{
    const struct forget_stored *stored = one->stored;

    *out = (struct aggregate_facts){
        .key = stored->key,
        .app_id = stored->app_id,
        .received_us = stored->received_us,
        .occurred = one->item.occurred,
        .version_id = stored->version_id,
        .issue_id = stored->issue_id,
        .tree = stored->tree,
        .reason = "",
        .holder = "",
        .subject_bytes = (uint64_t)stored->subject_bytes,
        .above_bytes = (uint64_t)stored->above_bytes,
        .weight = stored->weight,
    };
    (void)category_named(&out->category, stored->category);
}

static int take_event(struct taken *taken, const struct forget_one *one, struct pg_tx *tx, struct arena *arena)
{
    struct aggregate_facts facts;
    struct aggregate_rows rows;

    find_facts(&facts, one);
    aggregate_rows(&rows, &one->item.report, &facts);
    taken->hours[taken->hour_count++] = rows.hour;
    if (!kind_of(&one->item)->has_memory || !one->had)
        return 0;
    return rows_issue_memory_take(tx, arena, &rows.event, &one->had->memory);
}

static int take_baseline(const struct forget_one *one, struct pg_tx *tx, struct arena *arena)
{
    struct aggregate_facts facts;
    struct baseline_row row;

    if (!one->item.report.memory.category_count)
        return 0;
    find_facts(&facts, one);
    aggregate_baseline(&row, &one->item.report, &facts);
    row.os = kinds_os(&one->item);
    row.device_class = kinds_device_class(&one->item);
    return rows_healthy_take(tx, arena, &row, &one->item.report.memory);
}

static int take_session(struct taken *taken, const struct forget_one *one)
{
    const struct report_session *session = &one->item.report.session;
    struct session_row *row = &taken->sessions[taken->session_count++];
    struct aggregate_facts facts;

    find_facts(&facts, one);
    aggregate_session(row, &one->item.report, &facts);
    row->channel = stages_cut(&one->item, row->channel);
    if (!row->channel)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < session->end_count; i++) {
        const char *verdict = exit_counted(session->ends[i].verdict);
        taken->ends[taken->end_count++] = (struct rows_session_end){row, verdict, 1};
    }

    return 0;
}

static int take_rows(struct taken *taken, const struct forget_one *one, struct pg_tx *tx, struct arena *arena)
{
    switch (kind_of(&one->item)->rows) {
    case ROWS_OF_EVENTS:
        return take_event(taken, one, tx, arena);
    case ROWS_OF_BASELINES:
        return take_baseline(one, tx, arena);
    case ROWS_OF_SESSIONS:
        break;
    }
    return take_session(taken, one);
}

static bool make_room(struct taken *out, const struct forget_one *ones, size_t count, struct arena *arena)
{
    size_t ends = 0;

    for (size_t i = 0; i < count; i++)
        ends += ones[i].item.report.kind == MIRE_REPORT_SESSION ? ones[i].item.report.session.end_count : 0;
    *out = (struct taken){.hours = arena_array(arena, count + 1, sizeof *out->hours),
                          .losses = arena_array(arena, count + 1, sizeof *out->losses),
                          .sessions = arena_array(arena, count + 1, sizeof *out->sessions),
                          .ends = arena_array(arena, ends + 1, sizeof *out->ends)};
    return out->hours && out->losses && out->sessions && out->ends;
}

/* Sums of memory are locked by rising slot and key, as workers lock them. */
static int by_sum(const void *a, const void *b)
{
    const struct forget_stored *x = ((const struct forget_one *)a)->stored;
    const struct forget_stored *y = ((const struct forget_one *)b)->stored;
    struct event_row of_x = {.app_id = x->app_id,
                             .issue_id = x->issue_id,
                             .version_id = x->version_id,
                             .tree = x->tree,
                             .occurred_us = x->occurred_us};
    struct event_row of_y = {.app_id = y->app_id,
                             .issue_id = y->issue_id,
                             .version_id = y->version_id,
                             .tree = y->tree,
                             .occurred_us = y->occurred_us};
    bool has_x = x->issue_id, has_y = y->issue_id;

    if (has_x != has_y)
        return has_x ? -1 : 1; /* baselines come after events */
    return rows_issue_memory_compare(&of_x, &of_y);
}

/* Cells cannot give an event or a session back: those of these days are made anew. */
static int take_rollups(const struct taken *taken, struct pg_tx *tx, struct arena *arena)
{
    size_t most = 2 * taken->hour_count + taken->session_count;
    struct rollup_day *days = arena_array(arena, most + 1, sizeof *days);
    size_t count = 0;

    if (!days)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < taken->hour_count; i++) {
        const struct hour_row *hour = &taken->hours[i];
        days[count++] = (struct rollup_day){hour->app_id, hour->issue_id, clock_day(hour->hour_us)};
        days[count++] = (struct rollup_day){hour->app_id, 0, clock_day(hour->hour_us)};
    }
    for (size_t i = 0; i < taken->session_count; i++)
        days[count++] = (struct rollup_day){taken->sessions[i].app_id, 0, taken->sessions[i].occurred_day};
    return rows_rollups_due(tx, arena, days, count);
}

int forget_uncount(struct forget_one *ones, size_t count, struct pg_tx *tx, struct arena *arena)
{
    struct taken taken;
    int rc = 0;

    if (!count)
        return 0;
    if (!make_room(&taken, ones, count, arena))
        return MIRE_FAULT_MEMORY;
    qsort(ones, count, sizeof *ones, by_sum);
    for (size_t i = 0; !rc && i < count; i++) {
        struct aggregate_facts facts;
        find_facts(&facts, &ones[i]);
        aggregate_losses(&taken.losses[taken.loss_count], &ones[i].item.report, &facts);
        taken.loss_count += taken.losses[taken.loss_count].count > 0;
        rc = take_rows(&taken, &ones[i], tx, arena);
    }
    if (!rc)
        rc = take_rollups(&taken, tx, arena);
    if (!rc)
        rc = rows_sessions_take(tx, arena, taken.sessions, taken.session_count);
    if (!rc)
        rc = rows_session_ends_take(tx, arena, taken.ends, taken.end_count);
    if (!rc)
        rc = rows_hours_take(tx, arena, taken.hours, taken.hour_count);
    return rc ? rc : rows_losses_take(tx, taken.losses, taken.loss_count);
}
