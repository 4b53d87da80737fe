/*
 * counts.c - requests by route and status, connections that were cut off by reason: for /metrics and the log.
 */
#include "http/inside.h"

#include "base/log.h"
#include "base/metric.h"

#include <stdio.h>

#define CUTS_LOGGED 2 /* a second, of each reason */

static const int statuses[MIRE_HTTP_STATUSES] = {200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 409, 411,
                                                 413, 414, 415, 421, 422, 429, 431, 500, 501, 503, 507};

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

static const char *const reasons[MIRE_CUTS] = {[MIRE_CUT_FULL] = "full",
                                               [MIRE_CUT_ADDRESS] = "address",
                                               [MIRE_CUT_FILES] = "no_descriptor",
                                               [MIRE_CUT_IDLE] = "idle",
                                               [MIRE_CUT_SLOW_HEAD] = "slow_headers",
                                               [MIRE_CUT_SLOW_BODY] = "slow_body",
                                               [MIRE_CUT_SLOW_ANSWER] = "slow_answer",
                                               [MIRE_CUT_MALFORMED] = "malformed"};

void http_cut(struct http_server *server, enum http_cut why, const struct http_peer *peer)
{
    char from[MIRE_HTTP_PEER_TEXT];
    uint64_t skipped = 0;
    atomic_fetch_add_explicit(&server->cuts[why], 1, memory_order_relaxed);
    if (why == MIRE_CUT_IDLE || !log_limit_pass(&server->cut_limits[why], CUTS_LOGGED, &skipped))
        return;
    http_peer_format(from, peer);
    log_event(server->options.log, MIRE_LOG_WARN, "http.cut", LOG_TEXT("why", reasons[why]), LOG_TEXT("from", from),
              LOG_NUMBER("not_logged", skipped));
}

static void write_connections(struct text *out, struct http_server *server)
{
    int count = 0;
    for (size_t i = 0; i < MIRE_HTTP_LOOPS; i++)
        count += atomic_load(&server->loops[i].count);
    metric_head(out, "mire_http_connections", "gauge", "Connections open now.");
    metric_value(out, "mire_http_connections", NULL, count);
    metric_head(out, "mire_http_connections_max", "gauge", "Connections that may be open at once.");
    metric_value(out, "mire_http_connections_max", NULL, server->options.connections_max);
    metric_head(out, "mire_http_cut_total", "counter", "Connections that the server closed, by reason.");
    for (size_t why = 0; why < MIRE_CUTS; why++) {
        char labels[64];
        snprintf(labels, sizeof labels, "reason=\"%s\"", reasons[why]);
        metric_value(out, "mire_http_cut_total", labels, (double)atomic_load(&server->cuts[why]));
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
    metric_head(out, "mire_http_bodies_bytes", "gauge", "Memory of request bodies.");
    metric_value(out, "mire_http_bodies_bytes", NULL, (double)server->bodies_bytes);
    metric_head(out, "mire_http_active", "gauge", "Requests being answered now.");
    metric_value(out, "mire_http_active", NULL, server->active);
    metric_head(out, "mire_http_expensive_given_up_total", "counter",
                "Expensive queries that waited too long for a thread.");
    metric_value(out, "mire_http_expensive_given_up_total", NULL, (double)server->lanes[MIRE_LANE_EXPENSIVE].given_up);
    write_connections(out, server);
}
