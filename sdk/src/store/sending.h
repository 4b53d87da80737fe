/*
 * sending.h - the state of sending that survives restarts, for all processes of the app.
 *
 *     <dir>/after    the time before which the server wants no request, and the time of its answer
 *           spent    the day, and the bytes sent in it
 *           consent  the user's decision
 *
 * Thread: any; calls on one store may run in parallel, in several processes too.  Signal handler: no.
 */
#ifndef MIRE_STORE_SENDING_H
#define MIRE_STORE_SENDING_H

#include "mire/delivery.h"
#include "store/store.h"

/* The time before which the server wants no request, on the wall clock at its answer. Zeros: none. */
struct store_after {
    uint64_t until_ms, said_ms;
};

/* Setting returns MIRE_OK or MIRE_E_STORE. */
void mire__store_after(struct store_after *out, struct store *store);
enum mire_err mire__store_set_after(struct store *store, const struct store_after *after);

/*
 * Take `bytes` of the limit of `day`. A later day begins at 0; an earlier one, after the clock was set back, continues
 * the count.
 *
 *   spent_out  bytes sent in that day, including these if they were taken
 *   day        since 1970
 *
 * Returns MIRE_OK
 *         MIRE_E_FULL   more than `cap` in all: not taken
 *         MIRE_E_STORE  the count cannot be written: not taken; spent_out is the last known count
 */
enum mire_err mire__store_spend(uint64_t *spent_out, struct store *store, uint64_t day, uint64_t bytes, uint64_t cap);

/* The user's decision; UNKNOWN if the file cannot be read. Setting returns MIRE_OK or MIRE_E_STORE. */
enum mire_consent mire__store_consent(struct store *store);
enum mire_err mire__store_set_consent(struct store *store, enum mire_consent consent);

/*
 * If the user has refused, drop all sealed reports as MIRE_DROP_CONSENT.
 * Returns whether the user has refused.
 */
bool mire__store_refused(struct store *store);

#endif
