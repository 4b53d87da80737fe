/*
 * put_ramp.c - PUT /api/v1/apps/{app}/rollout/ramps/{plugin} begins a ramp, POST there pauses, resumes or stops it.
 * daemon/ramps.h moves a ramp from step to step.
 */
#include "api/api.h"
#include "api/change.h"
#include "api/handlers.h"
#include "api/rollout/rollout_share.h"

#include "base/fault.h"
#include "rows/ramp.h"
#include "rollout/ramp.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static enum bind_outcome take_limit(double *out, struct bind *bind, uint32_t at)
{
    *out = json_double(bind->json, at);
    return *out >= 0 && *out <= 1e12 ? MIRE_BIND_OK : bind_wrong(bind, "must be a number from 0");
}

static enum bind_outcome take_crash(struct bind *bind, void *out, uint32_t at)
{
    return take_limit(&((struct change *)out)->ramp.crash_points, bind, at);
}

static enum bind_outcome take_cpu(struct bind *bind, void *out, uint32_t at)
{
    return take_limit(&((struct change *)out)->ramp.cpu_percent, bind, at);
}

static enum bind_outcome take_load(struct bind *bind, void *out, uint32_t at)
{
    return take_limit(&((struct change *)out)->ramp.reports_per_hour, bind, at);
}

/* Shares from 0 to 1, rising. */
static enum bind_outcome take_steps(struct bind *bind, void *out, uint32_t at)
{
    struct rows_ramp *ramp = &((struct change *)out)->ramp;
    enum bind_outcome outcome = bind_is_array(bind, at, MIRE_RAMP_STEPS_MAX);
    uint32_t element = at + 1;

    for (uint32_t i = 0; !outcome && i < json_size(bind->json, at); i++, element = json_next(bind->json, element)) {
        double p = json_double(bind->json, element);
        if (!(p > 0 && p <= 1) || (i && lround(p * 1e6) <= ramp->steps[i - 1]))
            return bind_wrong(bind, "must be shares from 0 to 1 that rise");
        ramp->steps[ramp->step_count++] = (int32_t)lround(p * 1e6);
    }

    return outcome || ramp->step_count ? outcome : bind_wrong(bind, "must have a step");
}

static const struct bind_field put_fields[] = {
    MIRE_CHANGE_FIELDS,
    {"rule", MIRE_BIND_TEXT, offsetof(struct change, ramp.rule), .required = true, .max = 64},
    {"steps", MIRE_BIND_OTHER, 0, .required = true, .read = take_steps},
    {"hold_s", MIRE_BIND_U64, offsetof(struct change, ramp.hold_s), .required = true, .min = MIRE_RAMP_HOLD_MIN_S,
     .max = MIRE_RAMP_HOLD_MAX_S},
    {"crash_points", MIRE_BIND_OTHER, 0, .read = take_crash},
    {"cpu_percent", MIRE_BIND_OTHER, 0, .read = take_cpu},
    {"reports_per_hour", MIRE_BIND_OTHER, 0, .read = take_load},
    {"backs", MIRE_BIND_BOOL, offsetof(struct change, ramp.backs), .required = false},
};
static const struct bind_field post_fields[] = {
    MIRE_CHANGE_FIELDS,
    {"action", MIRE_BIND_TEXT, offsetof(struct change, action), .required = true, .max = 16},
};

static struct rollout_share share_of(const struct change *change)
{
    return (struct rollout_share){change->app, rollout_share_plugin(change->ramp.plugin), change->ramp.rule};
}

/* Another share in the next version. 0, 1, or a fault. */
static int set_share(struct change *change, uint32_t ppm)
{
    struct rollout_share share = share_of(change);
    int rc = rollout_share_change(change->tx, change->request->arena, &share, (int64_t)change->base, ppm,
                                  change->row.author, change->row.reason);

    if (rc == MIRE_DOCUMENT_MOVED)
        return change_moved(change);
    if (rc == MIRE_DOCUMENT_NONE)
        return change_refuse(change, 422, "rollout.wrong", "No rule of that name mentions the plugin.");
    return rc;
}

static int begin_ramp(struct change *change)
{
    struct rows_ramp *ramp = &change->ramp;
    struct rollout_share share = share_of(change);
    uint32_t ppm;
    int64_t version;
    int rc = rollout_share_read(&ppm, &version, change->tx, change->request->arena, &share);

    if (!rc)
        rc = set_share(change, (uint32_t)ramp->steps[0]);
    if (rc)
        return rc;
    ramp->app = change->app;
    ramp->author = change->row.author;
    ramp->state = ramp_state_name(MIRE_RAMP_RUNNING);
    ramp->note = "";
    ramp->before_ppm = (int32_t)ppm;
    ramp->step_since_us = ramp->looked_us = change->now_us;
    return rows_ramp_put(change->tx, ramp);
}

/* The app's ramp of the path's plugin. 0, 1, or a fault. */
static int find_ramp(struct change *change)
{
    const char *plugin = change->ramp.plugin;
    struct rows_ramp *ramps;
    size_t count;
    int rc = rows_ramp_list(&ramps, &count, change->tx, change->request->arena, change->app);

    if (rc)
        return rc;
    for (size_t i = 0; i < count; i++)
        if (strcmp(ramps[i].plugin, plugin) == 0) {
            change->ramp = ramps[i];
            return 0;
        }

    return change_refuse(change, 404, "rollout.ramp", "The plugin has no ramp.");
}

static int act_on_ramp(struct change *change)
{
    int rc = find_ramp(change);
    struct rows_ramp *ramp = &change->ramp;
    bool runs = !rc && strcmp(ramp->state, "running") == 0, paused = !rc && strcmp(ramp->state, "paused") == 0;

    if (rc)
        return rc;
    ramp->note = change->row.reason;
    ramp->tripped_us = 0;
    if (strcmp(change->action, "pause") == 0 && runs) {
        ramp->state = ramp_state_name(MIRE_RAMP_PAUSED);
        change->same = true;
    } else if (strcmp(change->action, "resume") == 0 && paused) {
        ramp->state = ramp_state_name(MIRE_RAMP_RUNNING);
        ramp->step_since_us = change->now_us;
        rc = set_share(change, (uint32_t)ramp->steps[ramp->step]);
    } else if (strcmp(change->action, "back") == 0 && (runs || paused)) {
        ramp->state = ramp_state_name(MIRE_RAMP_STOPPED);
        rc = set_share(change, (uint32_t)ramp->before_ppm);
    } else {
        return change_refuse(change, 422, "rollout.wrong",
                             "The action is pause of a running ramp, resume of a paused one, or back of either.");
    }

    return rc ? rc : rows_ramp_put(change->tx, ramp);
}

static int run(void *api, struct request *request, struct reply *reply, const struct bind_field *fields, size_t count,
               int (*fill)(struct change *change))
{
    struct change change = {.request = request, .reply = reply, .now_us = ((struct api *)api)->now_us()};

    change.ramp.plugin = request_param(request, 1);
    if (rollout_share_plugin(change.ramp.plugin) == MIRE_PLUGINS)
        return reply_error(reply, request, 404, "rollout.plugin", "Plugins are hang, memory, exit and session.");
    return change_run(&change, ((struct api *)api)->pg, fields, count, fill);
}

int put_ramp(void *api, struct request *request, struct reply *reply)
{
    return run(api, request, reply, put_fields, sizeof put_fields / sizeof *put_fields, begin_ramp);
}

int post_ramp(void *api, struct request *request, struct reply *reply)
{
    return run(api, request, reply, post_fields, sizeof post_fields / sizeof *post_fields, act_on_ramp);
}
