/*
 * door.h - what ingest needs, made of decode, keys and inbox.
 */
#ifndef MIRE_DAEMON_DOOR_H
#define MIRE_DAEMON_DOOR_H

#include "ingest/ingest.h"

/* Both are borrowed for as long as ingest runs. */
struct ingest_needs door_needs(struct pg *pg, struct inbox_wakeup *wakeup);

#endif
