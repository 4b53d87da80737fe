/*
 * route.c - finds the row of the route table that a request belongs to, and calls its handler. Pure.
 */
#include "http/http.h"

#include "base/fault.h"

#include <stdio.h>
#include <string.h>

/* Does `path` fit `pattern`? Fills params with copies from the request's arena. */
static bool fits(struct request *request, const char *pattern)
{
    const char *path = request->path;
    size_t params = 0;
    memset(request->params, 0, sizeof request->params);
    while (*pattern == '/' && *path == '/') {
        size_t want = strcspn(++pattern, "/");
        size_t have = strcspn(++path, "/");
        if (*pattern == '*') {
            request->params[params] = path;
            return true;
        }
        if (*pattern == '{') {
            if (!have || params == MIRE_HTTP_PARAMS_MAX)
                return false;
            request->params[params] = arena_copy(request->arena, path, have);
            if (!request->params[params++])
                return false;
        } else if (want != have || memcmp(pattern, path, want) != 0) {
            return false;
        }
        pattern += want;
        path += have;
    }
    return !*pattern && !*path;
}

static const char *const method_names[] = {"GET", "HEAD", "POST", "PUT", "DELETE"};

static void allow(char allow_out[64], enum http_method method)
{
    size_t len = strlen(allow_out);
    const char *names = method == MIRE_HTTP_GET ? "GET, HEAD" : method_names[method];
    if (!strstr(allow_out, names))
        snprintf(allow_out + len, 64 - len, "%s%s", len ? ", " : "", names);
}

int http_route_find(struct request *request, void **context_out, char allow_out[64], const struct http_table *tables,
                    size_t table_count)
{
    allow_out[0] = '\0';
    for (size_t t = 0; t < table_count; t++) {
        for (size_t r = 0; r < tables[t].count; r++) {
            const struct http_route *route = &tables[t].routes[r];
            /* Somebody asked for this path with another method: the catch-all must not turn that into a page. */
            if (allow_out[0] && strchr(route->pattern, '*'))
                continue;
            if (!fits(request, route->pattern))
                continue;
            if (route->method == request->method) {
                request->route = route;
                *context_out = tables[t].context;
                return 0;
            }
            allow(allow_out, route->method);
        }
    }
    return allow_out[0] ? 405 : 404;
}

int http_ask(http_handler handler, void *context, struct request *request, struct reply *reply)
{
    int rc = handler(context, request, reply);
    if (rc < 0) {
        reply->header_count = 0;
        if (rc == MIRE_FAULT_AWAY || rc == MIRE_FAULT_RACED || rc == MIRE_FAULT_TIMEOUT)
            return reply_retry(reply, request, 2, "unavailable", "The database does not answer now. Try again soon.");
        return reply_error(reply, request, 500, "internal",
                           "An internal error occurred. The log has the request's id.");
    }
    if (rc == MIRE_HTTP_DONE && reply->text.failed)
        return reply_error(reply, request, 500, "internal", "Memory ran out.");
    return rc;
}

int http_call(void *context, struct request *request, struct reply *reply)
{
    return http_ask(request->route->handler, context, request, reply);
}
