/*
 * unpack.h - uploaded debug files as files on this machine. Inside fetch/ only.
 */
#ifndef MIRE_FETCH_UNPACK_H
#define MIRE_FETCH_UNPACK_H

#include "pg/pg.h"

struct log;

struct unpack {
    const char *cache_dir;    /* NULL: nothing is unpacked */
    uint64_t cache_max_bytes; /* of all files in cache_dir; 0: no limit */
    const struct log *log;
    struct pg_tx *tx; /* the transaction to read in */
    int32_t app_id;   /* app of the report at hand: its files, and those of all, are found */
    int64_t arrivals; /* number of arrivals in the snapshot of this transaction; -1: not read yet */
};

/* Read in this transaction from now on. The transaction holds the lock of a row, so a search for reports that missed an
 * arrival waits for its end (rows/rekey_due.h). */
void unpack_in(struct unpack *unpack, struct pg_tx *tx);

/* As symbols_options.uploaded; context is a struct unpack. A file is written aside, then renamed. Before a file is
 * unpacked, the least recently used files are deleted until it fits. A file larger than the limit stays all the
 * same. */
int unpack_find(void *context, char *path, size_t path_room, const uint8_t *id, size_t id_len);

/* As symbols_options.contents_id. */
int unpack_contents_id(void *context, uint64_t *out, const uint8_t *id, size_t id_len);

/* As symbols_options.owner: the app. */
uint64_t unpack_owner(void *context);

/* As symbols_options.arrivals. */
int unpack_arrivals(void *context, int64_t *count_out);

/* As symbols_options.converted: deletes the file. */
void unpack_forget(void *context, const char *path);

#endif
