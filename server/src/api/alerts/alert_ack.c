/*
 * alert_ack.c - POST .../alerts/open/{alert}/ack for people who signed in, and POST /api/v1/ack for those who hold the
 * link of a message.
 */
#include "api/alerts/alerts.h"

#include "alert/message.h"
#include "api/handlers.h"
#include "api/parts.h"
#include "rows/alert.h"
#include "rows/audit.h"
#include "rows/outbox.h"
#include "rows/rows.h"

#include <inttypes.h>
#include <string.h>

static int acknowledge(struct call *call, const struct alert_row *alert, const char *who)
{
    int rc = alert->state.acked_us ? 0 : rows_alert_ack(call->tx, alert->alert, who, call->api->now_us());

    call->view.app = alert->app;
    if (!rc && !alert->state.acked_us)
        rc = call_audit(call, &(struct audit_row){.action = "alert.acknowledged",
                                                  .subject = arena_printf(call->arena, "alert %" PRId64, alert->alert),
                                                  .after = alert->verdict});
    return rc;
}

static int answer_ack(struct call *call)
{
    struct alert_row alert;
    int64_t number = 0;
    int rc = alerts_number(&number, call, "alert");

    if (!rc)
        rc = rows_alert_find(&alert, call->tx, call->arena, call->view.app, number);
    if (rc == READ_NONE)
        return call_missing(call, "App %.63s has no alert %" PRId64 ".", call->slug, number);
    if (!rc)
        rc = acknowledge(call, &alert, call->request->grant.who ? call->request->grant.who : "");
    return rc ? rc : alerts_done(call, 0);
}

int post_alert_ack(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.has_app = true, .writes = true, .answer = answer_ack};
    return call_run(api, request, reply, &kind);
}

struct link_asked {
    const char *token;
    bool acknowledges;
};
static const struct bind_field link_fields[] = {
    {"token", MIRE_BIND_TEXT, offsetof(struct link_asked, token), .required = true, .max = MIRE_ACK_TOKEN},
    {"acknowledge", MIRE_BIND_BOOL, offsetof(struct link_asked, acknowledges), .required = false},
};

/* The alert of a good token, and who holds it: "link to NAME". */
static int find_by_link(struct alert_row *alert, const char **who, struct call *call, const char *token)
{
    int64_t number, channel, expires_s;
    struct outbox_channel to;
    int rc = alert_ack_read(&number, &channel, &expires_s, token)
                 ? rows_alert_find(alert, call->tx, call->arena, 0, number)
                 : READ_NONE;

    if (!rc && !alert_ack_is_good(token, alert->ack_key, call->api->now_us() / 1000000))
        rc = READ_NONE;
    if (rc == READ_NONE)
        return call_missing(call,
                            "This link is invalid, or older than a week. Sign in and open the alerts of the app.");
    if (!rc)
        rc = rows_channel_find(&to, call->tx, call->arena, alert->app, channel);
    if (rc && rc != READ_NONE)
        return rc;
    *who = rc ? arena_printf(call->arena, "link of channel %" PRId64, channel)
              : arena_printf(call->arena, "link to %s", to.name);
    return *who ? 0 : MIRE_FAULT_MEMORY;
}

static int answer_link(struct call *call)
{
    struct link_asked asked = {0};
    struct alert_row alert;
    const char *who = NULL;
    int rc = call_body(&asked, call, link_fields, sizeof link_fields / sizeof *link_fields, "ack");

    if (!rc)
        rc = find_by_link(&alert, &who, call, asked.token);
    if (!rc && asked.acknowledges) {
        call->request->grant.via = "link";
        call->request->grant.who = who;
        rc = acknowledge(call, &alert, who);
    }
    if (!rc && asked.acknowledges)
        rc = rows_alert_find(&alert, call->tx, call->arena, 0, alert.alert);
    if (!rc)
        rc = pg_commit(&call->tx);
    if (rc)
        return rc;
    json_write_open(&call->json, NULL, '{');
    alerts_put_alert(&call->json, "alert", &alert);
    json_write_close(&call->json, '}');
    return 0;
}

int post_ack(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.writes = true, .answer = answer_link};
    return call_run(api, request, reply, &kind);
}
