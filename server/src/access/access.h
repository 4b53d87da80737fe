/*
 * access.h - authorization: judges a request by its headers, on every route that names a scope.
 *
 *     http_route.who -> access_check: host, origin -> key -> scope -> app of the path -> token buckets -> grant
 *
 * All valid keys are held in memory and read again every few seconds by one query, so a request costs no query. A crowd
 * of unknown keys costs ten a second; beyond that an unknown key is answered 503, because it may be a new one.
 *
 * Threads: any. access_check does not wait unless request->may_block is set.
 */
#ifndef MIRE_ACCESS_ACCESS_H
#define MIRE_ACCESS_ACCESS_H

#include "access/dsn.h"
#include "base/id.h"
#include "http/http.h"

/* Scope of a key, and http_route.who. 0: all are allowed, and the asker is not determined. */
enum access_scope {
    MIRE_MAY_INGEST = 1, /* send reports, ask for the rollout */
    MIRE_MAY_SYMBOLS,    /* send debug files, mark releases; read */
    MIRE_MAY_ROLLOUT,    /* change the rollout; read */
    MIRE_MAY_RULES,      /* preview and change the rules for blame; read */
    MIRE_MAY_READ,       /* read what the dashboard shows */
    MIRE_MAY_ADMIN,      /* all but ingest; of a route: the settings of an app */
    MIRE_MAY_COUNT,
    /* These are values of http_route.who, and no scopes. */
    MIRE_MAY_TRIAGE = MIRE_MAY_COUNT, /* merge, split and the like */
    MIRE_MAY_KNOCK,                   /* all are allowed; the grant names the asker */
    MIRE_MAY_SELF,                    /* a person, by a sign-in or a proxy: own profile and tokens */
    MIRE_MAY_SERVER,                  /* admins of the server: accounts */
    MIRE_MAY_FOUND, /* admins of the server, and the user of a server without accounts: new apps, the server's health */
    MIRE_MAY_SIGN,  /* all who send a signature: the handler checks it when the body is there */
    MIRE_MAY_END,
};

/* "ingest", "symbols" ...; static. */
const char *access_scope_name(enum access_scope scope);

/* 0 if it is none. */
enum access_scope access_scope_parse(const char *name);

/* Roles in an app; each includes the rights of those before it. */
enum access_role {
    MIRE_ACCESS_NOBODY,
    MIRE_ACCESS_VIEWER,
    MIRE_ACCESS_TRIAGER,
    MIRE_ACCESS_ADMIN,
    MIRE_ACCESS_SERVER, /* admin of every app, and of the accounts */
    MIRE_ACCESS_COUNT,
};

/* "viewer", "triager", "admin", "server"; static. */
const char *access_role_name(enum access_role role);

/* MIRE_ACCESS_NOBODY if it is none of viewer, triager and admin. */
enum access_role access_role_parse(const char *name);

/* The least role that a route requires of a person; MIRE_ACCESS_COUNT: the route is for keys alone. */
enum access_role access_role_of(enum access_scope who);

#define MIRE_ACCESS_SLUG 64
#define MIRE_ACCESS_NAME 128

/* A key of an app, or a credential of a person. */
struct access_key {
    uint8_t hash[MIRE_KEY_HASH];
    int64_t key_id;              /* of a credential if account_id is set */
    int32_t app_id;              /* 0 of a person's */
    int64_t account_id;          /* 0 of an app's */
    bool is_sign_in;             /* in a cookie; all others are bearer tokens */
    enum access_scope scope;     /* of an app's */
    enum access_role most;       /* of a person's: upper bound of the role */
    int64_t expires_us;          /* wall clock; 0: never */
    char slug[MIRE_ACCESS_SLUG]; /* of the app */
};

struct access_account {
    int64_t account_id;
    bool is_server_admin;
    char name[MIRE_ACCESS_NAME];
};

struct access_member {
    int64_t account_id;
    enum access_role role;
    char slug[MIRE_ACCESS_SLUG]; /* "": every app */
};

struct access_keys;

/* Called by access_options.load for each. False: no memory. */
bool access_keys_add(struct access_keys *keys, const struct access_key *key);
bool access_keys_add_account(struct access_keys *keys, const struct access_account *account);
bool access_keys_add_member(struct access_keys *keys, const struct access_member *member);

/* Requests a second, and the burst allowed after a pause. 0: no limit. */
struct access_rate {
    double per_s, burst;
};

/* The asker of a request without any credential. */
enum access_mode {
    MIRE_MODE_SIGN_IN, /* nobody */
    MIRE_MODE_SINGLE,  /* from the user of this machine, who is admin of all apps, while there is no account: only from
                          loopback and past no proxy */
    MIRE_MODE_OPEN,    /* the same from anywhere: something in front of mired keeps the door */
};

struct access_options {
    void *context;
    /* Add all valid keys, accounts and members. 0 or a fault. Blocks. */
    int (*load)(void *context, struct access_keys *keys);
    /* Keys, or credentials of people, that were used since the last call; may be NULL. Blocks. 0 or a fault, which
       loses nothing but the date. */
    int (*used)(void *context, bool are_of_people, const int64_t *key_ids, size_t count);
    /* Make an account for a person whom the proxy named. Blocks. 0 or a fault. */
    int (*arrive)(void *context, const char *name);
    /* A request with reports of this app was refused for coming too often; may be NULL. Does not block. */
    void (*limited)(void *limited_context, int32_t app_id);
    void *limited_context;
    int64_t (*now_us)(void);
    int ttl_ms;                           /* keys are read again after so long */
    const char *hosts;                    /* besides addresses and localhost, separated by spaces */
    const char *public_urls;              /* the same with their schemes */
    struct access_rate key, app, address; /* of requests that send something: POST, PUT and DELETE */
    const struct http_peer *proxies;      /* whose X-Forwarded-For is believed */
    size_t proxy_count;
    const char *proxy_user_header;    /* header in which proxies name the person; "" or NULL: none */
    const char *proxy_country_header; /* the same of the client's country */
    enum access_mode mode;
};

struct access;

/* 0 or a fault. Reads no key yet. */
int access_new(struct access **out, const struct access_options *options);
void access_free(struct access *access);

/*
 * http_options.check: may this request go on? MIRE_HTTP_ADMITTED with request->grant filled, MIRE_HTTP_DONE with 302,
 * 401, 403, 404, 421 or 429, MIRE_HTTP_BLOCKS, or a fault. `access` is a struct access *.
 */
int access_check(void *access, struct request *request, struct reply *reply);

/* Keys, accounts or roles have changed: read them again before the next request is judged. */
void access_forget(struct access *access);

/*
 * Call it before a password is checked: 0, or the seconds until the next try. Limits are by name and address, by name,
 * by address, and all together.
 */
unsigned access_wait_to_sign_in(struct access *access, const char *name, const struct http_peer *client);

/* The same before a provider is asked about a person; the limit is by address, and loopback has none. */
unsigned access_wait_for_provider(struct access *access, const struct http_peer *client);

/*
 * The asker in a number, for limits a person: by account, by key, or by address (IPv6: the /64). 0: the user of this machine
 * without an account.
 */
uint64_t access_asker(const struct http_grant *grant);

/* Does the request come over TLS, as its host is reached by (public_url)? */
bool access_is_secure(const struct access *access, const struct request *request);

/* May the answer set a cookie: over TLS, on loopback, or if public_url names the host with http? */
bool access_may_sign_in(const struct access *access, const struct request *request);

enum access_mode access_mode_of(const struct access *access);

void access_metrics(struct access *access, struct text *out);

#endif
