/*
 * door.h - what ingest and access need, made of decode, keys and inbox.
 */
#ifndef MIRE_DAEMON_DOOR_H
#define MIRE_DAEMON_DOOR_H

#include "access/access.h"
#include "ingest/ingest.h"

/* Both are borrowed for as long as ingest runs. */
struct ingest_needs door_needs(struct pg *pg, struct inbox_wakeup *wakeup);

/* access_options.load and used; the context is a struct pg *. */
int door_load_keys(void *pg, struct access_keys *keys);
int door_keys_used(void *pg, const int64_t *keys, size_t count);

#endif
