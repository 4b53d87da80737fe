/*
 * access.c - see access.h.
 */
#include "access/access.h"

#include "access/dsn.h"
#include "access/keys.h"
#include "access/origin.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/hash.h"
#include "base/metric.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)

struct access {
    struct access_options options;
    pthread_mutex_t load_mutex; /* one thread loads; taken before `mutex` */
    pthread_mutex_t mutex;
    struct access_keys *keys; /* guarded by mutex; replaced as a whole */
    uint64_t loaded_ns;       /* guarded by mutex; 0: never */
    struct buckets buckets;   /* guarded by mutex */
    _Atomic uint64_t refused, limited;
};

static const char *const names[MIRE_MAY_COUNT] = {
    [MIRE_MAY_INGEST] = "ingest", [MIRE_MAY_SYMBOLS] = "symbols", [MIRE_MAY_ROLLOUT] = "rollout",
    [MIRE_MAY_RULES] = "rules",   [MIRE_MAY_READ] = "read",       [MIRE_MAY_ADMIN] = "admin"};

const char *access_scope_name(enum access_scope scope)
{
    return names[scope] ? names[scope] : "";
}

enum access_scope access_scope_parse(const char *name)
{
    for (int s = 1; s < MIRE_MAY_COUNT; s++)
        if (!strcmp(names[s], name))
            return (enum access_scope)s;
    return (enum access_scope)0;
}

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
static void tell_used(const struct access *access, const struct access_keys *keys)
{
    size_t count = 0;
    int64_t *ids = access->options.used && keys ? calloc(keys->count + 1, sizeof *ids) : NULL;
    for (size_t i = 0; ids && i < keys->count; i++)
        if (atomic_load_explicit(&keys->used[i], memory_order_relaxed))
            ids[count++] = keys->rows[i].key_id;
    if (count)
        (void)access->options.used(access->options.context, ids, count);
    free(ids);
}

/* Read all keys, unless somebody else did so since `seen_ns`. Blocks. 0 or a fault. */
static int load(struct access *access, uint64_t seen_ns)
{
    int rc = 0;
    pthread_mutex_lock(&access->load_mutex);
    pthread_mutex_lock(&access->mutex);
    bool is_done = access->loaded_ns != seen_ns;
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
        pthread_mutex_unlock(&access->mutex);
        tell_used(access, old);
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

enum key_state { FOUND, STALE, UNKNOWN };

/* By the keys that were read last. *seen_ns_out: when. */
static enum key_state look_up(struct access_key *out, uint64_t *seen_ns_out, struct access *access,
                              const uint8_t hash[MIRE_KEY_HASH])
{
    uint64_t now_ns = clock_mono_ns(), ttl_ns = (uint64_t)access->options.ttl_ms * MS;
    pthread_mutex_lock(&access->mutex);
    const struct access_key *key = access->keys ? access_keys_find(access->keys, hash) : NULL;
    uint64_t age_ns = access->loaded_ns ? now_ns - access->loaded_ns : UINT64_MAX;
    if (key) {
        *out = *key;
        atomic_store_explicit(&access->keys->used[key - access->keys->rows], true, memory_order_relaxed);
    }
    *seen_ns_out = access->loaded_ns;
    pthread_mutex_unlock(&access->mutex);
    return !key ? UNKNOWN : age_ns > ttl_ns ? STALE : FOUND;
}

static bool may_read_keys(struct access *access)
{
    pthread_mutex_lock(&access->mutex);
    bool may = !buckets_take(&access->buckets, NEW_KEYS, &new_keys, clock_mono_ns());
    pthread_mutex_unlock(&access->mutex);
    return may;
}

enum verdict { GOOD = MIRE_HTTP_ADMITTED + 1, BAD, LATER }; /* beside MIRE_HTTP_BLOCKS and faults */

/* The key of the request: *out and GOOD, BAD, LATER if it cannot be told now, MIRE_HTTP_BLOCKS, or a fault. */
static int find_key(struct access_key *out, struct access *access, const struct request *request)
{
    char room[MIRE_KEY_TEXT];
    const char *sent = dsn_is_of(request) ? dsn_key(room, request) : request_bearer(request);
    uint8_t hash[MIRE_KEY_HASH];
    uint64_t seen_ns;
    size_t len = sent ? strlen(sent) : 0;
    if (!sent || !key_is_wellformed(sent, len))
        return BAD;
    key_hash(hash, sent, len);
    enum key_state found = look_up(out, &seen_ns, access, hash);
    if (found != FOUND && !request->may_block)
        return found == STALE || !seen_ns || may_read_keys(access) ? MIRE_HTTP_BLOCKS : LATER;
    if (found != FOUND) {
        int rc = load(access, seen_ns);
        if (rc)
            return rc;
        found = look_up(out, &seen_ns, access, hash);
    }
    bool is_over = out->expires_us && out->expires_us <= access->options.now_us();
    return found == UNKNOWN || is_over ? BAD : GOOD;
}

static bool scope_opens(enum access_scope has, int who)
{
    bool reads = has == MIRE_MAY_SYMBOLS || has == MIRE_MAY_ROLLOUT || has == MIRE_MAY_RULES;
    return (int)has == who || (has == MIRE_MAY_ADMIN && who != MIRE_MAY_INGEST) || (reads && who == MIRE_MAY_READ);
}

/* Routes about one app name it first, those of Sentry's SDKs by its number. */
static bool is_of_other_app(const struct request *request, const struct access_key *key)
{
    if (dsn_is_of(request))
        return !dsn_names_app(request, key->app_id);
    static const char of_app[] = "/api/v1/apps/{app}";
    return !strncmp(request->route->pattern, of_app, sizeof of_app - 1) &&
           strcmp(key->slug, request_param(request, 0)) != 0;
}

static int refuse(struct access *access, const struct request *request, struct reply *reply)
{
    int who = request->route->who == MIRE_MAY_TRIAGE ? MIRE_MAY_ADMIN : request->route->who;
    const char *scope = access_scope_name((enum access_scope)who);
    atomic_fetch_add_explicit(&access->refused, 1, memory_order_relaxed);
    reply_header(reply, "WWW-Authenticate", "Bearer realm=\"mire\"");
    if (dsn_is_of(request))
        return reply_error(reply, request, 401, "key",
                           "The DSN has no good key of this project: mire key create APP --dsn makes one.");
    return reply_error(reply, request, 401, "key",
                       "Send a good key of scope %s: Authorization: Bearer mk_... (mire key create APP --scope %s)",
                       scope, scope);
}

/* --- how often --------------------------------------------------------------------------------------------------- */

/* The client's address: of X-Forwarded-For, the last one that no trusted proxy wrote of itself. */
static void client_of(struct http_peer *out, const struct access *access, const struct request *request)
{
    const char *sent = request_header(request, "X-Forwarded-For");
    char list[512];
    *out = request->peer;
    if (!sent || !http_peer_is_among(out, access->options.proxies, access->options.proxy_count))
        return;
    size_t len = strlen(sent), from = len < sizeof list ? 0 : len - sizeof list + 1;
    memcpy(list, sent + from, len - from + 1);
    for (char *comma = list + strlen(list); comma != list;) {
        comma = strrchr(list, ',');
        char *part = comma ? comma + 1 : list;
        struct http_peer peer;
        if (!http_peer_parse(&peer, part + strspn(part, " \t")))
            return;
        *out = peer;
        if (!comma || !http_peer_is_among(&peer, access->options.proxies, access->options.proxy_count))
            return;
        *comma = '\0';
    }
}

static uint64_t name_of(const char *kind, const void *bytes, size_t len)
{
    return fnv_bytes(fnv_text(MIRE_HASH_START, kind), bytes, len) | 1;
}

/* Seconds until the request may be sent again; 0: it may go on. *what_out: the limit that it reached. */
static unsigned take_tokens(const char **what_out, struct access *access, const struct request *request,
                            const struct access_key *key)
{
    const struct access_options *options = &access->options;
    struct http_peer client;
    client_of(&client, access, request);
    const struct {
        const char *what;
        const struct access_rate *rate;
        uint64_t name;
    } limits[] = {{"address", http_peer_is_loopback(&client) ? NULL : &options->address,
                   name_of("address", client.address, http_peer_is_v4(&client) ? 16 : 8)},
                  {"key", &options->key, name_of("key", &key->key_id, sizeof key->key_id)},
                  {"app", &options->app, name_of("app", &key->app_id, sizeof key->app_id)}};
    unsigned wait = 0;
    uint64_t now_ns = clock_mono_ns();
    pthread_mutex_lock(&access->mutex);
    for (size_t i = 0; !wait && i < sizeof limits / sizeof *limits; i++) {
        if (!limits[i].rate || limits[i].rate->per_s <= 0)
            continue;
        wait = buckets_take(&access->buckets, limits[i].name, limits[i].rate, now_ns);
        *what_out = limits[i].what;
    }
    pthread_mutex_unlock(&access->mutex);
    return wait;
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

int access_check(void *context, struct request *request, struct reply *reply)
{
    struct access *access = context;
    struct access_key key = {0};
    const char *what = "";
    int who = request->route->who;
    bool is_open = !who || ((who == MIRE_MAY_READ || who == MIRE_MAY_TRIAGE) && !request_bearer(request));
    if (origin_refuse(access->options.hosts, is_open, request, reply))
        return MIRE_HTTP_DONE;
    if (is_open)
        return MIRE_HTTP_ADMITTED;
    int rc = find_key(&key, access, request);
    if (rc < 0 || rc == MIRE_HTTP_BLOCKS)
        return rc;
    if (rc == LATER) {
        atomic_fetch_add_explicit(&access->limited, 1, memory_order_relaxed);
        return reply_retry(reply, request, 1, "busy", "Too many unknown keys are asked for now. Try again soon.");
    }
    if (rc == BAD || !scope_opens(key.scope, who) || is_of_other_app(request, &key))
        return refuse(access, request, reply);
    request->grant = (struct http_grant){.app_id = key.app_id, .key_id = key.key_id};
    bool sends = request->method == MIRE_HTTP_POST || request->method == MIRE_HTTP_PUT;
    unsigned wait_s = sends ? take_tokens(&what, access, request, &key) : 0;
    return wait_s ? refuse_often(access, request, reply, what, wait_s) : MIRE_HTTP_ADMITTED;
}

void access_metrics(struct access *access, struct text *out)
{
    metric_head(out, "mire_access_refused_total", "counter", "Requests without a good key of the scope they need.");
    metric_value(out, "mire_access_refused_total", NULL, (double)access->refused);
    metric_head(out, "mire_access_limited_total", "counter", "Requests answered 429 for coming too often.");
    metric_value(out, "mire_access_limited_total", NULL, (double)access->limited);
}
