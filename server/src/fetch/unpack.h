/*
 * unpack.h - uploaded debug files as files on this machine. Inside fetch/ only.
 */
#ifndef MIRE_FETCH_UNPACK_H
#define MIRE_FETCH_UNPACK_H

#include "pg/pg.h"

struct log;

struct unpack {
    const char *cache_dir;    /* NULL: nothing is unpacked */
    uint64_t cache_max_bytes; /* of all files in it; 0: no limit */
    const struct log *log;
    struct pg_tx *tx; /* the transaction to read in */
    int64_t arrivals; /* as this transaction saw them; -1: it did not look yet */
};

/* Read in this transaction from now on: one that has locked a row, so that who looks for what it may have missed waits
 * for its end (rows/rekey_due.h). */
void unpack_in(struct unpack *unpack, struct pg_tx *tx);

/* As symbols_options.uploaded; context is a struct unpack. A file is written aside, then renamed.
 * Before one is unpacked, the files used longest ago go until it fits; it stays even if it is too big alone. */
int unpack_find(void *context, char *path, size_t path_room, const uint8_t *id, size_t id_len);

/* As symbols_options.contents_id. */
int unpack_contents_id(void *context, uint64_t *out, const uint8_t *id, size_t id_len);

/* As symbols_options.arrivals. */
int unpack_arrivals(void *context, int64_t *count_out);

/* As symbols_options.converted: removes it. */
void unpack_forget(void *context, const char *path);

#endif
