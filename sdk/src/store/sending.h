/*
 * sending.h - what has to be remembered about sending over restarts, for all processes of the app.
 *
 *     <dir>/after    until when the server wants to be left alone, and when it said so
 *           spent    the day, and how many bytes were sent in it
 *           consent  what the user has said
 *
 * Thread: any; calls on one store may run in parallel, in several processes too.  Signal handler: no.
 */
#ifndef MIRE_STORE_SENDING_H
#define MIRE_STORE_SENDING_H

#include "mire/delivery.h"
#include "store/store.h"

/* When the server wants to hear from us again, on the wall clock as it was when it said so. Zeros: at any time. */
struct store_after {
    uint64_t until_ms, said_ms;
};

/* Setting returns MIRE_OK or MIRE_E_STORE. */
void mire__store_after(struct store_after *out, struct store *store);
enum mire_err mire__store_set_after(struct store *store, const struct store_after *after);

/*
 * Take `bytes` off what may be sent in `day`. A later day than the one before begins anew; an earlier one, where the
 * clock was set back, goes on with its count.
 *
 *   spent_out  bytes sent in that day, these included if they were taken
 *   day        since 1970
 *
 * Returns MIRE_OK
 *         MIRE_E_FULL   more than `cap` in all: not taken
 *         MIRE_E_STORE  the count cannot be written: not taken, spent_out is what is known
 */
enum mire_err mire__store_spend(uint64_t *spent_out, struct store *store, uint64_t day, uint64_t bytes, uint64_t cap);

/* What the user has said; a file that cannot be read says nothing. Setting returns MIRE_OK or MIRE_E_STORE. */
enum mire_consent mire__store_consent(struct store *store);
enum mire_err mire__store_set_consent(struct store *store, enum mire_consent consent);

/*
 * Where the user has refused, drop every sealed report as MIRE_DROP_CONSENT.
 * Returns whether nothing may be sent.
 */
bool mire__store_refused(struct store *store);

#endif
