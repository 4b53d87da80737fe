/*
 * server.c - libmicrohttpd: two epoll threads, bodies gathered under caps, handlers called.
 *
 * Always true: a body's memory is counted before it is taken; a suspended connection is resumed exactly once; an
 * exchange is freed only in completed(), when libmicrohttpd has let go of its reply.
 */
#include "http/inside.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/id.h"
#include "base/log.h"
#include "base/scope.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define NETWORK_THREADS  2
#define BODY_BYTES_S     1024        /* a body that comes slower on the whole, after the idle time, is cut off */
#define CONNECTION_BYTES (32 * 1024) /* libmicrohttpd zeroes it for each request: more costs time */

/* --- one exchange ------------------------------------------------------------------------------------------------ */

/* The request line has come: make the exchange. libmicrohttpd passes it to the callbacks below. */
static void *begin_exchange(void *cls, const char *target, struct MHD_Connection *connection)
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

static void completed(void *cls, struct MHD_Connection *connection, void **slot, enum MHD_RequestTerminationCode how)
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

static enum MHD_Result keep_header(void *cls, enum MHD_ValueKind kind, const char *name, const char *value)
{
    struct exchange *exchange = cls;
    (void)kind;
    if (exchange->request.header_count == MIRE_EXCHANGE_HEADERS_MAX)
        return MHD_NO;
    exchange->headers[exchange->request.header_count++] = (struct http_pair){name, value ? value : ""};
    return MHD_YES;
}

/* A request id the client chose is kept if it is short and plain. */
static void choose_id(struct request *request)
{
    const char *sent = request_header(request, "X-Request-Id");
    size_t len = sent ? strnlen(sent, MIRE_REQUEST_ID) : 0;
    if (len && len < MIRE_REQUEST_ID &&
        strspn(sent, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.") == len) {
        memcpy(request->id, sent, len + 1);
        return;
    }
    struct uuid uuid;
    uuid_make(&uuid, clock_wall_us());
    uuid_format(request->id, &uuid);
}

static enum http_method read_method(struct exchange *exchange, const char *method)
{
    static const char *const names[] = {"GET", "HEAD", "POST", "PUT", "DELETE"};
    size_t at = 0;
    while (at < MIRE_HTTP_OTHER && strcmp(names[at], method) != 0)
        at++;
    exchange->is_head = at == MIRE_HTTP_HEAD;
    return exchange->is_head ? MIRE_HTTP_GET : (enum http_method)at;
}

/* --- receiving --------------------------------------------------------------------------------------------------- */

static int refuse_target(struct exchange *exchange)
{
    int status = exchange->reply.status;
    return reply_error(&exchange->reply, &exchange->request, status, "target",
                       status == 414 ? "The address is too long." : "The address cannot be read.");
}

static int refuse_route(struct exchange *exchange, int status, const char *allowed)
{
    struct request *request = &exchange->request;
    if (status == 404)
        return reply_error(&exchange->reply, request, 404, "not_found", "Nothing is here.");
    reply_header(&exchange->reply, "Allow", arena_strdup(request->arena, allowed));
    return reply_error(&exchange->reply, request, 405, "method", "Allowed here: %s.", allowed);
}

static bool encoding_is_taken(const struct request *request)
{
    const char *encoding = request_header(request, "Content-Encoding");
    if (!encoding || !strcasecmp(encoding, "identity"))
        return true;
    for (const char *const *name = request->route->encodings; name && *name; name++)
        if (!strcasecmp(encoding, *name))
            return true;
    return false;
}

/* Length of the body the headers announce. False: they announce one without saying how long it is. */
static bool body_length(size_t *out, const struct request *request)
{
    const char *length = request_header(request, "Content-Length");
    bool wants_body = request->method == MIRE_HTTP_POST || request->method == MIRE_HTTP_PUT;
    *out = 0;
    if (request_header(request, "Transfer-Encoding"))
        return false;
    if (!length)
        return !wants_body;
    char *end;
    errno = 0;
    unsigned long long value = strtoull(length, &end, 10);
    *out = errno || value > SIZE_MAX / 2 ? SIZE_MAX / 2 : (size_t)value;
    return length[0] >= '0' && length[0] <= '9' && !*end;
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

/* What the headers alone tell. False: go on; else the reply is filled. */
static bool refuse(struct exchange *exchange)
{
    struct request *request = &exchange->request;
    char allowed[64];
    bool has_length = body_length(&exchange->announced, request);
    exchange->leaves_body = exchange->announced || request_header(request, "Transfer-Encoding");
    if (exchange->reply.status)
        return !refuse_target(exchange);
    int status = http_route_find(request, &exchange->context, allowed, exchange->server->options.tables,
                                 exchange->server->options.table_count);
    if (status)
        return !refuse_route(exchange, status, allowed);
    if (!has_length)
        return !reply_error(&exchange->reply, request, 411, "length", "Send Content-Length.");
    if (exchange->announced > request->route->body_cap)
        return !reply_error(&exchange->reply, request, 413, "too_large", "At most %zu bytes are taken here.",
                            request->route->body_cap);
    if (exchange->announced && !encoding_is_taken(request))
        return !reply_error(&exchange->reply, request, 415, "encoding", "This Content-Encoding is not taken here.");
    return false;
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
    MHD_get_connection_values(exchange->connection, MHD_HEADER_KIND, keep_header, exchange);
    choose_id(request);
    request->method = read_method(exchange, method);
    if (refuse(exchange))
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
static enum MHD_Result on_request(void *cls, struct MHD_Connection *connection, const char *url, const char *method,
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

/* --- the server -------------------------------------------------------------------------------------------------- */

static int listen_on(int *fd_out, uint16_t *port_out, const char *address, uint16_t port)
{
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    bool is_v6 = inet_pton(AF_INET6, address, &v6.sin6_addr) == 1;
    if (!is_v6 && inet_pton(AF_INET, address, &v4.sin_addr) != 1) {
        errno = EINVAL;
        return MIRE_FAULT_SYSTEM;
    }
    struct sockaddr *name = is_v6 ? (struct sockaddr *)&v6 : (struct sockaddr *)&v4;
    socklen_t len = is_v6 ? sizeof v6 : sizeof v4;
    int on = 1;
    int fd = socket(name->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return MIRE_FAULT_SYSTEM;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, name, len) || listen(fd, 1024) || getsockname(fd, name, &len)) {
        int error = errno;
        close(fd);
        errno = error;
        return MIRE_FAULT_SYSTEM;
    }
    *port_out = ntohs(is_v6 ? v6.sin6_port : v4.sin_port);
    *fd_out = fd;
    return 0;
}

static int start_daemon(struct http_server *server, int fd)
{
    const struct http_options *options = &server->options;
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
    server->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, server, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_URI_LOG_CALLBACK,
        begin_exchange, server, MHD_OPTION_NOTIFY_COMPLETED, completed, server, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_BYTES, MHD_OPTION_CONNECTION_LIMIT, options->connections_max, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)options->idle_s, MHD_OPTION_THREAD_POOL_SIZE, (unsigned)NETWORK_THREADS, MHD_OPTION_END);
    return server->daemon ? 0 : MIRE_FAULT_SYSTEM;
}

static void server_free(struct http_server *server)
{
    free(server->counts);
    free(server);
}

int http_start(struct http_server **out, const struct http_options *options)
{
    int fd = -1;
    struct http_server *server = calloc(1, sizeof *server);
    if (!server)
        return MIRE_FAULT_MEMORY;
    server->options = *options;
    for (size_t t = 0; t < options->table_count; t++)
        server->route_count += options->tables[t].count;
    server->counts = calloc(server->route_count + 1, sizeof *server->counts);
    int rc = server->counts ? handlers_start(&server->handlers, options->handler_threads) : MIRE_FAULT_MEMORY;
    if (rc) {
        server_free(server);
        return rc;
    }
    rc = drain_start(&server->drain);
    if (rc) {
        handlers_stop(&server->handlers);
        server_free(server);
        return rc;
    }
    rc = listen_on(&fd, &server->port, options->address, options->port);
    if (!rc)
        rc = start_daemon(server, fd);
    if (rc) {
        log_event(options->log, MIRE_LOG_ERROR, "http.cannot_listen", LOG_TEXT("address", options->address),
                  LOG_NUMBER("port", options->port), LOG_TEXT("why", strerror(errno)));
        close_fd(&fd);
        drain_stop(&server->drain);
        handlers_stop(&server->handlers);
        server_free(server);
        return rc;
    }
    *out = server;
    return 0;
}

uint16_t http_port(const struct http_server *server)
{
    return server->port;
}

bool http_stop(struct http_server *server, int patience_ms)
{
    if (!server)
        return true;
    uint64_t until = clock_mono_ns() + (uint64_t)patience_ms * 1000000u;
    atomic_store(&server->stopping, true);
    int fd = MHD_quiesce_daemon(server->daemon);
    close_fd(&fd);
    while (atomic_load(&server->active) > 0 && clock_mono_ns() < until)
        usleep(5000);
    if (atomic_load(&server->active) > 0) {
        log_event(server->options.log, MIRE_LOG_WARN, "http.abandoned", LOG_NUMBER("requests", server->active));
        return false;
    }
    handlers_stop(&server->handlers);
    MHD_stop_daemon(server->daemon);
    drain_stop(&server->drain);
    server_free(server);
    return true;
}
