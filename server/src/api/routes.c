/* routes.c - what is answered. A new resource is one row here, one file beside it, and its place in openapi.yaml. */
#include "api/call.h"
#include "api/handlers.h"

#define SYMBOLS_MAX_BYTES (1u << 30) /* of a debug file; what all bodies together may take bounds it further */
#define RULES_MAX_BYTES   (4u << 20) /* of a change of rules: a megabyte of text, escaped */
#define PART_MAX_BYTES    (64u << 20)
#define ASKED_MAX_BYTES   (1u << 20)
#define ROLLOUT_MAX_BYTES (2u << 20) /* of a change: the rules and a whitelist of ten thousand */

#define REGROUP_MAX_BYTES (64u << 10) /* fifty issues or trees, and why */

#define API "/api/v1"
#define APP API "/apps/{app}"
#define ROW(p, h)                                               \
    {                                                           \
        .method = MIRE_HTTP_GET, .pattern = (p), .handler = (h) \
    }

#define POST(p, h)                                                                              \
    {                                                                                           \
        .method = MIRE_HTTP_POST, .pattern = (p), .handler = (h), .body_cap = REGROUP_MAX_BYTES \
    }

const struct http_route api_routes[] = {
    {.method = MIRE_HTTP_PUT, .pattern = API "/symbols", .handler = put_symbols, .body_cap = SYMBOLS_MAX_BYTES},
    {.method = MIRE_HTTP_POST, .pattern = API "/symbols/missing", .handler = post_missing, .body_cap = ASKED_MAX_BYTES},
    ROW(API "/symbols/uploads/{hash}", get_upload),
    {.method = MIRE_HTTP_PUT,
     .pattern = API "/symbols/uploads/{hash}",
     .handler = put_upload,
     .body_cap = PART_MAX_BYTES},
    ROW(API "/rollout", get_rollout),
    ROW(APP "/symbols", get_symbols),
    ROW(APP "/rekey", get_rekey),
    {.method = MIRE_HTTP_POST, .pattern = APP "/rekey", .handler = post_rekey, .body_cap = ASKED_MAX_BYTES},
    ROW(API "/apps", get_apps),
    ROW(APP "/overview", get_overview),
    ROW(APP "/facets", get_facets),
    ROW(APP "/issues", get_issues),
    ROW(APP "/issues/{issue}", get_issue),
    ROW(APP "/issues/{issue}/reports", get_reports),
    ROW(APP "/issues/{issue}/reports/{report}", get_report),
    ROW(APP "/issues/{issue}/reports/{report}/memory", get_memory),
    ROW(APP "/issues/{issue}/flame", get_flame),
    ROW(APP "/issues/{issue}/similar", get_similar),
    ROW(APP "/issues/{issue}/provenance", get_provenance),
    POST(APP "/issues/{issue}/merge", post_merge),
    POST(APP "/issues/{issue}/split", post_split),
    POST(APP "/issues/{issue}/unmerge", post_unmerge),
    ROW(APP "/rates", get_rates),
    ROW(APP "/rollout", get_app_rollout),
    {.method = MIRE_HTTP_PUT, .pattern = APP "/rollout", .handler = put_rollout, .body_cap = ROLLOUT_MAX_BYTES},
    {.method = MIRE_HTTP_POST,
     .pattern = APP "/rollout/back",
     .handler = post_rollout_back,
     .body_cap = ROLLOUT_MAX_BYTES},
    ROW(APP "/issues/{issue}/memory", get_issue_memory),
    ROW(APP "/healthy", get_healthy),
    {.method = MIRE_HTTP_PUT,
     .pattern = APP "/rollout/ramps/{plugin}",
     .handler = put_ramp,
     .body_cap = ROLLOUT_MAX_BYTES},
    {.method = MIRE_HTTP_POST,
     .pattern = APP "/rollout/ramps/{plugin}",
     .handler = post_ramp,
     .body_cap = ROLLOUT_MAX_BYTES},
    ROW(APP "/rules", get_rules),
    ROW(APP "/rules/jobs/{job}", get_rules_job),
    {.method = MIRE_HTTP_PUT, .pattern = APP "/rules", .handler = put_rules, .body_cap = RULES_MAX_BYTES},
    {.method = MIRE_HTTP_POST, .pattern = APP "/rules/back", .handler = post_rules_back, .body_cap = RULES_MAX_BYTES},
    {.method = MIRE_HTTP_POST,
     .pattern = APP "/rules/preview",
     .handler = post_rules_preview,
     .body_cap = RULES_MAX_BYTES},
    ROW("/i/{issue}", get_issue_link),
    ROW("/r/{report}", get_report_link),
    ROW("/api", get_no_such_call),
    ROW("/api/*", get_no_such_call),
    ROW("/assets/*", get_asset),
    ROW("/*", get_page),
};
const size_t api_route_count = sizeof api_routes / sizeof *api_routes;

int get_no_such_call(void *api, struct request *request, struct reply *reply)
{
    (void)api;
    return reply_error(reply, request, 404, NULL,
                       "There is nothing at %.150s; schema/api/openapi.yaml lists what there is.", request->path);
}
