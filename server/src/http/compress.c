/*
 * compress.c - answers of handlers as gzip, for clients that take it. Runs on the handler's thread.
 */
#include "http/inside.h"

#include <string.h>
#include <strings.h>
#include <zlib.h>

#define LEAST_BYTES 1400 /* a smaller answer fits into a packet as it is */
#define LEVEL       5
#define GZIP_WINDOW (15 + 16)

bool request_takes(const struct request *request, const char *coding)
{
    size_t len = strlen(coding);

    for (const char *p = request_header(request, "Accept-Encoding"); p && *p; p += strcspn(p, ","), p += *p == ',') {
        p += strspn(p, " \t");
        if (strncasecmp(p, coding, len) != 0 || (p[len] && !strchr(" \t,;", p[len])))
            continue;
        const char *q = p + strcspn(p, ",;");
        q += *q == ';';
        q += strspn(q, " \t");
        if (strncasecmp(q, "q=0", 3) != 0)
            return true;
        q += 3 + (q[3] == '.');
        return q[strspn(q, "0")] >= '1' && q[strspn(q, "0")] <= '9';
    }

    return false;
}

static bool is_text(const char *type)
{
    static const char *const begins[] = {"application/json", "application/problem+json", "text/", "image/svg+xml"};

    for (size_t i = 0; type && i < sizeof begins / sizeof *begins; i++)
        if (!strncmp(type, begins[i], strlen(begins[i])))
            return true;
    return false;
}

static struct http_pair *find(struct reply *reply, const char *name)
{
    for (size_t i = 0; i < reply->header_count; i++)
        if (!strcasecmp(reply->headers[i].name, name))
            return &reply->headers[i];
    return NULL;
}

static bool deflate_all(struct text *out, const void *bytes, size_t len)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)len};
    char part[16384];
    int rc = Z_OK;

    if (deflateInit2(&stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    while (rc == Z_OK) {
        stream.next_out = (Bytef *)part;
        stream.avail_out = sizeof part;
        rc = deflate(&stream, Z_FINISH);
        text_append(out, part, sizeof part - stream.avail_out);
    }
    deflateEnd(&stream);
    return rc == Z_STREAM_END && !text_failed(out);
}

/* The tag of another form of the same content is weak (RFC 9110, 8.8.3.3). */
static void weaken_tag(struct exchange *exchange)
{
    struct http_pair *tag = find(&exchange->reply, "ETag");
    const char *weak = tag && *tag->value == '"' ? arena_printf(&exchange->arena, "W/%s", tag->value) : NULL;

    if (weak)
        tag->value = weak;
}

void exchange_compress(struct exchange *exchange)
{
    struct reply *reply = &exchange->reply;
    const void *bytes = reply->body ? reply->body : reply->text.bytes;
    size_t len = reply->body ? reply->body_len : reply->text.len;
    struct text packed = {0};

    if (len < LEAST_BYTES || len > UINT32_MAX || !is_text(reply->type) || find(reply, "Content-Encoding") ||
        reply->header_count + 2 > MIRE_HTTP_HEADERS_MAX)
        return;
    if (!find(reply, "Vary"))
        reply_header(reply, "Vary", "Accept-Encoding");
    if (!request_takes(&exchange->request, "gzip"))
        return;
    if (!deflate_all(&packed, bytes, len) || packed.len >= len) {
        text_fini(&packed);
        return;
    }
    text_fini(&reply->text);
    reply->text = packed;
    reply->body = NULL;
    reply->body_len = 0;
    reply_header(reply, "Content-Encoding", "gzip");
    weaken_tag(exchange);
}
