/* change.c - see change.h. */
#include "api/change.h"

#include "rows/key.h"

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
    snprintf(out, room, "%s.%s", pg_document_scope(change->what), code);
    return out;
}

/* Begin a transaction for who may write. 0, 1 (the reply is made), or a fault. */
static int begin(struct change *change, struct pg *pg)
{
    const char *key = request_bearer(change->request);
    uint8_t hash[MIRE_KEY_HASH];
    int rc = MIRE_DOCUMENT_NONE;

    if (key && key_is_wellformed(key, strlen(key))) {
        key_hash(hash, key, strlen(key));
        rc = pg_begin(&change->tx, pg, MIRE_PG_WRITE);
        if (!rc)
            rc = pg_document_author(&change->app, change->tx, change->what, request_param(change->request, 0), hash);
    }
    if (rc != MIRE_DOCUMENT_NONE)
        return rc;
    reply_header(change->reply, "WWW-Authenticate", "Bearer realm=\"mire\"");
    const char *scope = pg_document_scope(change->what);
    reply_error(change->reply, change->request, 401, "key",
                "Send a key of scope %s of this app: Authorization: Bearer mk_... (mire key create APP --scope %s)",
                scope, scope);
    return 1;
}

/* Read the body. 0, 1, or a fault. */
static int read_body(struct change *change, const struct bind_field *fields, size_t count)
{
    char code[40];
    int rc = body_read(change, change->request, change->reply, fields, count, pg_document_scope(change->what));

    if (!rc && (!*change->row.author || !*change->row.reason))
        return change_refuse(change, 422, code_of(code, sizeof code, change, "wrong"),
                             "A change needs an author and a reason.");
    return rc;
}

int change_moved(struct change *change)
{
    char code[40];
    return change_refuse(change, 409, code_of(code, sizeof code, change, "moved"),
                         "What holds is no longer the version named as base: look at it again, then change it.");
}

int change_store(struct change *change)
{
    int rc = pg_document_add(change->tx, change->what, change->app, (int64_t)change->base, &change->row);

    return rc == MIRE_DOCUMENT_MOVED ? change_moved(change) : rc;
}

int change_go_back(struct change *change)
{
    struct pg_document_version old;
    char code[40];
    int rc = pg_document_find(&old, change->tx, change->request->arena, change->what, change->app, (int64_t)change->to);

    if (rc == MIRE_DOCUMENT_NONE)
        return change_refuse(change, 404, code_of(code, sizeof code, change, "version"),
                             "There is no such version to go back to.");
    change->row.rules = old.rules;
    return rc ? rc : change_store(change);
}

static int finish(struct change *change)
{
    int rc = pg_commit(&change->tx);

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
