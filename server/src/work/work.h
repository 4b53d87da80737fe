/*
 * work.h - claimed report -> derived rows, on a few worker threads.
 *
 * A worker claims a few reports, takes them through the stages of stages.c and commits everything in one transaction.
 * It waits for the inbox's bell, or a second, whichever is first.
 */
#ifndef MIRE_WORK_WORK_H
#define MIRE_WORK_WORK_H

#include <stdbool.h>
#include <stddef.h>

struct inbox_bell;
struct log;
struct pg;
struct text;
struct work;

struct work_options {
    struct pg *pg;           /* borrowed until work_stop returns */
    struct inbox_bell *bell; /* borrowed; NULL: only polls */
    const struct log *log;
    int threads;
    const char *cache_dir;          /* unpacked debug files; exists and is ours; borrowed */
    const char *const *symbol_dirs; /* roots with .build-id/xx/yyyy.debug below; borrowed */
    size_t symbol_dir_count;
    bool local_images; /* also open an image's own path on this machine, if its build id is the same */
};

/* Start the workers. 0 or a fault. */
int work_start(struct work **out, const struct work_options *options);

/* Let every worker finish the report it is at, and stop them. NULL is fine. */
void work_stop(struct work *work);

/* Append counters in Prometheus' format. */
void work_metrics(struct work *work, struct text *out);

#endif
