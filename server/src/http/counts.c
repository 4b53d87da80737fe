/*
 * counts.c - requests by route and status, for /metrics.
 */
#include "http/inside.h"

#include "base/metric.h"

#include <stdio.h>

static const int statuses[MIRE_HTTP_STATUSES] = {200, 201, 202, 204, 304, 400, 401, 403, 404, 405,
                                                 409, 411, 413, 414, 415, 422, 429, 500, 503};

static size_t status_place(int status)
{
    size_t place = 0;
    while (place < MIRE_HTTP_STATUSES - 1 && statuses[place] && statuses[place] != status)
        place++;
    return place;
}

/* Place of a route in the counters; the last one is for requests that fit no route. */
static size_t route_place(const struct http_server *server, const struct http_route *route)
{
    size_t before = 0;
    for (size_t t = 0; route && t < server->options.table_count; t++) {
        const struct http_table *table = &server->options.tables[t];
        if (route >= table->routes && route < table->routes + table->count)
            return before + (size_t)(route - table->routes);
        before += table->count;
    }
    return server->route_count;
}

void http_count(struct http_server *server, const struct exchange *exchange)
{
    struct http_counts *counts = &server->counts[route_place(server, exchange->request.route)];
    atomic_fetch_add_explicit(&counts->by_status[status_place(exchange->reply.status)], 1, memory_order_relaxed);
}

static void write_route(struct text *out, struct http_counts *counts, const char *method, const char *pattern)
{
    for (size_t s = 0; s < MIRE_HTTP_STATUSES; s++) {
        uint64_t count = atomic_load_explicit(&counts->by_status[s], memory_order_relaxed);
        char labels[256];
        if (!count)
            continue;
        snprintf(labels, sizeof labels, "method=\"%s\",route=\"%s\",status=\"%d\"", method, pattern, statuses[s]);
        metric_value(out, "mire_http_requests_total", labels, (double)count);
    }
}

void http_metrics(struct http_server *server, struct text *out)
{
    static const char *const methods[] = {"GET", "HEAD", "POST", "PUT", "DELETE", "OTHER"};
    size_t place = 0;
    metric_head(out, "mire_http_requests_total", "counter", "Requests answered, by route and status.");
    for (size_t t = 0; t < server->options.table_count; t++)
        for (size_t r = 0; r < server->options.tables[t].count; r++, place++)
            write_route(out, &server->counts[place], methods[server->options.tables[t].routes[r].method],
                        server->options.tables[t].routes[r].pattern);
    write_route(out, &server->counts[place], "", "");
    metric_head(out, "mire_http_bodies_bytes", "gauge", "Memory that request bodies take now.");
    metric_value(out, "mire_http_bodies_bytes", NULL, (double)server->bodies_bytes);
    metric_head(out, "mire_http_active", "gauge", "Requests being answered now.");
    metric_value(out, "mire_http_active", NULL, server->active);
}
