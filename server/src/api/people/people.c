/* people.c - see people.h. */
#include "api/people/people.h"

#include "access/access.h"
#include "access/cookie.h"
#include "access/password.h"
#include "api/params.h"
#include "rows/audit.h"
#include "rows/credential.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

#define LINK_S (3 * 24 * 3600)

const char *people_fold(struct call *call, const char *name)
{
    char *folded = arena_strdup(call->arena, name);

    for (char *c = folded; c && *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return folded && rows_account_is_name(folded) ? folded : NULL;
}

static int give_cookie(struct call *call, const char *secret, int lasts_s)
{
    bool is_secure = access_is_secure(call->api->access, call->request);
    const char *cookie = cookie_of_sign_in(call->arena, secret, lasts_s, is_secure);

    return cookie && reply_header(call->reply, "Set-Cookie", cookie) ? 0 : MIRE_FAULT_MEMORY;
}

const char *people_base(const struct call *call)
{
    bool is_secure = access_is_secure(call->api->access, call->request);

    return arena_printf(call->arena, "%s://%.255s", is_secure ? "https" : "http", call->request->host);
}

int people_end_own(struct call *call)
{
    const struct http_grant *grant = &call->request->grant;

    if (strcmp(grant->via, "sign-in") != 0)
        return 0;
    int rc = rows_credential_revoke(call->tx, grant->account_id, "sign-in", grant->credential_id);
    return rc == CREDENTIAL_NONE ? 0 : rc;
}

int people_enter(struct call *call, const struct people_enter *enter)
{
    int rc = people_end_own(call);

    call->request->grant.who = enter->name; /* whose password, link or provider it was */
    call->request->grant.via = "sign-in";
    if (!rc)
        rc = people_sign_in(call, enter->account, enter->lasts_s);
    if (!rc)
        rc = call_audit(call,
                        &(struct audit_row){.action = "sign-in.made", .subject = enter->name, .reason = enter->reason});
    return rc ? rc : people_commit(call);
}

int people_sign_in(struct call *call, int64_t account, int lasts_s)
{
    const char *agent = request_header(call->request, "User-Agent");
    char secret[MIRE_KEY_TEXT], address[MIRE_HTTP_PEER_TEXT], label[201];
    size_t len = 0;

    while (agent && agent[len] && len < sizeof label - 1) {
        label[len] = agent[len] >= ' ' && agent[len] < 0x7f ? agent[len] : '?';
        len++;
    }
    label[len] = '\0';
    http_peer_format(address, &call->request->grant.client);
    int rc = rows_credential_add(
        secret, call->tx,
        &(struct credential_new){
            .account = account, .kind = "sign-in", .label = label, .address = address, .lasts_s = lasts_s});
    return rc ? rc : give_cookie(call, secret, lasts_s);
}

int people_drop_cookie(struct call *call)
{
    return give_cookie(call, "", 0);
}

int people_of_path(struct account_row *out, struct call *call, size_t param)
{
    const char *name = people_fold(call, request_param(call->request, param));
    int rc = name ? rows_account_find(out, call->tx, call->arena, name) : ACCOUNT_NONE;

    if (rc == ACCOUNT_NONE)
        return call_missing(call, "There is no account \"%.*s\".", TEXT_CUT(request_param(call->request, param), 100));
    return rc;
}

int people_check_password(struct call *call, const char *password)
{
    size_t len = strlen(password);

    if (len >= MIRE_PASSWORD_MIN && len <= MIRE_PASSWORD_MAX)
        return 0;
    return call_problem(call, 422, "password.length", "A password has from %d to %d bytes.", MIRE_PASSWORD_MIN,
                        MIRE_PASSWORD_MAX);
}

int people_make_link(const char **path_out, struct call *call, int64_t account)
{
    char secret[MIRE_KEY_TEXT];
    int rc = rows_credential_end_links(call->tx, account);

    if (!rc)
        rc = rows_credential_add(secret, call->tx,
                                 &(struct credential_new){.account = account, .kind = "link", .lasts_s = LINK_S});
    if (!rc && !(*path_out = arena_printf(call->arena, "/-/welcome#%s", secret)))
        rc = MIRE_FAULT_MEMORY;
    return rc;
}

int people_number(int64_t *out, struct call *call, size_t param, const char *what)
{
    if (integer_parse(out, request_param(call->request, param), 1, INT64_MAX) == 0)
        return 0;
    return call_missing(call, "\"%.*s\" is no number of a %s.", TEXT_CUT(request_param(call->request, param), 40),
                        what);
}

int people_commit(struct call *call)
{
    int rc = pg_commit(&call->tx);

    access_forget(call->api->access);
    return rc;
}
