/*
 * tally.h - counts of each app's reports at the door by their fate, and the app's budget of the day.
 *
 *     any thread: tally_take -> tally_count ... --every 2 s--> needs.tally adds to the table, returns budgets and today's sums
 *
 * The budget is in reports and bytes that are stored, by the database's day in UTC. Beyond it one report of
 * MIRE_TALLY_ONE_OF is stored, and the others are counted. All processes add to one table, and each knows the sums of
 * the others some seconds late: the reports of that time may exceed a budget. A process that is killed loses the
 * counts of its last seconds; the reports themselves are stored.
 */
#ifndef MIRE_INGEST_TALLY_H
#define MIRE_INGEST_TALLY_H

#include "ingest/ingest.h"

#include <pthread.h>

#define MIRE_TALLY_ONE_OF 64

struct door_tally {
    pthread_mutex_t mutex;
    struct ingest_app *apps; /* the members below are guarded by mutex */
    size_t count, room;
};

void tally_init(struct door_tally *tally);
void tally_fini(struct door_tally *tally);

/* True: the app's budget has room for these reports, or they are among the kept ones; they count as on their way until
 * tally_stored. False: the reports are counted, and must not be stored. */
bool tally_take(struct door_tally *tally, int32_t app_id, size_t reports, size_t bytes);

/* A report that was taken is stored now, was stored before, or could not be stored. */
void tally_stored(struct door_tally *tally, int32_t app_id, enum ingest_outcome outcome, size_t bytes);

/* Count a report that was refused before tally_take. app_id 0 is no app: nothing is counted. */
void tally_refused(struct door_tally *tally, int32_t app_id, enum ingest_outcome outcome, size_t bytes);

/* Hand all counts over. If that fails, the counts are kept for the next time. */
void tally_flush(struct door_tally *tally, const struct ingest_needs *needs);

#endif
