/*
 * inside.h - what the files of http/ share: one exchange, and who may touch it when.
 *
 *     network thread   NEW -> [ADMIT ->] BODY -> ANSWER -> answered, freed
 *                      NEW | ADMIT -> REFUSED -> answered before the body, the connection closed if there is one
 *     other threads    only between hand-over and exchange_finish()
 */
#ifndef MIRE_HTTP_INSIDE_H
#define MIRE_HTTP_INSIDE_H

#include "http/http.h"

#include <microhttpd.h>

#include <pthread.h>
#include <stdatomic.h>

#define MIRE_EXCHANGE_HEADERS_MAX 64          /* of a request; later ones are not seen */
#define MIRE_EXCHANGE_ARENA_MAX   (64u << 20) /* of one request: its largest answer is a flame graph of some MB */
#define MIRE_HTTP_STATUSES        24

struct MHD_Connection;

enum exchange_stage { MIRE_STAGE_NEW, MIRE_STAGE_ADMIT, MIRE_STAGE_BODY, MIRE_STAGE_REFUSED, MIRE_STAGE_ANSWER };

/* Who resumes a request that was put off: the network thread if it was finished before it was suspended. */
enum exchange_turn { MIRE_TURN_RUNNING, MIRE_TURN_SUSPENDED, MIRE_TURN_FINISHED };

struct exchange {
    struct request request; /* first: a request is its exchange */
    struct reply reply;
    struct arena arena;
    struct http_server *server;
    struct MHD_Connection *connection;
    void *context; /* of the route's table */
    enum exchange_stage stage;
    _Atomic int turn; /* enum exchange_turn; written by the network thread and by whoever finishes; seq_cst */
    bool is_head;
    bool leaves_body; /* answered without reading the body */
    size_t announced; /* bytes of body, by the headers */
    int admitted;     /* what the route's admit came to */
    uint8_t *body;
    size_t body_room; /* bytes counted in the server's bodies_bytes */
    struct http_pair headers[MIRE_EXCHANGE_HEADERS_MAX];
    struct exchange *next; /* in the handlers' queue */
};

/* Threads that run handlers which may wait. */
struct handlers {
    pthread_mutex_t mutex;
    pthread_cond_t more;
    struct exchange *first, **last; /* waiting; guarded by mutex */
    bool stopping;                  /* guarded by mutex */
    int count;
    pthread_t threads[64];
};

#define MIRE_DRAIN_MAX 256 /* sockets; those that come on top are closed at once */

struct draining {
    int fd;
    uint64_t until_ns;
};

/* Sockets whose request was refused before its body had come. */
struct drain {
    pthread_t thread;
    int wake_fd; /* eventfd */
    pthread_mutex_t mutex;
    bool stopping; /* this and what follows: guarded by mutex */
    size_t count;
    struct draining sockets[MIRE_DRAIN_MAX];
};

struct http_counts {
    _Atomic uint64_t by_status[MIRE_HTTP_STATUSES]; /* any thread, relaxed */
};

struct http_server {
    struct http_options options;
    struct MHD_Daemon *daemon;
    uint16_t port;
    struct handlers handlers;
    struct handlers slow; /* one thread */
    struct drain drain;
    struct http_counts *counts; /* one a route, in order of the tables, and one for requests without route */
    size_t route_count;
    _Atomic uint64_t bodies_bytes; /* taken by bodies now */
    _Atomic int active;            /* exchanges begun and not completed */
    _Atomic bool stopping;
};

int handlers_start(struct handlers *handlers, int count);
void handlers_stop(struct handlers *handlers);

int drain_start(struct drain *drain);
void drain_stop(struct drain *drain);

/* Swallow what still comes through this socket, of which a copy is kept. Any thread. */
void drain_add(struct drain *drain, int fd);

void *drain_run(void *drain);

/* Hand an exchange (already suspended, or in a handler thread's hands) to a handler thread. */
void handlers_push(struct handlers *handlers, struct exchange *exchange);

/* libmicrohttpd's callbacks, on a network thread: the request line has come; each piece of what follows; the end. */
void *exchange_begin(void *cls, const char *target, struct MHD_Connection *connection);
enum MHD_Result exchange_go_on(void *cls, struct MHD_Connection *connection, const char *url, const char *method,
                               const char *version, const char *data, size_t *len, void **slot);
void exchange_completed(void *cls, struct MHD_Connection *connection, void **slot, enum MHD_RequestTerminationCode how);

/* Fill in headers, id and method. */
void exchange_read_head(struct exchange *exchange, const char *method);

/* Find the route and judge by the headers alone. False: go on; else the reply is filled. */
bool exchange_refuse(struct exchange *exchange);

/* The reply is filled: let the network thread send it. The exchange may be gone when this returns. */
void exchange_finish(struct request *request);

/* Queue the reply on its connection. */
enum MHD_Result exchange_send(struct exchange *exchange);

/* Count a completed exchange. */
void http_count(struct http_server *server, const struct exchange *exchange);

#endif
