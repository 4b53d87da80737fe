/*
 * profile.c - what people change of their own: PUT /api/v1/password, sign-ins, and personal tokens.
 */
#include "access/access.h"
#include "access/cookie.h"
#include "access/password.h"
#include "api/handlers.h"
#include "api/parts.h"
#include "api/people/people.h"
#include "rows/audit.h"
#include "rows/credential.h"

#include <inttypes.h>
#include <string.h>

#define LABEL_MAX 200
#define DAYS_MAX  3650

static int put_nothing(struct call *call)
{
    json_write_open(&call->json, NULL, '{');
    json_write_close(&call->json, '}');
    return 0;
}

/* --- the password ------------------------------------------------------------------------------------------------ */

struct passwords {
    const char *old, *fresh;
};

static const struct bind_field password_fields[] = {
    {"old", MIRE_BIND_TEXT, offsetof(struct passwords, old), .required = true, .max = MIRE_PASSWORD_MAX},
    {"new", MIRE_BIND_TEXT, offsetof(struct passwords, fresh), .required = true, .max = MIRE_PASSWORD_MAX},
};

/* All sign-ins end, this browser gets a new one. */
static int answer_password(struct call *call)
{
    const struct http_grant *grant = &call->request->grant;
    struct passwords asked;
    struct account_row account;
    char stored[MIRE_PASSWORD_TEXT];
    int64_t ended;
    int rc = call_body(&asked, call, password_fields, sizeof password_fields / sizeof *password_fields, "password");

    if (!rc)
        rc = people_check_password(call, asked.fresh);
    unsigned wait_s = rc ? 0 : access_wait_to_sign_in(call->api->access, grant->who, &grant->client);
    if (wait_s)
        return call_problem(call, 429, "too_often", "Too many passwords were tried. Try again in %u s.", wait_s);
    if (rc)
        return rc;
    rc = rows_account_find(&account, call->tx, call->arena, grant->who);
    if (rc)
        return rc == ACCOUNT_NONE ? MIRE_FAULT_RACED : rc;
    if (!password_fits(account.password, asked.old))
        return call_problem(call, 422, "password.wrong", "The old password is wrong.");
    rc = password_hash(stored, asked.fresh);
    if (!rc)
        rc = rows_account_set_password(call->tx, grant->account_id, stored);
    if (!rc)
        rc = rows_credential_revoke_all(&ended, call->tx, grant->account_id, "sign-in", 0);
    if (!rc)
        rc = people_sign_in(call, grant->account_id, MIRE_SIGN_IN_DAYS * 86400);
    if (!rc)
        rc = call_audit(call, &(struct audit_row){.action = "password.set", .subject = grant->who});
    if (!rc)
        rc = people_commit(call);
    return rc ? rc : put_nothing(call);
}

int put_password(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.writes = true, .answer = answer_password};
    return call_run(api, request, reply, &kind);
}

/* --- sign-ins ---------------------------------------------------------------------------------------------------- */

static int answer_sign_ins(struct call *call)
{
    const struct http_grant *grant = &call->request->grant;
    struct json_writer *w = &call->json;
    struct credential_row *all = NULL;
    size_t count = 0;
    int rc = rows_credential_list(&all, &count, call->tx, call->arena, grant->account_id, "sign-in");

    json_write_open(w, NULL, '{');
    json_write_open(w, "sign_ins", '[');
    for (size_t i = 0; !rc && i < count; i++) {
        json_write_open(w, NULL, '{');
        json_write_i64(w, "id", all[i].credential);
        json_write_text(w, "browser", all[i].label);
        json_write_text(w, "address", all[i].address);
        part_time(w, "made_at", all[i].created_us);
        part_time_or_null(w, "used_at", all[i].used_us);
        json_write_bool(w, "is_this", !strcmp(grant->via, "sign-in") && grant->credential_id == all[i].credential);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
    json_write_close(w, '}');
    return rc;
}

int get_sign_ins(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.answer = answer_sign_ins};
    return call_run(api, request, reply, &kind);
}

/* Sign out everywhere. */
static int answer_delete_sign_ins(struct call *call)
{
    const struct http_grant *grant = &call->request->grant;
    int64_t ended;
    int rc = rows_credential_revoke_all(&ended, call->tx, grant->account_id, "sign-in", 0);

    if (!rc)
        rc = call_audit(call, &(struct audit_row){.action = "sign-in.ended",
                                                  .subject = grant->who,
                                                  .before = arena_printf(call->arena, "%" PRId64 " sign-ins", ended)});
    if (!rc)
        rc = people_drop_cookie(call);
    if (!rc)
        rc = people_commit(call);
    return rc ? rc : put_nothing(call);
}

int delete_sign_ins(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.writes = true, .answer = answer_delete_sign_ins};
    return call_run(api, request, reply, &kind);
}

static int end_one(struct call *call, const char *kind, const char *action)
{
    const struct http_grant *grant = &call->request->grant;
    int64_t number;
    int rc = people_number(&number, call, 0, kind);

    if (rc)
        return rc;
    rc = rows_credential_revoke(call->tx, grant->account_id, kind, number);
    if (rc == CREDENTIAL_NONE)
        return call_missing(call, "There is no %s %" PRId64 " of yours.", kind, number);
    if (!rc)
        rc = call_audit(call, &(struct audit_row){.action = action,
                                                  .subject = arena_printf(call->arena, "%s %" PRId64, kind, number)});
    if (!rc)
        rc = people_commit(call);
    return rc ? rc : put_nothing(call);
}

static int answer_delete_one_sign_in(struct call *call)
{
    return end_one(call, "sign-in", "sign-in.ended");
}

int delete_one_sign_in(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.writes = true, .answer = answer_delete_one_sign_in};
    return call_run(api, request, reply, &kind);
}

/* --- a code for `mire login` --------------------------------------------------------------------------------------- */

#define CODE_S 300

/* Earlier codes end. */
static int answer_post_code(struct call *call)
{
    const struct http_grant *grant = &call->request->grant;
    char secret[MIRE_KEY_TEXT], address[MIRE_HTTP_PEER_TEXT];
    int64_t ended;
    int rc = rows_credential_revoke_all(&ended, call->tx, grant->account_id, "code", 0);

    http_peer_format(address, &grant->client);
    if (!rc)
        rc = rows_credential_add(
            secret, call->tx,
            &(struct credential_new){
                .account = grant->account_id, .kind = "code", .address = address, .lasts_s = CODE_S});
    if (!rc)
        rc = call_audit(call, &(struct audit_row){.action = "code.made", .subject = grant->who});
    if (!rc)
        rc = people_commit(call);
    json_write_open(&call->json, NULL, '{');
    json_write_text(&call->json, "code", secret);
    json_write_close(&call->json, '}');
    return rc;
}

int post_code(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.writes = true, .answer = answer_post_code};
    return call_run(api, request, reply, &kind);
}

/* --- tokens ------------------------------------------------------------------------------------------------------ */

static int answer_tokens(struct call *call)
{
    struct json_writer *w = &call->json;
    struct credential_row *all = NULL;
    size_t count = 0;
    int rc = rows_credential_list(&all, &count, call->tx, call->arena, call->request->grant.account_id, "token");

    json_write_open(w, NULL, '{');
    json_write_open(w, "tokens", '[');
    for (size_t i = 0; !rc && i < count; i++) {
        json_write_open(w, NULL, '{');
        json_write_i64(w, "id", all[i].credential);
        json_write_text(w, "prefix", all[i].prefix);
        json_write_text(w, "scope", all[i].scope);
        json_write_text(w, "label", all[i].label);
        part_time(w, "made_at", all[i].created_us);
        part_time_or_null(w, "expires_at", all[i].expires_us);
        part_time_or_null(w, "used_at", all[i].used_us);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
    json_write_close(w, '}');
    return rc;
}

int get_tokens(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.answer = answer_tokens};
    return call_run(api, request, reply, &kind);
}

struct token_asked {
    const char *label, *scope;
    uint32_t days;
};

static const struct bind_field token_fields[] = {
    {"label", MIRE_BIND_TEXT, offsetof(struct token_asked, label), .required = true, .max = LABEL_MAX},
    {"scope", MIRE_BIND_TEXT, offsetof(struct token_asked, scope), .required = true, .max = 16},
    {"days", MIRE_BIND_U32, offsetof(struct token_asked, days), .required = true, .min = 1, .max = DAYS_MAX},
};

static int answer_post_token(struct call *call)
{
    struct token_asked asked;
    char secret[MIRE_KEY_TEXT], address[MIRE_HTTP_PEER_TEXT];
    int rc = call_body(&asked, call, token_fields, sizeof token_fields / sizeof *token_fields, "token");

    if (rc)
        return rc;
    if (strcmp(asked.scope, "read") != 0 && strcmp(asked.scope, "triage") != 0 && strcmp(asked.scope, "admin") != 0)
        return call_problem(call, 422, "token.wrong", "The scope is read, triage or admin.");
    http_peer_format(address, &call->request->grant.client);
    rc = rows_credential_add(secret, call->tx,
                             &(struct credential_new){.account = call->request->grant.account_id,
                                                      .kind = "token",
                                                      .scope = asked.scope,
                                                      .label = asked.label,
                                                      .address = address,
                                                      .lasts_s = (int64_t)asked.days * 86400});
    if (!rc)
        rc = call_audit(call, &(struct audit_row){.action = "token.made",
                                                  .subject = arena_printf(call->arena, "%.9s", secret),
                                                  .after = arena_printf(call->arena, "%s, %u days: %s", asked.scope,
                                                                        asked.days, asked.label)});
    if (!rc)
        rc = people_commit(call);
    json_write_open(&call->json, NULL, '{');
    json_write_text(&call->json, "secret", secret);
    json_write_close(&call->json, '}');
    return rc;
}

int post_token(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.writes = true, .answer = answer_post_token};
    return call_run(api, request, reply, &kind);
}

static int answer_delete_token(struct call *call)
{
    return end_one(call, "token", "token.revoked");
}

int delete_token(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.writes = true, .answer = answer_delete_token};
    return call_run(api, request, reply, &kind);
}
