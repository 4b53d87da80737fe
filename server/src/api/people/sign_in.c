/*
 * sign_in.c - GET, POST and DELETE /api/v1/sign-in, and POST /api/v1/welcome, which sets a password by a one-time link.
 * POST takes name and password, or a one-time code of the profile page (profile.c), for the command line.
 *
 * Every failure has the same answer and costs one hash of a password, whether the account exists or not.
 */
#include "access/access.h"
#include "access/cookie.h"
#include "access/password.h"
#include "api/handlers.h"
#include "api/people/people.h"
#include "oidc/oidc.h"
#include "rows/audit.h"
#include "rows/credential.h"
#include "rows/demo.h"
#include "rows/rows.h"

#include <string.h>

/* --- who am I ---------------------------------------------------------------------------------------------------- */

static void put_role(struct json_writer *w, const char *app, const char *role)
{
    json_write_open(w, NULL, '{');
    json_write_text(w, "app", app);
    json_write_text(w, "role", role);
    json_write_close(w, '}');
}

static int put_roles(struct call *call)
{
    const struct http_grant *grant = &call->request->grant;
    struct json_writer *w = &call->json;
    struct member_row *members = NULL;
    size_t count = 0;
    int rc = grant->account_id ? rows_member_list(&members, &count, call->tx, call->arena, grant->account_id, -1) : 0;

    json_write_open(w, "roles", '[');
    if (!grant->account_id && grant->role)
        put_role(w, "*", access_role_name((enum access_role)grant->role));
    for (size_t i = 0; !rc && i < count; i++)
        put_role(w, *members[i].slug ? members[i].slug : "*", members[i].role);
    json_write_close(w, ']');
    return rc;
}

/* The app in which nothing can be changed. */
static int put_demo(struct call *call)
{
    const char *slug;
    int32_t app;
    int rc = rows_demo_find(&app, &slug, call->tx, call->arena);

    if (rc == READ_NONE)
        json_write_null(&call->json, "demo");
    else if (!rc)
        json_write_text(&call->json, "demo", slug);
    return rc == READ_NONE ? 0 : rc;
}

static int put_who(struct call *call)
{
    const struct http_grant *grant = &call->request->grant;
    struct json_writer *w = &call->json;
    struct account_row account = {.password = NULL};
    int rc = grant->account_id ? rows_account_find(&account, call->tx, call->arena, grant->who) : 0;

    json_write_open(w, "who", '{');
    json_write_text(w, "name", grant->who);
    json_write_text(w, "via", grant->via);
    json_write_bool(w, "has_account", grant->account_id != 0);
    json_write_bool(w, "has_password", !rc && account.password);
    json_write_bool(w, "is_server_admin", grant->role == MIRE_ACCESS_SERVER);
    if (rc >= 0)
        rc = put_roles(call);
    if (!rc)
        rc = put_demo(call);
    json_write_close(w, '}');
    return rc;
}

static int answer_sign_in(struct call *call)
{
    static const char *const modes[] = {
        [MIRE_MODE_SIGN_IN] = "sign-in", [MIRE_MODE_SINGLE] = "single", [MIRE_MODE_OPEN] = "open"};
    const struct http_grant *grant = &call->request->grant;
    bool is_local = !strcmp(grant->via, "local");
    enum access_mode mode = access_mode_of(call->api->access);
    struct json_writer *w = &call->json;
    int rc = 0;

    json_write_open(w, NULL, '{');
    json_write_text(w, "mode", mode == MIRE_MODE_SINGLE && !is_local ? modes[MIRE_MODE_SIGN_IN] : modes[mode]);
    json_write_bool(w, "may_sign_in", access_may_sign_in(call->api->access, call->request));
    if (call->api->oidc)
        json_write_text(w, "provider", oidc_name(call->api->oidc));
    else
        json_write_null(w, "provider");
    if (*grant->who)
        rc = put_who(call);
    else
        json_write_null(w, "who");
    json_write_close(w, '}');
    return rc;
}

int get_sign_in(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.answer = answer_sign_in};
    return call_run(api, request, reply, &kind);
}

/* --- in and out -------------------------------------------------------------------------------------------------- */

struct asked {
    const char *name, *password, *link, *code;
};

static const struct bind_field sign_in_fields[] = {
    {"name", MIRE_BIND_TEXT, offsetof(struct asked, name), .max = 127},
    {"password", MIRE_BIND_TEXT, offsetof(struct asked, password), .max = MIRE_PASSWORD_MAX},
    {"code", MIRE_BIND_TEXT, offsetof(struct asked, code), .max = MIRE_KEY_TEXT},
};

static int refuse_plain(struct call *call)
{
    return call_problem(call, 403, "insecure",
                        "A password is not sent over plain HTTP. Reach this server by https, or name its http address "
                        "in public_url.");
}

/* 0, CALL_REPLIED, or a fault. */
static int wait_turn(struct call *call, const char *name)
{
    unsigned wait_s = access_wait_to_sign_in(call->api->access, name, &call->request->grant.client);

    if (!wait_s)
        return 0;
    reply_header(call->reply, "Retry-After", arena_printf(call->arena, "%u", wait_s));
    return call_problem(call, 429, "too_often", "Too many passwords were tried. Try again in %u s.", wait_s);
}

static int refuse_password(struct call *call, const char *name)
{
    int rc = call_audit(call, &(struct audit_row){.action = "sign-in.failed", .subject = name ? name : "unknown name"});

    if (!rc)
        rc = pg_commit(&call->tx);
    return rc ? rc : call_problem(call, 401, "sign_in.wrong", "Name or password is wrong.");
}

static int welcome(struct call *call, int64_t account, const char *name, const char *reason)
{
    int rc = people_enter(
        call, &(struct people_enter){
                  .account = account, .name = name, .reason = reason, .lasts_s = MIRE_SIGN_IN_DAYS * 86400});

    json_write_open(&call->json, NULL, '{');
    json_write_text(&call->json, "name", name);
    json_write_close(&call->json, '}');
    return rc;
}

static int enter_by_code(struct call *call, const char *code)
{
    const char *name;
    int64_t account;
    int rc = rows_credential_use_code(&account, &name, call->tx, call->arena, code);

    if (rc == CREDENTIAL_NONE)
        return call_problem(
            call, 401, "sign_in.wrong",
            "This code was used, or is older than five minutes. Create a new one on your profile page.");
    return rc ? rc : welcome(call, account, name, "by a code");
}

static int answer_post_sign_in(struct call *call)
{
    struct asked asked = {.name = NULL};
    struct account_row account = {.account = 0};
    int rc = call_body(&asked, call, sign_in_fields, sizeof sign_in_fields / sizeof *sign_in_fields, "sign_in");

    if (!rc && !asked.code == !(asked.name && asked.password))
        return call_problem(call, 422, "sign_in.wrong", "Send name and password, or a code.");
    if (!rc && !access_may_sign_in(call->api->access, call->request))
        return refuse_plain(call);
    if (!rc)
        rc = wait_turn(call, asked.code ? asked.code : asked.name);
    if (rc)
        return rc;
    if (asked.code)
        return enter_by_code(call, asked.code);
    const char *name = people_fold(call, asked.name);
    rc = name ? rows_account_find(&account, call->tx, call->arena, name) : ACCOUNT_NONE;
    if (rc < 0)
        return rc;
    bool is_good = !rc && account.password && !account.disabled_us;
    if (!password_fits(is_good ? account.password : NULL, asked.password))
        return refuse_password(call, rc ? NULL : account.name);
    return welcome(call, account.account, account.name, "");
}

int post_sign_in(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.writes = true, .answer = answer_post_sign_in};
    return call_run(api, request, reply, &kind);
}

/* The address for signing out at the OpenID provider of the sign-in. NULL: a sign-in without provider. 0 or a fault. */
static int find_leave(const char **out, struct call *call)
{
    const struct http_grant *grant = &call->request->grant;
    struct account_row account;

    *out = NULL;
    if (!call->api->oidc || strcmp(grant->via, "sign-in") != 0)
        return 0;
    int rc = rows_account_find(&account, call->tx, call->arena, grant->who);
    if (rc)
        return rc == ACCOUNT_NONE ? 0 : rc;
    const char *base = people_base(call);
    if (!strcmp(account.source, "oidc") && base)
        *out = oidc_leave(call->api->oidc, call->arena, base);
    return 0;
}

static int answer_delete_sign_in(struct call *call)
{
    const struct http_grant *grant = &call->request->grant;
    const char *leave;
    int rc = find_leave(&leave, call);

    if (!rc)
        rc = people_end_own(call);
    if (!rc && !strcmp(grant->via, "sign-in"))
        rc = call_audit(call, &(struct audit_row){.action = "sign-in.ended", .subject = grant->who});
    if (!rc)
        rc = people_drop_cookie(call);
    if (!rc)
        rc = people_commit(call);
    json_write_open(&call->json, NULL, '{');
    if (!rc && leave)
        json_write_text(&call->json, "leave", leave);
    else
        json_write_null(&call->json, "leave");
    json_write_close(&call->json, '}');
    return rc;
}

int delete_sign_in(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.writes = true, .answer = answer_delete_sign_in};
    return call_run(api, request, reply, &kind);
}

/* --- by a one-time link ------------------------------------------------------------------------------------------ */

static const struct bind_field welcome_fields[] = {
    {"link", MIRE_BIND_TEXT, offsetof(struct asked, link), .required = true, .max = MIRE_KEY_TEXT},
    {"name", MIRE_BIND_TEXT, offsetof(struct asked, name), .max = 127},
    {"password", MIRE_BIND_TEXT, offsetof(struct asked, password), .max = MIRE_PASSWORD_MAX},
};

static int refuse_link(struct call *call)
{
    return call_problem(
        call, 404, "welcome.link",
        "This link was used or has expired. Ask an admin for a new one, or run `mire user link NAME` on the server.");
}

/* Answer with the owner of the link. */
static int look_at_link(struct call *call, const struct asked *asked)
{
    const char *name;
    int64_t account;
    int rc = rows_credential_read_link(&account, &name, call->tx, call->arena, asked->link);

    if (rc == CREDENTIAL_NONE)
        return refuse_link(call);
    json_write_open(&call->json, NULL, '{');
    json_write_text(&call->json, "name", rc ? "" : name);
    json_write_close(&call->json, '}');
    return rc;
}

/* Make or find the account of the link. 0, CALL_REPLIED, or a fault. */
static int use_link(int64_t *account, const char **name, struct call *call, const struct asked *asked)
{
    int rc = rows_credential_use_link(account, name, call->tx, call->arena, asked->link);

    if (rc == CREDENTIAL_NONE)
        return refuse_link(call);
    if (!rc)
        rc = people_end_own(call);
    call->request->grant.via = "link";
    call->request->grant.who = *name;
    if (rc || *account)
        return rc;
    *name = people_fold(call, asked->name ? asked->name : "");
    if (!*name)
        return call_problem(call, 422, "account.name",
                            "A name is an e-mail address or a word of letters, digits and . _ @ + -.");
    call->request->grant.who = *name;
    rc = rows_account_add(account, call->tx, *name, "local", "", true);
    if (rc == ACCOUNT_THERE)
        return refuse_link(call);
    return rc ? rc
              : call_audit(call,
                           &(struct audit_row){.action = "account.added", .subject = *name, .after = "server admin"});
}

static int answer_welcome(struct call *call)
{
    struct asked asked = {.name = NULL};
    char stored[MIRE_PASSWORD_TEXT];
    const char *name;
    int64_t account, ended;
    int rc = call_body(&asked, call, welcome_fields, sizeof welcome_fields / sizeof *welcome_fields, "welcome");

    if (!rc && !access_may_sign_in(call->api->access, call->request))
        return refuse_plain(call);
    if (!rc && !asked.password)
        return look_at_link(call, &asked);
    if (!rc)
        rc = people_check_password(call, asked.password);
    if (!rc)
        rc = wait_turn(call, asked.link); /* a link cannot be guessed, so only its address limits the attempts */
    if (!rc)
        rc = use_link(&account, &name, call, &asked);
    if (!rc)
        rc = password_hash(stored, asked.password);
    if (!rc)
        rc = rows_account_set_password(call->tx, account, stored);
    if (!rc)
        rc = rows_credential_revoke_all(&ended, call->tx, account, "sign-in", 0);
    if (!rc)
        rc =
            call_audit(call, &(struct audit_row){.action = "password.set", .subject = name, .reason = "one-time link"});
    return rc ? rc : welcome(call, account, name, "one-time link");
}

int post_welcome(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.writes = true, .answer = answer_welcome};
    return call_run(api, request, reply, &kind);
}
