/*
 * others.h - stores of processes that have changed their user.
 *
 * A server that root starts gives its workers to another user, who cannot write root's store. Such a worker makes one
 * of its own, /var/tmp/mire-<uid>/<name> (core/store_location.h). `name` is known to nobody but the program's
 * processes, so that no stranger's reports are sent. Each store found has a courier whose thread acts on files as that
 * user: what the user can do there with links, it can do with its own rights only.
 */
#ifndef MIRE_PRELOAD_OTHERS_H
#define MIRE_PRELOAD_OTHERS_H

#include "core/options.h"
#include "preload/courier.h"

#define MIRE_OTHERS_MAX 8 /* users */

struct other_users {
    const mire_options *options; /* server and key; borrowed */
    char name[MIRE_NAME_BYTES];  /* empty: none are looked for */
    struct courier couriers[MIRE_OTHERS_MAX];
    size_t count;
    const char *session;  /* name of the session that goes on; borrowed */
    uint64_t patience_ms; /* of others_finish */
};

/*
 * Name the stores after the app and its own store, whose install identifier nobody but its owner can read. Only root
 * can act as another user; for all else the name stays empty.
 */
void others_init(struct other_users *others, const mire_options *options, struct store *store);

/* Start a courier for each store that is new. Thread: one at a time. */
void others_look(struct other_users *others);

/* Finish every courier, as courier_finish does, add what they did to `total` and `unkept`, and their shares of the
 * session to its file, in `store`. Thread: as others_look. */
void others_finish(struct other_users *others, struct store *store, struct upload_tally *total,
                   struct report_unkept *unkept);

#endif
