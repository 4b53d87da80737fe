/* standingtest.c - see standingtest.h. Keys, spans and sums are computed here once more, one row after the other. */
#include "support/standingtest.h"

#include "base/fault.h"
#include "model/category.h"
#include "model/rows.h"
#include "pg/pg.h"
#include "rollup/standing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOUR_US 3600000000ll

struct figure {
    int64_t key[9]; /* slot, app, kind, of, hours, at, and three of the row's */
    struct standing_sums sums;
};

struct figures {
    struct figure *rows;
    size_t count, room;
    int64_t head[6]; /* of the row that is read */
};

static void *need(void *memory)
{
    if (!memory)
        exit(1);
    return memory;
}

static void put(struct figures *list, const int64_t head[6], int64_t a, int64_t b, int64_t c,
                const struct standing_sums *sums)
{
    if (list->count == list->room)
        list->rows = need(realloc(list->rows, (list->room = list->room * 2 + 64) * sizeof *list->rows));
    struct figure *figure = &list->rows[list->count++];
    memcpy(figure->key, head, 6 * sizeof *head);
    figure->key[6] = a;
    figure->key[7] = b;
    figure->key[8] = c;
    figure->sums = *sums;
}

static int by_key(const void *a, const void *b)
{
    const struct figure *x = a, *y = b;
    for (int i = 0; i < 9; i++)
        if (x->key[i] != y->key[i])
            return x->key[i] < y->key[i] ? -1 : 1;
    return 0;
}

static int64_t most(int64_t x, int64_t y)
{
    return x > y ? x : y;
}

/* Sum up the figures of one key. */
static void sum_up(struct figures *list)
{
    size_t kept = 0;

    if (list->count)
        qsort(list->rows, list->count, sizeof *list->rows, by_key);
    for (size_t i = 0; i < list->count; i++) {
        struct standing_sums *to = kept ? &list->rows[kept - 1].sums : NULL;
        const struct standing_sums *more = &list->rows[i].sums;
        if (!to || by_key(&list->rows[kept - 1], &list->rows[i])) {
            list->rows[kept++] = list->rows[i];
            continue;
        }
        to->reports += more->reports;
        to->events += more->events;
        to->waited_ms += more->waited_ms;
        to->above_bytes += more->above_bytes;
        to->longest_ms = most(to->longest_ms, more->longest_ms);
        to->most_bytes = most(to->most_bytes, more->most_bytes);
        to->first_us = -most(-to->first_us, -more->first_us);
        to->last_us = most(to->last_us, more->last_us);
    }
    list->count = kept;
}

static int take(void *context, const struct standing_key *key, const struct standing_sums *sums)
{
    struct figures *list = context;
    put(list, list->head, key->a, key->b, key->c, sums);
    return 0;
}

static void read_told(struct figures *out, struct pg_tx *tx)
{
    struct pg_rows *rows;

    if (pg_query(&rows, tx, "SELECT slot, app_id, kind, of_id, hours, at, bytes FROM standing"))
        exit(1);
    for (size_t i = 0; i < pg_row_count(rows); i++) {
        struct pg_bytes bytes = pg_bytes(rows, i, 6);
        for (int k = 0; k < 5; k++)
            out->head[k] = pg_int(rows, i, k);
        out->head[5] = pg_time(rows, i, 5);
        if (standing_each(bytes.bytes, bytes.len, out->head[5], take, out)) {
            fprintf(stderr, "standing: a row is broken\n");
            exit(1);
        }
    }
    pg_rows_free(&rows);
}

/* Put a counter into each span that has its hour. */
static void spread(struct figures *out, int32_t app, int kind, int64_t of, int64_t slot_of, const int16_t *lengths,
                   int64_t a, int64_t b, const struct standing_sums *sums)
{
    for (; *lengths; lengths++) {
        int64_t length = *lengths * HOUR_US, hour = sums->first_us;
        int64_t at = (hour / length - (hour % length < 0)) * length;
        put(out, (const int64_t[]){rows_slot(app, slot_of), app, kind, of, *lengths, at}, a, b,
            kind == 4 ? (hour - at) / HOUR_US : 0, sums);
    }
}

static struct standing_sums sums_at(const struct pg_rows *rows, size_t i, int column)
{
    return (struct standing_sums){.first_us = pg_time(rows, i, 1),
                                  .reports = pg_int(rows, i, column),
                                  .events = pg_real(rows, i, column + 1),
                                  .waited_ms = pg_real(rows, i, column + 2),
                                  .longest_ms = pg_int(rows, i, column + 3),
                                  .most_bytes = pg_int(rows, i, column + 4),
                                  .last_us = pg_time(rows, i, column + 5),
                                  .above_bytes = pg_real(rows, i, column + 6)};
}

static void count_issues(struct figures *out, struct pg_tx *tx)
{
    static const int16_t of_app[] = {1, 6, 24, 96, 384, 0}, of_version[] = {1, 24, 0}, of_issue[] = {24, 0};
    struct pg_rows *rows;

    if (pg_query(&rows, tx,
                 "SELECT app_id, hour, issue_id, version_id, tree, reports, events, waited_ms, longest_ms, most_bytes, "
                 "last_at, above_bytes"
                 " FROM issue_hour WHERE reports > 0"))
        exit(1);
    for (size_t i = 0; i < pg_row_count(rows); i++) {
        int32_t app = (int32_t)pg_int(rows, i, 0);
        int64_t issue = pg_int(rows, i, 2), version = pg_int(rows, i, 3), tree = pg_int(rows, i, 4);
        struct standing_sums sums = sums_at(rows, i, 5);
        spread(out, app, 0, 0, issue, of_app, issue, tree, &sums);
        spread(out, app, 3, version, version, of_version, issue, tree, &sums);
        spread(out, app, 4, issue, issue, of_issue, version, tree, &sums);
    }
    pg_rows_free(&rows);
}

static void count_versions(struct figures *out, struct pg_tx *tx)
{
    static const int16_t lengths[] = {1, 24, 0};
    struct pg_rows *rows;

    if (pg_query(
            &rows, tx,
            "SELECT app_id, hour, version_id, category, -1, reports, events, waited_ms, longest_ms, 0::bigint, hour, "
            "0::float8"
            " FROM version_hour WHERE reports > 0 UNION ALL"
            " SELECT app_id, hour, version_id, '', round(log(2, from_ms / 250.0))::integer, 0, turns, 0, 0, 0::bigint, "
            "hour, 0"
            " FROM turn_hour"))
        exit(1);
    for (size_t i = 0; i < pg_row_count(rows); i++) {
        int32_t app = (int32_t)pg_int(rows, i, 0);
        int64_t version = pg_int(rows, i, 2), bucket = pg_int(rows, i, 4);
        struct standing_sums sums = sums_at(rows, i, 5);
        enum event_category category;
        if (bucket < 0 && !category_named(&category, pg_text(rows, i, 3)))
            exit(1);
        spread(out, app, bucket < 0 ? 1 : 2, 0, version, lengths, version, bucket < 0 ? (int64_t)category : bucket,
               &sums);
    }
    pg_rows_free(&rows);
}

static void fail(const char *what, const struct figure *figure)
{
    fprintf(stderr, "standing: %s:", what);
    for (int i = 0; i < 9; i++)
        fprintf(stderr, " %lld", (long long)figure->key[i]);
    fprintf(stderr, " (slot, app, kind, of, hours, at, keys): %lld reports, %.9g events, longest %lld, last %lld\n",
            (long long)figure->sums.reports, figure->sums.events, (long long)figure->sums.longest_ms,
            (long long)figure->sums.last_us);
    exit(1);
}

static bool near(double x, double y)
{
    return fabs(x - y) <= 1e-6 * (1 + fabs(y));
}

static bool same(const struct standing_sums *x, const struct standing_sums *y)
{
    return x->reports == y->reports && near(x->events, y->events) && near(x->waited_ms, y->waited_ms) &&
           near(x->above_bytes, y->above_bytes) && x->longest_ms == y->longest_ms && x->most_bytes == y->most_bytes &&
           x->first_us == y->first_us && x->last_us == y->last_us;
}

void standingtest_check(struct pg *pg)
{
    struct figures given = {0}, counted = {0};
    struct pg_tx *tx;

    if (pg_begin(&tx, pg, MIRE_PG_READ))
        exit(1);
    read_told(&given, tx);
    count_issues(&counted, tx);
    count_versions(&counted, tx);
    pg_end(&tx);
    size_t keys = given.count;
    sum_up(&given);
    sum_up(&counted);
    if (given.count != keys)
        fail("a key is there twice", &given.rows[0]);
    for (size_t i = 0; i < given.count || i < counted.count; i++) {
        int order = i >= given.count ? 1 : i >= counted.count ? -1 : by_key(&given.rows[i], &counted.rows[i]);
        if (order)
            fail(order < 0 ? "one too many" : "missing", order < 0 ? &given.rows[i] : &counted.rows[i]);
        if (!same(&given.rows[i].sums, &counted.rows[i].sums)) {
            fprintf(stderr, "standing: counted %lld reports, %.9g events, longest %lld\n",
                    (long long)counted.rows[i].sums.reports, counted.rows[i].sums.events,
                    (long long)counted.rows[i].sums.longest_ms);
            fail("another sum", &given.rows[i]);
        }
    }
    free(given.rows);
    free(counted.rows);
}
