/*
 * app_keys.c - the keys of an app: GET and POST .../keys, POST .../keys/{key}/rotate, DELETE .../keys/{key}.
 */
#include "access/access.h"
#include "api/handlers.h"
#include "api/parts.h"
#include "api/people/people.h"
#include "rows/audit.h"
#include "rows/key.h"

#include <inttypes.h>

#define DAYS_MAX     36500
#define OVERLAP_DAYS 7

static int put_key(void *context, const struct rows_key_row *row)
{
    struct json_writer *w = context;

    json_write_open(w, NULL, '{');
    json_write_i64(w, "id", row->key);
    json_write_text(w, "prefix", row->prefix);
    json_write_text(w, "scope", row->scope);
    json_write_text(w, "label", row->label);
    part_time(w, "made_at", row->created_us);
    part_time_or_null(w, "used_at", row->used_us);
    part_time_or_null(w, "expires_at", row->expires_us);
    part_time_or_null(w, "revoked_at", row->revoked_us);
    json_write_close(w, '}');
    return 0;
}

static int answer_keys(struct call *call)
{
    json_write_open(&call->json, NULL, '{');
    json_write_open(&call->json, "keys", '[');
    int rc = rows_key_list_of(call->tx, call->view.app, put_key, &call->json);
    json_write_close(&call->json, ']');
    json_write_close(&call->json, '}');
    return rc;
}

int get_keys(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.table = "keys", .has_app = true, .answer = answer_keys};
    return call_run(api, request, reply, &kind);
}

struct key_asked {
    const char *scope, *label;
    uint32_t days;
};

static const struct bind_field post_fields[] = {
    {"scope", MIRE_BIND_TEXT, offsetof(struct key_asked, scope), .required = true, .max = 16},
    {"label", MIRE_BIND_TEXT, offsetof(struct key_asked, label), .max = 200},
    {"days", MIRE_BIND_U32, offsetof(struct key_asked, days), .max = DAYS_MAX},
};
static const struct bind_field rotate_fields[] = {
    {"days", MIRE_BIND_U32, offsetof(struct key_asked, days), .max = DAYS_MAX},
};

/* Tell the new key, once. */
static int answer_secret(struct call *call, const char *secret)
{
    int rc = people_commit(call);

    json_write_open(&call->json, NULL, '{');
    json_write_text(&call->json, "secret", secret);
    json_write_close(&call->json, '}');
    return rc;
}

static const char *name_of(struct call *call, int64_t key)
{
    return arena_printf(call->arena, "key %" PRId64, key);
}

static int answer_post_key(struct call *call)
{
    struct key_asked asked = {.label = ""};
    char secret[MIRE_KEY_TEXT];
    int64_t key;
    int rc = call_body(&asked, call, post_fields, sizeof post_fields / sizeof *post_fields, "key");

    if (rc)
        return rc;
    if (!access_scope_parse(asked.scope))
        return call_problem(call, 422, "key.wrong", "The scope is ingest, symbols, rollout, rules, read or admin.");
    rc = rows_key_add(&key, secret, call->tx, call->view.app, asked.scope, asked.label, (int)asked.days);
    if (!rc)
        rc = call_audit(call, &(struct audit_row){.action = "key.made",
                                                  .subject = name_of(call, key),
                                                  .after = arena_printf(call->arena, "%s, %u days: %s", asked.scope,
                                                                        asked.days, asked.label)});
    return rc ? rc : answer_secret(call, secret);
}

int post_key(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.has_app = true, .writes = true, .answer = answer_post_key};
    return call_run(api, request, reply, &kind);
}

static int no_key(struct call *call, int64_t key)
{
    return call_missing(call, "App %.63s has no valid key %" PRId64 ".", call->slug, key);
}

static int answer_rotate_key(struct call *call)
{
    struct key_asked asked = {.days = OVERLAP_DAYS};
    char secret[MIRE_KEY_TEXT];
    const char *before;
    int64_t key, fresh;
    int rc = call_body(&asked, call, rotate_fields, sizeof rotate_fields / sizeof *rotate_fields, "key");

    if (!rc)
        rc = people_number(&key, call, 1, "key");
    if (rc)
        return rc;
    rc = rows_key_replace(&fresh, secret, call->tx, call->view.app, key, (int64_t)asked.days * 86400);
    if (rc == MIRE_KEY_UNKNOWN)
        return no_key(call, key);
    if (!rc)
        rc = rows_key_tell(&before, call->tx, call->arena, call->view.app, key);
    if (!rc)
        rc = call_audit(
            call, &(struct audit_row){.action = "key.rotated",
                                      .subject = name_of(call, key),
                                      .before = before,
                                      .after = arena_printf(call->arena, "key %" PRId64 "; the old one ends in %u days",
                                                            fresh, asked.days)});
    return rc ? rc : answer_secret(call, secret);
}

int post_key_rotate(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.has_app = true, .writes = true, .answer = answer_rotate_key};
    return call_run(api, request, reply, &kind);
}

static int answer_delete_key(struct call *call)
{
    const char *before;
    int64_t key;
    int rc = people_number(&key, call, 1, "key");

    if (rc)
        return rc;
    rc = rows_key_end(call->tx, call->view.app, key);
    if (rc == MIRE_KEY_UNKNOWN)
        return no_key(call, key);
    if (!rc)
        rc = rows_key_tell(&before, call->tx, call->arena, call->view.app, key);
    if (!rc)
        rc = call_audit(call,
                        &(struct audit_row){.action = "key.revoked", .subject = name_of(call, key), .before = before});
    if (!rc)
        rc = people_commit(call);
    json_write_open(&call->json, NULL, '{');
    json_write_close(&call->json, '}');
    return rc;
}

int delete_key(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.has_app = true, .writes = true, .answer = answer_delete_key};
    return call_run(api, request, reply, &kind);
}
