/*
 * request.c - what a handler reads: target, parameters, query, headers. Pure.
 */
#include "http/http.h"

#include <string.h>
#include <strings.h>

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Undo %XX (and + in a query) in place. False on a bad escape or a NUL. */
static bool unescape(char *text, bool plus_is_space)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        char c = *from;
        if (c == '%') {
            int high = hex_digit(from[1]);
            int low = high < 0 ? -1 : hex_digit(from[2]);
            if (low < 0 || !(high | low))
                return false;
            c = (char)(high << 4 | low);
            from += 2;
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        }
        *to++ = c;
    }
    *to = '\0';
    return true;
}

/* A segment that would climb the tree, however it is written. */
static bool is_dots(const char *segment, size_t len)
{
    return (len == 1 && segment[0] == '.') || (len == 2 && segment[0] == '.' && segment[1] == '.');
}

static bool path_climbs(const char *path)
{
    for (const char *at = path; *at; at += strspn(at, "/")) {
        size_t len = strcspn(at, "/");
        if (is_dots(at, len))
            return true;
        at += len;
    }
    return false;
}

static int parse_query(struct request *request, char *query)
{
    char *rest = query;
    for (char *part; (part = strsep(&rest, "&"));) {
        if (!*part)
            continue;
        if (request->query_count == MIRE_HTTP_QUERY_MAX)
            return 400;
        char *value = strchr(part, '=');
        if (value)
            *value++ = '\0';
        else
            value = part + strlen(part);
        if (!unescape(part, true) || !unescape(value, true))
            return 400;
        request->query[request->query_count++] = (struct http_pair){part, value};
    }
    return 0;
}

int request_parse_target(struct request *request, const char *target)
{
    size_t len = strnlen(target, MIRE_HTTP_URI_MAX + 1);
    if (len > MIRE_HTTP_URI_MAX)
        return 414;
    char *path = arena_copy(request->arena, target, len);
    if (!path || path[0] != '/')
        return 400;
    request->query_count = 0;
    request->path = path;
    char *query = strchr(path, '?');
    if (query) {
        *query++ = '\0';
        int status = parse_query(request, query);
        if (status)
            return status;
    }
    return unescape(path, false) && !path_climbs(path) ? 0 : 400;
}

const char *request_param(const struct request *request, size_t n)
{
    return n < MIRE_HTTP_PARAMS_MAX && request->params[n] ? request->params[n] : "";
}

const char *request_query(const struct request *request, const char *name)
{
    for (size_t i = 0; i < request->query_count; i++)
        if (!strcmp(request->query[i].name, name))
            return request->query[i].value;
    return NULL;
}

const char *request_header(const struct request *request, const char *name)
{
    for (size_t i = 0; i < request->header_count; i++)
        if (!strcasecmp(request->headers[i].name, name))
            return request->headers[i].value;
    return NULL;
}

const char *request_header_last(const struct request *request, const char *name)
{
    for (size_t i = request->header_count; i-- > 0;)
        if (!strcasecmp(request->headers[i].name, name))
            return request->headers[i].value;
    return NULL;
}

const char *request_bearer(const struct request *request)
{
    const char *value = request_header(request, "Authorization");
    if (!value || strncasecmp(value, "Bearer ", 7) != 0)
        return NULL;
    value += 7;
    return value + strspn(value, " ");
}
