/* rates.c - GET /api/v1/apps/{app}/rates: how often sessions lag, hang and die, by version and day. */
#include "api/apps/rates_part.h"
#include "api/call.h"
#include "api/complete.h"
#include "api/handlers.h"
#include "api/params.h"
#include "api/parts.h"

#include "rows/rates.h"

#define DAY_S 86400

static void put_versions(struct json_writer *w, const struct session_point *points, size_t count)
{
    json_write_open(w, "versions", '[');
    for (size_t i = 0; i < count; i++) {
        bool first = !points[i].has_day;
        if (first) {
            json_write_open(w, NULL, '{');
            json_write_text(w, "version", points[i].version);
            part_rates(w, &points[i].sums);
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

/* Whole days: those that the range touches. */
static void put_days(struct json_writer *w, const struct span *span)
{
    int64_t from = span->from_s / DAY_S, to = (span->to_s + DAY_S - 1) / DAY_S;

    json_write_open(w, "range", '{');
    part_time(w, "from", from * DAY_S * 1000000);
    part_time(w, "to", to * DAY_S * 1000000);
    json_write_close(w, '}');
}

static int answer_rates(struct call *call)
{
    const char *channels = request_query(call->request, "channel");
    struct json_writer *w = &call->json;
    struct filter channel = {0};
    struct session_point *points;
    struct loss_sum *losses;
    size_t count, loss_count;

    if (channels && filter_parse(&channel, call->arena, channels, NULL) != 0)
        return call_refuse(call, "channel", "up to 64 channels with commas between, !x to exclude");
    int rc = rows_sessions_read(&points, &count, call->tx, call->arena, &call->view, &channel);
    if (rc == 0)
        rc = rows_losses_read(&losses, &loss_count, call->tx, call->arena, &call->view);
    if (rc != 0)
        return rc;
    json_write_open(w, NULL, '{');
    put_days(w, &call->view.span);
    json_write_open(w, "total", '{');
    part_rates(w, count ? &points[0].sums : &(struct session_sums){0});
    json_write_close(w, '}');
    put_versions(w, points + (count ? 1 : 0), count ? count - 1 : 0);
    put_losses(w, losses, loss_count);
    rc = put_completeness(call, "session");
    json_write_close(w, '}');
    return rc;
}

int get_rates(void *api, struct request *request, struct reply *reply)
{
    static const char *const names[] = {"t", "v", "channel", NULL};
    static const struct call_kind kind = {.table = "versions", .names = names, .has_app = true, .answer = answer_rates};

    return call_run(api, request, reply, &kind);
}
