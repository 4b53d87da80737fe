/*
 * health.h - /healthz and /metrics.
 */
#ifndef MIRE_DAEMON_HEALTH_H
#define MIRE_DAEMON_HEALTH_H

#include "http/http.h"

struct access;
struct http_server;
struct ingest;
struct pg;
struct space;
struct sender;
struct work;

/*
 * What is asked. Filled before http_start, but `http`, which main sets right after it, and `work` and
 * `sender`, which the upkeep thread sets when the database is ready; any may be NULL but pg.
 */
struct health {
    struct pg *pg;
    struct http_server *_Atomic http;
    struct access *access;
    struct space *space; /* NULL: nobody looks at the disk */
    struct ingest *ingest;
    struct work *_Atomic work;
    struct sender *_Atomic sender;
};

extern const struct http_route health_routes[];
extern const size_t health_route_count;

#endif
