/*
 * head.c - what the headers alone tell: who asks for what, and whether that is refused before a body is read.
 */
#include "http/inside.h"

#include "base/clock.h"
#include "base/id.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

bool exchange_refuse(struct exchange *exchange)
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

void exchange_read_head(struct exchange *exchange, const char *method)
{
    struct request *request = &exchange->request;
    MHD_get_connection_values(exchange->connection, MHD_HEADER_KIND, keep_header, exchange);
    choose_id(request);
    request->method = read_method(exchange, method);
}
