/*
 * versions.c - GET /api/v1/apps/{app}/versions: the versions of an app, newest first, each with its share of the
 * sessions by day, its rates and its issues.
 */
#include "api/apps/rates_part.h"
#include "api/call.h"
#include "api/complete.h"
#include "api/handlers.h"
#include "api/parts.h"

#include "base/fault.h"
#include "rows/rates.h"
#include "rows/session_totals.h"
#include "rows/versions.h"

#include <string.h>

#define LISTED_MAX 50
#define DAY_US     86400000000

/* Answers of three statements, to be joined by version. */
struct version_list {
    struct version_facts *facts;
    struct version_channel *channels;
    struct session_point *points; /* all versions together, then version by version and day by day */
    size_t fact_count, channel_count, point_count;
    struct cell sessions; /* session records by version */
};

static int find(struct version_list *out, struct call *call)
{
    int rc = rows_version_facts_read(&out->facts, &out->fact_count, call->tx, call->arena, &call->view);

    if (!rc)
        rc = rows_version_channels_read(&out->channels, &out->channel_count, call->tx, call->arena, &call->view);
    if (!rc)
        rc = rows_sessions_each_read(&out->points, &out->point_count, call->tx, call->arena, &call->view,
                                     &(struct filter){0});
    if (!rc)
        rc = rows_session_totals_read(&out->sessions, call->tx, call->arena, &call->view);
    return rc;
}

/* The first row of a version, which has the sum of its days; NULL: it has no sessions. */
static const struct session_point *point_of(const struct version_list *found, const char *version)
{
    for (size_t i = 1; i < found->point_count; i++)
        if (!found->points[i].has_day && !strcmp(found->points[i].version, version))
            return &found->points[i];
    return NULL;
}

/* Sessions of all versions in a day. */
static double sessions_of_day(const struct version_list *found, int32_t day)
{
    double sum = 0;

    for (size_t i = 0; i < found->point_count; i++)
        if (found->points[i].has_day && found->points[i].day == day)
            sum += found->points[i].sums.sessions;
    return sum;
}

static void put_days(struct json_writer *w, const struct version_list *found, const struct session_point *of)
{
    const struct session_point *end = found->points + found->point_count;

    json_write_open(w, "days", '[');
    for (const struct session_point *p = of ? of + 1 : end; p < end && p->has_day; p++) {
        double all = sessions_of_day(found, p->day);
        json_write_open(w, NULL, '{');
        part_time(w, "day", (int64_t)p->day * DAY_US);
        json_write_real(w, "sessions", p->sums.sessions);
        json_write_real(w, "share", all > 0 ? p->sums.sessions / all : 0);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
}

static void put_channels(struct json_writer *w, const struct version_list *found, const char *version)
{
    json_write_open(w, "channels", '[');
    for (size_t i = 0; i < found->channel_count; i++) {
        if (strcmp(found->channels[i].version, version) != 0)
            continue;
        json_write_open(w, NULL, '{');
        json_write_text(w, "channel", found->channels[i].channel);
        json_write_real(w, "sessions", found->channels[i].sessions);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
}

static void put_version(struct json_writer *w, const struct version_list *found, const struct version_facts *facts)
{
    const struct session_point *of = point_of(found, facts->version);

    json_write_open(w, NULL, '{');
    json_write_text(w, "version", facts->version);
    part_time(w, "first_seen_at", facts->first_seen_us);
    part_rates(w, of ? &of->sums : &(struct session_sums){0});
    part_spreads(w, cell_find(&found->sessions, MIRE_FACET_VERSION, facts->version));
    json_write_i64(w, "reports", facts->reports);
    json_write_real(w, "events", facts->events);
    json_write_i64(w, "issues_new", facts->opened);
    json_write_i64(w, "issues_resolved", facts->resolved);
    json_write_i64(w, "issues_regressed", facts->regressed);
    put_channels(w, found, facts->version);
    put_days(w, found, of);
    json_write_close(w, '}');
}

static int answer_versions(struct call *call)
{
    struct json_writer *w = &call->json;
    struct version_list found = {0};
    size_t listed = 0, more = 0;

    int rc = find(&found, call);
    if (rc)
        return rc;
    json_write_open(w, NULL, '{');
    part_range(w, &call->view.span, 0);
    json_write_open(w, "versions", '[');
    for (size_t i = 0; i < found.fact_count; i++) {
        const struct version_facts *facts = &found.facts[i];
        if (!facts->reports && !point_of(&found, facts->version))
            continue;
        if (listed == LISTED_MAX) {
            more++;
            continue;
        }
        listed++;
        put_version(w, &found, facts);
    }
    json_write_close(w, ']');
    json_write_i64(w, "more", (int64_t)more);
    rc = put_completeness(call, "session");
    json_write_close(w, '}');
    return rc;
}

int get_versions(void *api, struct request *request, struct reply *reply)
{
    static const char *const names[] = {"t", "v", "kind", NULL};
    static const struct call_kind kind = {
        .table = "versions", .names = names, .has_app = true, .answer = answer_versions};

    return call_run(api, request, reply, &kind);
}
