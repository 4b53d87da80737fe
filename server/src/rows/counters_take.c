/*
 * counters_take.c - see counters_take.h. Negative amounts are added, then the rows that were touched are settled.
 * Every report counts for one event, turn, end or millisecond at least: a smaller sum is what rounding left.
 */
#include "rows/counters_take.h"

#include "base/clock.h"
#include "rows/counters.h"
#include "rows/counters_settle.h"

#include <stdbool.h>
#include <string.h>

static struct hour_row negated(const struct hour_row *hour)
{
    struct hour_row out = *hour;

    out.reports = -hour->reports;
    out.events = -hour->events;
    out.waited_ms = -hour->waited_ms;
    out.above_bytes = -hour->above_bytes;
    out.longest_ms = out.most_bytes = 0;
    for (int i = 0; i < MIRE_TURN_BUCKETS; i++)
        out.turns[i] = -hour->turns[i];
    return out;
}

static bool same_version(const struct hour_row *a, const struct hour_row *b)
{
    return a->hour_us == b->hour_us && a->version_id == b->version_id && !strcmp(a->category, b->category);
}

/* Is hours[at] the first of its version and kind? */
static bool is_first(const struct hour_row *hours, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (same_version(&hours[i], &hours[at]))
            return false;
    return true;
}

static int settle_turns(struct pg_tx *tx, const struct hour_row *hour)
{
    return pg_query(NULL, tx,
                    "DELETE FROM turn_hour WHERE slot = $1 AND hour = $2 AND app_id = $3 AND version_id = $4"
                    " AND turns < 0.5",
                    PG_INT2(rows_slot(hour->app_id, hour->version_id)), PG_TIME(hour->hour_us), PG_INT4(hour->app_id),
                    PG_INT8(hour->version_id));
}

static int settle_arrivals(struct pg_tx *tx, int32_t app_id, int32_t day, const char *kind)
{
    return pg_query(NULL, tx,
                    "DELETE FROM arrival_day WHERE slot = $1 AND day = $2 AND app_id = $3 AND kind = $4"
                    " AND events < 0.5",
                    PG_INT2(rows_slot(app_id, 0)), PG_DAY(day), PG_INT4(app_id), PG_TEXT(kind));
}

int rows_hours_take(struct pg_tx *tx, struct arena *arena, const struct hour_row *hours, size_t count)
{
    struct hour_row *less = arena_array(arena, count + 1, sizeof *less);

    if (!less)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++)
        less[i] = negated(&hours[i]);
    int rc = rows_hours_add(tx, arena, less, count);
    if (!rc)
        rc = rows_version_hours_settle(tx, arena, hours, count);
    if (!rc)
        rc = rows_issue_hours_settle(tx, arena, hours, count);
    for (size_t i = 0; !rc && i < count; i++)
        if (is_first(less, i))
            rc = settle_turns(tx, &less[i]);
    for (size_t i = 0; !rc && i < count; i++)
        if (is_first(less, i))
            rc = settle_arrivals(tx, less[i].app_id, clock_day(less[i].hour_us), "event");
    return rc;
}

static bool same_day(const struct session_row *a, const struct session_row *b)
{
    return a->occurred_day == b->occurred_day && a->version_id == b->version_id && a->plugins == b->plugins &&
           !strcmp(a->channel, b->channel);
}

#define DAY_KEY(s)                                                                                     \
    PG_INT2(rows_slot((s)->app_id, (s)->version_id)), PG_DAY((s)->occurred_day), PG_INT4((s)->app_id), \
        PG_INT8((s)->version_id), PG_TEXT((s)->channel), PG_INT2((s)->plugins)
#define IS_DAY "slot = $1 AND day = $2 AND app_id = $3 AND version_id = $4 AND channel = $5 AND plugins = $6"

#define ROUNDED(column) " " column " = CASE WHEN abs(" column ") < 0.5 THEN 0 ELSE " column " END"

static int settle_day(struct pg_tx *tx, const struct session_row *session)
{
    int rc = pg_query(NULL, tx, "DELETE FROM session_day WHERE " IS_DAY " AND records <= 0", DAY_KEY(session));
    if (rc)
        return rc;
    return pg_query(
        NULL, tx,
        "UPDATE session_day SET" ROUNDED("time_ms") "," ROUNDED("sdk_cpu_us") "," ROUNDED("watched") "," ROUNDED(
            "watch"
            "ed_"
            "sq") "," ROUNDED("watched_ms") "," ROUNDED("lagging") "," ROUNDED("hangs") "," ROUNDED("hang_ms") "," ROUNDED("hang_hang_sq") "," ROUNDED("hang_time_"
                                                                                                                                                       "sq") "," ROUNDED("time_time_sq") " WHERE " IS_DAY,
        DAY_KEY(session));
}

int rows_sessions_take(struct pg_tx *tx, struct arena *arena, const struct session_row *sessions, size_t count)
{
    struct rows_arrival *arrivals = arena_array(arena, count + 1, sizeof *arrivals);

    if (!count)
        return 0;
    if (!arrivals)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++)
        arrivals[i] = (struct rows_arrival){sessions[i].occurred_day, sessions[i].delay, -sessions[i].weight};
    int rc = rows_sessions_add(tx, arena, sessions, count, -1);
    for (size_t i = 0; !rc && i < count; i++) {
        bool is_new = true;
        for (size_t k = 0; k < i && is_new; k++)
            is_new = !same_day(&sessions[k], &sessions[i]);
        rc = is_new ? settle_day(tx, &sessions[i]) : 0;
    }
    if (!rc)
        rc = rows_arrivals_add(tx, arena, sessions->app_id, "session", arrivals, count);
    for (size_t i = 0; !rc && i < count; i++)
        rc = settle_arrivals(tx, sessions[i].app_id, sessions[i].occurred_day, "session");
    return rc;
}

int rows_session_ends_take(struct pg_tx *tx, struct arena *arena, const struct rows_session_end *ends, size_t count)
{
    int rc = rows_session_ends_add(tx, arena, ends, count, -1);

    for (size_t i = 0; !rc && i < count; i++)
        if (!i || ends[i].session != ends[i - 1].session)
            rc = pg_query(NULL, tx, "DELETE FROM session_end_day WHERE " IS_DAY " AND ends < 0.5",
                          DAY_KEY(ends[i].session));
    return rc;
}

int rows_losses_take(struct pg_tx *tx, const struct loss_row *losses, size_t count)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < count; i++) {
        const struct loss_row *loss = &losses[i];
        rc = pg_query(NULL, tx,
                      "UPDATE loss_day d SET lost = greatest(d.lost - l.lost, 0) FROM unnest($5::text[], $6::bigint[])"
                      " l (reason, lost) WHERE d.slot = $1 AND d.day = $2 AND d.app_id = $3 AND d.version_id = $4"
                      " AND d.reason = l.reason",
                      PG_INT2(rows_slot(loss->app_id, loss->version_id)), PG_DAY(loss->day), PG_INT4(loss->app_id),
                      PG_INT8(loss->version_id), PG_TEXTS(loss->reasons, loss->count),
                      PG_INT8S(loss->lost, loss->count));
        if (!rc)
            rc = pg_query(NULL, tx,
                          "DELETE FROM loss_day WHERE slot = $1 AND day = $2 AND app_id = $3 AND version_id = $4"
                          " AND lost = 0",
                          PG_INT2(rows_slot(loss->app_id, loss->version_id)), PG_DAY(loss->day), PG_INT4(loss->app_id),
                          PG_INT8(loss->version_id));
    }

    return rc;
}
