/*
 * door.h - the functions that ingest and access call, joined to decode, the tables of keys and people, and the inbox.
 */
#ifndef MIRE_DAEMON_DOOR_H
#define MIRE_DAEMON_DOOR_H

#include "access/access.h"
#include "ingest/ingest.h"

/* The store of ingest, and the daily budget of apps that set none; 0: no limit. */
struct door_store {
    struct pg *pg;
    int64_t quota_reports, quota_bytes;
};

/* The functions that ingest needs. `store` and `wakeup` are borrowed while ingest runs. */
struct ingest_needs door_needs(struct door_store *store, struct inbox_wakeup *wakeup);

/* The context of the three functions below. */
struct door_people {
    struct pg *pg;            /* borrowed */
    const char *default_role; /* of people who come by a proxy, in every app; "none" */
};

/* The members load, used and arrive of access_options. `people` is a struct door_people *. */
int door_load_keys(void *people, struct access_keys *keys);
int door_keys_used(void *people, bool are_of_people, const int64_t *keys, size_t count);
int door_arrive(void *people, const char *name);

/*
 * If there is no account yet: make a one-time link for the first admin and log it. `base` is the dashboard's address.
 * 0 or a fault.
 */
int door_invite_first_admin(struct pg *pg, const struct log *log, const char *base);

#endif
