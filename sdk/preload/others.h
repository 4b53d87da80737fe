/*
 * others.h - stores of processes that have changed their user.
 *
 * A server that is started by root runs its workers as another user, who cannot write root's store. Such a worker
 * creates a separate store, /var/tmp/mire-<uid>/<name> (core/store_location.h). Only the program's processes know
 * `name`, so that no reports of strangers are sent. Each store has a courier whose thread accesses files as the
 * worker's user, so links in the store give that user no further rights.
 */
#ifndef MIRE_PRELOAD_OTHERS_H
#define MIRE_PRELOAD_OTHERS_H

#include "core/options.h"
#include "preload/courier.h"

#define MIRE_OTHERS_MAX 8 /* users */

struct other_users {
    const mire_options *options; /* server and key; borrowed */
    char name[MIRE_NAME_BYTES];  /* empty: no other stores */
    struct courier couriers[MIRE_OTHERS_MAX];
    size_t count;
    const char *session;  /* name of the open session; borrowed */
    uint64_t patience_ms; /* of others_finish */
};

/*
 * Derive the name of the stores from the app and from the store's install identifier, which only the store's owner can
 * read. Only root can act as another user; without root the name stays empty.
 */
void others_init(struct other_users *others, const mire_options *options, struct store *store);

/* Start a courier for each new store. Thread: one at a time. */
void others_look(struct other_users *others);

/* Finish every courier, as courier_finish does, add what they did to `total` and `unkept`, and their shares of the
 * session to its file, in `store`. Thread: as others_look. */
void others_finish(struct other_users *others, struct store *store, struct upload_tally *total,
                   struct report_unkept *unkept);

#endif
