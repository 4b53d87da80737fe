/*
 * oidc.c - GET /-/oidc/start and GET /-/oidc/callback: people sign in by an OpenID provider.
 *
 *     start -> provider -> callback -> account of issuer and subject, made at its first sign-in -> roles of its groups
 *                                   \-> /-/sign-in?failed=OUTCOME
 *
 * An account is found by issuer and subject alone: neither a name nor an address of e-mail leads into one.
 */
#include "access/access.h"
#include "access/cookie.h"
#include "api/handlers.h"
#include "api/people/people.h"
#include "base/log.h"
#include "base/text.h"
#include "oidc/oidc.h"
#include "rows/apps.h"
#include "rows/audit.h"
#include "rows/rows.h"

#include <stdlib.h>
#include <string.h>

#define COOKIE      "oidc"
#define LASTS_S     86400 /* of a sign-in: then the provider is asked again, and its groups are read again */
#define NAMES_MAX   99    /* of one name, by numbers behind it */
#define MEMBERS_MAX 512

static int redirect(struct call *call, const char *to)
{
    if (!to || !reply_header(call->reply, "Location", to))
        return MIRE_FAULT_MEMORY;
    call->reply->status = 302;
    call->reply->body = "";
    reply_header(call->reply, "Cache-Control", "no-store");
    return MIRE_HTTP_DONE;
}

static int give_cookie(struct call *call, const char *value, int lasts_s)
{
    bool is_secure = access_is_secure(call->api->access, call->request);
    const char *cookie = cookie_of(call->arena, COOKIE, value, lasts_s, is_secure);

    return cookie && reply_header(call->reply, "Set-Cookie", cookie) ? 0 : MIRE_FAULT_MEMORY;
}

/* The browser is led to the page where people sign in, which says why. A stranger can cause those logged at debug. */
static int fail(struct call *call, const char *outcome, const char *why)
{
    char address[MIRE_HTTP_PEER_TEXT];
    bool is_judged = !strcmp(outcome, "refused") || !strcmp(outcome, "untrusted") || !strcmp(outcome, "disabled");

    http_peer_format(address, &call->request->grant.client);
    log_event(call->api->log, is_judged ? MIRE_LOG_WARN : MIRE_LOG_DEBUG, "oidc.refused", LOG_TEXT("outcome", outcome),
              LOG_TEXT("why", why), LOG_TEXT("address", address), LOG_TEXT("request", call->request->id));
    int rc = give_cookie(call, "", 0);
    return rc ? rc : redirect(call, arena_printf(call->arena, "/-/sign-in?failed=%s", outcome));
}

static int no_provider(struct call *call)
{
    return reply_error(call->reply, call->request, 404, NULL, "No OpenID provider is configured: see docs/access.md.");
}

int get_oidc_start(void *api, struct request *request, struct reply *reply)
{
    struct call call = {.api = api, .request = request, .reply = reply, .arena = request->arena};
    const char *location, *next = request_query(request, "next"), *base = people_base(&call);
    char cookie[MIRE_OIDC_COOKIE], why[MIRE_OIDC_WHY] = "";

    if (!call.api->oidc)
        return no_provider(&call);
    if (!base)
        return MIRE_FAULT_MEMORY;
    if (!*request->host || !access_may_sign_in(call.api->access, request))
        return fail(&call, "insecure", "the request came over plain HTTP");
    int rc = oidc_begin(cookie, &location, why, call.api->oidc, call.arena, base, next ? next : "/");
    if (rc)
        return rc < 0 ? rc : fail(&call, oidc_outcome_name((enum oidc_outcome)rc), why);
    rc = give_cookie(&call, cookie, MIRE_OIDC_LASTS_S);
    return rc ? rc : redirect(&call, location);
}

/* --- roles ------------------------------------------------------------------------------------------------------- */

/* The role that groups give in one app ("": every app), or nothing. */
struct given {
    const char *app, *role;
};

static bool has_group(const struct oidc_person *person, const char *group)
{
    for (size_t i = 0; i < person->group_count; i++)
        if (!strcmp(person->groups[i], group))
            return true;
    return false;
}

static void add_given(struct given *all, size_t *count, const char *app, const char *role)
{
    size_t i = 0;

    while (i < *count && strcmp(all[i].app, app) != 0)
        i++;
    if (i == *count && *count < MEMBERS_MAX)
        all[(*count)++] = (struct given){app, role};
    else if (i < *count && access_role_parse(role) > access_role_parse(all[i].role))
        all[i].role = role;
}

/* The roles of the groups; without any, the default role. */
static size_t find_given(struct given *all, bool *is_server_admin, const struct api *api,
                         const struct oidc_person *person)
{
    size_t count = 0;

    *is_server_admin = false;
    for (size_t i = 0; i < api->oidc_role_count; i++) {
        const struct oidc_role *role = &api->oidc_roles[i];
        if (!has_group(person, role->group))
            continue;
        if (!strcmp(role->role, "server"))
            *is_server_admin = true;
        else
            add_given(all, &count, role->app, role->role);
    }
    if (!count && !*is_server_admin && strcmp(api->oidc_default_role, "none") != 0)
        add_given(all, &count, "", api->oidc_default_role);
    return count;
}

/*
 * Set the role of an app; what it was goes into `before` and what it is into `after` where they differ. 0 or a fault.
 */
static int set_role(struct call *call, int64_t account, const struct given *given, struct text *before,
                    struct text *after)
{
    int32_t app = MIRE_EVERY_APP;
    const char *was;
    int rc = *given->app ? rows_app_read(&app, call->tx, given->app) : 0;

    if (rc == READ_NONE) {
        log_event(call->api->log, MIRE_LOG_WARN, "oidc.no_such_app", LOG_TEXT("app", given->app),
                  LOG_TEXT("what", "oidc_roles names an app that is not there."));
        return 0;
    }
    if (!rc)
        rc = rows_member_set(&was, call->tx, call->arena, account, app, given->role);
    if (rc || !strcmp(was, given->role))
        return rc;
    const char *of = *given->app ? given->app : "every app";
    if (*was)
        text_printf(before, "%s%s of %s", before->len ? ", " : "", was, of);
    if (*given->role)
        text_printf(after, "%s%s of %s", after->len ? ", " : "", given->role, of);
    return 0;
}

/* Roles that the groups do not give end. */
static int end_others(struct call *call, int64_t account, const struct given *all, size_t count, struct text *before,
                      struct text *after)
{
    struct member_row *members;
    size_t member_count;
    int rc = rows_member_list(&members, &member_count, call->tx, call->arena, account, -1);

    for (size_t m = 0; !rc && m < member_count; m++) {
        size_t i = 0;
        while (i < count && strcmp(all[i].app, members[m].slug) != 0)
            i++;
        if (i == count)
            rc = set_role(call, account, &(struct given){members[m].slug, ""}, before, after);
    }
    return rc;
}

static int write_roles(struct call *call, const struct account_row *account, bool is_server_admin, struct text *before,
                       struct text *after)
{
    if (account->is_server_admin != is_server_admin)
        text_add(is_server_admin ? after : before, "; server admin");
    if (!before->len && !after->len)
        return 0;
    text_append(before, "", 1);
    text_append(after, "", 1);
    if (text_failed(before) || text_failed(after))
        return MIRE_FAULT_MEMORY;
    return call_audit(call, &(struct audit_row){.action = "account.changed",
                                                .subject = account->name,
                                                .before = before->bytes + strspn(before->bytes, "; "),
                                                .after = after->bytes + strspn(after->bytes, "; "),
                                                .reason = "groups of the OpenID provider"});
}

/* With oidc_roles the provider decides at each sign-in; without, a new account gets the role that everybody has. */
static int give_roles(struct call *call, const struct account_row *account, bool is_new,
                      const struct oidc_person *person)
{
    MIRE_SCOPED(text_fini) struct text before = {0}, after = {0};
    struct given *all = arena_array(call->arena, MEMBERS_MAX, sizeof *all);
    bool is_server_admin;
    int rc = 0;

    if (!call->api->oidc_role_count && !is_new)
        return 0;
    if (!all)
        return MIRE_FAULT_MEMORY;
    size_t count = find_given(all, &is_server_admin, call->api, person);
    for (size_t i = 0; !rc && i < count; i++)
        rc = set_role(call, account->account, &all[i], &before, &after);
    if (!rc)
        rc = end_others(call, account->account, all, count, &before, &after);
    if (!rc && account->is_server_admin != is_server_admin)
        rc = rows_account_set_admin(call->tx, account->account, is_server_admin);
    return rc ? rc : write_roles(call, account, is_server_admin, &before, &after);
}

/* --- the account ------------------------------------------------------------------------------------------------- */

/* A new account under the person's name, or that with a number behind it: another's name is never taken over. */
static int add_account(struct account_row *out, struct call *call, const struct oidc_person *person)
{
    int rc = ACCOUNT_THERE;

    *out = (struct account_row){.source = "oidc"};
    for (int n = 1; rc == ACCOUNT_THERE && n <= NAMES_MAX; n++) {
        out->name = n == 1 ? person->name : arena_printf(call->arena, "%s-%d", person->name, n);
        if (!out->name)
            return MIRE_FAULT_MEMORY;
        rc = rows_account_add(&out->account, call->tx, out->name, "oidc", person->subject, false);
    }
    if (rc)
        return rc == ACCOUNT_THERE ? MIRE_FAULT_RACED : rc;
    call->request->grant.who = out->name;
    return call_audit(call, &(struct audit_row){.action = "account.added",
                                                .subject = out->name,
                                                .reason = arena_printf(call->arena, "OpenID subject %.*s",
                                                                       TEXT_CUT(person->subject, 300))});
}

static int find_account(struct account_row *out, bool *is_new, struct call *call, const struct oidc_person *person)
{
    int rc = rows_account_of_subject(out, call->tx, call->arena, person->subject);

    *is_new = false;
    if (rc != ACCOUNT_NONE)
        return rc;
    rc = pg_query(NULL, call->tx, "LOCK TABLE account IN SHARE ROW EXCLUSIVE MODE");
    if (!rc) /* another sign-in may have made it meanwhile */
        rc = rows_account_of_subject(out, call->tx, call->arena, person->subject);
    if (rc != ACCOUNT_NONE)
        return rc;
    *is_new = true;
    return add_account(out, call, person);
}

static int enter(struct call *call, const struct oidc_person *person, const char *next)
{
    struct account_row account;
    bool is_new;
    int rc = find_account(&account, &is_new, call, person);

    if (!rc && account.disabled_us)
        return fail(call, "disabled", arena_printf(call->arena, "the account %s is disabled", account.name));
    if (!rc)
        rc = people_end_own(call);
    call->request->grant.who = rc ? "" : account.name;
    call->request->grant.via = "sign-in";
    if (!rc)
        rc = give_roles(call, &account, is_new, person);
    call->request->grant.via = "nobody"; /* its own sign-in has ended */
    if (!rc)
        rc = people_enter(call, &(struct people_enter){.account = account.account,
                                                       .name = account.name,
                                                       .reason = "OpenID provider",
                                                       .lasts_s = LASTS_S});
    if (!rc)
        rc = give_cookie(call, "", 0);
    return rc ? rc : redirect(call, next);
}

/* A refusal that may be an attack is in the audit log. */
static int refuse(struct call *call, enum oidc_outcome outcome, const char *why)
{
    int rc = 0;

    if (outcome == OIDC_UNTRUSTED || outcome == OIDC_REFUSED)
        rc = call_audit(call,
                        &(struct audit_row){.action = "sign-in.failed", .subject = "OpenID provider", .reason = why});
    if (!rc)
        rc = pg_commit(&call->tx);
    return rc ? rc : fail(call, oidc_outcome_name(outcome), why);
}

static int finish(struct call *call, const struct oidc_return *back)
{
    struct oidc_person person;
    char why[MIRE_OIDC_WHY] = "";
    const char *next = oidc_next(call->arena, back->cookie);
    int outcome = oidc_finish(&person, why, call->api->oidc, call->arena, back);

    if (outcome < 0 || !next)
        return outcome < 0 ? outcome : MIRE_FAULT_MEMORY;
    int rc = pg_begin(&call->tx, call->api->pg, MIRE_PG_WRITE); /* after the provider answered: it may be slow */
    if (rc)
        return rc;
    return outcome ? refuse(call, (enum oidc_outcome)outcome, why) : enter(call, &person, next);
}

int get_oidc_callback(void *api, struct request *request, struct reply *reply)
{
    struct call call = {.api = api, .request = request, .reply = reply, .arena = request->arena};
    char cookie[MIRE_OIDC_COOKIE];
    bool has_cookie = cookie_find(cookie, sizeof cookie, request, COOKIE, access_is_secure(call.api->access, request));
    const struct oidc_return back = {.cookie = has_cookie ? cookie : NULL,
                                     .base = people_base(&call),
                                     .state = request_query(request, "state"),
                                     .code = request_query(request, "code"),
                                     .issuer = request_query(request, "iss"),
                                     .error = request_query(request, "error")};

    if (!call.api->oidc)
        return no_provider(&call);
    if (!back.base)
        return MIRE_FAULT_MEMORY;
    if (!has_cookie || !back.state)
        return fail(&call, oidc_outcome_name(OIDC_STALE), "this browser began no sign-in");
    if (access_wait_for_provider(call.api->access, &request->grant.client))
        return fail(&call, oidc_outcome_name(OIDC_BUSY), "too many sign-ins from this address");
    int rc = finish(&call, &back);
    pg_end(&call.tx);
    return rc;
}
