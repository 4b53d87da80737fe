/*
 * access.c - see access.h.
 */
#include "access/inside.h"

#include "access/dsn.h"
#include "access/origin.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/metric.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)

int access_new(struct access **out, const struct access_options *options)
{
    struct access *access = calloc(1, sizeof *access);
    if (!access)
        return MIRE_FAULT_MEMORY;
    access->options = *options;
    pthread_mutex_init(&access->load_mutex, NULL);
    pthread_mutex_init(&access->mutex, NULL);
    *out = access;
    return 0;
}

void access_free(struct access *access)
{
    if (!access)
        return;
    access_keys_free(access->keys);
    pthread_mutex_destroy(&access->mutex);
    pthread_mutex_destroy(&access->load_mutex);
    free(access);
}

/* Tell the store which keys were used, then forget them. */
static void note_used(const struct access *access, const struct access_keys *keys)
{
    int64_t *ids = access->options.used && keys ? calloc(keys->count + 1, sizeof *ids) : NULL;
    for (int of_people = 0; ids && of_people < 2; of_people++) {
        size_t count = 0;
        for (size_t i = 0; i < keys->count; i++)
            if ((keys->rows[i].account_id != 0) == of_people &&
                atomic_load_explicit(&keys->used[i], memory_order_relaxed))
                ids[count++] = keys->rows[i].key_id;
        if (count)
            (void)access->options.used(access->options.context, of_people, ids, count);
    }
    free(ids);
}

bool access_is_fresh(const struct access *access)
{
    uint64_t ttl_ns = (uint64_t)access->options.ttl_ms * MS;
    return access->loaded_ns && access->changes == access->loaded_changes &&
           clock_mono_ns() - access->loaded_ns <= ttl_ns;
}

void access_forget(struct access *access)
{
    pthread_mutex_lock(&access->mutex);
    access->changes++;
    pthread_mutex_unlock(&access->mutex);
}

int access_load(struct access *access, uint64_t seen_ns)
{
    int rc = 0;
    pthread_mutex_lock(&access->load_mutex);
    pthread_mutex_lock(&access->mutex);
    bool is_done = access->loaded_ns != seen_ns && access->changes == access->loaded_changes;
    uint64_t changes = access->changes;
    pthread_mutex_unlock(&access->mutex);
    struct access_keys *keys = is_done ? NULL : calloc(1, sizeof *keys);
    uint64_t now_ns = clock_mono_ns();
    if (!is_done)
        rc = keys ? access->options.load(access->options.context, keys) : MIRE_FAULT_MEMORY;
    if (!rc && keys && !access_keys_sort(keys))
        rc = MIRE_FAULT_MEMORY;
    if (!rc && keys) {
        pthread_mutex_lock(&access->mutex);
        struct access_keys *old = access->keys;
        access->keys = keys;
        access->loaded_ns = now_ns;
        access->loaded_changes = changes;
        pthread_mutex_unlock(&access->mutex);
        note_used(access, old);
        keys = old;
    }
    access_keys_free(keys);
    pthread_mutex_unlock(&access->load_mutex);
    return rc;
}

/*
 * A key that is not there may be one that was just made: so often a second all keys are read again for it. Beyond that
 * nobody knows whether it is good, so it is not refused.
 */
#define NEW_KEYS 1 /* name of the bucket */
static const struct access_rate new_keys = {10, 50};

bool access_may_seek(struct access *access)
{
    pthread_mutex_lock(&access->mutex);
    bool may = !buckets_take(&access->buckets, NEW_KEYS, &new_keys, clock_mono_ns());
    pthread_mutex_unlock(&access->mutex);
    return may;
}

bool access_is_secure(const struct access *access, const struct request *request)
{
    const char *scheme = request_header_last(request, "X-Forwarded-Proto");
    if (scheme && access_is_proxy(access, &request->peer))
        return !strcmp(scheme, "https");
    return origin_is_named(access->options.public_urls, "https", request->host);
}

bool access_may_sign_in(const struct access *access, const struct request *request)
{
    return access_is_secure(access, request) || origin_is_loopback(request->host) ||
           origin_is_named(access->options.public_urls, "http", request->host);
}

enum access_mode access_mode_of(const struct access *access)
{
    return access->options.mode;
}

/* --- may they ---------------------------------------------------------------------------------------------------- */

static bool scope_opens(enum access_scope has, int who)
{
    bool reads = has == MIRE_MAY_SYMBOLS || has == MIRE_MAY_ROLLOUT || has == MIRE_MAY_RULES;
    bool admins = has == MIRE_MAY_ADMIN && who != MIRE_MAY_INGEST && who <= MIRE_MAY_TRIAGE;
    return who == MIRE_MAY_KNOCK || (int)has == who || admins || (reads && who == MIRE_MAY_READ);
}

static int refuse_key(struct access *access, const struct request *request, struct reply *reply)
{
    int who = request->route->who;
    const char *scope = access_scope_name(who < MIRE_MAY_COUNT ? (enum access_scope)who : MIRE_MAY_ADMIN);
    atomic_fetch_add_explicit(&access->refused, 1, memory_order_relaxed);
    reply_header(reply, "WWW-Authenticate", "Bearer realm=\"mire\"");
    if (dsn_is_of(request))
        return reply_error(reply, request, 401, "key",
                           "The DSN has no valid key of this project: mire key create APP --dsn makes one.");
    return reply_error(reply, request, 401, "key",
                       "Send a valid key of scope %s: Authorization: Bearer mk_... (mire key create APP --scope %s)",
                       scope, scope);
}

/* A browser that follows a link is led to the page where people sign in, and back. */
static int lead_to_sign_in(const struct request *request, struct reply *reply)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/";
    bool is_plain = strspn(request->path, plain) == strlen(request->path);
    const char *to = arena_printf(request->arena, "/-/sign-in?next=%s", is_plain ? request->path : "/");
    if (!to || !reply_header(reply, "Location", to))
        return MIRE_FAULT_MEMORY;
    reply->status = 302;
    reply->body = "";
    reply_header(reply, "Cache-Control", "no-store");
    return MIRE_HTTP_DONE;
}

static int refuse_nobody(struct access *access, const struct request *request, struct reply *reply)
{
    const char *mode = request_header(request, "Sec-Fetch-Mode");
    if (access_role_of((enum access_scope)request->route->who) == MIRE_ACCESS_COUNT ||
        request->route->who == MIRE_MAY_SYMBOLS)
        return refuse_key(access, request, reply);
    atomic_fetch_add_explicit(&access->refused, 1, memory_order_relaxed);
    if (mode && !strcmp(mode, "navigate") && request->method == MIRE_HTTP_GET &&
        strncmp(request->path, "/api/", 5) != 0)
        return lead_to_sign_in(request, reply);
    reply_header(reply, "WWW-Authenticate", "Bearer realm=\"mire\"");
    return reply_error(reply, request, 401, "sign_in",
                       "Sign in, or send a key: Authorization: Bearer mk_... (mire login, or mire key create APP "
                       "--scope read)");
}

/* Judge a person. MIRE_HTTP_ADMITTED, or the reply is made. */
static int judge_person(struct access *access, const struct request *request, struct reply *reply,
                        const struct asker *asker)
{
    enum access_scope who = (enum access_scope)request->route->who;
    enum access_role least = access_role_of(who);
    const char *app = access_app_of(request);
    bool has_account = request->grant.account_id && strcmp(request->grant.via, "token") != 0;
    if (least == MIRE_ACCESS_COUNT || (who == MIRE_MAY_SYMBOLS && !*app))
        return refuse_key(access, request, reply);
    if (who == MIRE_MAY_SELF && !has_account)
        return reply_error(reply, request, 403, "role", "This needs a sign-in with an account; a token is not enough.");
    if (asker->role >= least)
        return MIRE_HTTP_ADMITTED;
    atomic_fetch_add_explicit(&access->refused, 1, memory_order_relaxed);
    if (asker->role == MIRE_ACCESS_NOBODY) /* the app is as good as none */
        return reply_error(reply, request, 404, NULL, "There is no app \"%.*s\".", TEXT_CUT(app, 63));
    return reply_error(reply, request, 403, "role", "This needs the role %s%s%.63s; you are %s. Ask an admin for it.",
                       access_role_name(least), *app ? " in " : "", app, access_role_name(asker->role));
}

static int judge_key(struct access *access, const struct request *request, struct reply *reply,
                     const struct asker *asker)
{
    const char *app = access_app_of(request);
    bool is_other_app =
        dsn_is_of(request) ? !dsn_names_app(request, asker->key.app_id) : *app && strcmp(asker->key.slug, app) != 0;
    if (!scope_opens(asker->key.scope, request->route->who) || is_other_app)
        return refuse_key(access, request, reply);
    return MIRE_HTTP_ADMITTED;
}

static int refuse_often(struct access *access, const struct request *request, struct reply *reply, const char *what,
                        unsigned wait_s)
{
    atomic_fetch_add_explicit(&access->limited, 1, memory_order_relaxed);
    reply_header(reply, "Retry-After", arena_printf(request->arena, "%u", wait_s));
    if (dsn_is_of(request))
        reply_header(reply, "X-Sentry-Rate-Limits", arena_printf(request->arena, "%u::organization", wait_s));
    return reply_error(reply, request, 429, "too_often",
                       "This %s sends more often than the server allows. Send it again in %u s.", what, wait_s);
}

/* The body of a call without a signature is not received (ticket/heard.h has the header of each tracker). Its sender has
 * tokens by address alone. */
static int judge_call(struct access *access, struct request *request, struct reply *reply)
{
    static const char *const headers[] = {"X-Hub-Signature-256", "X-Hub-Signature", "X-Gitlab-Token",
                                          "Linear-Signature"};
    const struct access_key nobody = {0};
    const char *what = "";
    bool is_signed = false;

    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        is_signed = is_signed || request_header(request, headers[i]);
    if (!is_signed) {
        atomic_fetch_add_explicit(&access->refused, 1, memory_order_relaxed);
        return reply_error(reply, request, 401, "tracker.signature", "The request has no header with a signature.");
    }
    access_client_of(&request->grant.client, access, request);
    unsigned wait_s = access_take_tokens(&what, access, request, &nobody);
    return wait_s ? refuse_often(access, request, reply, what, wait_s) : MIRE_HTTP_ADMITTED;
}

int access_check(void *context, struct request *request, struct reply *reply)
{
    struct access *access = context;
    struct asker asker;
    const char *what = "";
    int who = request->route->who;
    bool wants_key =
        who == MIRE_MAY_INGEST || who == MIRE_MAY_SIGN || (who == MIRE_MAY_SYMBOLS && !*access_app_of(request));
    if (origin_refuse(access->options.hosts, !wants_key && !request_bearer(request), request, reply))
        return MIRE_HTTP_DONE;
    if (!who)
        return MIRE_HTTP_ADMITTED;
    if (who == MIRE_MAY_SIGN)
        return judge_call(access, request, reply);
    int rc = access_identify(&asker, access, request);
    if (rc < 0 || rc == MIRE_HTTP_BLOCKS)
        return rc;
    if (rc == ASKER_LATER) {
        atomic_fetch_add_explicit(&access->limited, 1, memory_order_relaxed);
        return reply_retry(reply, request, 1, "busy", "Too many unknown keys are being checked. Try again soon.");
    }
    if (rc == ASKER_REFUSED)
        return refuse_key(access, request, reply);
    if (rc == ASKER_UNKNOWN)
        rc = who == MIRE_MAY_KNOCK ? MIRE_HTTP_ADMITTED : refuse_nobody(access, request, reply);
    else
        rc = asker.is_person ? judge_person(access, request, reply, &asker) : judge_key(access, request, reply, &asker);
    if (rc != MIRE_HTTP_ADMITTED)
        return rc;
    unsigned wait_s = request->method == MIRE_HTTP_GET ? 0 : access_take_tokens(&what, access, request, &asker.key);
    if (wait_s && who == MIRE_MAY_INGEST && access->options.limited)
        access->options.limited(access->options.limited_context, asker.key.app_id);
    return wait_s ? refuse_often(access, request, reply, what, wait_s) : MIRE_HTTP_ADMITTED;
}

void access_metrics(struct access *access, struct text *out)
{
    metric_head(out, "mire_access_refused_total", "counter", "Requests without a valid key of the required scope.");
    metric_value(out, "mire_access_refused_total", NULL, (double)access->refused);
    metric_head(out, "mire_access_limited_total", "counter", "Requests answered 429 by a rate limit.");
    metric_value(out, "mire_access_limited_total", NULL, (double)access->limited);
}
