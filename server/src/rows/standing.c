/* standing.c - what changes of counters add to the tables of standing sums. */
#include "rows/standing.h"

#include "base/clock.h"
#include "base/fault.h"
#include "model/category.h"
#include "pg/pg.h"
#include "rollup/standing.h"

static struct standing_change change_of(const struct hour_row *hour, enum standing_kind kind)
{
    enum event_category category = MIRE_CATEGORY_COUNT;

    if (kind == MIRE_STANDING_VERSIONS)
        (void)category_named(&category, hour->category);
    return (struct standing_change){.kind = kind,
                                    .issue = kind == MIRE_STANDING_ISSUES ? hour->issue_id : 0,
                                    .version = hour->version_id,
                                    .part = kind == MIRE_STANDING_ISSUES ? hour->tree : (int32_t)category,
                                    .sums = {.reports = hour->reports,
                                             .events = hour->events,
                                             .waited_ms = hour->waited_ms,
                                             .above_bytes = kind == MIRE_STANDING_ISSUES ? hour->above_bytes : 0,
                                             .longest_ms = hour->longest_ms,
                                             .most_bytes = kind == MIRE_STANDING_ISSUES ? hour->most_bytes : 0,
                                             .first_us = hour->hour_us,
                                             .last_us = kind == MIRE_STANDING_ISSUES ? hour->last_us : hour->hour_us}};
}

static size_t put_turns(struct standing_change *out, const struct hour_row *hour)
{
    size_t count = 0;

    for (int i = 0; i < MIRE_TURN_BUCKETS; i++)
        if (hour->turns[i] != 0)
            out[count++] = (struct standing_change){
                .kind = MIRE_STANDING_TURNS,
                .version = hour->version_id,
                .part = i,
                .sums = {.events = hour->turns[i], .first_us = hour->hour_us, .last_us = hour->hour_us}};
    return count;
}

/* Days of reports that were taken. */
static int store_due(struct pg_tx *tx, struct arena *arena, int16_t slot, const struct hour_row *hours, size_t count)
{
    int32_t *days = arena_array(arena, count + 1, sizeof *days);
    size_t taken = 0;

    if (!days)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++)
        if (hours[i].reports < 0)
            days[taken++] = clock_day(hours[i].hour_us);
    return taken ? pg_query(NULL, tx,
                            "INSERT INTO standing_due (slot, app_id, day) SELECT DISTINCT $1::smallint, $2::integer,"
                            " day FROM unnest($3::date[]) u (day)",
                            PG_INT2(slot), PG_INT4(hours->app_id), PG_DAYS(days, taken))
                 : 0;
}

int rows_standing_change(struct pg_tx *tx, struct arena *arena, const struct hour_row *hours, size_t count, unsigned of)
{
    struct standing_change *changes = arena_array(arena, count * (2 + MIRE_TURN_BUCKETS) + 1, sizeof *changes);
    unsigned char *bytes;
    size_t len, used = 0;

    if (!count)
        return 0;
    if (!changes)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++) {
        if (of & MIRE_OF_ISSUES)
            changes[used++] = change_of(&hours[i], MIRE_STANDING_ISSUES);
        if (of & MIRE_OF_VERSIONS)
            changes[used++] = change_of(&hours[i], MIRE_STANDING_VERSIONS);
        if (of & MIRE_OF_TURNS)
            used += put_turns(&changes[used], &hours[i]);
    }
    int16_t slot = rows_slot(hours->app_id, of & MIRE_OF_ISSUES ? hours->issue_id : hours->version_id);
    int rc = standing_changes_encode(&bytes, &len, arena, changes, used);
    if (!rc)
        rc = pg_query(NULL, tx, "INSERT INTO standing_delta (slot, app_id, bytes) VALUES ($1, $2, $3)", PG_INT2(slot),
                      PG_INT4(hours->app_id), PG_BYTES(bytes, len));
    return rc ? rc : store_due(tx, arena, slot, hours, count);
}
