/*
 * http.h - requests in, replies out. Handlers see neither sockets nor libmicrohttpd, so a test calls them directly.
 *
 *     socket -> route -> admit -> body (bounded, counted) -> handler -> reply
 *                                                              \-> MIRE_HTTP_LATER ... request->finish(request),
 *                                                                                      any thread
 *
 * What the headers tell is judged before the body is read: length, encoding, and the route's `admit`. A refusal is sent
 * at once and closes the connection if a body was announced.
 *
 * Threads: two network threads read, write and call handlers of inline routes, which must not block. All other handlers
 * run on a few handler threads and may wait for the database; what takes seconds goes on on one thread of its own, so
 * that it holds none of those. A handler runs once at a time per request. What is wrong is answered as RFC 9457
 * problem+json with the request's id.
 */
#ifndef MIRE_HTTP_HTTP_H
#define MIRE_HTTP_HTTP_H

#include "base/arena.h"
#include "base/problem.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_HTTP_PARAMS_MAX  8
#define MIRE_HTTP_QUERY_MAX   64   /* names in a query; more is 400 */
#define MIRE_HTTP_URI_MAX     8192 /* bytes of the request target; more is 414 */
#define MIRE_HTTP_HEADERS_MAX 12   /* headers a handler may add to a reply */
#define MIRE_REQUEST_ID       37   /* room for a request id, with NUL */

enum http_method { MIRE_HTTP_GET, MIRE_HTTP_HEAD, MIRE_HTTP_POST, MIRE_HTTP_PUT, MIRE_HTTP_DELETE, MIRE_HTTP_OTHER };

struct http_pair {
    const char *name;
    const char *value;
};

struct reply;
struct request;

/* What a handler returns besides a fault (below zero; answered as 503 for away, raced and timeout, else 500). */
enum http_outcome {
    MIRE_HTTP_DONE = 0, /* the reply is filled */
    MIRE_HTTP_LATER,    /* somebody else fills it and then calls request->finish(request) */
    MIRE_HTTP_BLOCKS,   /* from an inline route or admit: call me again on a handler thread (may_block is then set) */
    MIRE_HTTP_ADMITTED, /* from admit only: read the body and call the handler */
    MIRE_HTTP_SLOW,     /* from a handler that may block: call me again on the thread for what takes long
                           (may_be_slow is then set), where one request is run after the other */
};

typedef int (*http_handler)(void *context, struct request *request, struct reply *reply);

struct http_route {
    enum http_method method; /* GET also answers HEAD */
    const char *pattern;     /* /api/v1/apps/{app}/issues; a last segment of * takes the rest of the path */
    http_handler handler;
    http_handler admit;           /* judges by the headers, on a network thread; NULL: all are admitted */
    size_t body_cap;              /* bytes; more is 413. 0: no body is taken */
    bool is_inline;               /* runs on a network thread: must not block */
    const char *const *encodings; /* NULL-ended Content-Encodings taken besides identity; others are 415 */
};

struct request {
    enum http_method method; /* HEAD is passed as GET */
    const struct http_route *route;
    const char *path;                         /* decoded, begins with / */
    const char *params[MIRE_HTTP_PARAMS_MAX]; /* of the pattern's braces and *, in order, decoded */
    struct http_pair query[MIRE_HTTP_QUERY_MAX];
    size_t query_count;
    const struct http_pair *headers; /* as sent; use request_header() */
    size_t header_count;
    const uint8_t *body;
    size_t body_len;
    char id[MIRE_REQUEST_ID]; /* X-Request-Id if the client sent a sane one, else a fresh UUID */
    uint64_t begun_ns;        /* monotonic */
    bool may_block;
    bool may_be_slow;
    int64_t admitted_as; /* left by admit for the handler */
    struct arena *arena; /* lives until the reply is sent */
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

/* The token of `Authorization: Bearer <token>`, NULL if absent. */
const char *request_bearer(const struct request *request);

/* Add a header; false if there are too many. */
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
 * 0, or the status to answer: 404, 405 (then `allow_out` names what is allowed).
 */
int http_route_find(struct request *request, void **context_out, char allow_out[64], const struct http_table *tables,
                    size_t table_count);

/* Call the request's handler, or its route's admit, and turn a fault into a reply. An enum http_outcome. */
int http_call(void *context, struct request *request, struct reply *reply);
int http_admit(void *context, struct request *request, struct reply *reply);

struct log;
struct http_server;

struct http_options {
    const char *address; /* 127.0.0.1, ::1, 0.0.0.0 ... */
    uint16_t port;       /* 0: any free one */
    const struct http_table *tables;
    size_t table_count;
    const struct log *log;
    int handler_threads;
    int idle_s;              /* a silent connection is closed after so long */
    size_t bodies_cap_bytes; /* of all requests together; more is 503 */
    unsigned connections_max;
};

/* Listen and serve. 0 or a fault; logs why. Borrows the tables until http_stop returns. */
int http_start(struct http_server **out, const struct http_options *options);

/* The port listened on. */
uint16_t http_port(const struct http_server *server);

/*
 * Take no new connections, finish what is being answered (at most `patience_ms`), stop. NULL is fine.
 * False: a request was still unanswered then; its threads live on and the program should end.
 */
bool http_stop(struct http_server *server, int patience_ms);

/* Append counters in Prometheus' format. */
void http_metrics(struct http_server *server, struct text *out);

#endif
