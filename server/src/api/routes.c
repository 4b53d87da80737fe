/*
 * routes.c - every path that is answered, by resource, and who may ask (access/access.h). A new one is a line here and in
 * handlers.h, and its place in openapi.yaml.
 */
#include "access/access.h"
#include "api/call.h"
#include "api/handlers.h"
#include "base/text.h"

/* Bytes of a body. */
#define SYMBOLS_MAX  (1u << 30)  /* a debug file; what all bodies together may take bounds it further */
#define PART_MAX     (64u << 20) /* a part of one */
#define QUESTION_MAX (1u << 20)
#define RULES_MAX    (4u << 20)  /* a megabyte of text, escaped */
#define ROLLOUT_MAX  (2u << 20)  /* the rules, and a whitelist of ten thousand */
#define REGROUP_MAX  (64u << 10) /* fifty issues or trees, and why */
#define PERSON_MAX   (8u << 10)  /* names, passwords, labels */
#define COMMITS_MAX  (8u << 20)  /* two thousand commits with their files */
#define TICKET_MAX   (64u << 10) /* the text of a ticket */
#define CALL_MAX     (1u << 20)  /* of a tracker's webhook */
#define ALERT_MAX    (16u << 10) /* a rule, a channel */

#define API   "/api/v1"
#define APP   API "/apps/{app}"
#define ISSUE APP "/issues/{issue}"

/* clang-format off */
#define ROW(verb, path, handles, may, cap) \
    {.method = MIRE_HTTP_##verb, .pattern = (path), .handler = (handles), .who = (may), .body_cap = (cap)}
#define FILES(path, handles) /* of the dashboard, which tell nothing */ \
    {.method = MIRE_HTTP_GET, .pattern = (path), .handler = (handles), .lane = MIRE_LANE_FILES}
#define GET(may, path, handles)       ROW(GET, path, handles, MIRE_MAY_##may, 0)
#define PUT(may, path, handles, cap)  ROW(PUT, path, handles, MIRE_MAY_##may, cap)
#define POST(may, path, handles, cap) ROW(POST, path, handles, MIRE_MAY_##may, cap)
#define DELETE(may, path, handles)    ROW(DELETE, path, handles, MIRE_MAY_##may, 0)

const struct http_route api_routes[] = {
    GET(READ, API "/apps", get_apps),
    POST(FOUND, API "/apps", post_app, PERSON_MAX),
    POST(FOUND, API "/demo", post_demo, PERSON_MAX),
    DELETE(FOUND, API "/demo", delete_demo),
    GET(READ, APP "/start", get_start),
    GET(READ, APP "/live", get_live),
    GET(READ, APP "/overview", get_overview),
    GET(READ, APP "/facets", get_facets),
    GET(READ, APP "/rates", get_rates),
    GET(READ, APP "/changes", get_changes),
    GET(READ, APP "/versions", get_versions),

    GET(READ, APP "/issues", get_issues),
    GET(READ, ISSUE, get_issue),
    GET(READ, ISSUE "/similar", get_similar),
    GET(READ, ISSUE "/suspects", get_suspects),
    GET(READ, ISSUE "/provenance", get_provenance),
    POST(TRIAGE, APP "/triage", post_triage, REGROUP_MAX),
    POST(TRIAGE, APP "/triage/undo", post_triage_undo, REGROUP_MAX),
    GET(READ, APP "/assignees", get_assignees),
    GET(READ, ISSUE "/activity", get_activity),
    POST(TRIAGE, ISSUE "/comments", post_comment, REGROUP_MAX),
    DELETE(TRIAGE, ISSUE "/comments/{comment}", delete_comment),
    POST(TRIAGE, ISSUE "/ticket", post_ticket, TICKET_MAX),
    POST(TRIAGE, ISSUE "/merge", post_merge, REGROUP_MAX),
    POST(TRIAGE, ISSUE "/split", post_split, REGROUP_MAX),
    POST(TRIAGE, ISSUE "/unmerge", post_unmerge, REGROUP_MAX),

    GET(READ, APP "/reports", get_app_reports),
    GET(READ, ISSUE "/reports", get_reports),
    GET(READ, ISSUE "/reports/{report}", get_report),
    GET(READ, ISSUE "/reports/{report}/memory", get_memory),
    GET(ADMIN, APP "/forget", get_forget),
    POST(ADMIN, APP "/forget", post_forget, PERSON_MAX),
    GET(READ, ISSUE "/flame", get_flame),
    GET(READ, ISSUE "/memory", get_issue_memory),
    GET(READ, APP "/healthy", get_healthy),

    GET(READ, APP "/rules", get_rules),
    PUT(RULES, APP "/rules", put_rules, RULES_MAX),
    POST(RULES, APP "/rules/back", post_rules_back, RULES_MAX),
    POST(RULES, APP "/rules/preview", post_rules_preview, RULES_MAX),
    GET(READ, APP "/rules/jobs/{job}", get_rules_job),

    GET(INGEST, API "/rollout", get_rollout),
    GET(READ, APP "/rollout", get_app_rollout),
    PUT(ROLLOUT, APP "/rollout", put_rollout, ROLLOUT_MAX),
    GET(READ, APP "/rollout/device", get_rollout_device),
    POST(ROLLOUT, APP "/rollout/back", post_rollout_back, ROLLOUT_MAX),
    PUT(ROLLOUT, APP "/rollout/ramps/{plugin}", put_ramp, ROLLOUT_MAX),
    POST(ROLLOUT, APP "/rollout/ramps/{plugin}", post_ramp, ROLLOUT_MAX),

    GET(READ, APP "/releases", get_releases),
    POST(SYMBOLS, APP "/releases", post_release, PERSON_MAX),
    POST(SYMBOLS, APP "/releases/commits", post_release_commits, COMMITS_MAX),

    GET(READ, APP "/alerts", get_alerts),
    GET(READ, APP "/alerts/history", get_alert_history),
    POST(READ, APP "/alerts/replay", post_alert_replay, ALERT_MAX),
    POST(TRIAGE, APP "/alerts/rules", post_alert_rule, ALERT_MAX),
    PUT(TRIAGE, APP "/alerts/rules/{rule}", put_alert_rule, ALERT_MAX),
    DELETE(TRIAGE, APP "/alerts/rules/{rule}", delete_alert_rule),
    POST(TRIAGE, APP "/alerts/rules/{rule}/snooze", post_alert_snooze, ALERT_MAX),
    POST(TRIAGE, APP "/alerts/open/{alert}/ack", post_alert_ack, ALERT_MAX),
    POST(ADMIN, APP "/alerts/channels", post_alert_channel, ALERT_MAX),
    DELETE(ADMIN, APP "/alerts/channels/{channel}", delete_alert_channel),
    POST(ADMIN, APP "/alerts/channels/{channel}/test", post_alert_channel_test, ALERT_MAX),
    POST(KNOCK, API "/ack", post_ack, ALERT_MAX),

    PUT(SYMBOLS, API "/symbols", put_symbols, SYMBOLS_MAX),
    POST(SYMBOLS, API "/symbols/missing", post_missing, QUESTION_MAX),
    GET(SYMBOLS, API "/symbols/uploads/{hash}", get_upload),
    PUT(SYMBOLS, API "/symbols/uploads/{hash}", put_upload, PART_MAX),
    GET(READ, APP "/symbols", get_symbols),
    GET(READ, APP "/rekey", get_rekey),
    POST(SYMBOLS, APP "/rekey", post_rekey, QUESTION_MAX),

    GET(KNOCK, API "/sign-in", get_sign_in),
    POST(KNOCK, API "/sign-in", post_sign_in, PERSON_MAX),
    DELETE(KNOCK, API "/sign-in", delete_sign_in),
    POST(KNOCK, API "/welcome", post_welcome, PERSON_MAX),
    GET(KNOCK, "/-/oidc/start", get_oidc_start),
    GET(KNOCK, "/-/oidc/callback", get_oidc_callback),
    PUT(SELF, API "/password", put_password, PERSON_MAX),
    GET(SELF, API "/sign-ins", get_sign_ins),
    DELETE(SELF, API "/sign-ins", delete_sign_ins),
    DELETE(SELF, API "/sign-ins/{sign_in}", delete_one_sign_in),
    POST(SELF, API "/code", post_code, PERSON_MAX),
    GET(SELF, API "/tokens", get_tokens),
    POST(SELF, API "/tokens", post_token, PERSON_MAX),
    DELETE(SELF, API "/tokens/{token}", delete_token),

    GET(SERVER, API "/accounts", get_accounts),
    POST(SERVER, API "/accounts", post_account, PERSON_MAX),
    PUT(SERVER, API "/accounts/{name}", put_account, PERSON_MAX),
    POST(SERVER, API "/accounts/{name}/link", post_account_link, PERSON_MAX),
    GET(SERVER, API "/audit", get_audit),
    GET(SERVER, API "/server", get_server),
    GET(FOUND, API "/server/health", get_server_health),

    GET(ADMIN, APP "/audit", get_app_audit),
    GET(ADMIN, APP "/members", get_members),
    PUT(ADMIN, APP "/members/{name}", put_member, PERSON_MAX),
    GET(ADMIN, APP "/settings", get_app_settings),
    PUT(ADMIN, APP "/settings", put_app_settings, PERSON_MAX),
    GET(ADMIN, APP "/tracker", get_tracker),
    PUT(ADMIN, APP "/tracker", put_tracker, PERSON_MAX),
    DELETE(ADMIN, APP "/tracker", delete_tracker),
    POST(SIGN, APP "/tracker/calls", post_tracker_call, CALL_MAX),
    GET(ADMIN, APP "/keys", get_keys),
    POST(ADMIN, APP "/keys", post_key, PERSON_MAX),
    POST(ADMIN, APP "/keys/{key}/rotate", post_key_rotate, PERSON_MAX),
    DELETE(ADMIN, APP "/keys/{key}", delete_key),

    GET(READ, "/metrics/apps", get_metrics_apps),
    GET(READ, "/i/{issue}", get_issue_link),
    GET(READ, "/r/{report}", get_report_link),
    FILES("/api", get_no_such_call),
    FILES("/api/*", get_no_such_call),
    FILES("/assets/*", get_asset),
    FILES("/docs", get_docs),
    FILES("/docs/*", get_docs),
    FILES("/*", get_page),
};
/* clang-format on */
const size_t api_route_count = sizeof api_routes / sizeof *api_routes;

int get_no_such_call(void *api, struct request *request, struct reply *reply)
{
    (void)api;
    return reply_error(reply, request, 404, NULL, "There is no endpoint at %.*s; schema/api/openapi.yaml lists them.",
                       TEXT_CUT(request->path, 150));
}
