/*
 * demo.c - POST and DELETE /api/v1/demo: the demo app, a month of invented reports in an app in which nothing can be
 * changed.
 */
#include "api/call.h"
#include "api/handlers.h"
#include "api/people/people.h"
#include "rows/audit.h"
#include "rows/demo.h"
#include "rows/rows.h"
#include "seed/seed.h"

#define REPORTS 25000 /* so that the last version has sessions enough to be compared */
#define DAYS    30

static int put_demo(struct call *call, const char *slug)
{
    json_write_open(&call->json, NULL, '{');
    json_write_text(&call->json, "slug", slug);
    json_write_close(&call->json, '}');
    return 0;
}

/* The app is committed, so that workers know it; it is held meanwhile. */
static int fill(struct call *call, int32_t app, const char *slug)
{
    struct pg *pg = call->api->pg;
    struct seed_counts counts;
    int rc = pg_begin(&call->tx, pg, MIRE_PG_WRITE);

    if (!rc)
        rc = rows_demo_hold(call->tx, app);
    if (rc == READ_NONE)
        return 0;
    if (!rc)
        rc = seed_fill(&counts, pg,
                       &(struct seed_options){.app = slug,
                                              .app_id = app,
                                              .reports = REPORTS,
                                              .days = DAYS,
                                              .state = 1,
                                              .now_us = call->api->now_us()});
    return rc ? rc : pg_commit(&call->tx);
}

static int answer_post(struct call *call)
{
    const char *slug;
    int32_t app;
    int rc = rows_demo_find(&app, &slug, call->tx, call->arena);

    if (rc != READ_NONE)
        return rc ? rc : put_demo(call, slug);
    rc = rows_demo_add(&app, &slug, call->tx, call->arena);
    if (rc == READ_NONE)
        return call_problem(call, 409, "demo.names", "There are apps named demo, demo-2 and so on up to demo-20.");
    if (!rc)
        rc = call_audit(call, &(struct audit_row){.action = "demo.made", .subject = slug});
    if (!rc)
        rc = people_commit(call);
    if (!rc)
        rc = fill(call, app, slug);
    return rc ? rc : put_demo(call, slug);
}

int post_demo(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.writes = true, .answer = answer_post};
    return call_run(api, request, reply, &kind);
}

static int answer_delete(struct call *call)
{
    int rc = rows_demo_remove(call->tx);

    if (rc == READ_NONE)
        return call_missing(call, "There is no demo app.");
    if (!rc)
        rc = call_audit(call, &(struct audit_row){.action = "demo.removed"});
    if (!rc)
        rc = people_commit(call);
    json_write_open(&call->json, NULL, '{');
    json_write_close(&call->json, '}');
    return rc;
}

int delete_demo(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.writes = true, .answer = answer_delete};
    return call_run(api, request, reply, &kind);
}
