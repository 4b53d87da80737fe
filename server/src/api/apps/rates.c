/* rates.c - GET /api/v1/apps/{app}/rates: how often sessions lag, hang and die, by version and day. */
#include "api/call.h"
#include "api/complete.h"
#include "api/handlers.h"
#include "api/params.h"
#include "api/parts.h"

#include "model/rate.h"
#include "rows/rates.h"

#define MS_PER_HOUR 3600000.0
#define DAY_S       86400

static void put_rate(struct json_writer *w, const char *key, struct rate rate, double scale)
{
    if (!rate.known) {
        json_write_null(w, key);
        return;
    }
    json_write_open(w, key, '{');
    json_write_real(w, "value", rate.value * scale);
    json_write_real(w, "low", rate.low * scale);
    json_write_real(w, "high", rate.high * scale);
    json_write_close(w, '}');
}

/* Shares are in percent: to three decimals they tell one in 100,000. */
static void put_rates(struct json_writer *w, const struct session_sums *s)
{
    json_write_i64(w, "records", s->records);
    json_write_real(w, "sessions", s->sessions);
    json_write_real(w, "hours", s->time_ms / MS_PER_HOUR);
    json_write_real(w, "ends", s->ends);
    put_rate(w, "lag_percent", rate_share(s->lagging, s->watched, s->watched_sq), 100);
    put_rate(w, "hang_s_per_hour",
             rate_ratio(s->hang_ms, s->watched_ms, s->hang_hang_sq, s->hang_time_sq, s->time_time_sq), 3600);
    put_rate(w, "foom_percent", rate_share(s->foom, s->ends, s->ends_sq), 100);
    put_rate(w, "watchdog_percent", rate_share(s->watchdog, s->ends, s->ends_sq), 100);
    put_rate(w, "crash_percent", rate_share(s->crash, s->ends, s->ends_sq), 100);
    if (s->time_ms > 0)
        json_write_real(w, "sdk_cpu_percent", s->sdk_cpu_us / 10 / s->time_ms);
    else
        json_write_null(w, "sdk_cpu_percent");
}

static void put_versions(struct json_writer *w, const struct session_point *points, size_t count)
{
    json_write_open(w, "versions", '[');
    for (size_t i = 0; i < count; i++) {
        bool first = !points[i].has_day;
        if (first) {
            json_write_open(w, NULL, '{');
            json_write_text(w, "version", points[i].version);
            put_rates(w, &points[i].sums);
            json_write_open(w, "days", '[');
        } else {
            json_write_open(w, NULL, '{');
            part_time(w, "day", (int64_t)points[i].day * 86400000000);
            put_rates(w, &points[i].sums);
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
    put_rates(w, count ? &points[0].sums : &(struct session_sums){0});
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
    static const struct call_kind kind = {.names = names, .has_app = true, .answer = answer_rates};

    return call_run(api, request, reply, &kind);
}
