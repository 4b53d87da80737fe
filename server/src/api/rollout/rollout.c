/* rollout.c - GET /api/v1/apps/{app}/rollout: the rules in force, and the history of changes. */
#include "api/call.h"
#include "api/document_versions.h"
#include "api/handlers.h"
#include "api/parts.h"

#include "rows/ramp.h"
#include "rollout/rollout.h"

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
