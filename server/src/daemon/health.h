/*
 * health.h - /healthz and /metrics.
 */
#ifndef MIRE_DAEMON_HEALTH_H
#define MIRE_DAEMON_HEALTH_H

#include "http/http.h"

struct access;
struct http_server;
struct ingest;
struct live;
struct pg;
struct space;
struct sender;
struct work;

/*
 * The parts that are asked for their state. Members are set before http_start, with three exceptions: `http` is set
 * right after it, `work` and `sender` by the upkeep thread when the database is ready. Any but pg may be NULL.
 */
struct health {
    struct pg *pg;
    struct http_server *_Atomic http;
    struct access *access;
    struct space *space; /* NULL: the disk is not looked at */
    struct ingest *ingest;
    struct live *live;
    struct work *_Atomic work;
    struct sender *_Atomic sender;
};

extern const struct http_route health_routes[];
extern const size_t health_route_count;

#endif
