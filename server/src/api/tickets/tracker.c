/* tracker.c - GET, PUT and DELETE .../tracker: the project in which tickets of an app are made. No answer contains the
 * token. */
#include "api/call.h"
#include "api/handlers.h"
#include "api/parts.h"
#include "base/fault.h"
#include "base/vault.h"
#include "rows/audit.h"
#include "rows/rows.h"
#include "rows/ticket.h"
#include "ticket/tracker.h"

#include <string.h>

#define ADDRESS_MAX  500
#define PROJECT_MAX  200
#define TOKEN_MAX    1000
#define SECRET_MAX   200
#define SECRET_MIN   16
#define SECRET_BYTES 32

static const char *const no_names[] = {NULL};

static const struct bind_field fields[] = {
    {"kind", MIRE_BIND_TEXT, offsetof(struct tracker_row, kind), .required = true, .max = 16},
    {"address", MIRE_BIND_TEXT, offsetof(struct tracker_row, address), .required = true, .max = ADDRESS_MAX},
    {"project", MIRE_BIND_TEXT, offsetof(struct tracker_row, project), .required = true, .max = PROJECT_MAX},
    {"token", MIRE_BIND_TEXT, offsetof(struct tracker_row, token), .max = TOKEN_MAX},
    {"secret", MIRE_BIND_TEXT, offsetof(struct tracker_row, secret), .max = SECRET_MAX},
    {"closed_resolves", MIRE_BIND_BOOL, offsetof(struct tracker_row, closed_resolves), .required = false},
    {"reopened_opens", MIRE_BIND_BOOL, offsetof(struct tracker_row, reopened_opens), .required = false},
};

/* Answer with the tracker, or null; and with the secret of a new webhook. */
static void put(struct call *call, const struct tracker_row *tracker, const char *secret)
{
    struct json_writer *w = &call->json;

    json_write_open(w, NULL, '{');
    if (!tracker) {
        json_write_null(w, "tracker");
    } else {
        json_write_open(w, "tracker", '{');
        json_write_text(w, "kind", tracker->kind);
        json_write_text(w, "address", tracker->address);
        json_write_text(w, "project", tracker->project);
        json_write_bool(w, "closed_resolves", tracker->closed_resolves);
        json_write_bool(w, "reopened_opens", tracker->reopened_opens);
        json_write_text(w, "made_by", tracker->made_by);
        json_write_close(w, '}');
    }
    if (secret)
        json_write_text(w, "secret", secret);
    json_write_close(w, '}');
}

static int answer_get(struct call *call)
{
    struct tracker_row tracker;
    int rc = rows_tracker_read(&tracker, call->tx, call->arena, call->view.app);

    if (!rc || rc == READ_NONE)
        put(call, rc ? NULL : &tracker, NULL);
    return rc == READ_NONE ? 0 : rc;
}

int get_tracker(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.names = no_names, .has_app = true, .answer = answer_get};
    return call_run(api, request, reply, &kind);
}

/* Is the text printable and without spaces, so that it cannot end a header or an address? */
static bool is_plain(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text <= ' ' || (unsigned char)*text >= 0x7f)
            return false;
    return true;
}

/* Is it a name for a path, other than . and ..? */
static bool is_name(const char *text, size_t len)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";

    return len && strspn(text, plain) == len && strspn(text, ".") != len;
}

/* owner/name, of GitHub; the others put the project into a query or a body. */
static bool is_path(const char *text)
{
    const char *slash = strchr(text, '/');

    return slash && is_name(text, (size_t)(slash - text)) && is_name(slash + 1, strlen(slash + 1));
}

/* The invalid part, in words; NULL: valid. has_token: a stored token may stay. */
static const char *wrong_with(const struct tracker_row *asked, bool has_token)
{
    bool http = !strncmp(asked->address, "https://", 8) || !strncmp(asked->address, "http://", 7);

    if (!tracker_is_known(asked->kind))
        return "The kind is github, gitlab, jira or linear.";
    if (!http || !is_plain(asked->address) || strpbrk(asked->address, "?#@\\"))
        return "The address is that of the tracker's API, https://...";
    if (!*asked->project || !is_plain(asked->project))
        return "Name the project: owner/name, a key, a number or the id of a team.";
    if (!strcmp(asked->kind, "github") && !is_path(asked->project))
        return "A project of GitHub is owner/name.";
    if (!(*asked->token || has_token) || !is_plain(asked->token))
        return "A tracker needs a token, without spaces.";
    if (*asked->secret && (!is_plain(asked->secret) || strlen(asked->secret) < SECRET_MIN))
        return "A secret has 16 characters or more, without spaces; leave it out, and one is made.";
    return NULL;
}

/* Seal the token and the secret; without a new value the stored one stays. */
static int seal(struct tracker_row *asked, struct call *call, const struct tracker_row *before)
{
    const struct vault *vault = call->api->vault;
    struct arena *arena = call->arena;

    asked->token = *asked->token ? vault_seal(vault, arena, MIRE_VAULT_TRACKER_TOKEN, call->view.app, asked->token)
                                 : before->token;
    asked->secret = *asked->secret ? vault_seal(vault, arena, MIRE_VAULT_TRACKER_SECRET, call->view.app, asked->secret)
                                   : before->secret;
    return asked->token && asked->secret ? 0 : MIRE_FAULT_MEMORY;
}

static int set(struct call *call, struct tracker_row *asked, const struct tracker_row *before)
{
    char secret[2 * SECRET_BYTES + 1];
    uint8_t bytes[SECRET_BYTES];
    bool is_new = !*asked->secret && (!before || strcmp(before->kind, asked->kind) != 0);

    random_fill(bytes, sizeof bytes);
    hex_format(secret, bytes, sizeof bytes);
    if (is_new)
        asked->secret = secret;
    asked->made_by = call->request->grant.who ? call->request->grant.who : "";
    int rc = seal(asked, call, before);
    if (!rc)
        rc = rows_tracker_write(call->tx, call->view.app, asked);
    if (!rc)
        rc = call_audit(call,
                        &(struct audit_row){
                            .action = "tracker.set",
                            .subject = call->slug,
                            .before = before ? arena_printf(call->arena, "%s %s", before->kind, before->project) : "",
                            .after = arena_printf(call->arena, "%s %s at %s%s%s", asked->kind, asked->project,
                                                  asked->address, asked->closed_resolves ? "; closing resolves" : "",
                                                  asked->reopened_opens ? "; reopening opens" : "")});
    if (!rc)
        rc = pg_commit(&call->tx);
    if (!rc)
        put(call, asked, is_new ? secret : NULL);
    return rc;
}

/* Without slashes at its end. NULL: no memory. */
static const char *trimmed(struct call *call, const char *address)
{
    size_t len = strlen(address);

    while (len && address[len - 1] == '/')
        len--;
    return arena_copy(call->arena, address, len);
}

static int answer_put(struct call *call)
{
    struct tracker_row asked = {.token = "", .secret = "", .closed_resolves = true, .reopened_opens = true}, before;
    int rc = call_body(&asked, call, fields, sizeof fields / sizeof *fields, "tracker");
    int there = rc ? rc : rows_tracker_read(&before, call->tx, call->arena, call->view.app);

    if (there && there != READ_NONE)
        return there;
    if (!rc && !(asked.address = trimmed(call, asked.address)))
        rc = MIRE_FAULT_MEMORY;
    if (rc)
        return rc;
    bool is_same = !there && !strcmp(before.kind, asked.kind) && !strcmp(before.address, asked.address);
    const char *wrong = wrong_with(&asked, is_same); /* a token is only sent to the host for which it was given */
    if (wrong)
        return call_problem(call, 422, "tracker.wrong", "%s", wrong);
    return set(call, &asked, there ? NULL : &before);
}

int put_tracker(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.names = no_names, .has_app = true, .writes = true, .answer = answer_put};
    return call_run(api, request, reply, &kind);
}

static int answer_delete(struct call *call)
{
    int rc = rows_tracker_remove(call->tx, call->view.app);

    if (rc == READ_NONE)
        return call_missing(call, "App %.63s has no tracker.", call->slug);
    if (!rc)
        rc = call_audit(call, &(struct audit_row){.action = "tracker.removed", .subject = call->slug});
    if (!rc)
        rc = pg_commit(&call->tx);
    if (!rc)
        put(call, NULL, NULL);
    return rc;
}

int delete_tracker(void *api, struct request *request, struct reply *reply)
{
    static const struct call_kind kind = {.names = no_names, .has_app = true, .writes = true, .answer = answer_delete};
    return call_run(api, request, reply, &kind);
}
