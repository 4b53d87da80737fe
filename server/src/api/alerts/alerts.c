/*
 * alerts.c - GET /api/v1/apps/{app}/alerts and .../alerts/history: rules, channels, and what they found and sent.
 */
#include "api/alerts/alerts.h"

#include "api/handlers.h"
#include "api/params.h"
#include "api/parts.h"
#include "base/text.h"
#include "base/vault.h"
#include "rows/alert.h"
#include "rows/outbox.h"

#include <string.h>

#define LISTED     50
#define LISTED_MAX 500
#define MESSAGES   30

static void put_time(struct json_writer *w, const char *key, int64_t us)
{
    if (us)
        part_time(w, key, us);
    else
        json_write_null(w, key);
}

static void put_numbers(struct json_writer *w, const char *key, const int64_t *list, uint32_t count)
{
    json_write_open(w, key, '[');
    for (uint32_t i = 0; i < count; i++)
        json_write_i64(w, NULL, list[i]);
    json_write_close(w, ']');
}

void alerts_put_rule(struct json_writer *w, const char *key, const struct alert_rule *rule)
{
    bool quiet = rule->quiet_from >= 0;

    json_write_open(w, key, '{');
    json_write_i64(w, "id", rule->rule);
    json_write_text(w, "name", rule->name);
    json_write_text(w, "kind", alert_kind_name(rule->kind));
    json_write_text(w, "measure", rule->kind == ALERT_RATE ? alert_measure_name(rule->measure) : "");
    json_write_text(w, "scope", rule->scope);
    json_write_text(w, "versions", rule->versions);
    json_write_text(w, "kinds", rule->kinds);
    json_write_text(w, "channel", rule->channel);
    json_write_text(w, "against", rule->against_week ? "week" : "");
    json_write_real(w, "bound", rule->bound);
    json_write_i64(w, "window_s", rule->window_s);
    json_write_i64(w, "hold_s", rule->hold_s);
    json_write_i64(w, "repeat_s", rule->repeat_s);
    json_write_i64(w, "escalate_s", rule->escalate_s);
    if (quiet) {
        json_write_i64(w, "quiet_from", rule->quiet_from);
        json_write_i64(w, "quiet_to", rule->quiet_to);
    } else {
        json_write_null(w, "quiet_from");
        json_write_null(w, "quiet_to");
    }
    json_write_text(w, "quiet_zone", rule->quiet_zone);
    put_numbers(w, "notifies", rule->notifies, rule->notify_count);
    put_numbers(w, "escalates", rule->escalates, rule->escalate_count);
    json_write_bool(w, "is_default", rule->is_default);
    json_write_text(w, "made_by", rule->made_by);
    put_time(w, "snoozed_until", rule->snoozed_us);
    put_time(w, "looked_at", rule->looked_us);
    json_write_text(w, "fault", rule->fault);
    json_write_close(w, '}');
}

void alerts_put_alert(struct json_writer *w, const char *key, const struct alert_row *alert)
{
    const struct alert_state *s = &alert->state;

    json_write_open(w, key, '{');
    json_write_i64(w, "id", alert->alert);
    json_write_i64(w, "rule", alert->rule);
    json_write_text(w, "rule_name", alert->rule_name);
    json_write_text(w, "kind", alert->rule_kind);
    json_write_text(w, "subject", alert->subject);
    json_write_text(w, "state", s->over_us ? "over" : s->fired_us ? "firing" : "waiting");
    part_time(w, "began_at", s->began_us);
    put_time(w, "fired_at", s->fired_us);
    put_time(w, "notified_at", s->notified_us);
    put_time(w, "escalated_at", s->escalated_us);
    put_time(w, "acked_at", s->acked_us);
    json_write_text(w, "acked_by", alert->acked_by);
    put_time(w, "over_at", s->over_us);
    json_write_real(w, "value", alert->value);
    json_write_real(w, "low", alert->low);
    json_write_real(w, "high", alert->high);
    json_write_real(w, "bound", alert->bound);
    json_write_text(w, "verdict", alert->verdict);
    json_write_text(w, "spark", alert->spark);
    json_write_text(w, "page", alert->page);
    json_write_close(w, '}');
}

/* The target of a hook is its scheme and host alone: the rest of its URL may be a secret. "": it cannot be opened. */
static int put_target(struct call *call, const struct outbox_channel *channel)
{
    const char *target;
    int rc =
        vault_unseal(&target, call->api->vault, call->arena, MIRE_VAULT_CHANNEL_TARGET, channel->app, channel->target);
    const char *scheme = strstr(target, "://");
    const char *host = scheme ? scheme + 3 : target;
    size_t len = strcspn(host, "/?#\\");
    bool whole = !scheme || !strcmp(channel->kind, "email");
    const char *at = memrchr(host, '@', len); /* behind a name and a password */
    size_t before = at ? (size_t)(at + 1 - host) : 0;
    const char *shown = whole ? target
                              : arena_printf(call->arena, "%.*s%.*s/…", (int)(host - target), target,
                                             (int)(len - before), host + before);

    json_write_text(&call->json, "target", shown ? shown : "");
    return rc < 0 ? rc : 0;
}

static int put_channel(struct call *call, const struct outbox_channel *channel)
{
    struct json_writer *w = &call->json;

    json_write_open(w, NULL, '{');
    json_write_i64(w, "id", channel->channel);
    json_write_text(w, "kind", channel->kind);
    json_write_text(w, "name", channel->name);
    int rc = put_target(call, channel);
    json_write_text(w, "made_by", channel->made_by);
    part_time(w, "made_at", channel->made_us);
    put_time(w, "failed_at", channel->failed_us);
    json_write_text(w, "failed_as", channel->failed_as);
    json_write_close(w, '}');
    return rc;
}

static void put_message(struct json_writer *w, const struct outbox_message *message)
{
    char id[MIRE_UUID_TEXT];

    uuid_format(id, &message->id);
    json_write_open(w, NULL, '{');
    json_write_text(w, "id", id);
    if (message->alert)
        json_write_i64(w, "alert", message->alert);
    else
        json_write_null(w, "alert");
    json_write_i64(w, "channel", message->channel);
    json_write_text(w, "channel_name", message->channel_name);
    json_write_text(w, "occasion", message->occasion);
    json_write_text(w, "title", message->title);
    part_time(w, "made_at", message->made_us);
    put_time(w, "sent_at", message->sent_us);
    put_time(w, "failed_at", message->failed_us);
    put_time(w, "due_at", message->sent_us || message->failed_us ? 0 : message->due_us);
    json_write_i64(w, "tries", message->tries);
    json_write_text(w, "fault", message->fault);
    json_write_close(w, '}');
}

static int put_messages(struct call *call)
{
    struct outbox_message *messages;
    size_t count;
    int rc = rows_message_list(&messages, &count, call->tx, call->arena, call->view.app, MESSAGES);

    json_write_open(&call->json, "messages", '[');
    for (size_t i = 0; !rc && i < count; i++)
        put_message(&call->json, &messages[i]);
    json_write_close(&call->json, ']');
    return rc;
}

static int answer_alerts(struct call *call)
{
    struct json_writer *w = &call->json;
    struct alert_rule *rules;
    struct alert_row *open;
    struct outbox_channel *channels;
    size_t rule_count, open_count, channel_count;
    int rc = rows_alert_rule_list(&rules, &rule_count, call->tx, call->arena, call->view.app);

    if (!rc)
        rc = rows_alert_open_list(&open, &open_count, call->tx, call->arena, call->view.app, LISTED_MAX);
    if (!rc)
        rc = rows_channel_list(&channels, &channel_count, call->tx, call->arena, call->view.app);
    if (rc)
        return rc;
    json_write_open(w, NULL, '{');
    json_write_open(w, "open", '[');
    for (size_t i = 0; i < open_count; i++)
        alerts_put_alert(w, NULL, &open[i]);
    json_write_close(w, ']');
    json_write_open(w, "rules", '[');
    for (size_t i = 0; i < rule_count; i++)
        alerts_put_rule(w, NULL, &rules[i]);
    json_write_close(w, ']');
    json_write_open(w, "channels", '[');
    for (size_t i = 0; i < channel_count; i++)
        rc = put_channel(call, &channels[i]);
    json_write_close(w, ']');
    if (!rc)
        rc = put_messages(call);
    json_write_close(w, '}');
    return rc;
}

int get_alerts(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {
        .table = "open rules channels messages", .has_app = true, .answer = answer_alerts};
    return call_run(api, request, reply, &kind);
}

static int answer_history(struct call *call)
{
    struct alert_row *rows;
    size_t count;
    int64_t before = 0, limit = 0;
    int rc = call_integer(&before, call, "before", 1, INT64_MAX, 0);

    if (!rc)
        rc = call_integer(&limit, call, "limit", 1, LISTED_MAX, LISTED);
    if (!rc)
        rc = rows_alert_list(&rows, &count, call->tx, call->arena, call->view.app, before, (int)limit + 1);
    if (rc)
        return rc;
    json_write_open(&call->json, NULL, '{');
    json_write_open(&call->json, "alerts", '[');
    for (size_t i = 0; i < count && i < (size_t)limit; i++)
        alerts_put_alert(&call->json, NULL, &rows[i]);
    json_write_close(&call->json, ']');
    json_write_bool(&call->json, "has_more", count > (size_t)limit);
    json_write_close(&call->json, '}');
    return 0;
}

int get_alert_history(void *api, struct request *request, struct reply *reply)
{
    static const char *const names[] = {"before", "limit", NULL};
    static const struct call_kind kind = {.table = "alerts", .names = names, .has_app = true, .answer = answer_history};
    return call_run(api, request, reply, &kind);
}

int alerts_number(int64_t *out, struct call *call, const char *what)
{
    if (integer_parse(out, request_param(call->request, 1), 1, INT64_MAX) == 0)
        return 0;
    return call_missing(call, "\"%.*s\" is no number of a %s.", TEXT_CUT(request_param(call->request, 1), 40), what);
}

int alerts_done(struct call *call, int64_t id)
{
    int rc = pg_commit(&call->tx);

    json_write_open(&call->json, NULL, '{');
    if (id)
        json_write_i64(&call->json, "id", id);
    json_write_close(&call->json, '}');
    return rc;
}
