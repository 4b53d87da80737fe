/*
 * exchange.c - the life of one exchange, as libmicrohttpd's callbacks tell it: bodies gathered under caps, handlers
 * called.
 *
 * Always true: a body's memory is counted before it is taken; a suspended connection is resumed exactly once; an
 * exchange is freed only in exchange_completed(), when libmicrohttpd has let go of its reply.
 */
#include "http/inside.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>

#define BODY_BYTES_S 1024 /* a body that comes slower on the whole, after the idle time, is cut off */

/* The request line has come: make the exchange. libmicrohttpd passes it to the callbacks below. */
void *exchange_begin(void *cls, const char *target, struct MHD_Connection *connection)
{
    struct http_server *server = cls;
    struct exchange *exchange = calloc(1, sizeof *exchange);
    if (!exchange)
        return NULL;
    struct request *request = &exchange->request;
    arena_init(&exchange->arena, MIRE_EXCHANGE_ARENA_MAX);
    exchange->server = server;
    exchange->connection = connection;
    request->arena = &exchange->arena;
    request->reply = &exchange->reply;
    request->finish = exchange_finish;
    request->headers = exchange->headers;
    request->begun_ns = clock_mono_ns();
    request->path = "";
    exchange->reply.status = request_parse_target(request, target);
    atomic_fetch_add(&server->active, 1);
    return exchange;
}

void exchange_completed(void *cls, struct MHD_Connection *connection, void **slot, enum MHD_RequestTerminationCode how)
{
    struct http_server *server = cls;
    struct exchange *exchange = *slot;
    *slot = NULL;
    if (!exchange)
        return;
    if (exchange->leaves_body)
        drain_add(&server->drain, MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd);
    const struct request *request = &exchange->request;
    int status = exchange->reply.status;
    if (how == MHD_REQUEST_TERMINATED_COMPLETED_OK)
        http_count(server, exchange);
    log_event(server->options.log,
              status >= 500   ? MIRE_LOG_WARN
              : status >= 400 ? MIRE_LOG_INFO
                              : MIRE_LOG_DEBUG,
              "http.answered", LOG_TEXT("request", request->id), LOG_TEXT("path", request->path),
              LOG_NUMBER("status", status), LOG_NUMBER("cut", how != MHD_REQUEST_TERMINATED_COMPLETED_OK),
              LOG_NUMBER("us", (clock_mono_ns() - request->begun_ns) / 1000));
    free(exchange->body);
    atomic_fetch_sub(&server->bodies_bytes, exchange->body_room);
    text_fini(&exchange->reply.text);
    arena_fini(&exchange->arena);
    free(exchange);
    atomic_fetch_sub(&server->active, 1);
}

void exchange_finish(struct request *request)
{
    struct exchange *exchange = (struct exchange *)request;
    struct MHD_Connection *connection = exchange->connection;
    if (atomic_exchange(&exchange->turn, MIRE_TURN_FINISHED) == MIRE_TURN_SUSPENDED)
        MHD_resume_connection(connection);
}

/* Take memory for a body, counted against the cap of all bodies. */
static bool reserve_body(struct exchange *exchange, size_t len)
{
    struct http_server *server = exchange->server;
    uint64_t before = atomic_fetch_add(&server->bodies_bytes, len);
    exchange->body_room = len;
    if (before + len > server->options.bodies_cap_bytes)
        return false;
    exchange->body = malloc(len ? len : 1);
    exchange->request.body = exchange->body;
    return exchange->body != NULL;
}

/* The reply is filled and the body was not read. Without a body the answer waits for the end of the request. */
static enum MHD_Result send_refusal(struct exchange *exchange)
{
    exchange->stage = MIRE_STAGE_REFUSED;
    if (!exchange->leaves_body)
        return MHD_YES;
    reply_header(&exchange->reply, "Connection", "close");
    return exchange_send(exchange);
}

/* Put the exchange off until a handler thread has finished it. */
static enum MHD_Result hand_over(struct exchange *exchange)
{
    MHD_suspend_connection(exchange->connection);
    atomic_store(&exchange->turn, MIRE_TURN_SUSPENDED);
    handlers_push(&exchange->server->handlers, exchange);
    return MHD_YES;
}

/* The route's admit has come to an outcome. */
static enum MHD_Result end_admit(struct exchange *exchange)
{
    struct request *request = &exchange->request;
    request->may_block = false;
    atomic_store(&exchange->turn, MIRE_TURN_RUNNING);
    if (exchange->admitted != MIRE_HTTP_ADMITTED)
        return send_refusal(exchange);
    if (!reserve_body(exchange, exchange->announced)) {
        reply_retry(&exchange->reply, request, 2, "busy", "Too much is being received now. Try again soon.");
        return send_refusal(exchange);
    }
    exchange->leaves_body = false;
    exchange->stage = MIRE_STAGE_BODY;
    return MHD_YES;
}

static enum MHD_Result begin_request(struct exchange *exchange, const char *method)
{
    struct request *request = &exchange->request;
    exchange_read_head(exchange, method);
    if (exchange_refuse(exchange))
        return send_refusal(exchange);
    /* We are counted in `active` by now: http_stop either waits for us or is seen here, and nothing is put off. */
    if (atomic_load(&exchange->server->stopping)) {
        reply_retry(&exchange->reply, request, 2, "stopping", "The server is stopping. Try again soon.");
        return send_refusal(exchange);
    }
    exchange->stage = MIRE_STAGE_ADMIT;
    exchange->admitted = http_admit(exchange->context, request, &exchange->reply);
    return exchange->admitted == MIRE_HTTP_BLOCKS ? hand_over(exchange) : end_admit(exchange);
}

/* One byte now and then keeps a connection from being idle; its body must not hold memory for ever. */
static bool is_too_slow(const struct exchange *exchange)
{
    uint64_t seconds = (clock_mono_ns() - exchange->request.begun_ns) / 1000000000u;
    uint64_t grace = (uint64_t)exchange->server->options.idle_s;
    return seconds > grace && exchange->request.body_len < (seconds - grace) * BODY_BYTES_S;
}

static enum MHD_Result add_body(struct exchange *exchange, const char *data, size_t *len)
{
    struct request *request = &exchange->request;
    if (exchange->stage == MIRE_STAGE_BODY) {
        if (*len > exchange->body_room - request->body_len || is_too_slow(exchange))
            return MHD_NO;
        memcpy(exchange->body + request->body_len, data, *len);
        request->body_len += *len;
    }
    *len = 0;
    return MHD_YES;
}

static enum MHD_Result run_handler(struct exchange *exchange)
{
    exchange->stage = MIRE_STAGE_ANSWER;
    int rc = MIRE_HTTP_BLOCKS;
    if (exchange->request.route->is_inline)
        rc = http_call(exchange->context, &exchange->request, &exchange->reply);
    if (rc == MIRE_HTTP_DONE)
        return exchange_send(exchange);
    if (rc == MIRE_HTTP_BLOCKS)
        return hand_over(exchange);
    MHD_suspend_connection(exchange->connection);
    int running = MIRE_TURN_RUNNING;
    if (!atomic_compare_exchange_strong(&exchange->turn, &running, MIRE_TURN_SUSPENDED))
        MHD_resume_connection(exchange->connection);
    return MHD_YES;
}

/* libmicrohttpd calls this when the headers are there, with each piece of body, at its end, and after a resume. */
enum MHD_Result exchange_go_on(void *cls, struct MHD_Connection *connection, const char *url, const char *method,
                               const char *version, const char *data, size_t *len, void **slot)
{
    struct exchange *exchange = *slot;
    (void)cls;
    (void)connection;
    (void)url;
    (void)version;
    if (!exchange)
        return MHD_NO;
    if (exchange->stage == MIRE_STAGE_NEW)
        return begin_request(exchange, method);
    if (exchange->stage == MIRE_STAGE_ADMIT)
        return end_admit(exchange);
    if (*len)
        return add_body(exchange, data, len);
    return exchange->stage == MIRE_STAGE_BODY ? run_handler(exchange) : exchange_send(exchange);
}
