/*
 * send.c - a reply on its way out, with the headers that every answer carries.
 */
#include "http/inside.h"

#include <stdint.h>
#include <strings.h>

/* What a browser may do with an answer: the dashboard runs its own scripts and styles and nothing else. */
static const struct http_pair policy[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
     "font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
     "require-trusted-types-for 'script'; trusted-types 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Permissions-Policy", "camera=(), microphone=(), geolocation=()"},
};

enum MHD_Result exchange_send(struct exchange *exchange)
{
    struct reply *reply = &exchange->reply;
    bool has_cache_control = false;
    if (!reply->status)
        reply->status = 500;
    const void *body = reply->body ? reply->body : reply->text.bytes;
    size_t len = reply->body ? reply->body_len : reply->text.len;
    struct MHD_Response *response =
        MHD_create_response_from_buffer(len, (void *)(uintptr_t)body, MHD_RESPMEM_PERSISTENT);
    if (!response)
        return MHD_NO;
    if (reply->type)
        MHD_add_response_header(response, "Content-Type", reply->type);
    for (size_t i = 0; i < reply->header_count; i++) {
        MHD_add_response_header(response, reply->headers[i].name, reply->headers[i].value);
        has_cache_control |= !strcasecmp(reply->headers[i].name, "Cache-Control");
    }
    if (!has_cache_control)
        MHD_add_response_header(response, "Cache-Control", "no-store");
    for (size_t i = 0; i < sizeof policy / sizeof *policy; i++)
        MHD_add_response_header(response, policy[i].name, policy[i].value);
    MHD_add_response_header(response, "X-Request-Id", exchange->request.id);
    if (atomic_load(&exchange->server->stopping))
        MHD_add_response_header(response, "Connection", "close");
    enum MHD_Result queued = MHD_queue_response(exchange->connection, (unsigned)reply->status, response);
    MHD_destroy_response(response);
    return queued;
}
