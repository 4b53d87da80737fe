/* counters.c - the statements behind counters.h. PostgreSQL adds up the rows of a batch that have one key. */
#include "rows/counters.h"

#include "base/clock.h"
#include "rows/hour_columns.h"
#include "rows/standing.h"

/* A column of `count` values for a list parameter; NULL: no memory. */
#define COLUMN(arena, count, type) ((type *)arena_array((arena), (count) + 1, sizeof(type)))

bool hour_columns_make(struct hour_columns *out, struct arena *arena, size_t count)
{
    *out = (struct hour_columns){
        .slots = COLUMN(arena, count, int16_t),
        .hours = COLUMN(arena, count, int64_t),
        .issues = COLUMN(arena, count, int64_t),
        .versions = COLUMN(arena, count, int64_t),
        .reports = COLUMN(arena, count, int64_t),
        .longest = COLUMN(arena, count, int64_t),
        .last = COLUMN(arena, count, int64_t),
        .most = COLUMN(arena, count, int64_t),
        .apps = COLUMN(arena, count, int32_t),
        .trees = COLUMN(arena, count, int32_t),
        .categories = COLUMN(arena, count, const char *),
        .events = COLUMN(arena, count, double),
        .waited = COLUMN(arena, count, double),
        .above = COLUMN(arena, count, double),
    };
    return out->slots && out->hours && out->issues && out->versions && out->reports && out->longest && out->last &&
           out->most && out->apps && out->trees && out->categories && out->events && out->waited && out->above;
}

void hour_columns_fill(struct hour_columns *out, const struct hour_row *hours, size_t count, bool of_issues)
{
    for (size_t i = 0; i < count; i++) {
        const struct hour_row *hour = &hours[i];
        out->slots[i] = rows_slot(hour->app_id, of_issues ? hour->issue_id : hour->version_id);
        out->apps[i] = hour->app_id;
        out->hours[i] = hour->hour_us;
        out->issues[i] = hour->issue_id;
        out->versions[i] = hour->version_id;
        out->reports[i] = hour->reports;
        out->longest[i] = hour->longest_ms;
        out->last[i] = hour->last_us;
        out->most[i] = hour->most_bytes;
        out->trees[i] = hour->tree;
        out->categories[i] = hour->category;
        out->events[i] = hour->events;
        out->waited[i] = hour->waited_ms;
        out->above[i] = hour->above_bytes;
    }
}

static int version_hours_add(struct pg_tx *tx, struct arena *arena, const struct hour_row *hours, size_t count)
{
    struct hour_columns c;

    if (!count)
        return 0;
    if (!hour_columns_make(&c, arena, count))
        return MIRE_FAULT_MEMORY;
    hour_columns_fill(&c, hours, count, false);
    return pg_query(NULL, tx,
                    "INSERT INTO version_hour AS t (slot, hour, app_id, version_id, category, reports, events,"
                    " waited_ms, longest_ms) SELECT slot, hour, $1, version_id, category, sum(reports), sum(events),"
                    " sum(waited_ms), max(longest_ms) FROM unnest($2::smallint[], $3::timestamptz[], $4::bigint[],"
                    " $5::text[], $6::bigint[], $7::float8[], $8::float8[], $9::bigint[])"
                    " u (slot, hour, version_id, category, reports, events, waited_ms, longest_ms)"
                    " GROUP BY slot, hour, version_id, category ORDER BY slot, hour, version_id, category"
                    " ON CONFLICT (slot, hour, app_id, version_id, category) DO UPDATE SET"
                    " reports = t.reports + EXCLUDED.reports, events = t.events + EXCLUDED.events,"
                    " waited_ms = t.waited_ms + EXCLUDED.waited_ms,"
                    " longest_ms = greatest(t.longest_ms, EXCLUDED.longest_ms)",
                    PG_INT4(hours->app_id), PG_INT2S(c.slots, count), PG_TIMES(c.hours, count),
                    PG_INT8S(c.versions, count), PG_TEXTS(c.categories, count), PG_INT8S(c.reports, count),
                    PG_REALS(c.events, count), PG_REALS(c.waited, count), PG_INT8S(c.longest, count));
}

static int issue_hours_add(struct pg_tx *tx, struct arena *arena, const struct hour_row *hours, size_t count)
{
    struct hour_columns c;

    if (!count)
        return 0;
    if (!hour_columns_make(&c, arena, count))
        return MIRE_FAULT_MEMORY;
    hour_columns_fill(&c, hours, count, true);
    return pg_query(
        NULL, tx,
        "INSERT INTO issue_hour AS t (slot, hour, app_id, issue_id, version_id, tree, reports, events, waited_ms,"
        " longest_ms, last_at, most_bytes, above_bytes) SELECT slot, hour, $1, issue_id, version_id, tree,"
        " sum(reports), sum(events), sum(waited_ms), max(longest_ms), max(last_at), max(most_bytes), sum(above_bytes)"
        " FROM unnest($2::smallint[],"
        " $3::timestamptz[], $4::bigint[], $5::bigint[], $6::integer[], $7::bigint[], $8::float8[], $9::float8[],"
        " $10::bigint[], $11::timestamptz[], $12::bigint[], $13::float8[])"
        " u (slot, hour, issue_id, version_id, tree, reports, events, waited_ms, longest_ms, last_at, most_bytes,"
        " above_bytes)"
        " GROUP BY slot, hour, issue_id, version_id, tree ORDER BY slot, hour, issue_id, version_id, tree"
        " ON CONFLICT (slot, hour, app_id, issue_id, version_id, tree) DO UPDATE SET"
        " reports = t.reports + EXCLUDED.reports, events = t.events + EXCLUDED.events,"
        " waited_ms = t.waited_ms + EXCLUDED.waited_ms, longest_ms = greatest(t.longest_ms, EXCLUDED.longest_ms),"
        " last_at = greatest(t.last_at, EXCLUDED.last_at), most_bytes = greatest(t.most_bytes, EXCLUDED.most_bytes),"
        " above_bytes = t.above_bytes + EXCLUDED.above_bytes",
        PG_INT4(hours->app_id), PG_INT2S(c.slots, count), PG_TIMES(c.hours, count), PG_INT8S(c.issues, count),
        PG_INT8S(c.versions, count), PG_INT4S(c.trees, count), PG_INT8S(c.reports, count), PG_REALS(c.events, count),
        PG_REALS(c.waited, count), PG_INT8S(c.longest, count), PG_TIMES(c.last, count), PG_INT8S(c.most, count),
        PG_REALS(c.above, count));
}

int rows_version_hours_add(struct pg_tx *tx, struct arena *arena, const struct hour_row *hours, size_t count)
{
    int rc = version_hours_add(tx, arena, hours, count);
    return rc ? rc : rows_standing_change(tx, arena, hours, count, MIRE_OF_VERSIONS);
}

int rows_issue_hours_add(struct pg_tx *tx, struct arena *arena, const struct hour_row *hours, size_t count)
{
    int rc = issue_hours_add(tx, arena, hours, count);
    return rc ? rc : rows_standing_change(tx, arena, hours, count, MIRE_OF_ISSUES);
}

/* Turns of each length; nothing if no report tells of any. */
static int turns_add(struct pg_tx *tx, struct arena *arena, const struct hour_row *hours, size_t count)
{
    size_t most = count * MIRE_TURN_BUCKETS, used = 0;
    int16_t *slots = COLUMN(arena, most, int16_t);
    int64_t *when = COLUMN(arena, most, int64_t), *versions = COLUMN(arena, most, int64_t),
            *from_ms = COLUMN(arena, most, int64_t);
    double *turns = COLUMN(arena, most, double);

    if (!slots || !when || !versions || !from_ms || !turns)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < most; i++) {
        const struct hour_row *hour = &hours[i / MIRE_TURN_BUCKETS];
        if (hour->turns[i % MIRE_TURN_BUCKETS] == 0)
            continue;
        slots[used] = rows_slot(hour->app_id, hour->version_id);
        when[used] = hour->hour_us;
        versions[used] = hour->version_id;
        from_ms[used] = (int64_t)MIRE_TURN_LEAST << i % MIRE_TURN_BUCKETS;
        turns[used++] = hour->turns[i % MIRE_TURN_BUCKETS];
    }
    if (!used)
        return 0;
    return pg_query(
        NULL, tx,
        "INSERT INTO turn_hour AS t (slot, hour, app_id, version_id, from_ms, turns) SELECT slot, hour, $1, version_id,"
        " from_ms, sum(turns) FROM unnest($2::smallint[], $3::timestamptz[], $4::bigint[], $5::bigint[], $6::float8[])"
        " u (slot, hour, version_id, from_ms, turns)"
        " GROUP BY slot, hour, version_id, from_ms ORDER BY slot, hour, version_id, from_ms"
        " ON CONFLICT (slot, hour, app_id, version_id, from_ms) DO UPDATE SET turns = t.turns + EXCLUDED.turns",
        PG_INT4(hours->app_id), PG_INT2S(slots, used), PG_TIMES(when, used), PG_INT8S(versions, used),
        PG_INT8S(from_ms, used), PG_REALS(turns, used));
}

int rows_arrivals_add(struct pg_tx *tx, struct arena *arena, int32_t app_id, const char *kind,
                      const struct rows_arrival *arrivals, size_t count)
{
    int32_t *days = COLUMN(arena, count, int32_t);
    int16_t *delays = COLUMN(arena, count, int16_t);
    double *events = COLUMN(arena, count, double);
    size_t used = 0;

    if (!days || !delays || !events)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++) {
        if (arrivals[i].delay < 0)
            continue;
        days[used] = arrivals[i].day;
        delays[used] = (int16_t)arrivals[i].delay;
        events[used++] = arrivals[i].events;
    }
    if (!used)
        return 0;
    return pg_query(NULL, tx,
                    "INSERT INTO arrival_day AS t (slot, day, app_id, kind, delay, events)"
                    " SELECT $1, day, $2, $3, delay, sum(events) FROM unnest($4::date[], $5::smallint[], $6::float8[])"
                    " u (day, delay, events) GROUP BY day, delay ORDER BY day, delay"
                    " ON CONFLICT (slot, day, app_id, kind, delay) DO UPDATE SET events = t.events + EXCLUDED.events",
                    PG_INT2(rows_slot(app_id, 0)), PG_INT4(app_id), PG_TEXT(kind), PG_DAYS(days, used),
                    PG_INT2S(delays, used), PG_REALS(events, used));
}

int rows_hours_add(struct pg_tx *tx, struct arena *arena, const struct hour_row *hours, size_t count)
{
    struct rows_arrival *arrivals = arena_array(arena, count + 1, sizeof *arrivals);

    if (!count)
        return 0;
    if (!arrivals)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++)
        arrivals[i] = (struct rows_arrival){clock_day(hours[i].hour_us), hours[i].delay, hours[i].events};
    int rc = version_hours_add(tx, arena, hours, count);
    if (!rc)
        rc = issue_hours_add(tx, arena, hours, count);
    if (!rc)
        rc = turns_add(tx, arena, hours, count);
    if (!rc)
        rc = rows_standing_change(tx, arena, hours, count, MIRE_OF_ISSUES | MIRE_OF_VERSIONS | MIRE_OF_TURNS);
    return rc ? rc : rows_arrivals_add(tx, arena, hours->app_id, "event", arrivals, count);
}

int rows_losses_add(struct pg_tx *tx, struct arena *arena, const struct loss_row *losses, size_t count)
{
    size_t most = count * MIRE_LOSS_REASONS, used = 0;
    int16_t *slots = COLUMN(arena, most, int16_t);
    int32_t *days = COLUMN(arena, most, int32_t);
    int64_t *versions = COLUMN(arena, most, int64_t), *lost = COLUMN(arena, most, int64_t);
    const char **reasons = COLUMN(arena, most, const char *);

    if (!slots || !days || !versions || !lost || !reasons)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < losses[i].count; k++) {
            slots[used] = rows_slot(losses[i].app_id, losses[i].version_id);
            days[used] = losses[i].day;
            versions[used] = losses[i].version_id;
            reasons[used] = losses[i].reasons[k];
            lost[used++] = losses[i].lost[k];
        }
    if (!used)
        return 0;
    return pg_query(NULL, tx,
                    "INSERT INTO loss_day AS t (slot, day, app_id, version_id, reason, lost)"
                    " SELECT slot, day, $1, version_id, reason, sum(lost)"
                    " FROM unnest($2::smallint[], $3::date[], $4::bigint[], $5::text[], $6::bigint[])"
                    " u (slot, day, version_id, reason, lost)"
                    " GROUP BY slot, day, version_id, reason ORDER BY slot, day, version_id, reason"
                    " ON CONFLICT (slot, day, app_id, version_id, reason) DO UPDATE SET lost = t.lost + EXCLUDED.lost",
                    PG_INT4(losses->app_id), PG_INT2S(slots, used), PG_DAYS(days, used), PG_INT8S(versions, used),
                    PG_TEXTS(reasons, used), PG_INT8S(lost, used));
}
