/*
 * ends.h - the ends of the last runs, for the records of later sessions.
 *
 * The file `ends` has one line per run, at most MIRE_STORE_ENDS; the oldest are removed.
 *
 * Thread: any; calls on one store may run in parallel, in several processes too.  Signal handler: no.
 */
#ifndef MIRE_STORE_ENDS_H
#define MIRE_STORE_ENDS_H

#include "store/runs.h"

#define MIRE_STORE_ENDS 64

struct store_end {
    char run[MIRE_STORE_RUN_BYTES];
    bool reported;    /* mire__store_end_reported was called */
    char verdict[24]; /* the wire's word: "clean_exit", "foom", ... */
    uint32_t confidence_ppm;
    uint64_t start_wall_ms, seen_wall_ms; /* of the run: its begin, and its last activity */
    uint32_t pid;                         /* 0: not known */
    char process[64];                     /* its name, cut; never empty */
};

/*
 * Add the end of a run; no effect if it is there already.
 * Returns MIRE_OK, MIRE_E_STORE, MIRE_E_MEMORY.
 */
enum mire_err mire__store_end_add(struct store *store, const struct store_end *end);

/* The newest `cap` ends, oldest first. Returns their number. */
size_t mire__store_ends(struct store_end *out, size_t cap, struct store *store);

/* A record with the end of that run is sealed. Returns as mire__store_end_add. */
enum mire_err mire__store_end_reported(struct store *store, const char *run);

#endif
