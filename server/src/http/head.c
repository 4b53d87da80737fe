/*
 * head.c - what the headers alone tell: who asks for what, and whether that is refused before a body is read.
 */
#include "http/inside.h"

#include "base/clock.h"
#include "base/id.h"

#include <string.h>
#include <strings.h>

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

static int refuse_target(struct exchange *exchange, int status)
{
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

/* Nothing says where the body ends. */
static bool is_without_length(const struct exchange *exchange)
{
    enum http_method method = exchange->request.method;
    bool wants_body = method == MIRE_HTTP_POST || method == MIRE_HTTP_PUT;
    return wants_body && !exchange->head.has_length && !exchange->head.is_chunked;
}

bool exchange_refuse(struct exchange *exchange)
{
    struct request *request = &exchange->request;
    char allowed[64];
    int status = request_parse_target(request, exchange->head.target);
    if (status)
        return !refuse_target(exchange, status);
    status = http_route_find(request, &exchange->context, allowed, exchange->server->options.tables,
                             exchange->server->options.table_count);
    if (status)
        return !refuse_route(exchange, status, allowed);
    if (is_without_length(exchange))
        return !reply_error(&exchange->reply, request, 411, "length", "Send Content-Length, or the body in chunks.");
    if (exchange->announced > request->route->body_cap) {
        exchange_refuse_size(exchange);
        return true;
    }
    if ((exchange->announced || exchange->head.is_chunked) && !encoding_is_taken(request))
        return !reply_error(&exchange->reply, request, 415, "encoding", "This Content-Encoding is not supported.");
    return false;
}

void exchange_read_head(struct exchange *exchange)
{
    struct request *request = &exchange->request;
    request->headers = exchange->head.headers;
    request->header_count = exchange->head.header_count;
    choose_id(request);
    request->method = read_method(exchange, exchange->head.method);
}
