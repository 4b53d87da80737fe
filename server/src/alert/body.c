/*
 * body.c - the bodies of messages, one row a kind of channel: the public formats of Standard Webhooks, Slack's incoming
 * webhooks, Teams' workflows (an Adaptive Card), PagerDuty's Events API v2, and the robots of DingTalk, Feishu and
 * WeCom.
 */
#include "alert/message.h"

#include "base/clock.h"
#include "base/text.h"
#include "json/write.h"

#include <stdlib.h>
#include <string.h>

#define MARKDOWN_MAX 3500 /* bytes: WeCom takes 4096, the others more */

struct body {
    struct json_writer json;
    struct arena *arena;
    const struct alert_text *text;
    const char *at; /* RFC 3339 */
};

/* Names come from apps, so the signs of a format are escaped or left out. */
static const char *without(struct arena *arena, const char *text, const char *signs)
{
    char *out = arena_strdup(arena, text), *to = out;

    for (const char *c = out; c && *c; c++)
        if (!strchr(signs, *c) && (unsigned char)*c >= ' ')
            *to++ = *c;
    if (out)
        *to = '\0';
    return out ? out : "";
}

static const char *for_slack(struct arena *arena, const char *text)
{
    struct text out = {0};
    const char *kept;

    for (; *text; text++)
        switch (*text) {
        case '&':
            text_add(&out, "&amp;");
            break;
        case '<':
            text_add(&out, "&lt;");
            break;
        case '>':
            text_add(&out, "&gt;");
            break;
        default:
            text_append(&out, text, 1);
        }
    kept = text_failed(&out) ? "" : arena_copy(arena, out.bytes ? out.bytes : "", out.len);
    text_fini(&out);
    return kept ? kept : "";
}

/* The text for all channels with Markdown. */
static const char *markdown(const struct body *b)
{
    static const char signs[] = "*_[]()`#<>\\";
    const struct alert_text *t = b->text;
    const char *ack = t->ack_url ? arena_printf(b->arena, " · [Acknowledge](%s)", t->ack_url) : "";

    const char *title = without(b->arena, t->title, signs), *verdict = without(b->arena, t->verdict, signs);

    return arena_printf(b->arena, "**%.*s**\n\n%.*s\n\n%s\n\n[Open](%.600s)%.600s", TEXT_CUT(title, 300),
                        TEXT_CUT(verdict, 2000), t->spark, t->url, ack ? ack : "");
}

static void write_webhook(struct body *b)
{
    const struct alert_text *t = b->text;
    struct json_writer *w = &b->json;
    char id[MIRE_UUID_TEXT];

    uuid_format(id, &t->id);
    json_write_text(w, "type", arena_printf(b->arena, "mire.alert.%s", t->occasion));
    json_write_text(w, "timestamp", b->at);
    json_write_open(w, "data", '{');
    json_write_text(w, "id", id);
    json_write_text(w, "app", t->app);
    json_write_text(w, "rule", t->rule);
    json_write_text(w, "kind", t->kind);
    json_write_i64(w, "alert", t->alert);
    json_write_text(w, "subject", t->subject);
    json_write_text(w, "title", t->title);
    json_write_text(w, "verdict", t->verdict);
    json_write_text(w, "spark", t->spark);
    json_write_real(w, "value", t->value);
    json_write_real(w, "low", t->low);
    json_write_real(w, "high", t->high);
    json_write_real(w, "bound", t->bound);
    json_write_text(w, "url", t->url);
    if (t->ack_url)
        json_write_text(w, "ack_url", t->ack_url);
    json_write_close(w, '}');
}

static void slack_button(struct json_writer *w, const char *label, const char *url)
{
    json_write_open(w, NULL, '{');
    json_write_text(w, "type", "button");
    json_write_open(w, "text", '{');
    json_write_text(w, "type", "plain_text");
    json_write_text(w, "text", label);
    json_write_close(w, '}');
    json_write_text(w, "url", url);
    json_write_close(w, '}');
}

static void write_slack(struct body *b)
{
    const struct alert_text *t = b->text;
    struct json_writer *w = &b->json;
    const char *title = for_slack(b->arena, t->title), *verdict = for_slack(b->arena, t->verdict);

    json_write_text(w, "text", title);
    json_write_open(w, "blocks", '[');
    json_write_open(w, NULL, '{');
    json_write_text(w, "type", "section");
    json_write_open(w, "text", '{');
    json_write_text(w, "type", "mrkdwn");
    json_write_text(
        w, "text", arena_printf(b->arena, "*%.*s*\n%.*s\n%s", TEXT_CUT(title, 300), TEXT_CUT(verdict, 2000), t->spark));
    json_write_close(w, '}');
    json_write_close(w, '}');
    json_write_open(w, NULL, '{');
    json_write_text(w, "type", "actions");
    json_write_open(w, "elements", '[');
    slack_button(w, "Open", t->url);
    if (t->ack_url)
        slack_button(w, "Acknowledge", t->ack_url);
    json_write_close(w, ']');
    json_write_close(w, '}');
    json_write_close(w, ']');
}

static void teams_text(struct json_writer *w, const char *text, bool strong)
{
    json_write_open(w, NULL, '{');
    json_write_text(w, "type", "TextBlock");
    json_write_text(w, "text", text);
    json_write_bool(w, "wrap", true);
    if (strong)
        json_write_text(w, "weight", "Bolder");
    json_write_close(w, '}');
}

static void teams_link(struct json_writer *w, const char *title, const char *url)
{
    json_write_open(w, NULL, '{');
    json_write_text(w, "type", "Action.OpenUrl");
    json_write_text(w, "title", title);
    json_write_text(w, "url", url);
    json_write_close(w, '}');
}

static void write_teams(struct body *b)
{
    static const char signs[] = "*_[]()`#<>\\";
    const struct alert_text *t = b->text;
    struct json_writer *w = &b->json;

    json_write_text(w, "type", "message");
    json_write_open(w, "attachments", '[');
    json_write_open(w, NULL, '{');
    json_write_text(w, "contentType", "application/vnd.microsoft.card.adaptive");
    json_write_open(w, "content", '{');
    json_write_text(w, "$schema", "http://adaptivecards.io/schemas/adaptive-card.json");
    json_write_text(w, "type", "AdaptiveCard");
    json_write_text(w, "version", "1.4");
    json_write_open(w, "body", '[');
    teams_text(w, without(b->arena, t->title, signs), true);
    teams_text(w, without(b->arena, t->verdict, signs), false);
    teams_text(w, t->spark, false);
    json_write_close(w, ']');
    json_write_open(w, "actions", '[');
    teams_link(w, "Open", t->url);
    if (t->ack_url)
        teams_link(w, "Acknowledge", t->ack_url);
    json_write_close(w, ']');
    json_write_close(w, '}');
    json_write_close(w, '}');
    json_write_close(w, ']');
}

static void write_pagerduty(struct body *b)
{
    const struct alert_text *t = b->text;
    struct json_writer *w = &b->json;
    char id[MIRE_UUID_TEXT];

    uuid_format(id, &t->id);
    json_write_text(w, "event_action", !strcmp(t->occasion, "over") ? "resolve" : "trigger");
    json_write_text(w, "dedup_key",
                    t->alert ? arena_printf(b->arena, "mire-%s-%lld", t->app, (long long)t->alert) : id);
    json_write_open(w, "payload", '{');
    json_write_text(w, "summary",
                    arena_printf(b->arena, "%.*s. %.*s", TEXT_CUT(t->title, 300), TEXT_CUT(t->verdict, 700)));
    json_write_text(w, "source", t->app);
    json_write_text(w, "severity", !strcmp(t->occasion, "test") ? "info" : "warning");
    json_write_text(w, "timestamp", b->at);
    json_write_open(w, "custom_details", '{');
    json_write_text(w, "verdict", t->verdict);
    json_write_text(w, "spark", t->spark);
    json_write_text(w, "message", id);
    json_write_close(w, '}');
    json_write_close(w, '}');
    json_write_text(w, "client", "Mire");
    json_write_text(w, "client_url", t->url);
    json_write_open(w, "links", '[');
    json_write_open(w, NULL, '{');
    json_write_text(w, "href", t->ack_url ? t->ack_url : t->url);
    json_write_text(w, "text", t->ack_url ? "Acknowledge in Mire" : "Open");
    json_write_close(w, '}');
    json_write_close(w, ']');
}

static void write_markdown(struct body *b, const char *type, const char *member)
{
    struct json_writer *w = &b->json;
    const char *text = markdown(b);

    json_write_text(w, "msgtype", type);
    json_write_open(w, type, '{');
    json_write_text(w, "title", b->text->title);
    json_write_text(w, member, text && strlen(text) < MARKDOWN_MAX ? text : b->text->url);
    json_write_close(w, '}');
}

static void write_dingtalk(struct body *b)
{
    write_markdown(b, "markdown", "text");
}

static void write_wecom(struct body *b)
{
    struct json_writer *w = &b->json;
    const char *text = markdown(b);

    json_write_text(w, "msgtype", "markdown");
    json_write_open(w, "markdown", '{');
    json_write_text(w, "content", text && strlen(text) < MARKDOWN_MAX ? text : b->text->url);
    json_write_close(w, '}');
}

/* Plain text: title, verdict, line, links. */
static const char *plain_text(const struct body *b, const char *newline)
{
    const struct alert_text *t = b->text;
    const char *ack = t->ack_url ? arena_printf(b->arena, "%sAcknowledge: %s", newline, t->ack_url) : "";

    return arena_printf(b->arena, "%s%s%s%s%s%sOpen: %s%s%s", t->title, newline, t->verdict, newline, t->spark, newline,
                        t->url, ack ? ack : "", newline);
}

static void write_feishu(struct body *b)
{
    struct json_writer *w = &b->json;
    const char *text = plain_text(b, "\n");

    json_write_text(w, "msg_type", "text");
    json_write_open(w, "content", '{');
    json_write_text(w, "text", text ? text : b->text->url);
    json_write_close(w, '}');
}

static const struct {
    const char *kind;
    void (*write)(struct body *b); /* NULL: plain text */
    const char *answer;            /* member of the answer that is 0 when the message was taken */
} kinds[] = {
    {"webhook", write_webhook, NULL},     {"email", NULL, NULL},
    {"slack", write_slack, NULL},         {"teams", write_teams, NULL},
    {"pagerduty", write_pagerduty, NULL}, {"dingtalk", write_dingtalk, "errcode"},
    {"feishu", write_feishu, "code"},     {"wecom", write_wecom, "errcode"},
};

static size_t find(const char *kind)
{
    size_t i = 0;
    while (i < sizeof kinds / sizeof *kinds && strcmp(kinds[i].kind, kind) != 0)
        i++;
    return i;
}

bool alert_channel_is_known(const char *kind)
{
    return find(kind) < sizeof kinds / sizeof *kinds;
}

const char *alert_answer_member(const char *kind)
{
    size_t i = find(kind);
    return i < sizeof kinds / sizeof *kinds ? kinds[i].answer : NULL;
}

const char *alert_body(struct arena *arena, const char *kind, const struct alert_text *text)
{
    struct body body = {.arena = arena, .text = text};
    size_t i = find(kind);
    char at[32];

    if (i == sizeof kinds / sizeof *kinds)
        return NULL;
    clock_format(at, text->at_us);
    body.at = at;
    if (!kinds[i].write)
        return plain_text(&body, "\r\n");
    json_write_begin(&body.json);
    json_write_open(&body.json, NULL, '{');
    kinds[i].write(&body);
    json_write_close(&body.json, '}');
    const char *out = body.json.failed ? NULL : arena_copy(arena, body.json.text, body.json.len);
    free(body.json.text);
    return out;
}
