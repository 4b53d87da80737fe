/*
 * http.h - requests in, replies out. Handlers see no sockets, so a test calls them directly.
 *
 *     socket -> head (strict) -> route -> admit -> body (bounded, counted) -> handler -> reply
 *                                                                                \-> MIRE_HTTP_LATER ...
 *                                                                       request->finish(request), any thread
 *
 * Length, encoding and the route's `admit` are judged by the headers, before the body is read. A refusal is sent at
 * once and closes the connection if a body was announced. Memory of a body is counted as its bytes arrive. A client
 * has a limited time each for its headers, its body and for taking the answer; then its connection is cut off and the
 * log has the reason.
 *
 * Threads: two network threads read, write and call handlers of inline routes, which must not block. All other handlers
 * run on the threads of their lane and may wait for the database. A request that turns out to be expensive or slow continues
 * in that lane. An answer of these handlers that is text is sent as gzip to a client that takes it. A request has one
 * handler at a time. Errors are answered as RFC 9457 problem+json with the request's id.
 */
#ifndef MIRE_HTTP_HTTP_H
#define MIRE_HTTP_HTTP_H

#include "base/arena.h"
#include "base/problem.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_HTTP_PARAMS_MAX        8
#define MIRE_HTTP_QUERY_MAX         64   /* names in a query; more is 400 */
#define MIRE_HTTP_URI_MAX           8192 /* bytes of the request target; more is 414 */
#define MIRE_HTTP_HEADERS_MAX       12   /* headers a handler may add to a reply */
#define MIRE_REQUEST_ID             37   /* room for a request id, with NUL */
#define MIRE_HTTP_PEER_TEXT         46   /* room for an address, with NUL */
#define MIRE_HTTP_EXPENSIVE_THREADS 2

enum http_method { MIRE_HTTP_GET, MIRE_HTTP_HEAD, MIRE_HTTP_POST, MIRE_HTTP_PUT, MIRE_HTTP_DELETE, MIRE_HTTP_OTHER };

struct http_pair {
    const char *name;
    const char *value;
};

struct reply;
struct request;

/* Address of a client, as one of IPv6; one of IPv4 is mapped into it. */
struct http_peer {
    uint8_t address[16];
};

bool http_peer_is_v4(const struct http_peer *peer);
bool http_peer_is_loopback(const struct http_peer *peer);
bool http_peer_is_among(const struct http_peer *peer, const struct http_peer *all, size_t count);
void http_peer_format(char out[MIRE_HTTP_PEER_TEXT], const struct http_peer *peer);

/* Read "192.0.2.1" or "2001:db8::1". False: it is neither. */
bool http_peer_parse(struct http_peer *out, const char *text);

/* The asker of a request, as http_options.check found. */
struct http_grant {
    int32_t app_id;          /* of an app's key; 0: the request has none */
    int64_t key_id;          /* of an app's key; 0: none */
    int64_t account_id;      /* of a person; 0: the asker has no account */
    int64_t credential_id;   /* the person's sign-in or token; 0: neither */
    int role;                /* in the app of the path, or on the server: enum access_role */
    const char *who;         /* name of the account or key, in the request's arena; "" for nobody */
    const char *via;         /* "sign-in", "token", "proxy", "key", "local" or "nobody"; static */
    struct http_peer client; /* behind trusted proxies */
    char country[3];         /* of the client, as sent by a trusted proxy: "DE"; "" if none does */
};

/* Results of a handler besides a fault (below zero; answered as 503 for away, raced and timeout, otherwise 500). */
enum http_outcome {
    MIRE_HTTP_DONE = 0,  /* the reply is filled */
    MIRE_HTTP_LATER,     /* another thread fills it and then calls request->finish(request) */
    MIRE_HTTP_BLOCKS,    /* from an inline route or admit: call me again on a handler thread (may_block is then set) */
    MIRE_HTTP_ADMITTED,  /* from admit only: read the body and call the handler */
    MIRE_HTTP_EXPENSIVE, /* from a handler that may block: call me again in the lane of expensive queries */
    MIRE_HTTP_SLOW,      /* the same for the lane of slow work */
};

/* Threads of their own for requests of one kind, so that none waits behind those of another. */
enum http_lane {
    MIRE_LANE_QUICK,     /* http_options.handler_threads */
    MIRE_LANE_FILES,     /* one thread; these need no database */
    MIRE_LANE_REPORTS,   /* two threads, for bodies that take long to read; these need no database */
    MIRE_LANE_EXPENSIVE, /* MIRE_HTTP_EXPENSIVE_THREADS; a request that waits too long for one is 503 */
    MIRE_LANE_SLOW,      /* one thread, for what takes seconds or minutes */
    MIRE_LANES,
};

typedef int (*http_handler)(void *context, struct request *request, struct reply *reply);

struct http_route {
    enum http_method method; /* GET also answers HEAD */
    const char *pattern;     /* /api/v1/apps/{app}/issues; a last segment of * takes the rest of the path */
    http_handler handler;
    http_handler admit;           /* judges by the headers, on a network thread; NULL: all are admitted */
    int who;                      /* required rights: read by http_options.check alone. 0: none */
    size_t body_cap;              /* bytes; more is 413. 0: no body is taken */
    bool is_inline;               /* runs on a network thread: must not block */
    enum http_lane lane;          /* in which it begins otherwise */
    bool has_reserve;             /* its bodies may take the reserve of bodies_cap_bytes too */
    const char *const *encodings; /* NULL-ended Content-Encodings taken besides identity; others are 415 */
};

struct request {
    enum http_method method; /* HEAD is passed as GET */
    const struct http_route *route;
    const char *path;                         /* decoded, begins with / */
    const char *params[MIRE_HTTP_PARAMS_MAX]; /* of the pattern's braces and *, in order, decoded */
    struct http_pair query[MIRE_HTTP_QUERY_MAX];
    size_t query_count;
    struct http_peer peer;           /* the client's address */
    bool is_tls;                     /* over TLS of mired's own */
    const char *host;                /* Host as sent; "" if there is none */
    const struct http_pair *headers; /* as sent; use request_header() */
    size_t header_count;
    const uint8_t *body;
    size_t body_len;
    char id[MIRE_REQUEST_ID]; /* X-Request-Id if the client sent a sane one, otherwise a fresh UUID */
    uint64_t begun_ns;        /* monotonic */
    bool may_block;
    enum http_lane lane;     /* in which it runs, if may_block is set */
    struct http_grant grant; /* set by http_options.check */
    struct arena *arena;     /* lives until the reply is sent */
    struct reply *reply;
    void (*finish)(struct request *request); /* after MIRE_HTTP_LATER: sends reply; the request is gone then */
};

struct reply {
    int status;       /* 0 is answered as 500 */
    const char *type; /* Content-Type; NULL: none */
    const void *body; /* borrowed until sent: static, in the request's arena, or in `text` */
    size_t body_len;  /* bytes */
    struct text text; /* owned; used as the body if body is NULL */
    struct http_pair headers[MIRE_HTTP_HEADERS_MAX]; /* values static or in the request's arena */
    size_t header_count;
};

/* Value of the pattern's n-th brace; "" if it has fewer. */
const char *request_param(const struct request *request, size_t n);

/* First value of a query name, NULL if absent. "" for `?name`. */
const char *request_query(const struct request *request, const char *name);

/* Value of a header, any case, NULL if absent. */
const char *request_header(const struct request *request, const char *name);

/* The last one of that name: a proxy that adds a line leaves its client's before it. */
const char *request_header_last(const struct request *request, const char *name);

/* The token of `Authorization: Bearer <token>`, NULL if absent. */
const char *request_bearer(const struct request *request);

/* Does the client take this Content-Encoding? "br;q=0" refuses it. */
bool request_takes(const struct request *request, const char *coding);

/* Add a header; false if there are too many, or the value has a line end. */
bool reply_header(struct reply *reply, const char *name, const char *value);

/* Answer with the text already written to reply->text, as application/json. */
int reply_json(struct reply *reply, int status);

/*
 * Answer with a problem. reply_problem takes all of `problem`; reply_error makes one of code and text.
 * Both return MIRE_HTTP_DONE, so that a handler can end with them.
 */
int reply_problem(struct reply *reply, const struct request *request, int status, const struct problem *problem);
__attribute__((format(printf, 5, 6))) int reply_error(struct reply *reply, const struct request *request, int status,
                                                      const char *code, const char *format, ...);

/* Answer 503 with Retry-After. */
int reply_retry(struct reply *reply, const struct request *request, int after_s, const char *code, const char *text);

/* Words of a status, "Not Found"; static. */
const char *http_status_text(int status);

struct http_table {
    const struct http_route *routes;
    size_t count;
    void *context; /* given to the table's handlers */
};

/*
 * Read a request target (path?query) into path and query. 0, or the status to answer: 400, 414.
 * Bad escapes, NUL, and `.` or `..` segments are 400.
 */
int request_parse_target(struct request *request, const char *target);

/*
 * Find the route. The tables are asked in order; the first pattern that fits wins.
 * 0, or the status to answer: 404, 405 (`allow_out` names the allowed methods).
 */
int http_route_find(struct request *request, void **context_out, char allow_out[64], const struct http_table *tables,
                    size_t table_count);

/* Call a handler, or the request's own, and turn a fault into a reply. An enum http_outcome. */
int http_ask(http_handler handler, void *context, struct request *request, struct reply *reply);
int http_call(void *context, struct request *request, struct reply *reply);

struct log;
struct tls_context;
struct http_server;

struct http_options {
    const char *address; /* 127.0.0.1, ::1, 0.0.0.0 ... */
    uint16_t port;       /* 0: any free one */
    const struct http_table *tables;
    size_t table_count;
    const struct log *log;
    int handler_threads;
    int idle_s;                       /* limit for a silent connection */
    int headers_s;                    /* limit for the headers, from their first byte */
    int request_s;                    /* limit for the body and for taking the answer; more by size */
    size_t bodies_cap_bytes;          /* memory of all bodies together; more is 503 */
    size_t bodies_reserve_bytes;      /* part of it for routes with has_reserve */
    unsigned connections_max;         /* beyond it, one that waits for its client is closed */
    unsigned address_connections_max; /* of one address, or one /64 of IPv6; 0: no limit */
    http_handler check; /* called before the route's admit, with the same results; NULL: all requests are allowed */
    void *check_context;
    const struct http_peer *proxies; /* addresses without address_connections_max */
    size_t proxy_count;
    struct tls_context *tls; /* NULL: plain; borrowed until http_stop returns */
};

/*
 * Make http_options.tls of a certificate and its key in PEM files; http_tls_reload reads the files again, for
 * connections accepted later. 0, or a fault, which is logged; after a fault the old ones stay. Any thread.
 */
int http_tls_open(struct tls_context **out, const char *cert_path, const char *key_path, const struct log *log);
int http_tls_reload(struct tls_context *tls, const struct log *log);
void http_tls_close(struct tls_context *tls);

/* Listen and serve. 0 or a fault; logs why. Borrows the tables until http_stop returns. */
int http_start(struct http_server **out, const struct http_options *options);

/* The port listened on. */
uint16_t http_port(const struct http_server *server);

/*
 * Accept no more connections, finish the requests in progress (at most `patience_ms`), stop. NULL is allowed.
 * False: a request is still unanswered; the threads go on, and the program should end.
 */
bool http_stop(struct http_server *server, int patience_ms);

/* Append counters in Prometheus' format. */
void http_metrics(struct http_server *server, struct text *out);

#endif
