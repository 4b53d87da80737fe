/*
 * door.h - what ingest and access need, made of decode, keys and inbox.
 */
#ifndef MIRE_DAEMON_DOOR_H
#define MIRE_DAEMON_DOOR_H

#include "access/access.h"
#include "ingest/ingest.h"

/* Both are borrowed for as long as ingest runs. */
struct ingest_needs door_needs(struct pg *pg, struct inbox_wakeup *wakeup);

/* What access_options call. */
struct door_people {
    struct pg *pg;            /* borrowed */
    const char *default_role; /* of people who come by a proxy, in every app; "none" */
};

/* access_options.load, used and arrive; the context is a struct door_people *. */
int door_load_keys(void *people, struct access_keys *keys);
int door_keys_used(void *people, bool are_of_people, const int64_t *keys, size_t count);
int door_arrive(void *people, const char *name);

/*
 * While there is no account: make a one-time link for the first admin and log it. `base` is an address of the
 * dashboard. 0 or a fault.
 */
int door_invite_first_admin(struct pg *pg, const struct log *log, const char *base);

#endif
