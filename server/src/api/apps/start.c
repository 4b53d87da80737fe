/*
 * start.c - the begin of an app: POST /api/v1/apps makes it, GET .../start says what of it has arrived.
 */
#include "api/call.h"
#include "api/handlers.h"
#include "api/parts.h"
#include "api/people/people.h"
#include "rows/apps.h"
#include "rows/audit.h"

#define NAME_MAX 200

struct app_asked {
    const char *slug, *name;
};

static const struct bind_field fields[] = {
    {"slug", MIRE_BIND_TEXT, offsetof(struct app_asked, slug), .required = true, .max = MIRE_APP_SLUG_MAX},
    {"name", MIRE_BIND_TEXT, offsetof(struct app_asked, name), .max = NAME_MAX},
};

static int answer_post_app(struct call *call)
{
    struct app_asked asked = {.name = ""};
    int rc = call_body(&asked, call, fields, sizeof fields / sizeof *fields, "app");

    if (rc)
        return rc;
    if (!rows_app_is_slug(asked.slug))
        return call_problem(
            call, 422, "app.slug",
            "A slug has lower-case letters, digits and hyphens, begins with a letter or digit, and has at"
            " most 63 of them, for example my-app; docs, api, assets and metrics are paths of the server.");
    const char *name = *asked.name ? asked.name : asked.slug;
    rc = rows_app_add(call->tx, asked.slug, name);
    if (rc == ROWS_APP_THERE)
        return call_problem(call, 409, "app.there", "That slug is taken; choose another one.");
    if (!rc)
        rc = call_audit(call, &(struct audit_row){.action = "app.made", .subject = asked.slug, .after = name});
    if (!rc)
        rc = people_commit(call);
    json_write_open(&call->json, NULL, '{');
    json_write_text(&call->json, "slug", asked.slug);
    json_write_text(&call->json, "name", name);
    json_write_close(&call->json, '}');
    return rc;
}

int post_app(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.writes = true, .answer = answer_post_app};
    return call_run(api, request, reply, &kind);
}

static int answer_start(struct call *call)
{
    struct json_writer *w = &call->json;
    struct app_start start;
    int rc = rows_app_start_read(&start, call->tx, call->view.app);

    json_write_open(w, NULL, '{');
    part_time_or_null(w, "contact_at", start.contact_us);
    part_time_or_null(w, "session_at", start.session_us);
    part_time_or_null(w, "report_at", start.report_us);
    if (start.report_us) {
        json_write_text(w, "install", start.install);
        json_write_text(w, "issue", part_issue_name(start.issue, start.memory).text);
    } else {
        json_write_null(w, "install");
        json_write_null(w, "issue");
    }
    json_write_close(w, '}');
    return rc;
}

int get_start(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.has_app = true, .answer = answer_start};
    return call_run(api, request, reply, &kind);
}
