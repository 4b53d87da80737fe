/*
 * members.c - who has which role in an app: GET .../members and PUT .../members/{name}.
 */
#include "access/access.h"
#include "api/handlers.h"
#include "api/people/people.h"
#include "rows/audit.h"

static int answer_members(struct call *call)
{
    struct json_writer *w = &call->json;
    struct member_row *members = NULL;
    size_t count = 0;
    int rc = rows_member_list(&members, &count, call->tx, call->arena, 0, call->view.app);

    json_write_open(w, NULL, '{');
    json_write_open(w, "members", '[');
    for (size_t i = 0; !rc && i < count; i++) {
        json_write_open(w, NULL, '{');
        json_write_text(w, "name", members[i].name);
        json_write_text(w, "role", members[i].role);
        json_write_bool(w, "in_every_app", members[i].app == MIRE_EVERY_APP);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
    json_write_close(w, '}');
    return rc;
}

int get_members(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.table = "members", .has_app = true, .answer = answer_members};
    return call_run(api, request, reply, &kind);
}

struct member_asked {
    const char *role;
};

static const struct bind_field fields[] = {
    {"role", MIRE_BIND_TEXT, offsetof(struct member_asked, role), .required = true, .max = 16},
};

static int answer_put_member(struct call *call)
{
    struct member_asked asked = {.role = ""};
    struct account_row account;
    const char *before;
    int rc = call_body(&asked, call, fields, sizeof fields / sizeof *fields, "member");

    if (!rc && *asked.role && !access_role_parse(asked.role))
        return call_problem(call, 422, "member.wrong", "The role is viewer, triager, admin, or empty for none.");
    if (!rc)
        rc = people_of_path(&account, call, 1);
    if (!rc)
        rc = rows_member_set(&before, call->tx, call->arena, account.account, call->view.app, asked.role);
    if (!rc)
        rc = call_audit(call,
                        &(struct audit_row){
                            .action = "member.set", .subject = account.name, .before = before, .after = asked.role});
    if (!rc)
        rc = people_commit(call);
    json_write_open(&call->json, NULL, '{');
    json_write_close(&call->json, '}');
    return rc;
}

int put_member(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.has_app = true, .writes = true, .answer = answer_put_member};
    return call_run(api, request, reply, &kind);
}
