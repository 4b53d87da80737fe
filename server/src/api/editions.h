/*
 * editions.h - what the answers about an app's rollout and its rules share: a version of a text and how it came about,
 * and the jobs that a change of it sets going.
 */
#ifndef MIRE_API_EDITIONS_H
#define MIRE_API_EDITIONS_H

#include "api/call.h"

#include "pg/edition.h"

/* A version and all there are, newest first; in the call's arena. */
struct editions {
    struct pg_edition row, *history;
    size_t count;
};

/*
 * The version that the parameter "version" names, or the newest.
 *   what  "rollout": for who asks for one that is not there
 * Returns 0, CALL_REPLIED or a negative fault.
 */
int editions_read(struct editions *out, struct call *call, enum pg_edition_of of, const char *what);

/* The members of the version; and "history". */
void editions_put(struct json_writer *w, const struct editions *editions);
void editions_put_history(struct json_writer *w, const struct editions *editions);

/* "flows": where a job moves reports from and to, those with most reports first. Returns 0 or a negative fault. */
int editions_put_flows(struct json_writer *w, struct pg_tx *tx, int64_t job, int most);

#endif
