/* change.c - see change.h. */
#include "api/change.h"

#include "api/call.h"
#include "rows/apps.h"
#include "rows/audit.h"
#include "rows/demo.h"
#include "rows/rows.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* 1: the reply is a problem. */
int change_refuse(struct change *change, int status, const char *code, const char *text)
{
    reply_error(change->reply, change->request, status, code, "%s", text);
    return 1;
}

/* Make the code "rollout.moved" or "rules.moved". */
static const char *code_of(char *out, size_t room, const struct change *change, const char *code)
{
    snprintf(out, room, "%s.%s", rows_document_scope(change->what), code);
    return out;
}

/* Begin a transaction for the app of the path. 0, 1 (the reply is made), or a fault. */
static int begin(struct change *change, struct pg *pg)
{
    const char *slug = request_param(change->request, 0);
    bool is_demo = false;
    int rc = pg_begin(&change->tx, pg, MIRE_PG_WRITE);

    if (!rc)
        rc = rows_app_read(&change->app, change->tx, slug);
    if (!rc)
        rc = rows_demo_is(&is_demo, change->tx, change->app);
    if (!rc && is_demo)
        return change_refuse(change, 403, "demo.read_only", "Nothing in the demo app can be changed.");
    if (rc != READ_NONE)
        return rc;
    reply_error(change->reply, change->request, 404, NULL, "There is no app \"%.*s\".", TEXT_CUT(slug, 63));
    return 1;
}

/* Read the body. 0, 1, or a fault. */
static int read_body(struct change *change, const struct bind_field *fields, size_t count)
{
    char code[40];
    int rc = body_read(change, change->request, change->reply, fields, count, rows_document_scope(change->what));

    if (!rc && change->request->grant.account_id)
        change->row.author = change->request->grant.who; /* who is known need not say it, and cannot say another */
    if (!rc && (!change->row.author || !*change->row.author || !*change->row.reason))
        return change_refuse(change, 422, code_of(code, sizeof code, change, "wrong"),
                             "A change needs an author and a reason.");
    return rc;
}

int change_moved(struct change *change)
{
    char code[40];
    return change_refuse(change, 409, code_of(code, sizeof code, change, "moved"),
                         "The version in force is no longer the one named as base: read it again, then change it.");
}

int change_store(struct change *change)
{
    int rc = rows_document_add(change->tx, change->what, change->app, (int64_t)change->base, &change->row);

    return rc == MIRE_DOCUMENT_MOVED ? change_moved(change) : rc;
}

int change_go_back(struct change *change)
{
    struct rows_document_version old;
    char code[40];
    int rc =
        rows_document_find(&old, change->tx, change->request->arena, change->what, change->app, (int64_t)change->to);

    if (rc == MIRE_DOCUMENT_NONE)
        return change_refuse(change, 404, code_of(code, sizeof code, change, "version"),
                             "There is no such version to go back to.");
    change->row.rules = old.rules;
    return rc ? rc : change_store(change);
}

/* Who changed what holds, from what to what. A preview changes nothing. */
static int audit(struct change *change)
{
    struct arena *arena = change->request->arena;
    const char *scope = rows_document_scope(change->what), *plugin = change->ramp.plugin;
    struct rows_document_version before = {.rules = ""}, after = {.rules = ""};
    int rc = 0;

    if (change->same && !plugin)
        return 0;
    if (!change->same && change->base)
        rc = rows_document_find(&before, change->tx, arena, change->what, change->app, (int64_t)change->base);
    if (!rc && !change->same)
        rc = rows_document_find(&after, change->tx, arena, change->what, change->app, (int64_t)change->base + 1);
    if (rc)
        return rc == MIRE_DOCUMENT_NONE ? MIRE_FAULT_BROKEN : rc;
    const char *version = arena_printf(arena, "version %" PRIu64, change->base + (change->same ? 0 : 1));
    const char *action = arena_printf(arena, plugin ? "%s.ramp" : "%s.changed", scope);
    const char *subject = !plugin ? version : arena_printf(arena, "%s %s, %s", plugin, change->ramp.state, version);
    if (!subject || !action)
        return MIRE_FAULT_MEMORY;
    return audit_request(change->tx, change->request,
                         &(struct audit_row){.app = change->app,
                                             .action = action,
                                             .subject = subject,
                                             .before = before.rules,
                                             .after = after.rules,
                                             .reason = change->row.reason});
}

static int finish(struct change *change)
{
    int rc = audit(change);

    if (!rc)
        rc = pg_commit(&change->tx);

    if (rc)
        return rc;
    text_printf(&change->reply->text, "{\"version\":%" PRIu64, change->base + (change->same ? 0 : 1));
    if (change->job)
        text_printf(&change->reply->text, ",\"job\":%" PRId64, change->job);
    text_add(&change->reply->text, "}");
    return reply_json(change->reply, 201);
}

int change_run(struct change *change, struct pg *pg, const struct bind_field *fields, size_t count,
               int (*fill)(struct change *change))
{
    int rc = begin(change, pg);

    if (!rc)
        rc = read_body(change, fields, count);
    if (!rc)
        rc = fill(change);
    if (!rc)
        rc = finish(change);
    pg_end(&change->tx);
    return rc == 1 ? MIRE_HTTP_DONE : rc;
}
