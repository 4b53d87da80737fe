/*
 * send.c - the head of a reply, with the headers that every answer carries.
 */
#include "http/inside.h"

#include <strings.h>
#include <time.h>

/* The policy for browsers: the dashboard runs its own scripts and styles and nothing else. */
static const char policy[] =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Permissions-Policy: camera=(), microphone=(), geolocation=()\r\n";

static void add_header(struct text *out, const char *name, const char *value)
{
    text_add(out, name);
    text_add(out, ": ");
    text_add(out, value);
    text_add(out, "\r\n");
}

static void add_date(struct text *out)
{
    char now[40];
    struct tm parts;
    time_t seconds = time(NULL);
    gmtime_r(&seconds, &parts);
    strftime(now, sizeof now, "%a, %d %b %Y %H:%M:%S GMT", &parts);
    add_header(out, "Date", now);
}

const void *exchange_body(const struct exchange *exchange, size_t *len_out)
{
    const struct reply *reply = &exchange->reply;
    bool has_none = exchange->is_head || reply->status == 304 || reply->status == 204;
    *len_out = reply->body ? reply->body_len : reply->text.len;
    if (has_none)
        *len_out = 0;
    return reply->body ? reply->body : reply->text.bytes;
}

void exchange_write_head(struct text *out, struct exchange *exchange)
{
    struct reply *reply = &exchange->reply;
    bool has_cache_control = false;
    if (!reply->status)
        reply->status = 500;
    text_printf(out, "HTTP/1.1 %d %s\r\n", reply->status, http_status_text(reply->status));
    add_date(out);
    if (reply->type)
        add_header(out, "Content-Type", reply->type);
    for (size_t i = 0; i < reply->header_count; i++) {
        add_header(out, reply->headers[i].name, reply->headers[i].value);
        has_cache_control |= !strcasecmp(reply->headers[i].name, "Cache-Control");
    }
    if (!has_cache_control)
        add_header(out, "Cache-Control", "no-store");
    text_append(out, policy, sizeof policy - 1);
    add_header(out, "X-Request-Id", exchange->request.id);
    exchange->is_last |= atomic_load(&exchange->server->stopping);
    if (exchange->is_last)
        add_header(out, "Connection", "close");
    if (reply->status != 204 && reply->status != 304)
        text_printf(out, "Content-Length: %zu\r\n", reply->body ? reply->body_len : reply->text.len);
    text_add(out, "\r\n");
}
