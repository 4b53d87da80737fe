/* rates.c - GET /api/v1/apps/{app}/rates: how often sessions lag, hang and die, by version and day. */
#include "api/apps/rates_part.h"
#include "api/call.h"
#include "api/complete.h"
#include "api/handlers.h"
#include "api/params.h"
#include "api/parts.h"

#include "base/fault.h"
#include "rows/apps.h"
#include "rows/rates.h"
#include "rows/session_totals.h"

#include <stdlib.h>
#include <string.h>

#define DAY_S      86400
#define VALUES_MAX 50 /* of a facet: the ones with most sessions */

static void put_versions(struct json_writer *w, const struct session_point *points, size_t count,
                         const struct cell *totals)
{
    json_write_open(w, "versions", '[');
    for (size_t i = 0; i < count; i++) {
        bool first = !points[i].has_day;
        if (first) {
            json_write_open(w, NULL, '{');
            json_write_text(w, "version", points[i].version);
            part_rates(w, &points[i].sums);
            part_users(w, cell_find(totals, MIRE_FACET_VERSION, points[i].version));
            part_spreads(w, cell_find(totals, MIRE_FACET_VERSION, points[i].version));
            json_write_open(w, "days", '[');
        } else {
            json_write_open(w, NULL, '{');
            part_time(w, "day", (int64_t)points[i].day * 86400000000);
            part_rates(w, &points[i].sums);
            json_write_close(w, '}');
        }
        if (i + 1 == count || !points[i + 1].has_day) {
            json_write_close(w, ']');
            json_write_close(w, '}');
        }
    }

    json_write_close(w, ']');
}

static int by_sessions(const void *a, const void *b)
{
    const struct cell_value *x = *(const struct cell_value *const *)a, *y = *(const struct cell_value *const *)b;
    if (x->sums.weight != y->sums.weight)
        return x->sums.weight < y->sums.weight ? 1 : -1;
    return strcmp(x->text, y->text);
}

/* Rates and users of each value of a facet, most sessions first. */
static int put_values(struct call *call, const struct cell *totals, int facet)
{
    const struct cell_value **values = arena_array(call->arena, totals->value_count + 1, sizeof *values);
    struct json_writer *w = &call->json;
    size_t count = 0;

    if (!values)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < totals->value_count; i++)
        if ((int)totals->values[i].facet == facet)
            values[count++] = &totals->values[i];
    qsort(values, count, sizeof *values, by_sessions);
    json_write_open(w, "values", '[');
    for (size_t i = 0; i < count && i < VALUES_MAX; i++) {
        struct session_sums sums;
        part_session_sums(&sums, &values[i]->sums);
        json_write_open(w, NULL, '{');
        json_write_text(w, "value", strcmp(values[i]->text, MIRE_CELL_OTHERS) != 0 ? values[i]->text : "(others)");
        part_rates(w, &sums);
        part_users(w, &values[i]->sums);
        part_spreads(w, &values[i]->sums);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
    return 0;
}

static void put_losses(struct json_writer *w, const struct loss_sum *losses, size_t count)
{
    json_write_open(w, "losses", '[');
    for (size_t i = 0; i < count; i++) {
        json_write_open(w, NULL, '{');
        json_write_text(w, "reason", losses[i].reason);
        json_write_i64(w, "count", losses[i].lost);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
}

static int put_ends(struct call *call, const struct filter *channel)
{
    struct json_writer *w = &call->json;
    struct end_sum *ends;
    size_t count;
    int rc = rows_ends_read(&ends, &count, call->tx, call->arena, &call->view, channel);

    json_write_open(w, "endings", '[');
    for (size_t i = 0; !rc && i < count; i++) {
        json_write_open(w, NULL, '{');
        json_write_text(w, "version", ends[i].version);
        json_write_text(w, "verdict", ends[i].verdict);
        json_write_real(w, "ends", ends[i].ends);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
    return rc;
}

/* Whole days: those that the range touches. */
static void put_days(struct json_writer *w, const struct span *span)
{
    int64_t from = span->from_s / DAY_S, to = (span->to_s + DAY_S - 1) / DAY_S;

    json_write_open(w, "range", '{');
    part_time(w, "from", from * DAY_S * 1000000);
    part_time(w, "to", to * DAY_S * 1000000);
    json_write_close(w, '}');
}

/* The goals of the app, by the names of the rates. */
static int put_goals(struct call *call)
{
    double goals[MIRE_GOALS];
    int rc = rows_goals_read(goals, call->tx, call->view.app);

    json_write_open(&call->json, "goals", '{');
    for (int i = 0; !rc && i < MIRE_GOALS; i++) {
        const char *rate = rows_goal_names[i] + strlen("goal_");
        if (goals[i] < 0)
            json_write_null(&call->json, rate);
        else
            json_write_real(&call->json, rate, goals[i]);
    }
    json_write_close(&call->json, '}');
    return rc;
}

static int answer_rates(struct call *call)
{
    const char *channels = request_query(call->request, "channel"), *by = request_query(call->request, "by");
    int facet = by ? rows_session_facet(by) : -1;
    struct json_writer *w = &call->json;
    struct filter channel = {0};
    struct session_point *points;
    struct loss_sum *losses;
    struct cell totals = {0};
    size_t count, loss_count;

    if (channels && filter_parse(&channel, call->arena, channels, NULL) != 0)
        return call_refuse(call, "channel", "up to 64 channels with commas between, !x to exclude");
    if (by && facet < 0)
        return call_refuse(call, "by", "version, os, os_version, arch, model, process, class or channel");
    if (by && (channels || call->view.version.with_count || call->view.version.without_count))
        return call_refuse(call, "by", "asked for without v and channel: figures are of one facet at a time");
    int rc = rows_sessions_read(&points, &count, call->tx, call->arena, &call->view, &channel);
    if (rc == 0)
        rc = rows_losses_read(&losses, &loss_count, call->tx, call->arena, &call->view);
    if (rc == 0 && !channels)
        rc = rows_session_totals_read(&totals, call->tx, call->arena, &call->view);
    if (rc != 0)
        return rc;
    json_write_open(w, NULL, '{');
    put_days(w, &call->view.span);
    rc = put_goals(call);
    json_write_open(w, "total", '{');
    part_rates(w, count ? &points[0].sums : &(struct session_sums){0});
    part_users(w, &totals.all);
    part_spreads(w, &totals.all);
    json_write_close(w, '}');
    put_versions(w, points + (count ? 1 : 0), count ? count - 1 : 0, &totals);
    if (!rc && by) {
        rc = put_values(call, &totals, facet);
        call->table = request_query(call->request, "table") ? call->table : "values";
    }
    if (!rc)
        rc = put_ends(call, &channel);
    put_losses(w, losses, loss_count);
    if (!rc)
        rc = put_completeness(call, "session");
    json_write_close(w, '}');
    return rc;
}

int get_rates(void *api, struct request *request, struct reply *reply)
{
    static const char *const names[] = {"t", "v", "channel", "by", NULL};
    static const struct call_kind kind = {.table = "versions versions:days endings losses completeness",
                                          .names = names,
                                          .has_app = true,
                                          .answer = answer_rates};

    return call_run(api, request, reply, &kind);
}
