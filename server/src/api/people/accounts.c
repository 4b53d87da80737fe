/*
 * accounts.c - what admins of the server change: GET and POST /api/v1/accounts, and one account: its link, its rights
 * on the server, its role in all apps.
 */
#include "access/access.h"
#include "api/handlers.h"
#include "api/parts.h"
#include "api/people/people.h"
#include "rows/audit.h"
#include "rows/credential.h"

#include <string.h>

static void put_one(struct call *call, const struct account_row *account, const struct member_row *members,
                    size_t count)
{
    struct json_writer *w = &call->json;

    json_write_open(w, NULL, '{');
    json_write_text(w, "name", account->name);
    json_write_text(w, "source", account->source);
    json_write_bool(w, "is_server_admin", account->is_server_admin);
    json_write_bool(w, "is_disabled", account->disabled_us != 0);
    json_write_bool(w, "has_password", account->password != NULL);
    part_time(w, "made_at", account->created_us);
    part_time_or_null(w, "seen_at", account->seen_us);
    json_write_open(w, "roles", '[');
    for (size_t i = 0; i < count; i++) {
        if (members[i].account != account->account)
            continue;
        json_write_open(w, NULL, '{');
        json_write_text(w, "app", *members[i].slug ? members[i].slug : "*");
        json_write_text(w, "role", members[i].role);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
    json_write_close(w, '}');
}

static int answer_accounts(struct call *call)
{
    struct account_row *accounts = NULL;
    struct member_row *members = NULL;
    size_t account_count = 0, member_count = 0;
    int rc = rows_account_list(&accounts, &account_count, call->tx, call->arena);

    if (!rc)
        rc = rows_member_list(&members, &member_count, call->tx, call->arena, 0, -1);
    json_write_open(&call->json, NULL, '{');
    json_write_open(&call->json, "accounts", '[');
    for (size_t i = 0; !rc && i < account_count; i++)
        put_one(call, &accounts[i], members, member_count);
    json_write_close(&call->json, ']');
    json_write_close(&call->json, '}');
    return rc;
}

int get_accounts(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.table = "accounts", .answer = answer_accounts};
    return call_run(api, request, reply, &kind);
}

struct account_asked {
    const char *name, *role;
    bool is_server_admin, is_disabled;
};

/* "" or a role of everyApp. 0, or CALL_REPLIED. */
static int check_role(struct call *call, const char *role)
{
    if (!*role || access_role_parse(role))
        return 0;
    return call_problem(call, 422, "account.wrong", "The role is viewer, triager, admin, or empty for none.");
}

static int answer_link(struct call *call, int64_t account)
{
    const char *path;
    int rc = people_make_link(&path, call, account);

    if (!rc)
        rc = people_commit(call);
    json_write_open(&call->json, NULL, '{');
    json_write_text(&call->json, "link", rc ? "" : path);
    json_write_close(&call->json, '}');
    return rc;
}

static const char *rights_of(struct call *call, bool is_server_admin, bool is_disabled, const char *role)
{
    return arena_printf(call->arena, "%s%s%s", is_disabled ? "disabled, " : "", is_server_admin ? "server admin, " : "",
                        *role ? role : "no role in all apps");
}

static const struct bind_field post_fields[] = {
    {"name", MIRE_BIND_TEXT, offsetof(struct account_asked, name), .required = true, .max = 127},
    {"is_server_admin", MIRE_BIND_BOOL, offsetof(struct account_asked, is_server_admin), .required = false},
    {"role", MIRE_BIND_TEXT, offsetof(struct account_asked, role), .max = 16},
};

static int answer_post_account(struct call *call)
{
    struct account_asked asked = {.role = ""};
    const char *before;
    int64_t account;
    int rc = call_body(&asked, call, post_fields, sizeof post_fields / sizeof *post_fields, "account");

    if (!rc)
        rc = check_role(call, asked.role);
    if (rc)
        return rc;
    const char *name = people_fold(call, asked.name);
    if (!name)
        return call_problem(call, 422, "account.name",
                            "A name is an e-mail address or a word of letters, digits and . _ @ + -.");
    rc = rows_account_add(&account, call->tx, name, "local", "", asked.is_server_admin);
    if (rc == ACCOUNT_THERE)
        return call_problem(call, 409, "account.there", "That name is taken.");
    if (!rc && *asked.role)
        rc = rows_member_set(&before, call->tx, call->arena, account, MIRE_EVERY_APP, asked.role);
    if (!rc)
        rc = call_audit(call, &(struct audit_row){.action = "account.added",
                                                  .subject = name,
                                                  .after = rights_of(call, asked.is_server_admin, false, asked.role)});
    return rc ? rc : answer_link(call, account);
}

int post_account(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.writes = true, .answer = answer_post_account};
    return call_run(api, request, reply, &kind);
}

static int answer_post_account_link(struct call *call)
{
    struct account_row account;
    int rc = people_of_path(&account, call, 0);

    if (!rc)
        rc = call_audit(call, &(struct audit_row){.action = "account.link", .subject = account.name});
    return rc ? rc : answer_link(call, account.account);
}

int post_account_link(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.writes = true, .answer = answer_post_account_link};
    return call_run(api, request, reply, &kind);
}

/* --- one account ------------------------------------------------------------------------------------------------- */

static const struct bind_field put_fields[] = {
    {"is_server_admin", MIRE_BIND_BOOL, offsetof(struct account_asked, is_server_admin), .required = true},
    {"is_disabled", MIRE_BIND_BOOL, offsetof(struct account_asked, is_disabled), .required = true},
    {"role", MIRE_BIND_TEXT, offsetof(struct account_asked, role), .required = true, .max = 16},
};

/* Nobody could give rights any more without one. 0, CALL_REPLIED, or a fault. */
static int keep_an_admin(struct call *call)
{
    struct account_row *all;
    size_t count, admins = 0;
    int rc = rows_account_list(&all, &count, call->tx, call->arena);

    for (size_t i = 0; !rc && i < count; i++)
        admins += all[i].is_server_admin && !all[i].disabled_us;
    if (rc || admins)
        return rc;
    return call_problem(call, 409, "account.last", "This is the last admin of the server. Create another one first.");
}

static int change_account(struct call *call, const struct account_row *account, const struct account_asked *asked)
{
    const char *before;
    int64_t ended;
    int rc = rows_account_set_admin(call->tx, account->account, asked->is_server_admin);

    if (!rc)
        rc = rows_account_set_disabled(call->tx, account->account, asked->is_disabled);
    if (!rc)
        rc = rows_member_set(&before, call->tx, call->arena, account->account, MIRE_EVERY_APP, asked->role);
    if (!rc && asked->is_disabled)
        rc = rows_credential_revoke_all(&ended, call->tx, account->account, "sign-in", 0);
    if (!rc && asked->is_disabled)
        rc = rows_credential_revoke_all(&ended, call->tx, account->account, "token", 0);
    if (!rc)
        rc = keep_an_admin(call);
    if (rc)
        return rc;
    return call_audit(call, &(struct audit_row){
                                .action = "account.changed",
                                .subject = account->name,
                                .before = rights_of(call, account->is_server_admin, account->disabled_us != 0, before),
                                .after = rights_of(call, asked->is_server_admin, asked->is_disabled, asked->role)});
}

static int answer_put_account(struct call *call)
{
    struct account_asked asked = {.role = ""};
    struct account_row account;
    int rc = call_body(&asked, call, put_fields, sizeof put_fields / sizeof *put_fields, "account");

    if (!rc)
        rc = check_role(call, asked.role);
    if (!rc) /* two admins who disable each other come one after the other */
        rc = pg_query(NULL, call->tx, "LOCK TABLE account IN SHARE ROW EXCLUSIVE MODE");
    if (!rc)
        rc = people_of_path(&account, call, 0);
    if (!rc)
        rc = change_account(call, &account, &asked);
    if (!rc)
        rc = people_commit(call);
    json_write_open(&call->json, NULL, '{');
    json_write_close(&call->json, '}');
    return rc;
}

int put_account(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.writes = true, .answer = answer_put_account};
    return call_run(api, request, reply, &kind);
}
