/*
 * api.h - the routes for browsers: /api/v1 as schema/api/openapi.yaml describes it, permalinks, and the
 * dashboard's files.
 *
 *     request -> routes.c -> call_run: parameters, one snapshot, answer, ETag -> reply
 *
 * Handlers block on the database, so none is inline. A read of a long range, or one that was slow lately (slow.h), runs
 * in the lane of expensive queries. Any other read has a second; after that it begins again in that lane. Every change that
 * a person or a key makes is written to the audit log in its own transaction.
 * Threads: the context is only read; nearby, slow and live have locks of their own.
 */
#ifndef MIRE_API_API_H
#define MIRE_API_API_H

#include "http/http.h"

struct access;
struct findings;
struct live;
struct log;
struct nearby;
struct slow;
struct vault;
struct oidc;
struct oidc_role;
struct pg;
struct pg_tx;

/* A setting of the server, without passwords. */
struct api_setting {
    const char *name, *value, *from; /* from: default, file, environment, flag */
};

struct api {
    struct pg *pg;           /* borrowed */
    struct live *live;       /* borrowed; NULL: no page waits, each is answered at once */
    struct pg *replica;      /* of the same database, to read pages from; borrowed; NULL: there is none */
    const char *web_dir;     /* the built dashboard; borrowed */
    int64_t (*now_us)(void); /* wall clock */
    struct nearby *nearby;   /* borrowed */
    struct slow *slow;       /* borrowed; NULL: no question is remembered */
    const char *scratch_dir; /* uploads are joined and unpacked there, in files without a name; NULL: in memory */
    const char *converter;   /* as in symbols_options: the program that unpacks; NULL: this process does */
    struct access *access;   /* borrowed */
    void *full_context;
    bool (*is_full)(void *context);     /* is the disk nearly full? Then no file is taken. NULL: unknown */
    struct oidc *oidc;                  /* borrowed; NULL: there is no OpenID provider */
    const struct oidc_role *oidc_roles; /* of groups; borrowed */
    size_t oidc_role_count;             /* 0: roles are given by hand */
    const char *oidc_default_role;      /* "none", or a role in every app */
    const struct log *log;
    /* Findings about this server (daemon/doctor.h); NULL: none. 0 or a fault. */
    int (*examine)(const void *examine_context, struct findings *out, struct arena *arena, struct pg_tx *tx);
    const void *examine_context;
    const struct vault *vault;          /* seals secrets of trackers and channels; borrowed */
    const char *base;                   /* address in links of messages; borrowed, and set when the database is ready */
    const struct api_setting *settings; /* borrowed, with the file that was read, "" if none */
    size_t setting_count;
    const char *config_file;
    int retention_days; /* of apps that set none; 0: for ever */
    int idle_days;      /* issues and versions without reports for so many days are idle; 0: none are */
    int64_t quota_reports_day, quota_bytes_day; /* the same; 0: no limit */
    int64_t enough_per_issue_day;               /* the same; 0: all are kept */
};

/* Indexes of similar issues (api/issues/nearby.h), empty. NULL: no memory. */
struct nearby *nearby_new(void);
void nearby_free(struct nearby *nearby);

/* The table of all routes; their context is a struct api *. It holds a catch-all, so it comes last. */
extern const struct http_route api_routes[];
extern const size_t api_route_count;

#endif
