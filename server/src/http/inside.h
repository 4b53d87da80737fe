/*
 * inside.h - what the files of http/ share: connections, exchanges, and who may touch them when.
 *
 *     accept -> HEAD -> exchange: [ADMIT ->] [BODY ->] ANSWER -> SEND -> HEAD ...
 *                  \-> a refusal before the body: SEND -> LINGER -> closed
 *
 * A connection belongs to one network thread for life. That thread alone uses its exchange, except between
 * hand-over and exchange_finish(), when another thread has it. The state is then ADMIT or ANSWER, and the connection is
 * neither read, written nor freed.
 */
#ifndef MIRE_HTTP_INSIDE_H
#define MIRE_HTTP_INSIDE_H

#include "base/log.h"
#include "http/chunks.h"
#include "http/http.h"
#include "http/wire.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#define MIRE_EXCHANGE_HEADERS_MAX 64          /* of a request; more is 431 */
#define MIRE_EXCHANGE_ARENA_MAX   (64u << 20) /* of one request: its largest answer is a flame graph of some MB */
#define MIRE_HTTP_STATUSES        24
#define MIRE_HTTP_LOOPS           2           /* network threads */
#define MIRE_HTTP_COMING_MAX      64          /* accepted and not yet looked at, of each thread */
#define MIRE_HTTP_HEAD_MAX        (32 * 1024) /* bytes of a head; more is 431 */
#define MIRE_HTTP_FLOOR_BYTES_S   1024        /* least mean rate of a body, after a grace */
#define MIRE_HTTP_WHOLE_BYTES_S   65536 /* a request may take request_s and the time its body takes at this rate */
#define MIRE_HTTP_LINGER_NS       UINT64_C(3000000000) /* given to a refused client to read why */

/* The reason for which the server closed a connection. */
enum http_cut {
    MIRE_CUT_FULL,        /* connections_max; the newest that waits for its client gives way */
    MIRE_CUT_ADDRESS,     /* address_connections_max */
    MIRE_CUT_FILES,       /* no descriptor is free */
    MIRE_CUT_IDLE,        /* nothing came or went for idle_s */
    MIRE_CUT_SLOW_HEAD,   /* headers_s */
    MIRE_CUT_SLOW_BODY,   /* below the floor, or request_s */
    MIRE_CUT_SLOW_ANSWER, /* the client does not take its answer */
    MIRE_CUT_MALFORMED,   /* 400, 417, 431 or 501 by the head, or 400 by a chunk */
    MIRE_CUTS,
};

enum connection_state {
    MIRE_AT_HEAD,  /* nothing, or a part of a head, has come */
    MIRE_AT_ADMIT, /* another thread judges the headers */
    MIRE_AT_BODY,
    MIRE_AT_ANSWER, /* another thread makes the answer */
    MIRE_AT_SEND,
    MIRE_AT_LINGER, /* answered; further bytes are thrown away */
    MIRE_AT_END,    /* closed; freed after the current batch of events */
};

struct exchange {
    struct request request; /* first: a request is its exchange */
    struct reply reply;
    struct arena arena;
    struct http_server *server;
    struct http_connection *connection;
    void *context; /* of the route's table */
    bool is_head;
    bool leaves_body; /* answered without reading the body */
    bool is_last;     /* the connection ends with it */
    size_t announced; /* bytes of body, by the headers; 0 if they come in chunks */
    struct chunks chunks;
    int admitted;     /* result of the route's admit */
    uint8_t *body;    /* NULL: the body lies whole in the connection's buffer, or is empty */
    size_t body_room; /* bytes counted in the server's bodies_bytes */
    struct wire_head head;
    struct http_pair headers[MIRE_EXCHANGE_HEADERS_MAX];
    uint64_t pushed_ns;    /* into the handlers' queue */
    struct exchange *next; /* in the handlers' queue, or among the loop's finished ones */
};

struct http_connection {
    int fd;
    struct loop *loop;
    struct http_connection *next, **link; /* in the loop's list */
    struct http_connection *again;        /* in the loop's list of connections with work left */
    bool is_again;
    struct http_peer peer;
    struct tls *tls; /* NULL: plain */
    enum connection_state state;
    bool may_read, may_write; /* the socket was not yet found empty, or full */
    bool is_hung_up;          /* the client sends no more */
    uint64_t since_ns;        /* the state began; the request's first byte while at HEAD */
    uint64_t moved_ns;        /* a byte came or went */
    char *in;                 /* received bytes: a head, and all behind it */
    size_t in_len, in_room;
    size_t seen; /* by wire_scan; the head's length once it is whole */
    struct exchange *exchange;
    struct text head; /* of the answer */
    size_t sent;      /* of head and body */
};

/* One network thread. */
struct loop {
    struct http_server *server;
    pthread_t thread;
    int epoll_fd, wake_fd;
    struct http_connection *first; /* all of its connections; its thread only */
    struct http_connection *ended; /* to be freed; its thread only */
    struct http_connection *again; /* its thread only */
    uint64_t now_ns;               /* its thread only */
    _Atomic int count;             /* connections, those on their way included */
    pthread_mutex_t mutex;
    struct http_connection *coming, **coming_last; /* accepted for this thread, in order; guarded by mutex */
    struct exchange *finished;                     /* guarded by mutex */
    bool stopping;                                 /* guarded by mutex */
};

/* The threads of a lane, which run handlers that may wait. */
struct handlers {
    enum http_lane lane;
    pthread_mutex_t mutex;
    pthread_cond_t more;
    struct exchange *first, **last; /* waiting; guarded by mutex */
    bool stopping;                  /* guarded by mutex */
    uint64_t patience_ns;           /* a request that waited longer is 503; 0: no limit */
    _Atomic uint64_t given_up;      /* requests that were 503 for that; any thread, relaxed */
    int count;
    pthread_t threads[64];
};

struct http_counts {
    _Atomic uint64_t by_status[MIRE_HTTP_STATUSES]; /* any thread, relaxed */
};

/* Connections of each address. */
struct peers {
    pthread_mutex_t mutex;
    struct peer_count **buckets; /* guarded by mutex */
};

struct http_server {
    struct http_options options;
    int listen_fd, spare_fd; /* spare: closed to take, and turn away, a connection when descriptors have run out */
    uint16_t port;
    struct loop loops[MIRE_HTTP_LOOPS]; /* the first one accepts */
    struct handlers lanes[MIRE_LANES];
    struct peers peers;
    struct http_counts *counts; /* one a route, in order of the tables, and one for requests without route */
    size_t route_count;
    _Atomic uint64_t bodies_bytes;  /* taken by bodies now */
    _Atomic uint64_t uploads_bytes; /* of these, by bodies that may not take the reserve */
    _Atomic int active;             /* exchanges begun and not completed */
    _Atomic bool stopping;
    _Atomic bool accept_waits; /* newcomers wait in the kernel's queue */
    _Atomic uint64_t cuts[MIRE_CUTS];
    struct log_limit cut_limits[MIRE_CUTS], answer_limit;
};

/* --- compress.c */

/* Compress the filled reply if it is a text of some length and the client takes gzip. Its ETag then is a weak one. */
void exchange_compress(struct exchange *exchange);

/* --- handlers.c */

/* Start the threads of all lanes. 0 or a fault. */
int lanes_start(struct http_server *server);

/* End the threads. No exchange may be open. */
void lanes_stop(struct http_server *server);

/* Hand an exchange to a thread of the lane. */
void lanes_push(struct exchange *exchange, enum http_lane lane);

/* --- peers.c */

int peers_start(struct peers *peers);
void peers_stop(struct peers *peers);

/* Count a connection of this address. False: it has `most` already (0: no limit), and it is not counted. */
bool peers_enter(struct peers *peers, const struct http_peer *peer, unsigned most);
void peers_leave(struct peers *peers, const struct http_peer *peer);

/* --- loop.c */

int loop_start(struct loop *loop, struct http_server *server);

/* Close its connections and end the thread. No exchange may be open. */
void loop_stop(struct loop *loop);

/* Step the connection again before the thread waits for events. Its thread. */
void loop_again(struct loop *loop, struct http_connection *connection);

/* --- accept.c: the first network thread */

/* Accept all waiting connections, and give each to a network thread. */
void accept_all(struct http_server *server);

/* Hear of waiting connections, or not. Any thread. */
void accept_listen(struct http_server *server, bool on);

/* Make room for a newcomer among the loop's connections. False: all of them are being answered. The loop's thread. */
bool accept_make_room(struct loop *loop, const struct http_connection *newcomer);

/* --- connection.c: the network thread of the connection */

/* NULL without memory. Takes the descriptor; with TLS, the handshake begins when bytes come. */
struct http_connection *connection_new(struct loop *loop, int fd, const struct http_peer *peer);

/* Do all that can be done without waiting. */
void connection_run(struct http_connection *connection);

/* The exchange that another thread had is finished: admitted, refused, or answered. */
void connection_resume(struct http_connection *connection);

/* Cut the client off if its time is over. */
void connection_check_time(struct http_connection *connection);

/* Close now. `why` is MIRE_CUTS if the client closed, or the answer is complete. */
void connection_end(struct http_connection *connection, enum http_cut why);

/* Count and log that the server cut a connection off. Any thread. */
void http_cut(struct http_server *server, enum http_cut why, const struct http_peer *peer);

/* --- body.c */

enum body_outcome {
    MIRE_BODY_MORE,    /* call again */
    MIRE_BODY_WAIT,    /* call again when the socket can be read */
    MIRE_BODY_WHOLE,   /* request->body has it */
    MIRE_BODY_REFUSED, /* the reply is filled */
    MIRE_BODY_LOST,    /* the client is gone */
};

/*
 * The headers are admitted: take the body's bytes that came with them, or send 100 Continue if the client waits for it.
 */
void connection_begin_body(struct http_connection *connection);

/* Read once. */
enum body_outcome connection_read_body(struct http_connection *connection);

/* --- bytes.c: bytes of a connection, plain or of TLS */

/* Bytes read or written; 0: the socket is not ready (may_read or may_write is false); -1: the connection has ended. */
ssize_t connection_read(struct http_connection *connection, void *out, size_t room);
ssize_t connection_write(struct http_connection *connection, const struct text *head, size_t sent, const void *body,
                         size_t len);

/* --- exchange.c: the network thread, but for exchange_finish */

enum exchange_step {
    MIRE_STEP_SEND, /* the reply is filled */
    MIRE_STEP_WAIT, /* another thread has it until exchange_finish */
    MIRE_STEP_BODY, /* read the body */
};

/* A head is complete: make the exchange and judge by the headers. NULL without memory. */
struct exchange *exchange_begin(enum exchange_step *step, struct http_connection *connection);

/* No request can be read: make an exchange that answers this and ends the connection. */
struct exchange *exchange_malformed(struct http_connection *connection, int status, const char *why);

/*
 * Call http_options.check and the route's admit; their result is stored in `admitted`. Any thread that has the
 * exchange.
 */
void exchange_admit(struct exchange *exchange);

/* Go on after the route's admit ended on another thread. */
enum exchange_step exchange_end_admit(struct exchange *exchange);

/* Count and allocate memory for more of the body. False: there is none, and the reply is filled. */
bool exchange_make_room(struct exchange *exchange);

/* Answer without reading the rest of the body. */
void exchange_refuse_body(struct exchange *exchange, int status, const char *code, const char *text);
void exchange_refuse_size(struct exchange *exchange);

/* The body is there: run the handler. */
enum exchange_step exchange_run(struct exchange *exchange);

/* Count, log and free it. `cut`: the client did not get its answer. */
void exchange_end(struct exchange *exchange, bool cut);

/* The reply is filled: let the network thread go on. The exchange may be gone when this returns. Any thread. */
void exchange_finish(struct request *request);

/* --- head.c */

/* Find the route and judge by the headers. True: the reply is filled. */
bool exchange_refuse(struct exchange *exchange);

/* Fill in id and method. */
void exchange_read_head(struct exchange *exchange);

/* --- send.c */

/* Write the head of the reply. */
void exchange_write_head(struct text *out, struct exchange *exchange);

/* The bytes behind the head; *len_out of them. */
const void *exchange_body(const struct exchange *exchange, size_t *len_out);

/* --- counts.c */

/* Count a completed exchange. */
void http_count(struct http_server *server, const struct exchange *exchange);

#endif
