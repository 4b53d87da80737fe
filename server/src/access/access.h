/*
 * access.h - who may: the keys that requests bear, asked when the headers are there, on every route that names a scope.
 *
 *     http_route.who -> access_check: host, origin -> key -> scope -> app of the path -> token buckets -> grant
 *
 * All good keys are held in memory and read again every few seconds by one query. So a request costs no query. A crowd
 * of unknown keys costs ten a second; beyond that an unknown key is answered 503, because it may be a new one.
 *
 * Threads: any. access_check does not wait unless request->may_block is set.
 */
#ifndef MIRE_ACCESS_ACCESS_H
#define MIRE_ACCESS_ACCESS_H

#include "base/id.h"
#include "http/http.h"

/*
 * Scope of a key, and who of a route. 0: anyone.
 *
 * There is no sign-in yet: a request without a key may read and triage. One that bears a key is judged by it, so that a
 * proxy may let requests with a key pass that it would else ask for a password.
 */
enum access_scope {
    MIRE_MAY_INGEST = 1, /* send reports, ask for the rollout */
    MIRE_MAY_SYMBOLS,    /* send debug files; read */
    MIRE_MAY_ROLLOUT,    /* change the rollout; read */
    MIRE_MAY_RULES,      /* preview and change the rules for blame; read */
    MIRE_MAY_READ,       /* read what the dashboard shows */
    MIRE_MAY_ADMIN,      /* all but ingest */
    MIRE_MAY_COUNT,
    /* who of a route, and no scope: merge, split and the like. Those who see the dashboard may, and keys of admin. */
    MIRE_MAY_TRIAGE = MIRE_MAY_COUNT,
};

/* "ingest", "symbols" ...; static. */
const char *access_scope_name(enum access_scope scope);

/* 0 if it is none. */
enum access_scope access_scope_parse(const char *name);

/*
 * How the paths of Sentry's SDKs begin. A request there bears its key as an SDK does: in X-Sentry-Auth, in
 * Authorization: Sentry, or as ?sentry_key=. The project is the number of the key's app.
 */
#define MIRE_SENTRY_PATH "/api/{project}/"

#define MIRE_ACCESS_SLUG 64

struct access_key {
    uint8_t hash[MIRE_KEY_HASH];
    int64_t key_id;
    int32_t app_id;
    enum access_scope scope;
    int64_t expires_us;          /* wall clock; 0: never */
    char slug[MIRE_ACCESS_SLUG]; /* of the app */
};

struct access_keys;

/* Add a key to those that are being loaded. False: no memory. */
bool access_keys_add(struct access_keys *keys, const struct access_key *key);

/* Requests a second, and how many may come at once after a pause. 0: no limit. */
struct access_rate {
    double per_s, burst;
};

struct access_options {
    void *context;
    /* Add all good keys. 0 or a fault. Blocks. */
    int (*load)(void *context, struct access_keys *keys);
    /* Keys that were used since the last call; may be NULL. Blocks. 0 or a fault, which loses nothing but the date. */
    int (*used)(void *context, const int64_t *key_ids, size_t count);
    int64_t (*now_us)(void);
    int ttl_ms;                           /* keys are read anew after so long */
    const char *hosts;                    /* besides addresses and localhost, separated by spaces */
    struct access_rate key, app, address; /* of requests that send something: POST and PUT */
    const struct http_peer *proxies;      /* whose X-Forwarded-For is believed */
    size_t proxy_count;
};

struct access;

/* 0 or a fault. Reads no key yet. */
int access_new(struct access **out, const struct access_options *options);
void access_free(struct access *access);

/*
 * http_options.check: may this request go on? MIRE_HTTP_ADMITTED with request->grant filled, MIRE_HTTP_DONE with 401,
 * 403, 421 or 429, MIRE_HTTP_BLOCKS, or a fault. `access` is a struct access *.
 */
int access_check(void *access, struct request *request, struct reply *reply);

void access_metrics(struct access *access, struct text *out);

#endif
