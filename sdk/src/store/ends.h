/*
 * ends.h - how the last runs ended: what the record of a later session tells.
 *
 * Kept in the file `ends`, one line a run. Of more than MIRE_STORE_ENDS the oldest are forgotten.
 *
 * Thread: any; calls on one store may run in parallel, in several processes too.  Signal handler: no.
 */
#ifndef MIRE_STORE_ENDS_H
#define MIRE_STORE_ENDS_H

#include "store/runs.h"

#define MIRE_STORE_ENDS 64

struct store_end {
    char run[MIRE_STORE_RUN_BYTES];
    bool told;        /* mire__store_end_told was called */
    char verdict[24]; /* the wire's word: "clean_exit", "foom", ... */
    uint32_t confidence_ppm;
    uint64_t start_wall_ms, seen_wall_ms; /* of the run: when it began, when it was last seen */
    char process[64];                     /* its name, cut; never empty */
};

/*
 * Remember how a run ended. Once more for the same run: nothing.
 * Returns MIRE_OK, MIRE_E_STORE, MIRE_E_MEMORY.
 */
enum mire_err mire__store_end_add(struct store *store, const struct store_end *end);

/* The ends that are remembered, oldest first; the newest `cap` of them. Returns how many. */
size_t mire__store_ends(struct store_end *out, size_t cap, struct store *store);

/* The end of that run is told: a record with it is sealed. Returns as mire__store_end_add. */
enum mire_err mire__store_end_told(struct store *store, const char *run);

#endif
