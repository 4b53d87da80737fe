/*
 * metrics.c - GET /metrics/apps: rates of apps and versions for Prometheus (docs/metrics.md).
 *
 * Families are written one after the other, as the format demands, and apps are read one after the other: so each
 * family has a text of its own. The number of series is bounded: APPS_MAX apps with MIRE_SERIES_MAX versions each.
 */
#include "api/call.h"
#include "api/handlers.h"

#include "base/fault.h"
#include "base/metric.h"
#include "base/scope.h"
#include "model/rate.h"
#include "rows/apps.h"
#include "rows/rates.h"
#include "rows/rows.h"
#include "rows/totals.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define APPS_MAX 100
#define DAY_S    86400

enum family {
    APP_SESSIONS,
    APP_RATE,
    APP_HANG_TIME,
    APP_EVENTS,
    APP_EVENTS_PER_1000,
    VERSION_SESSIONS,
    VERSION_RATE,
    VERSION_HANG_TIME,
    VERSION_EVENTS,
    VERSION_EVENTS_PER_1000,
    VERSIONS_OMITTED,
    FAMILY_COUNT,
};

#define RATE_HELP                                                                                                    \
    "Share by rate: lag of sessions with a hang, of ended runs foom (killed out of memory), watchdog (killed while " \
    "hung) and crash; bound value, or low and high of the 95 % interval."

static const struct {
    const char *name, *help;
} families[FAMILY_COUNT] = {
    [APP_SESSIONS] = {"mire_app_sessions", "Sessions of an app in the window, estimated from the sampled ones."},
    [APP_RATE] = {"mire_app_rate_ratio", RATE_HELP},
    [APP_HANG_TIME] = {"mire_app_hang_seconds_per_hour", "Time in hangs per hour of use."},
    [APP_EVENTS] = {"mire_app_events", "Events of an app in the window by kind, estimated."},
    [APP_EVENTS_PER_1000] = {"mire_app_events_per_1000_sessions", "Events per 1,000 sessions by kind."},
    [VERSION_SESSIONS] = {"mire_version_sessions",
                          "Sessions of a version in the window, estimated from the sampled ones."},
    [VERSION_RATE] = {"mire_version_rate_ratio", RATE_HELP},
    [VERSION_HANG_TIME] = {"mire_version_hang_seconds_per_hour", "Time in hangs per hour of use."},
    [VERSION_EVENTS] = {"mire_version_events", "Events of a version in the window by kind, estimated."},
    [VERSION_EVENTS_PER_1000] = {"mire_version_events_per_1000_sessions", "Events per 1,000 sessions by kind."},
    [VERSIONS_OMITTED] = {"mire_app_versions_omitted", "Versions with sessions that have no series of their own."},
};

struct metrics_writing {
    struct call *call;
    struct text texts[FAMILY_COUNT];
    struct text labels; /* of the app, or of the version that is written */
};

/* A label's value: backslash, quote and end of line are escaped. */
static void add_label(struct text *out, const char *name, const char *value)
{
    text_printf(out, "%s%s=\"", out->len ? "," : "", name);
    for (; *value; value++)
        if (*value == '\n')
            text_add(out, "\\n");
        else
            text_printf(out, "%s%c", *value == '"' || *value == '\\' ? "\\" : "", *value);
    text_add(out, "\"");
}

/* One sample with the labels so far and up to two more. */
static void add_sample(struct metrics_writing *w, enum family family, const char *name, const char *value,
                       const char *bound, double number)
{
    MIRE_SCOPED(text_fini) struct text labels = {0};

    text_append(&labels, w->labels.bytes, w->labels.len);
    if (name)
        add_label(&labels, name, value);
    if (bound)
        add_label(&labels, "bound", bound);
    if (text_failed(&labels))
        w->texts[family].failed = true;
    else
        metric_value(&w->texts[family], families[family].name, labels.bytes, number);
}

static void add_rate(struct metrics_writing *w, enum family family, const char *name, struct rate rate, double scale)
{
    const char *label = name ? "rate" : NULL;

    if (!rate.known)
        return;
    add_sample(w, family, label, name, "value", rate.value * scale);
    add_sample(w, family, label, name, "low", rate.low * scale);
    add_sample(w, family, label, name, "high", rate.high * scale);
}

/* `first`: APP_SESSIONS or VERSION_SESSIONS, after which the families have the same order. */
static void add_sums(struct metrics_writing *w, enum family first, const struct session_sums *s)
{
    add_sample(w, first, NULL, NULL, NULL, s->sessions);
    add_rate(w, first + 1, "lag", rate_share(s->lagging, s->watched, s->watched_sq), 1);
    add_rate(w, first + 1, "foom", rate_share(s->foom, s->ends, s->ends_sq), 1);
    add_rate(w, first + 1, "watchdog", rate_share(s->watchdog, s->ends, s->ends_sq), 1);
    add_rate(w, first + 1, "crash", rate_share(s->crash, s->ends, s->ends_sq), 1);
    add_rate(w, first + 2, NULL,
             rate_ratio(s->hang_ms, s->watched_ms, s->hang_hang_sq, s->hang_time_sq, s->time_time_sq), 3600);
}

static void add_events(struct metrics_writing *w, enum family family, const char *kind, double events, double sessions)
{
    add_sample(w, family, "kind", kind, NULL, events);
    if (sessions > 0)
        add_sample(w, family + 1, "kind", kind, NULL, 1000 * events / sessions);
}

/* The app's own events are the sums over all versions, by kind: rows come kind by kind. */
static void add_app_events(struct metrics_writing *w, const struct kind_row *rows, size_t count, double sessions)
{
    for (size_t i = 0; i < count;) {
        const char *kind = rows[i].kind;
        double events = 0;
        for (; i < count && !strcmp(rows[i].kind, kind); i++)
            events += rows[i].events;
        add_events(w, APP_EVENTS, kind, events, sessions);
    }
}

static void add_version(struct metrics_writing *w, const char *slug, const struct session_point *version,
                        const struct kind_row *rows, size_t count)
{
    w->labels.len = 0;
    add_label(&w->labels, "app", slug);
    add_label(&w->labels, "version", version->version);
    add_sums(w, VERSION_SESSIONS, &version->sums);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(rows[i].version, version->version))
            add_events(w, VERSION_EVENTS, rows[i].kind, rows[i].events, version->sums.sessions);
}

/* An app: 0 or a fault. */
static int add_app(struct metrics_writing *w, const char *slug)
{
    struct call *call = w->call;
    struct filter every = {0};
    struct session_point *points;
    struct kind_row *rows;
    size_t count, row_count;
    int64_t versions = 0, shown = 0;
    int rc = rows_app_read(&call->view.app, call->tx, slug);

    if (!rc)
        rc = rows_sessions_read(&points, &count, call->tx, call->arena, &call->view, &every);
    if (!rc)
        rc = rows_version_kinds_read(&rows, &row_count, &versions, call->tx, call->arena, &call->view);
    if (rc)
        return rc == READ_NONE ? 0 : rc; /* removed meanwhile */
    w->labels.len = 0;
    add_label(&w->labels, "app", slug);
    add_sums(w, APP_SESSIONS, count ? &points[0].sums : &(struct session_sums){0});
    add_app_events(w, rows, row_count, count ? points[0].sums.sessions : 0);
    for (size_t i = 1; i < count; i++)
        if (!points[i].has_day) {
            add_version(w, slug, &points[i], rows, row_count);
            shown++;
        }
    w->labels.len = 0;
    add_label(&w->labels, "app", slug);
    add_sample(w, VERSIONS_OMITTED, NULL, NULL, NULL, versions > shown ? (double)(versions - shown) : 0);
    return 0;
}

static int by_reports(const void *a, const void *b)
{
    const struct app_row *x = a, *y = b;

    if (x->reports_24h != y->reports_24h)
        return x->reports_24h > y->reports_24h ? -1 : 1;
    return strcmp(x->slug, y->slug);
}

static void put_families(struct text *out, struct metrics_writing *w, size_t omitted)
{
    const struct span *span = &w->call->view.span;

    metric_head(out, "mire_app_window_seconds", "gauge",
                "Time that all series of apps and versions cover: whole days in UTC, up to now.");
    metric_value(out, "mire_app_window_seconds", NULL, (double)(span->to_s - span->from_s));
    metric_head(out, "mire_apps_omitted", "gauge", "Apps beyond the limit, those with the fewest reports.");
    metric_value(out, "mire_apps_omitted", NULL, (double)omitted);
    for (int f = 0; f < FAMILY_COUNT; f++) {
        if (w->texts[f].failed)
            out->failed = true;
        if (!w->texts[f].len)
            continue;
        metric_head(out, families[f].name, "gauge", families[f].help);
        text_append(out, w->texts[f].bytes, w->texts[f].len);
    }
}

static int answer_metrics(struct call *call)
{
    struct metrics_writing w = {.call = call};
    struct apps_seen seen = call_seen(call->request);
    struct app_row *apps;
    size_t count;
    int rc = rows_apps_read(&apps, &count, call->tx, call->arena, &seen, call->api->now_us() - INT64_C(86400000000));

    if (!request_query(call->request, "t"))
        call->view.span.from_s = call->view.span.to_s - DAY_S;
    call->view.span.from_s -= (call->view.span.from_s % DAY_S + DAY_S) % DAY_S;
    if (!rc && count)
        qsort(apps, count, sizeof *apps, by_reports);
    for (size_t i = 0; !rc && i < count && i < APPS_MAX; i++)
        rc = add_app(&w, apps[i].slug);
    if (!rc) {
        put_families(&call->reply->text, &w, count > APPS_MAX ? count - APPS_MAX : 0);
        call->reply->status = 200;
        call->reply->type = "text/plain; version=0.0.4; charset=utf-8";
        reply_header(call->reply, "Cache-Control", "private, no-store");
        rc = text_failed(&call->reply->text) ? MIRE_FAULT_MEMORY : CALL_REPLIED;
    }
    for (int f = 0; f < FAMILY_COUNT; f++)
        text_fini(&w.texts[f]);
    text_fini(&w.labels);
    return rc;
}

int get_metrics_apps(void *api, struct request *request, struct reply *reply)
{
    static const char *const names[] = {"t", NULL};
    static const struct call_kind kind = {.names = names, .answer = answer_metrics};

    return call_run(api, request, reply, &kind);
}
