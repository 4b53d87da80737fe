/*
 * alert_channels.c - POST .../alerts/channels, DELETE .../alerts/channels/{channel} and POST .../{channel}/test: where
 * messages go.
 */
#include "api/alerts/alerts.h"

#include "alert/hook.h"
#include "alert/message.h"
#include "alert/watch.h"
#include "api/handlers.h"
#include "base/fault.h"
#include "base/vault.h"
#include "rows/audit.h"
#include "rows/outbox.h"
#include "rows/rows.h"

#include <inttypes.h>
#include <string.h>

#define TARGET_MAX   2000
#define ADDRESSES    20
#define PAGERDUTY    "https://events.pagerduty.com/v2/enqueue"
#define CHANNELS_MAX MIRE_ALERT_CHANNELS_OF_APP_MAX

struct channel_asked {
    const char *kind, *name, *target, *secret;
};
static const struct bind_field fields[] = {
    {"kind", MIRE_BIND_TEXT, offsetof(struct channel_asked, kind), .required = true, .max = 16},
    {"name", MIRE_BIND_TEXT, offsetof(struct channel_asked, name), .required = true, .max = MIRE_ALERT_NAME_MAX},
    {"target", MIRE_BIND_TEXT, offsetof(struct channel_asked, target), .max = TARGET_MAX},
    {"secret", MIRE_BIND_TEXT, offsetof(struct channel_asked, secret), .max = 200},
};

static int wrong(struct call *call, const char *text)
{
    return call_problem(call, 422, "channel.wrong", "%s", text);
}

/* Printable, without spaces: nothing that ends a header or a URL. */
static bool is_plain(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text <= ' ' || (unsigned char)*text == 0x7f)
            return false;
    return true;
}

/* local@domain, of what needs no quotes (RFC 5322 dot-atoms, and UTF-8). */
static bool is_address(const char *text, size_t len)
{
    const char *at = memchr(text, '@', len);

    if (!at || at == text || at == text + len - 1 || len > 254 || memchr(at + 1, '@', len - (size_t)(at + 1 - text)))
        return false;
    for (size_t i = 0; i < len; i++)
        if (strchr("<>()[]\\,;:\" ", text[i]) || (unsigned char)text[i] <= ' ' || text[i] == 0x7f)
            return false;
    return true;
}

static bool are_addresses(const char *text)
{
    size_t count = 0;

    while (*text) {
        text += strspn(text, ", ");
        size_t len = strcspn(text, ", ");
        if (len && (!is_address(text, len) || ++count > ADDRESSES))
            return false;
        text += len;
    }
    return count > 0;
}

static int check(struct call *call, struct channel_asked *asked)
{
    bool http = !strncmp(asked->target, "http://", 7) || !strncmp(asked->target, "https://", 8);

    if (!alert_channel_is_known(asked->kind))
        return wrong(call, "The kind is webhook, email, slack, teams, pagerduty, dingtalk, feishu or wecom.");
    if (!*asked->name)
        return wrong(call, "A channel has a name.");
    if (!is_plain(asked->secret))
        return wrong(call, "A secret has no spaces.");
    if (!strcmp(asked->kind, "email"))
        return are_addresses(asked->target)
                   ? 0
                   : wrong(call, "The target of e-mail is one to 20 addresses, separated by commas.");
    if (!strcmp(asked->kind, "pagerduty")) {
        if (!*asked->secret)
            return wrong(call, "PagerDuty needs the routing key of an Events API v2 integration as the secret.");
        if (!*asked->target)
            asked->target = PAGERDUTY;
        http = http || !strcmp(asked->target, PAGERDUTY);
    }
    return http && is_plain(asked->target) ? 0 : wrong(call, "The target is the URL of a hook, https://...");
}

static const char *name_of(struct call *call, int64_t channel)
{
    return arena_printf(call->arena, "channel %" PRId64, channel);
}

static int seal(struct outbox_channel *channel, struct call *call, const char *target, const char *secret)
{
    const struct vault *vault = call->api->vault;

    channel->target = vault_seal(vault, call->arena, MIRE_VAULT_CHANNEL_TARGET, channel->app, target);
    channel->secret = vault_seal(vault, call->arena, MIRE_VAULT_CHANNEL_SECRET, channel->app, secret);
    return channel->target && channel->secret ? 0 : MIRE_FAULT_MEMORY;
}

static int answer_post(struct call *call)
{
    struct channel_asked asked = {.target = "", .secret = ""};
    char secret[MIRE_HOOK_SECRET], signature[MIRE_HOOK_SIGNATURE];
    struct outbox_channel *others;
    size_t count;
    int rc = call_body(&asked, call, fields, sizeof fields / sizeof *fields, "channel");

    if (!rc)
        rc = check(call, &asked);
    if (!rc)
        rc = rows_channel_list(&others, &count, call->tx, call->arena, call->view.app);
    if (rc)
        return rc;
    bool signs = !strcmp(asked.kind, "webhook"), made = signs && !*asked.secret;
    if (count >= CHANNELS_MAX)
        return wrong(call, "An app has at most 100 channels.");
    if (made)
        hook_make_secret(secret);
    else if (signs && !hook_sign(signature, asked.secret, "", 0, ""))
        return wrong(call, "The secret of a webhook is whsec_ and base64; leave it out, and one is made.");
    struct outbox_channel channel = {.app = call->view.app,
                                     .kind = asked.kind,
                                     .name = asked.name,
                                     .made_by = call->request->grant.who ? call->request->grant.who : ""};
    rc = seal(&channel, call, asked.target, made ? secret : asked.secret);
    if (!rc)
        rc = rows_channel_add(&channel, call->tx);
    if (!rc)
        rc =
            call_audit(call, &(struct audit_row){.action = "alert.channel_made",
                                                 .subject = name_of(call, channel.channel),
                                                 .after = arena_printf(call->arena, "%s: %s", asked.kind, asked.name)});
    if (!rc)
        rc = pg_commit(&call->tx);
    json_write_open(&call->json, NULL, '{');
    json_write_i64(&call->json, "id", channel.channel);
    if (made)
        json_write_text(&call->json, "secret", secret);
    json_write_close(&call->json, '}');
    return rc;
}

int post_alert_channel(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.has_app = true, .writes = true, .answer = answer_post};
    return call_run(api, request, reply, &kind);
}

static int no_channel(struct call *call, int64_t channel)
{
    return call_missing(call, "App %.63s has no channel %" PRId64 ".", call->slug, channel);
}

static int answer_delete(struct call *call)
{
    int64_t channel = 0;
    int rc = alerts_number(&channel, call, "channel");

    if (!rc)
        rc = rows_channel_remove(call->tx, call->view.app, channel);
    if (rc == READ_NONE)
        return no_channel(call, channel);
    if (!rc)
        rc =
            call_audit(call, &(struct audit_row){.action = "alert.channel_removed", .subject = name_of(call, channel)});
    return rc ? rc : alerts_done(call, 0);
}

int delete_alert_channel(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.has_app = true, .writes = true, .answer = answer_delete};
    return call_run(api, request, reply, &kind);
}

static int answer_test(struct call *call)
{
    struct outbox_channel channel;
    int64_t number = 0;
    int rc = alerts_number(&number, call, "channel");

    if (!rc)
        rc = rows_channel_find(&channel, call->tx, call->arena, call->view.app, number);
    if (rc == READ_NONE)
        return no_channel(call, number);
    if (!rc)
        rc = alert_send_test(call->tx, call->arena, &channel, call->slug, call->api->base, call->api->now_us());
    if (!rc)
        rc = call_audit(call, &(struct audit_row){.action = "alert.channel_tested", .subject = name_of(call, number)});
    return rc ? rc : alerts_done(call, 0);
}

int post_alert_channel_test(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.has_app = true, .writes = true, .answer = answer_test};
    return call_run(api, request, reply, &kind);
}
