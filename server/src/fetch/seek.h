/*
 * seek.h - looks for the debug files that reports lack, on a thread of its own.
 *
 *     image, due --> symbol_dirs: .build-id/xx/yyyy.debug there? --> debuginfod servers, in order
 *                      '--> found: its reports are derived again      '--> stored like an upload; its reports too
 *     found nowhere: looked for again after one hour, then two, ... a day at most
 *
 * Any number of processes take part. An image belongs to one of them until it has an answer, or for ten minutes.
 */
#ifndef MIRE_FETCH_SEEK_H
#define MIRE_FETCH_SEEK_H

#include <stddef.h>
#include <stdint.h>

struct log;
struct pg;
struct seek;

struct seek_options {
    struct pg *pg; /* one connection must come free for the thread */
    const struct log *log;
    const char *cache_dir;          /* a file lies here while it is fetched; NULL: in memory */
    const char *const *symbol_dirs; /* roots with .build-id/ below */
    size_t symbol_dir_count;
    const char *const *debuginfod; /* servers for files that no directory has, in order */
    size_t debuginfod_count;
    uint64_t debuginfod_max_bytes; /* of one file of a server */
    int debuginfod_within_s;       /* for the whole answer of a server */
    int64_t debuginfod_installs;   /* servers are asked for a file that so many installations lack, ... */
    int64_t debuginfod_hour;       /* ... and so often in an hour: anybody with an ingest key can make up build ids */
};

/*
 * Start the thread. The options are copied, and the pointers in them borrowed until seek_stop. Without a directory and
 * a server there is nothing to do, and *out is NULL. 0 or a fault.
 */
int seek_start(struct seek **out, const struct seek_options *options);

/* End the thread and its request to a server. NULL is allowed. */
void seek_stop(struct seek *seek);

#endif
