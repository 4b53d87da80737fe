/*
 * exchange.c - the life of one exchange: judged by its headers, its body gathered under caps, handlers called.
 *
 * Always true: a body's memory is counted before it is taken, and taken as bytes come; the reserve of bodies_cap_bytes
 * is for routes that may use it.
 */
#include "http/inside.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>

#define FIRST_BODY_ROOM (64u << 10)
#define FIRST_CHUNKED   (8u << 10) /* such a body does not lie in the connection's buffer first */
#define ANSWERS_LOGGED  20         /* a second, of those that were refused */
#define LOGGED_PATH     200        /* bytes of it */

static struct exchange *exchange_new(struct http_connection *connection)
{
    struct exchange *exchange = calloc(1, sizeof *exchange);
    if (!exchange)
        return NULL;
    struct request *request = &exchange->request;
    arena_init(&exchange->arena, MIRE_EXCHANGE_ARENA_MAX);
    exchange->server = connection->loop->server;
    exchange->connection = connection;
    request->arena = &exchange->arena;
    request->reply = &exchange->reply;
    request->finish = exchange_finish;
    request->begun_ns = clock_mono_ns();
    request->path = "";
    request->peer = connection->peer;
    request->is_tls = connection->tls != NULL;
    atomic_fetch_add(&exchange->server->active, 1);
    return exchange;
}

/* The reply is filled, and what the client still sends of the request is not read. */
static void leave_body(struct exchange *exchange)
{
    exchange->leaves_body = true;
    exchange->is_last = true;
}

static void refuse_malformed(struct exchange *exchange, int status, const char *why)
{
    exchange->head = (struct wire_head){.method = ""};
    exchange_read_head(exchange);
    reply_error(&exchange->reply, &exchange->request, status, "request", "%s", why);
    leave_body(exchange);
}

struct exchange *exchange_malformed(struct http_connection *connection, int status, const char *why)
{
    struct exchange *exchange = exchange_new(connection);
    if (exchange)
        refuse_malformed(exchange, status, why);
    return exchange;
}

/* A crowd of refused requests must not fill the disk: some lines a second, each of bounded length. */
static void log_answer(const struct exchange *exchange, bool cut)
{
    struct http_server *server = exchange->server;
    const struct request *request = &exchange->request;
    int status = exchange->reply.status;
    enum log_level level = status >= 400 ? MIRE_LOG_INFO : MIRE_LOG_DEBUG;
    if (status >= 500)
        level = MIRE_LOG_WARN;
    char path[LOGGED_PATH + 1], peer[MIRE_HTTP_PEER_TEXT];
    uint64_t skipped = 0;
    if (!server->options.log || level < server->options.log->least ||
        (level != MIRE_LOG_DEBUG && !log_limit_pass(&server->answer_limit, ANSWERS_LOGGED, &skipped)))
        return;
    snprintf(path, sizeof path, "%.*s", LOGGED_PATH, request->path);
    http_peer_format(peer, &request->peer);
    log_event(server->options.log, level, "http.answered", LOG_TEXT("request", request->id), LOG_TEXT("path", path),
              LOG_TEXT("from", peer), LOG_NUMBER("status", status), LOG_NUMBER("cut", cut),
              LOG_NUMBER("us", (clock_mono_ns() - request->begun_ns) / 1000), LOG_NUMBER("not_logged", skipped));
}

void exchange_end(struct exchange *exchange, bool cut)
{
    struct http_server *server = exchange->server;
    const struct request *request = &exchange->request;
    if (!cut)
        http_count(server, exchange);
    log_answer(exchange, cut);
    free(exchange->body);
    atomic_fetch_sub(&server->bodies_bytes, exchange->body_room);
    if (request->route && !request->route->has_reserve)
        atomic_fetch_sub(&server->uploads_bytes, exchange->body_room);
    text_fini(&exchange->reply.text);
    arena_fini(&exchange->arena);
    free(exchange);
    atomic_fetch_sub(&server->active, 1);
}

/* Count `more` bytes against the caps. False: they do not fit, and are not counted. */
static bool count_room(struct exchange *exchange, size_t more)
{
    struct http_server *server = exchange->server;
    const struct http_options *options = &server->options;
    bool has_reserve = exchange->request.route->has_reserve;
    uint64_t all = atomic_fetch_add(&server->bodies_bytes, more) + more;
    uint64_t uploads = has_reserve ? 0 : atomic_fetch_add(&server->uploads_bytes, more) + more;
    if (all <= options->bodies_cap_bytes && uploads <= options->bodies_cap_bytes - options->bodies_reserve_bytes)
        return true;
    atomic_fetch_sub(&server->bodies_bytes, more);
    if (!has_reserve)
        atomic_fetch_sub(&server->uploads_bytes, more);
    return false;
}

bool exchange_make_room(struct exchange *exchange)
{
    bool is_chunked = exchange->head.is_chunked;
    size_t had = exchange->body_room, most = is_chunked ? exchange->request.route->body_cap : exchange->announced;
    size_t room = is_chunked ? FIRST_CHUNKED : FIRST_BODY_ROOM;
    if (had)
        room = had * 2;
    if (room > most)
        room = most;
    if (count_room(exchange, room - had)) {
        exchange->body_room = room;
        uint8_t *moved = realloc(exchange->body, room);
        if (moved) {
            exchange->body = moved;
            exchange->request.body = moved;
            return true;
        }
    }
    reply_retry(&exchange->reply, &exchange->request, 2, "busy",
                "The server is receiving too much data. Try again soon.");
    leave_body(exchange);
    return false;
}

void exchange_refuse_body(struct exchange *exchange, int status, const char *code, const char *text)
{
    reply_error(&exchange->reply, &exchange->request, status, code, "%s", text);
    leave_body(exchange);
}

void exchange_refuse_size(struct exchange *exchange)
{
    reply_error(&exchange->reply, &exchange->request, 413, "too_large", "The limit is %zu bytes.",
                exchange->request.route->body_cap);
    leave_body(exchange);
}

/* The reply is filled and the body was not read. */
static enum exchange_step refuse(struct exchange *exchange)
{
    if (exchange->announced || exchange->head.is_chunked)
        leave_body(exchange);
    return MIRE_STEP_SEND;
}

void exchange_admit(struct exchange *exchange)
{
    const struct http_options *options = &exchange->server->options;
    struct request *request = &exchange->request;
    int rc = MIRE_HTTP_ADMITTED;
    if (options->check)
        rc = http_ask(options->check, options->check_context, request, &exchange->reply);
    if (rc == MIRE_HTTP_ADMITTED && request->route->admit)
        rc = http_ask(request->route->admit, exchange->context, request, &exchange->reply);
    exchange->admitted = rc;
}

enum exchange_step exchange_end_admit(struct exchange *exchange)
{
    exchange->request.may_block = false;
    return exchange->admitted == MIRE_HTTP_ADMITTED ? MIRE_STEP_BODY : refuse(exchange);
}

struct exchange *exchange_begin(enum exchange_step *step, struct http_connection *connection)
{
    const char *why = "";
    struct exchange *exchange = exchange_new(connection);
    if (!exchange)
        return NULL;
    struct request *request = &exchange->request;
    int status = wire_parse(&exchange->head, &why, exchange->headers, MIRE_EXCHANGE_HEADERS_MAX, connection->in,
                            connection->seen);
    if (status) {
        http_cut(connection->loop->server, MIRE_CUT_MALFORMED, &connection->peer);
        refuse_malformed(exchange, status, why);
        *step = MIRE_STEP_SEND;
        return exchange;
    }
    exchange->announced = (size_t)exchange->head.length;
    exchange->is_last = exchange->head.is_last;
    exchange_read_head(exchange);
    request->host = exchange->head.host ? exchange->head.host : "";
    if (exchange_refuse(exchange)) {
        *step = refuse(exchange);
        return exchange;
    }
    /* We are counted in `active` by now: http_stop either waits for us or is seen here, and nothing is put off. */
    if (atomic_load(&exchange->server->stopping)) {
        reply_retry(&exchange->reply, request, 2, "stopping", "The server is stopping. Try again soon.");
        *step = refuse(exchange);
        return exchange;
    }
    exchange_admit(exchange);
    *step = MIRE_STEP_WAIT;
    if (exchange->admitted == MIRE_HTTP_BLOCKS)
        lanes_push(exchange, MIRE_LANE_QUICK);
    else
        *step = exchange_end_admit(exchange);
    return exchange;
}

enum exchange_step exchange_run(struct exchange *exchange)
{
    const struct http_route *route = exchange->request.route;
    int rc = MIRE_HTTP_BLOCKS;
    if (route->is_inline)
        rc = http_call(exchange->context, &exchange->request, &exchange->reply);
    if (rc == MIRE_HTTP_DONE)
        return MIRE_STEP_SEND;
    if (rc == MIRE_HTTP_BLOCKS)
        lanes_push(exchange, route->lane);
    return MIRE_STEP_WAIT;
}
