/*
 * server_health.c - GET /api/v1/server/health: findings about the server, apps that send too much, and slow questions.
 */
#include "api/handlers.h"
#include "api/parts.h"
#include "api/people/people.h"
#include "api/slow.h"
#include "model/finding.h"
#include "rows/flood.h"

#define SLOW_SHOWN 20

static void put_finding(struct json_writer *w, const struct server_finding *finding)
{
    json_write_open(w, NULL, '{');
    json_write_text(w, "about", finding->about);
    json_write_text(w, "grade", finding_grade_name(finding->grade));
    json_write_text(w, "text", finding->text);
    json_write_open(w, "values", '{');
    for (size_t i = 0; i < MIRE_FINDING_VALUES && finding->values[i].name; i++)
        if (finding->values[i].text)
            json_write_text(w, finding->values[i].name, finding->values[i].text);
        else
            json_write_i64(w, finding->values[i].name, finding->values[i].number);
    json_write_close(w, '}');
    json_write_text(w, "next", finding->grade == MIRE_FINDING_OK ? "" : finding->next);
    json_write_close(w, '}');
}

static void put_floods(struct json_writer *w, const struct flood *floods, size_t count)
{
    json_write_open(w, "floods", '[');
    for (size_t i = 0; i < count; i++) {
        json_write_open(w, NULL, '{');
        json_write_text(w, "app", floods[i].app);
        json_write_i64(w, "stored", floods[i].stored);
        json_write_i64(w, "too_often", floods[i].too_often);
        json_write_i64(w, "beyond_quota", floods[i].beyond);
        json_write_text(w, "key", floods[i].key);
        json_write_real(w, "key_share", floods[i].key_share);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
}

static void put_slow(struct json_writer *w, struct slow *slow, int64_t now_us)
{
    struct slow_question questions[SLOW_SHOWN];
    size_t count = slow_list(questions, SLOW_SHOWN, slow, now_us);
    json_write_open(w, "slow", '[');
    for (size_t i = 0; i < count; i++) {
        json_write_open(w, NULL, '{');
        json_write_text(w, "route", questions[i].pattern);
        json_write_text(w, "app", questions[i].app);
        json_write_i64(w, "days", questions[i].days);
        json_write_i64(w, "times", questions[i].times);
        json_write_i64(w, "longest_ms", questions[i].longest_us / 1000);
        part_time(w, "last_at", questions[i].last_us);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
}

static int answer_health(struct call *call)
{
    const struct api *api = call->api;
    struct json_writer *w = &call->json;
    struct findings findings = {.count = 0};
    struct flood *floods = NULL;
    size_t count = 0;
    int rc = api->examine ? api->examine(api->examine_context, &findings, call->arena, call->tx) : 0;
    if (!rc)
        rc = rows_floods_read(&floods, &count, call->tx, call->arena);
    if (rc)
        return rc;
    json_write_open(w, NULL, '{');
    json_write_i64(w, "bad", findings.bad);
    json_write_i64(w, "look", findings.look);
    json_write_open(w, "findings", '[');
    for (size_t i = 0; i < findings.count; i++)
        put_finding(w, &findings.all[i]);
    json_write_close(w, ']');
    put_floods(w, floods, count);
    put_slow(w, api->slow, call->view.now_us);
    json_write_close(w, '}');
    return 0;
}

int get_server_health(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.answer = answer_health};
    return call_run(api, request, reply, &kind);
}
