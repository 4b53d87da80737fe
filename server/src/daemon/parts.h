/*
 * parts.h - the parts of a running mired, and the start of the parts of each role. Inside daemon/ only.
 */
#ifndef MIRE_DAEMON_PARTS_H
#define MIRE_DAEMON_PARTS_H

#include "alert/sender.h"
#include "api/api.h"
#include "api/slow.h"
#include "base/vault.h"
#include "daemon/config.h"
#include "daemon/daemon.h"
#include "daemon/door.h"
#include "daemon/health.h"
#include "daemon/openid.h"
#include "daemon/space.h"
#include "daemon/upkeep.h"
#include "fetch/seek.h"
#include "http/http.h"
#include "inbox/inbox.h"
#include "ingest/ingest.h"
#include "live/live.h"
#include "pg/pg.h"
#include "pipeline/work.h"
#include "postgres/embedded.h"
#include "ticket/worker.h"

#include <limits.h>
#include <signal.h>

#define MIRE_LIST_MAX    16 /* directories or servers that one setting may name */
#define MIRE_PROXIES_MAX 32

struct daemon {
    const struct config *config;
    struct log log;
    struct vault *vault; /* of the roles that serve */
    enum daemon_role role;
    sigset_t signals; /* each ends mired; SIGHUP reads the certificate again, if any */
    bool ended;       /* by one of the signals */
    struct embedded *embedded;
    const char *conninfo;
    struct pg *pg;
    struct pg *replica; /* NULL: none */
    struct upkeep *upkeep;
    struct inbox_wakeup *wakeup;
    struct work_options work_options; /* borrowed by work */
    struct work *
        work; /* made by the upkeep thread, like the next two; valid for other threads after the upkeep thread is joined */
    struct seek *seek;
    struct sender *sender;
    struct ticket_worker *tickets;
    char base[MIRE_SETTING_MAX]; /* address in links */
    char smtp_password[MIRE_SETTING_MAX];
    struct door_store store;
    struct door_people people;
    struct access *access;
    struct openid openid;
    struct ingest *ingest;
    struct tls_context *tls;
    struct http_server *http; /* the upkeep thread may outlive the server */
    uint16_t port;            /* listened on */
    struct space space;       /* of the private PostgreSQL */
    struct health health;
    struct api_setting settings[MIRE_SETTING_COUNT]; /* the values lie in `shown` */
    char shown[MIRE_SETTING_COUNT][MIRE_SETTING_MAX];
    struct nearby *nearby;
    struct live *live;
    struct slow *slow;
    struct api api;
    struct http_table tables[4];
    struct http_peer proxies[MIRE_PROXIES_MAX];
    char hosts[MIRE_SETTING_MAX];
    char cache_dir[PATH_MAX];
    char symbol_dirs_text[MIRE_SETTING_MAX];
    const char *symbol_dirs[MIRE_LIST_MAX];
    size_t symbol_dir_count;
    char debuginfod_text[MIRE_SETTING_MAX];
    const char *debuginfod[MIRE_LIST_MAX];
    size_t debuginfod_count;
};

/*
 * Start the parts that take requests: ingest, access, TLS, the OpenID provider, the API and the listener.
 * 0 or a fault. The database may be away; requests are answered 503 until it is ready.
 */
int daemon_start_http(struct daemon *daemon);

/* Write the port to the file of the setting port_file, if any. 0 or a fault. */
int daemon_write_port(const struct daemon *daemon);

/* The address of the dashboard in links: public_url, or mired's address for a browser on this machine. */
void daemon_find_base(char out[MIRE_SETTING_MAX], const struct daemon *daemon);

/* Start the parts that process reports: workers, rekey, the search for debug files, alerts. The tables are ready. 0 or
 * a fault. */
int daemon_start_work(struct daemon *daemon);

#endif
