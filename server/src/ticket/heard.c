/*
 * heard.c - see heard.h. References: GitHub "Validating webhook deliveries", GitLab "Webhook events", Jira "Webhooks",
 * Linear "Securing webhooks".
 */
#include "ticket/heard.h"
#include "ticket/json_at.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/id.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define SHA "sha256="

/* --- signatures --- */

const char *heard_header(const char *kind)
{
    if (!strcmp(kind, "github"))
        return "X-Hub-Signature-256";
    if (!strcmp(kind, "gitlab"))
        return "X-Gitlab-Token";
    if (!strcmp(kind, "jira"))
        return "X-Hub-Signature";
    return !strcmp(kind, "linear") ? "Linear-Signature" : NULL;
}

bool heard_is_signed(const char *kind, const char *secret, const char *value, const void *body, size_t len)
{
    uint8_t mac[MIRE_SHA256], given[MIRE_SHA256];

    if (!value)
        return false;
    if (!strcmp(kind, "gitlab"))
        return strlen(value) == strlen(secret) && secret_equals(value, secret, strlen(secret));
    if (strcmp(kind, "linear") != 0) {
        if (strncmp(value, SHA, strlen(SHA)) != 0)
            return false;
        value += strlen(SHA);
    }
    if (strlen(value) != 2 * sizeof given || !hex_parse(given, value, sizeof given))
        return false;
    hash_hmac_sha256(mac, secret, strlen(secret), body, len);
    return secret_equals(mac, given, sizeof mac);
}

/* --- news --- */

/* "2026-11-27T12:00:00.123Z", also with a blank for T, with an offset, or " UTC" behind. Otherwise now. */
static int64_t instant_of(const char *text)
{
    struct tm tm = {0};
    int hours = 0, minutes = 0, read = 0;
    char sign[2] = "+";
    double second = 0;

    if (sscanf(text, "%4d-%2d-%2d%*1[T ]%2d:%2d:%9lf%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min,
               &second, &read) < 6)
        return clock_wall_us();
    if (sscanf(text + read, " %1[+-]%2d:%2d", sign, &hours, &minutes) < 2)
        hours = minutes = 0;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    int64_t offset_s = (hours * 60 + minutes) * 60;
    return (int64_t)timegm(&tm) * 1000000 + (int64_t)(second * 1e6) + (*sign == '-' ? offset_s : -offset_s) * 1000000;
}

struct heard_texts {
    const char *remote, *state, *at, *event;
};

/* Read the four texts of a kind. 0 or MIRE_FAULT_MEMORY. */
static int read_texts(struct heard_texts *out, struct arena *arena, const char *kind, const struct json *json)
{
    bool hub = !strcmp(kind, "github"), lab = !strcmp(kind, "gitlab"), jira = !strcmp(kind, "jira");
    uint32_t of = json_at(json, 0, hub || jira ? "issue" : lab ? "object_attributes" : "data", NULL);

    *out = (struct heard_texts){
        .remote = json_at_text(arena, json, of ? json_at(json, of, "id", NULL) : 0),
        .event = json_at_text(arena, json,
                              json_at(json, 0,
                                      lab    ? "object_kind"
                                      : jira ? "webhookEvent"
                                             : "action",
                                      NULL)),
        .at = json_at_text(arena, json,
                           jira ? json_at(json, 0, "timestamp", NULL)
                           : of ? json_at(json, of, hub || lab ? "updated_at" : "updatedAt", NULL)
                                : 0),
        .state = json_at_text(arena, json,
                              !of    ? 0
                              : hub  ? json_at(json, of, "state", NULL)
                              : lab  ? json_at(json, of, "action", NULL)
                              : jira ? json_at(json, of, "fields", "status", "statusCategory", "key", NULL)
                                     : json_at(json, of, "state", "type", NULL))};
    return out->remote && out->event && out->at && out->state ? 0 : MIRE_FAULT_MEMORY;
}

static bool is_one_of(const char *text, const char *a, const char *b)
{
    return !strcmp(text, a) || !strcmp(text, b);
}

static int judge(struct heard *out, const char *kind, const struct heard_texts *given)
{
    const char *event = given->event, *state = given->state;
    bool is_news;

    if (!strcmp(kind, "github")) {
        is_news = is_one_of(event, "closed", "reopened");
        out->closed = !strcmp(event, "closed");
    } else if (!strcmp(kind, "gitlab")) {
        is_news = is_one_of(event, "issue", "work_item") && is_one_of(state, "close", "reopen");
        out->closed = !strcmp(state, "close");
    } else if (!strcmp(kind, "jira")) {
        is_news = !strcmp(event, "jira:issue_updated") && *state;
        out->closed = !strcmp(state, "done");
    } else {
        is_news = !strcmp(event, "update") && *state;
        out->closed = is_one_of(state, "completed", "canceled") || !strcmp(state, "duplicate");
    }
    out->remote = given->remote;
    return is_news && *given->remote ? HEARD_STATE : HEARD_NOTHING;
}

int heard_read(struct heard *out, struct arena *arena, const char *kind, const void *body, size_t len)
{
    const struct json_limits limits = MIRE_JSON_LIMITS;
    struct json_fault fault;
    struct heard_texts given;
    struct json json;
    uint64_t ms;

    json_init(&json);
    enum json_outcome got = json_read(&json, &fault, body, len, &limits);
    int rc = got == MIRE_JSON_NO_MEMORY                       ? MIRE_FAULT_MEMORY
             : got || json_kind(&json, 0) != MIRE_JSON_OBJECT ? HEARD_MALFORMED
                                                              : read_texts(&given, arena, kind, &json);
    if (!rc) {
        rc = judge(out, kind, &given);
        uint32_t stamp = json_at(&json, 0, "timestamp", NULL);
        out->at_us = !strcmp(kind, "jira") && stamp && json_u64(&ms, &json, stamp) && ms < 4102444800000ull
                         ? (int64_t)ms * 1000
                         : instant_of(given.at);
    }
    json_fini(&json);
    return rc;
}
