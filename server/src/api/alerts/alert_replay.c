/*
 * alert_replay.c - a rule is tried on the past month: its values and the times at which it would have fired.
 */
#include "api/alerts/alerts.h"

#include "alert/points.h"
#include "api/handlers.h"
#include "api/parts.h"
#include "base/fault.h"

#include <stdlib.h>
#include <string.h>

#define SUBJECTS   12   /* whose lines are drawn */
#define REPLAY_MAX 3000 /* points of an answer */

struct replayed {
    const struct alert_point *points;
    size_t count;
    bool *fired;
    size_t times;
};

static int most_first(const void *a, const void *b)
{
    const struct replayed *x = a, *y = b;

    if (x->times != y->times)
        return x->times < y->times ? 1 : -1;
    return (x->count < y->count) - (x->count > y->count);
}

static void put_value(struct json_writer *w, const struct alert_point *p, bool fired)
{
    json_write_open(w, NULL, '{');
    part_time(w, "at", p->at_s * 1000000);
    if (p->rate.known) {
        json_write_real(w, "value", p->rate.value);
        json_write_real(w, "low", p->rate.low);
        json_write_real(w, "high", p->rate.high);
    } else {
        json_write_null(w, "value");
        json_write_null(w, "low");
        json_write_null(w, "high");
    }
    if (p->bound > 0)
        json_write_real(w, "bound", p->bound);
    else
        json_write_null(w, "bound");
    json_write_bool(w, "fired", fired);
    json_write_close(w, '}');
}

static void put_replayed(struct json_writer *w, const struct replayed *one)
{
    json_write_open(w, NULL, '{');
    json_write_text(w, "subject", one->points->subject);
    json_write_text(w, "title", one->points->title ? one->points->title : one->points->subject);
    json_write_i64(w, "times", (int64_t)one->times);
    json_write_open(w, "points", '[');
    for (size_t i = 0; i < one->count; i++)
        put_value(w, &one->points[i], one->fired[i]);
    json_write_close(w, ']');
    json_write_close(w, '}');
}

static int replay(struct call *call, const struct alert_rule *rule, const struct alert_points *points)
{
    struct json_writer *w = &call->json;
    struct replayed *list = arena_array(call->arena, points->count + 1, sizeof *list);
    bool *fired = arena_array(call->arena, points->count + 1, sizeof *fired);
    size_t subjects = 0, times = 0, shown = 0, room = REPLAY_MAX;

    if (!list || !fired)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0, end; i < points->count; i = end) {
        for (end = i; end < points->count && !strcmp(points->points[end].subject, points->points[i].subject);)
            end++;
        list[subjects] = (struct replayed){.points = points->points + i, .count = end - i, .fired = fired + i};
        list[subjects].times = alert_replay(fired + i, rule->kind, points->points + i, end - i);
        times += list[subjects++].times;
    }
    qsort(list, subjects, sizeof *list, most_first);
    json_write_open(w, NULL, '{');
    json_write_i64(w, "days", MIRE_ALERT_DAYS);
    json_write_i64(w, "part_s", points->part_s);
    json_write_i64(w, "times", (int64_t)times);
    json_write_open(w, "subjects", '[');
    for (; shown < subjects && shown < SUBJECTS && list[shown].count <= room; shown++) {
        put_replayed(w, &list[shown]);
        room -= list[shown].count;
    }
    json_write_close(w, ']');
    json_write_i64(w, "more", (int64_t)(subjects - shown));
    json_write_close(w, '}');
    return 0;
}

static int answer_replay(struct call *call)
{
    struct alert_rule rule;
    struct alert_points points;
    int rc = alerts_read_rule(&rule, call);

    if (!rc)
        rc = alert_points_read(&points, call->tx, call->arena, &rule,
                               &(struct alert_budget){call->api->quota_reports_day, call->api->quota_bytes_day},
                               call->api->now_us(), alert_parts(&rule, MIRE_ALERT_DAYS));
    return rc == MIRE_ALERT_WRONG ? alerts_wrong(call, "The view cannot be read.")
           : rc                   ? rc
                                  : replay(call, &rule, &points);
}

int post_alert_replay(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.has_app = true, .answer = answer_replay};
    return call_run(api, request, reply, &kind);
}
