/* routes.c - every path that is answered, by resource. A new one is a line here and in handlers.h, and its place in openapi.yaml. */
#include "api/call.h"
#include "api/handlers.h"

/* Bytes of a body. */
#define SYMBOLS_MAX  (1u << 30)  /* a debug file; what all bodies together may take bounds it further */
#define PART_MAX     (64u << 20) /* a part of one */
#define QUESTION_MAX (1u << 20)
#define RULES_MAX    (4u << 20)  /* a megabyte of text, escaped */
#define ROLLOUT_MAX  (2u << 20)  /* the rules, and a whitelist of ten thousand */
#define REGROUP_MAX  (64u << 10) /* fifty issues or trees, and why */

#define API   "/api/v1"
#define APP   API "/apps/{app}"
#define ISSUE APP "/issues/{issue}"

/* clang-format off */
#define GET(path, handles)       {.method = MIRE_HTTP_GET, .pattern = (path), .handler = (handles)}
#define PUT(path, handles, cap)  {.method = MIRE_HTTP_PUT, .pattern = (path), .handler = (handles), .body_cap = (cap)}
#define POST(path, handles, cap) {.method = MIRE_HTTP_POST, .pattern = (path), .handler = (handles), .body_cap = (cap)}

const struct http_route api_routes[] = {
    GET(API "/apps", get_apps),
    GET(APP "/overview", get_overview),
    GET(APP "/facets", get_facets),
    GET(APP "/rates", get_rates),

    GET(APP "/issues", get_issues),
    GET(ISSUE, get_issue),
    GET(ISSUE "/similar", get_similar),
    GET(ISSUE "/provenance", get_provenance),
    POST(ISSUE "/merge", post_merge, REGROUP_MAX),
    POST(ISSUE "/split", post_split, REGROUP_MAX),
    POST(ISSUE "/unmerge", post_unmerge, REGROUP_MAX),

    GET(ISSUE "/reports", get_reports),
    GET(ISSUE "/reports/{report}", get_report),
    GET(ISSUE "/reports/{report}/memory", get_memory),
    GET(ISSUE "/flame", get_flame),
    GET(ISSUE "/memory", get_issue_memory),
    GET(APP "/healthy", get_healthy),

    GET(APP "/rules", get_rules),
    PUT(APP "/rules", put_rules, RULES_MAX),
    POST(APP "/rules/back", post_rules_back, RULES_MAX),
    POST(APP "/rules/preview", post_rules_preview, RULES_MAX),
    GET(APP "/rules/jobs/{job}", get_rules_job),

    GET(API "/rollout", get_rollout),
    GET(APP "/rollout", get_app_rollout),
    PUT(APP "/rollout", put_rollout, ROLLOUT_MAX),
    POST(APP "/rollout/back", post_rollout_back, ROLLOUT_MAX),
    PUT(APP "/rollout/ramps/{plugin}", put_ramp, ROLLOUT_MAX),
    POST(APP "/rollout/ramps/{plugin}", post_ramp, ROLLOUT_MAX),

    PUT(API "/symbols", put_symbols, SYMBOLS_MAX),
    POST(API "/symbols/missing", post_missing, QUESTION_MAX),
    GET(API "/symbols/uploads/{hash}", get_upload),
    PUT(API "/symbols/uploads/{hash}", put_upload, PART_MAX),
    GET(APP "/symbols", get_symbols),
    GET(APP "/rekey", get_rekey),
    POST(APP "/rekey", post_rekey, QUESTION_MAX),

    GET("/i/{issue}", get_issue_link),
    GET("/r/{report}", get_report_link),
    GET("/api", get_no_such_call),
    GET("/api/*", get_no_such_call),
    GET("/assets/*", get_asset),
    GET("/*", get_page),
};
/* clang-format on */
const size_t api_route_count = sizeof api_routes / sizeof *api_routes;

int get_no_such_call(void *api, struct request *request, struct reply *reply)
{
    (void)api;
    return reply_error(reply, request, 404, NULL,
                       "There is nothing at %.150s; schema/api/openapi.yaml lists what there is.", request->path);
}
