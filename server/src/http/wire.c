/*
 * wire.c - the head of an HTTP/1.1 request (RFC 9110, RFC 9112), line by line.
 */
#include "http/wire.h"

#include <string.h>
#include <strings.h>

#define DIGITS_MAX 18 /* of Content-Length: fits 64 bits */

bool wire_is_text(char c)
{
    unsigned char byte = (unsigned char)c;
    return byte == '\t' || (byte >= ' ' && byte != 0x7f);
}

enum wire_outcome wire_scan(size_t *seen, const char *bytes, size_t len)
{
    for (size_t at = *seen; at < len; at++) {
        unsigned char c = (unsigned char)bytes[at];
        bool after_cr = at > 0 && bytes[at - 1] == '\r';
        *seen = at + 1;
        if (after_cr != (c == '\n') || (c != '\r' && c != '\n' && !wire_is_text((char)c)))
            return MIRE_WIRE_BAD;
        if (c == '\n' && at == 1)
            return MIRE_WIRE_BAD; /* it begins with an empty line */
        if (c == '\n' && at >= 3 && bytes[at - 2] == '\n')
            return MIRE_WIRE_WHOLE;
    }
    return MIRE_WIRE_MORE;
}

bool wire_is_token(const char *text, size_t len)
{
    static const char marks[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!is_letter && !(c && strchr(marks, c)))
            return false;
    }
    return len > 0;
}

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/* A name, or an address in brackets; then perhaps a port. */
static bool is_host(const char *text)
{
    size_t inner = *text == '[' ? strspn(text + 1, LETTERS "-._~:%") : 0;
    size_t len = *text == '[' ? inner + 2 : strspn(text, LETTERS "-._~%");
    if (!len || len >= 256 || (*text == '[' && (!inner || text[inner + 1] != ']')))
        return false;
    size_t digits = text[len] == ':' ? strspn(text + len + 1, "0123456789") : 0;
    return !text[len] || (text[len] == ':' && digits <= 5 && !text[len + 1 + digits]);
}

/* A header of which two readers could choose different lines occurs twice. */
static bool is_told_twice(const struct http_pair *headers, size_t count)
{
    static const char *const once[] = {"Authorization", "Content-Encoding", "Content-Type", "Origin", "Sec-Fetch-Site"};
    for (size_t n = 0; n < sizeof once / sizeof *once; n++) {
        size_t times = 0;
        for (size_t i = 0; i < count; i++)
            times += !strcasecmp(headers[i].name, once[n]);
        if (times > 1)
            return true;
    }
    return false;
}

/* Is `word` one of the words of a list, any case? */
static bool lists(const char *list, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = list; *at;) {
        at += strspn(at, " \t,");
        size_t part = strcspn(at, " \t,");
        if (part == len && !strncasecmp(at, word, len))
            return true;
        at += part;
    }
    return false;
}

/* The next line, without its end; wire_scan has seen that each ends in CR LF. */
static char *take_line(char **rest, const char *end)
{
    char *line = *rest;
    char *cr = memchr(line, '\r', (size_t)(end - line));
    if (!cr)
        return NULL;
    *cr = '\0';
    *rest = cr + 2;
    return line;
}

static int refuse(const char **why, int status, const char *text)
{
    *why = text;
    return status;
}

static int parse_request_line(struct wire_head *out, const char **why, char *line)
{
    char *target = line ? strchr(line, ' ') : NULL, *version = target ? strchr(target + 1, ' ') : NULL;
    if (!version || !wire_is_token(line, (size_t)(target - line)))
        return refuse(why, 400, "The request line cannot be read.");
    *target++ = '\0';
    *version++ = '\0';
    for (const char *at = target; *at; at++)
        if (*at < '!' || *at > '~' || *at == '#')
            return refuse(why, 400, "The address has characters that must be escaped.");
    if (!*target)
        return refuse(why, 400, "The request line cannot be read.");
    if (strcmp(version, "HTTP/1.1") != 0 && strcmp(version, "HTTP/1.0") != 0)
        return refuse(why, 400, "Only HTTP/1.1 and HTTP/1.0 are supported.");
    out->is_last = version[7] == '0';
    out->method = line;
    out->target = target;
    return 0;
}

static int take_length(struct wire_head *out, const char **why, const char *value)
{
    size_t digits = strspn(value, "0123456789");
    if (out->has_length)
        return refuse(why, 400, "Content-Length occurs twice.");
    if (!digits || value[digits] || digits > DIGITS_MAX)
        return refuse(why, 400, "Content-Length is not a number.");
    out->has_length = true;
    for (const char *at = value; *at; at++)
        out->length = out->length * 10 + (uint64_t)(*at - '0');
    return 0;
}

/* Headers that say how the request is to be read. */
static int take_framing(struct wire_head *out, const char **why, const struct http_pair *header)
{
    if (!strcasecmp(header->name, "Content-Length"))
        return take_length(out, why, header->value);
    if (!strcasecmp(header->name, "Transfer-Encoding")) {
        if (out->is_chunked)
            return refuse(why, 400, "Transfer-Encoding occurs twice.");
        if (strcasecmp(header->value, "chunked") != 0)
            return refuse(why, 501, "The only supported Transfer-Encoding is chunked.");
        out->is_chunked = true;
    } else if (!strcasecmp(header->name, "Host")) {
        if (out->host || !is_host(header->value))
            return refuse(why, 400, "Send one Host.");
        out->host = header->value;
    } else if (!strcasecmp(header->name, "Connection")) {
        out->is_last |= lists(header->value, "close");
    } else if (!strcasecmp(header->name, "Expect")) {
        if (strcasecmp(header->value, "100-continue") != 0)
            return refuse(why, 417, "Only 100-continue can be expected.");
        out->is_expected = true;
    }
    return 0;
}

static int parse_header(struct http_pair *out, const char **why, char *line)
{
    char *colon = strchr(line, ':');
    if (*line == ' ' || *line == '\t')
        return refuse(why, 400, "A header continues on a second line, which is not allowed.");
    if (!colon || !wire_is_token(line, (size_t)(colon - line)))
        return refuse(why, 400, "A header cannot be read.");
    *colon = '\0';
    char *value = colon + 1 + strspn(colon + 1, " \t");
    size_t len = strlen(value);
    while (len && (value[len - 1] == ' ' || value[len - 1] == '\t'))
        value[--len] = '\0';
    *out = (struct http_pair){line, value};
    return 0;
}

int wire_parse(struct wire_head *out, const char **why, struct http_pair *headers, size_t room, char *bytes, size_t len)
{
    char *rest = bytes;
    const char *end = bytes + len;
    *out = (struct wire_head){.headers = headers};
    int status = parse_request_line(out, why, take_line(&rest, end));
    bool is_1_0 = out->is_last;
    for (char *line; !status && (line = take_line(&rest, end)) && *line;) {
        if (out->header_count == room)
            return refuse(why, 431, "There are too many headers.");
        struct http_pair *header = &headers[out->header_count++];
        status = parse_header(header, why, line);
        if (!status)
            status = take_framing(out, why, header);
    }
    if (status)
        return status;
    if (!out->host && !is_1_0)
        return refuse(why, 400, "Send one Host.");
    if (is_told_twice(headers, out->header_count))
        return refuse(why, 400, "A header that may be sent once occurs twice.");
    if (out->is_chunked && (out->has_length || is_1_0))
        return refuse(why, 400, "The body has both a Content-Length and a Transfer-Encoding.");
    return 0;
}
