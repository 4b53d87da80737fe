/* rolluptest.c - see rolluptest.h. */
#include "support/rolluptest.h"

#include "support/pgtest.h"
#include "support/standingtest.h"

#include "base/arena.h"
#include "base/clock.h"
#include "rows/rollup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stored {
    int32_t app, tree;
    int hours;
    int64_t at_us, issue;
    const char *category;
    struct cell cell;
};

struct stored_list {
    struct arena arena;
    struct stored *rows;
    size_t count;
};

static void fail(const char *what, const struct stored *cell, const char *text, double given, double counted)
{
    fprintf(stderr, "rollup: %s of app %d issue %lld tree %d %s %d h at %lld, value '%s': %.9g, counted %.9g\n", what,
            cell->app, (long long)cell->issue, cell->tree, cell->category, cell->hours, (long long)cell->at_us, text,
            given, counted);
    exit(1);
}

void rolluptest_merge(struct pg *pg)
{
    bool more = true;
    while (more)
        if (rows_rollups_merge(&more, pg, clock_wall_us())) {
            fprintf(stderr, "rollup: merging failed\n");
            exit(1);
        }
}

static void read_cells(struct stored_list *out, struct pg_tx *tx)
{
    struct pg_rows *rows;
    if (pg_query(&rows, tx, "SELECT app_id, tree, hours, at, issue_id, category, cell FROM rollup"))
        exit(1);
    out->count = pg_row_count(rows);
    out->rows = arena_array(&out->arena, out->count + 1, sizeof *out->rows);
    for (size_t i = 0; i < out->count; i++) {
        struct pg_bytes bytes = pg_bytes(rows, i, 6);
        struct stored *s = &out->rows[i];
        *s = (struct stored){.app = (int32_t)pg_int(rows, i, 0),
                             .tree = (int32_t)pg_int(rows, i, 1),
                             .hours = (int)pg_int(rows, i, 2),
                             .at_us = pg_time(rows, i, 3),
                             .issue = pg_int(rows, i, 4),
                             .category = arena_strdup(&out->arena, pg_text(rows, i, 5))};
        if (cell_decode(&s->cell, &out->arena, bytes.bytes, bytes.len))
            fail("bytes", s, "", 0, 0);
    }
    pg_rows_free(&rows);
}

static const struct stored *find(const struct stored_list *list, const struct stored *like)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct stored *s = &list->rows[i];
        if (s->app == like->app && s->tree == like->tree && s->hours == like->hours && s->at_us == like->at_us &&
            s->issue == like->issue && !strcmp(s->category, like->category))
            return s;
    }
    fail("no cell", like, "", 0, 1);
    return NULL;
}

static void compare(const char *what, const struct stored *cell, const char *text, double given, double counted)
{
    if (fabs(given - counted) > 1e-9 * (1 + fabs(counted)))
        fail(what, cell, text, given, counted);
}

static void compare_sums(const struct stored *cell, const struct cell_sums *sums, const char *text,
                         const struct pg_rows *rows, size_t i)
{
    double devices = pg_real(rows, i, 10);
    if (!sums)
        fail("no value", cell, text, 0, pg_real(rows, i, 7));
    compare("reports", cell, text, (double)sums->reports, pg_real(rows, i, 7));
    compare("weight", cell, text, sums->weight, pg_real(rows, i, 20));
    compare("events", cell, text, sums->events, pg_real(rows, i, 8));
    compare("waited", cell, text, sums->waited_ms, pg_real(rows, i, 9));
    compare("longest", cell, text, (double)sums->longest_ms, pg_real(rows, i, 11));
    if (devices <= MIRE_DISTINCT_EXACT)
        compare("devices", cell, text, distinct_count(&sums->devices), devices);
    else if (fabs(distinct_count(&sums->devices) / devices - 1) > 0.15)
        fail("devices", cell, text, distinct_count(&sums->devices), devices);
}

static void compare_all(const struct stored *cell, const struct pg_rows *rows, size_t i)
{
    compare_sums(cell, &cell->cell.all, "", rows, i);
    compare("killed", cell, "", (double)cell->cell.counts[MIRE_CELL_KILLED], pg_real(rows, i, 12));
    compare("launch", cell, "", (double)cell->cell.counts[MIRE_CELL_LAUNCH], pg_real(rows, i, 13));
    compare("suppressed", cell, "", (double)cell->cell.counts[MIRE_CELL_SUPPRESSED], pg_real(rows, i, 16));
    compare("oldest", cell, "", (double)cell->cell.oldest_us, (double)pg_time(rows, i, 17));
    compare("newest", cell, "", (double)cell->cell.newest_us, (double)pg_time(rows, i, 18));
    if (!cell->issue)
        return; /* an app's cell is not made anew for these */
    compare("frames", cell, "", (double)cell->cell.counts[MIRE_CELL_FRAMES], pg_real(rows, i, 14));
    compare("unresolved", cell, "", (double)cell->cell.counts[MIRE_CELL_UNRESOLVED], pg_real(rows, i, 15));
    uint64_t median = sketch_quantile(&cell->cell.all.lengths, cell->cell.all.reports, 50);
    double exact = (double)pg_int(rows, i, 19);
    if (fabs((double)median - exact) > exact / 32 + 1)
        fail("median", cell, "", (double)median, exact);
}

#define COUNT(unit, hours, issue, tree, category, value, more)                                                        \
    "SELECT app_id, " issue ", " tree ", " category ", date_trunc('" unit "', occurred_at, 'UTC'), " hours ", " value \
    ", count(*)::float8, sum(weight * (1 + suppressed))::float8, sum(weight * (waited_ms + CASE WHEN category = ANY"  \
    " ('{cpu,power,disk,frames,foom,memory,crash,custom,test}') THEN 0 ELSE suppressed_ms END))::float8,"             \
    " count(DISTINCT install)::float8, max(waited_ms)::float8, count(*) FILTER (WHERE open)::float8,"                 \
    " count(*) FILTER (WHERE launch)::float8, sum(frame_count)::float8, sum(unresolved_count)::float8,"               \
    " sum(suppressed)::float8, min(occurred_at), max(occurred_at), percentile_disc(0.5) WITHIN GROUP (ORDER BY"       \
    " duration_ms), sum(weight)::float8 FROM event JOIN version USING (app_id, version_id) WHERE true" more           \
    " GROUP BY 1, 2, 3, 4, 5, 7"
#define OF_HOURS " AND occurred_at >= date_trunc('day', now(), 'UTC') - interval '8 days'"
#define EACH(value, more)                                                             \
    {                                                                                 \
        COUNT("day", "24", "issue_id", "tree", "''::text", value, more),              \
            COUNT("hour", "1", "issue_id", "tree", "''::text", value, more OF_HOURS), \
            COUNT("day", "24", "0::bigint", "0", "category", value, more),            \
            COUNT("hour", "1", "0::bigint", "0", "category", value, more OF_HOURS)    \
    }

/* All, then by each facet, in the order of enum cell_facet. */
static const char *const counts[][4] = {
    EACH("''::text", ""),
    EACH("version", ""),
    EACH("os", ""),
    EACH("os_version", ""),
    EACH("arch", ""),
    EACH("model", ""),
    EACH("process_name", ""),
    EACH("holder", " AND holder <> ''"),
    EACH("device_class", ""),
    EACH("channel", ""),
    EACH("CASE WHEN foreground THEN 'foreground' ELSE 'background' END", " AND foreground IS NOT NULL"),
    EACH("scene", " AND scene <> ''"),
    EACH("country", " AND country <> ''"),
    EACH("tags[1]", " AND tags[1] <> ''"),
    EACH("tags[2]", " AND tags[2] <> ''"),
    EACH("tags[3]", " AND tags[3] <> ''"),
    EACH("tags[4]", " AND tags[4] <> ''"),
    EACH("tags[5]", " AND tags[5] <> ''"),
    EACH("tags[6]", " AND tags[6] <> ''"),
    EACH("tags[7]", " AND tags[7] <> ''"),
    EACH("tags[8]", " AND tags[8] <> ''"),
};
_Static_assert(sizeof counts / sizeof *counts == MIRE_FACET_COUNT + 1, "a facet is not counted");

static size_t values_of(const struct stored_list *list, int facet, int which)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct stored *s = &list->rows[i];
        if (!strcmp(s->category, MIRE_ROLLUP_SESSION) || s->hours != (which % 2 ? 1 : 24) || !s->issue != (which > 1))
            continue;
        for (size_t k = 0; facet >= 0 && k < s->cell.value_count; k++)
            count += s->cell.values[k].facet == (enum cell_facet)facet;
        count += facet < 0;
    }
    return count;
}

static void check(const struct stored_list *list, struct pg_tx *tx, int facet, int which)
{
    struct pg_rows *rows;
    static const struct stored none = {.category = "(all)"};
    if (pg_query(&rows, tx, counts[facet + 1][which]))
        exit(1);
    for (size_t i = 0; i < pg_row_count(rows); i++) {
        const char *text = pg_text(rows, i, 6);
        struct stored like = {.app = (int32_t)pg_int(rows, i, 0),
                              .issue = pg_int(rows, i, 1),
                              .tree = (int32_t)pg_int(rows, i, 2),
                              .category = pg_text(rows, i, 3),
                              .at_us = pg_time(rows, i, 4),
                              .hours = (int)pg_int(rows, i, 5)};
        const struct stored *cell = find(list, &like);
        if (facet < 0)
            compare_all(cell, rows, i);
        else if (cell->issue || facet != MIRE_FACET_HOLDER)
            compare_sums(cell, cell_find(&cell->cell, (enum cell_facet)facet, text), text, rows, i);
    }
    if (facet != MIRE_FACET_HOLDER || which < 2)
        compare("values", &none, "", (double)values_of(list, facet, which), (double)pg_row_count(rows));
    pg_rows_free(&rows);
}

/* --- session records --- */

/* Weight of the sessions that tell a quantity, and sum of the bins' bounds that hold it: values, each by its weight. */
#define SPREAD(value)                                                                                           \
    "coalesce(sum(round(weight::numeric, 0)) FILTER (WHERE (" value ") IS NOT NULL), 0)::float8, coalesce(sum(" \
    "round(weight::numeric, 0) * (" value ")), 0)::float8"

#define CPU_SHARE     "CASE WHEN duration_ms > 0 THEN cpu_ms * 10000 / duration_ms END"
#define FRAMES        "(frames_drawn + frames_dropped)"
#define DROPPED_SHARE "CASE WHEN " FRAMES " > 0 THEN frames_dropped * 10000 / " FRAMES " END"
#define SPREADS \
    SPREAD("footprint_peak_bytes") ", " SPREAD("launch_ms") ", " SPREAD(CPU_SHARE) ", " SPREAD(DROPPED_SHARE)

#define SESSIONS(value) SESSIONS_OF(value, "")
#define SESSIONS_OF(value, where)                                                                                   \
    "SELECT app_id, date_trunc('day', occurred_at, 'UTC'), " value ", count(*)::float8, sum(weight)::float8,"       \
    " sum(weight * weight)::float8, sum(weight * least(duration_ms, foreground_ms))::float8, sum(watched)::float8," \
    " coalesce(sum(watched) FILTER (WHERE hangs > 0), 0)::float8, sum(watched * hang_ms)::float8,"                  \
    " sum(watched ^ 2 * hang_ms * least(duration_ms, foreground_ms))::float8, sum(weight * ends)::float8,"          \
    " sum(weight * fooms)::float8, sum(weight * crashes)::float8, count(DISTINCT install)::float8,"                 \
    " count(DISTINCT install) FILTER (WHERE watched > 0)::float8,"                                                  \
    " count(DISTINCT install) FILTER (WHERE watched > 0 AND hangs > 0)::float8,"                                    \
    " count(DISTINCT install) FILTER (WHERE ends > 0)::float8,"                                                     \
    " count(DISTINCT install) FILTER (WHERE watchdogs > 0)::float8, " SPREADS                                       \
    " FROM session JOIN version USING (app_id, version_id)" where " GROUP BY 1, 2, 3"

static const struct session_count {
    int facet; /* -1: all */
    const char *sql;
} session_counts[] = {
    {-1, SESSIONS("''::text")},
    {MIRE_FACET_VERSION, SESSIONS("version")},
    {MIRE_FACET_OS, SESSIONS("os")},
    {MIRE_FACET_OS_VERSION, SESSIONS("os_version")},
    {MIRE_FACET_ARCH, SESSIONS("arch")},
    {MIRE_FACET_MODEL, SESSIONS("model")},
    {MIRE_FACET_PROCESS, SESSIONS("process_name")},
    {MIRE_FACET_CLASS, SESSIONS("device_class")},
    {MIRE_FACET_CHANNEL, SESSIONS("channel")},
    {MIRE_FACET_COUNTRY, SESSIONS_OF("country", " WHERE country <> ''")},
};

static void compare_devices(const char *what, const struct stored *cell, const char *text,
                            const struct distinct *devices, double counted)
{
    double given = distinct_count(devices);
    if (counted <= MIRE_DISTINCT_EXACT ? given != counted : fabs(given / counted - 1) > 0.15)
        fail(what, cell, text, given, counted);
}

/* Weights are exact. Of the values themselves a bin keeps 31 of 32 parts. */
static void compare_spread(const struct stored *cell, const char *text, const struct sketch *spread, double weight,
                           double sum)
{
    double told_weight = 0, told_sum = 0;

    for (size_t i = 0; i < spread->count; i++) {
        told_weight += (double)spread->bins[i].weight;
        told_sum += (double)spread->bins[i].weight * (double)sketch_bin_value(spread->bins[i].bin);
    }
    compare("weight of a spread", cell, text, told_weight, weight);
    if (fabs(told_sum - sum) > sum / 32 + weight)
        fail("sum of a spread", cell, text, told_sum, sum);
}

static void compare_sessions(const struct stored *cell, const struct cell_sums *sums, const char *text,
                             const struct pg_rows *rows, size_t i)
{
    static const struct {
        const char *what;
        enum session_sum sum;
    } of[] = {{"squares", MIRE_SESSION_SESSIONS_SQ}, {"time", MIRE_SESSION_TIME_MS},
              {"watched", MIRE_SESSION_WATCHED},     {"lagging", MIRE_SESSION_LAGGING},
              {"hang time", MIRE_SESSION_HANG_MS},   {"hang by time", MIRE_SESSION_HANG_TIME_SQ},
              {"ends", MIRE_SESSION_ENDS},           {"foom", MIRE_SESSION_FOOM},
              {"crash", MIRE_SESSION_CRASH}};
    static const enum session_group groups[] = {MIRE_GROUP_WATCHED, MIRE_GROUP_LAGGING, MIRE_GROUP_ENDED,
                                                MIRE_GROUP_WATCHDOG};

    if (!sums || !sums->sessions) {
        fail("no sessions", cell, text, 0, pg_real(rows, i, 3));
        return;
    }
    compare("records", cell, text, (double)sums->reports, pg_real(rows, i, 3));
    compare("sessions", cell, text, sums->weight, pg_real(rows, i, 4));
    for (size_t k = 0; k < sizeof of / sizeof *of; k++)
        compare(of[k].what, cell, text, sums->sessions->sums[of[k].sum], pg_real(rows, i, 5 + k));
    compare_devices("installations", cell, text, &sums->devices, pg_real(rows, i, 14));
    for (size_t k = 0; k < sizeof groups / sizeof *groups; k++)
        compare_devices("installations of a group", cell, text, &sums->sessions->devices[groups[k]],
                        pg_real(rows, i, 15 + k));
    for (int k = 0; k < MIRE_SESSION_SPREADS; k++)
        compare_spread(cell, text, &sums->sessions->spreads[k], pg_real(rows, i, 19 + 2 * k),
                       pg_real(rows, i, 20 + 2 * k));
}

static void check_sessions(const struct stored_list *list, struct pg_tx *tx, const struct session_count *asked)
{
    static const struct stored none = {.category = MIRE_ROLLUP_SESSION};
    struct pg_rows *rows;
    size_t values = 0;

    if (pg_query(&rows, tx, asked->sql))
        exit(1);
    for (size_t i = 0; i < pg_row_count(rows); i++) {
        const char *text = pg_text(rows, i, 2);
        struct stored like = {.app = (int32_t)pg_int(rows, i, 0),
                              .at_us = pg_time(rows, i, 1),
                              .hours = 24,
                              .category = MIRE_ROLLUP_SESSION};
        const struct stored *cell = find(list, &like);
        compare_sessions(
            cell, asked->facet < 0 ? &cell->cell.all : cell_find(&cell->cell, (enum cell_facet)asked->facet, text),
            text, rows, i);
    }
    for (size_t i = 0; i < list->count; i++) {
        const struct stored *s = &list->rows[i];
        if (strcmp(s->category, MIRE_ROLLUP_SESSION) != 0)
            continue;
        values += asked->facet < 0;
        for (size_t k = 0; k < s->cell.value_count; k++)
            values += (int)s->cell.values[k].facet == asked->facet;
    }
    compare("values", &none, "", (double)values, (double)pg_row_count(rows));
    pg_rows_free(&rows);
}

void rolluptest_check(struct pg *pg)
{
    struct stored_list list = {0};
    struct pg_tx *tx;

    rolluptest_merge(pg);
    arena_init(&list.arena, 1024u << 20);
    if (pg_begin(&tx, pg, MIRE_PG_READ))
        exit(1);
    read_cells(&list, tx);
    for (int facet = -1; facet < MIRE_FACET_COUNT; facet++)
        for (int which = 0; which < 4; which++)
            check(&list, tx, facet, which);
    for (size_t i = 0; i < sizeof session_counts / sizeof *session_counts; i++)
        check_sessions(&list, tx, &session_counts[i]);
    pg_end(&tx);
    arena_fini(&list.arena);
    standingtest_check(pg);
}
