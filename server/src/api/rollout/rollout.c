/* rollout.c - GET /api/v1/apps/{app}/rollout: the rules in force, and the history of changes. */
#include "api/call.h"
#include "api/document_versions.h"
#include "api/handlers.h"
#include "api/parts.h"

#include "api/rollout/rollout_share.h"
#include "rollout/ramp.h"
#include "rollout/rollout.h"
#include "rows/answered.h"
#include "rows/ramp.h"

_Static_assert(ROWS_PLUGINS == (int)MIRE_PLUGINS, "a plugin has a column in the answers of devices");

#define ANSWERED_DAYS 7
#define DAY_US        86400000000ll

static struct ramp_arm arm_of(const struct rows_arm *arm)
{
    return (struct ramp_arm){arm->records, arm->ends, arm->ends_sq, arm->bad, arm->time_ms, arm->sdk_cpu_us};
}

static double bad_percent(const struct rows_arm *arm)
{
    return arm->ends > 0 ? 100 * arm->bad / arm->ends : 0;
}

/* The sessions that the guards judge, since the begin of the step. */
static int put_measured(struct call *call, const struct rows_ramp *ramp)
{
    struct json_writer *w = &call->json;
    struct rows_arm sampled, control;
    double load = 0;
    int rc = rows_ramp_arms(&sampled, &control, call->tx, ramp->app, 1 << rollout_share_plugin(ramp->plugin),
                            ramp->step_since_us);

    if (!rc)
        rc = rows_ramp_load(&load, call->tx, ramp->app, call->api->now_us());
    if (rc)
        return rc;
    const struct ramp_arm with = arm_of(&sampled), without = arm_of(&control);
    json_write_open(w, "measured", '{');
    json_write_i64(w, "records_with", sampled.records);
    json_write_i64(w, "records_without", control.records);
    json_write_real(w, "bad_percent_with", bad_percent(&sampled));
    json_write_real(w, "bad_percent_without", bad_percent(&control));
    json_write_real(w, "excess_points", ramp_excess(&with, &without));
    json_write_real(w, "cpu_percent", sampled.time_ms > 0 ? sampled.sdk_cpu_us / 10 / sampled.time_ms : 0);
    json_write_real(w, "reports_last_hour", load);
    json_write_close(w, '}');
    return 0;
}

static int put_ramps(struct call *call)
{
    struct json_writer *w = &call->json;
    struct rows_ramp *ramps;
    size_t count;
    int rc = rows_ramp_list(&ramps, &count, call->tx, call->arena, call->view.app);

    json_write_open(w, "ramps", '[');
    for (size_t i = 0; !rc && i < count; i++) {
        const struct rows_ramp *ramp = &ramps[i];
        json_write_open(w, NULL, '{');
        json_write_text(w, "plugin", ramp->plugin);
        json_write_text(w, "rule", ramp->rule);
        json_write_text(w, "author", ramp->author);
        json_write_open(w, "steps_ppm", '[');
        for (size_t k = 0; k < ramp->step_count; k++)
            json_write_i64(w, NULL, ramp->steps[k]);
        json_write_close(w, ']');
        json_write_i64(w, "before_ppm", ramp->before_ppm);
        json_write_i64(w, "hold_s", ramp->hold_s);
        json_write_real(w, "crash_points", ramp->crash_points);
        json_write_real(w, "cpu_percent", ramp->cpu_percent);
        json_write_real(w, "reports_per_hour", ramp->reports_per_hour);
        json_write_bool(w, "backs", ramp->backs);
        json_write_text(w, "state", ramp->state);
        json_write_i64(w, "step", ramp->step);
        part_time(w, "step_since", ramp->step_since_us);
        json_write_text(w, "note", ramp->note);
        part_time_or_null(w, "tripped_at", ramp->tripped_us);
        rc = put_measured(call, ramp);
        json_write_close(w, '}');
    }

    json_write_close(w, ']');
    return rc;
}

/* The sessions of the last days: the shares of them in which each plugin ran. */
static int put_answered(struct call *call)
{
    struct json_writer *w = &call->json;
    struct answered_day *days;
    size_t count;
    int rc = rows_answered_read(&days, &count, call->tx, call->arena, call->view.app,
                                call->api->now_us() - (ANSWERED_DAYS - 1) * DAY_US);

    json_write_open(w, "answered", '[');
    for (size_t i = 0; !rc && i < count; i++) {
        json_write_open(w, NULL, '{');
        part_time(w, "day", days[i].day * DAY_US);
        json_write_text(w, "channel", days[i].channel);
        json_write_i64(w, "records", days[i].records);
        json_write_real(w, "sessions", days[i].sessions);
        json_write_open(w, "on", '{');
        for (int p = 0; p < MIRE_PLUGINS; p++)
            json_write_real(w, mire__plugin_name(p), days[i].on[p]);
        json_write_close(w, '}');
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
    return rc;
}

static int answer_rollout(struct call *call)
{
    struct json_writer *w = &call->json;
    struct document_versions versions = {0};
    int rc = document_versions_read(&versions, call, ROWS_DOCUMENT_ROLLOUT, "rollout");

    if (rc != 0)
        return rc;
    json_write_open(w, NULL, '{');
    document_versions_put(w, &versions);
    json_write_raw(w, "rules", versions.row.version ? versions.row.rules : rollout_default);
    document_versions_put_history(w, &versions);
    rc = put_ramps(call);
    if (rc == 0)
        rc = put_answered(call);
    json_write_close(w, '}');
    return rc;
}

int get_app_rollout(void *api, struct request *request, struct reply *reply)
{
    static const char *const names[] = {"version", NULL};
    static const struct call_kind kind = {
        .table = "history", .names = names, .has_app = true, .answer = answer_rollout};

    return call_run(api, request, reply, &kind);
}
