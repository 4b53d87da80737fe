/*
 * work.h - takes reports from the inbox through the stages into rows.
 *
 *     claim -> decode, symbolicate, feature of each -> cluster -> aggregate -> finish -> COMMIT
 *
 * Many reports of one app are one batch and one transaction (batch.h): the claim, all that is derived and the removal
 * from the inbox commit together or not at all. Killed anywhere, the reports are worked on again and counted once. A
 * report that cannot be read becomes a dead letter at once; one that fails for another reason is tried again a few
 * times, and delays no other.
 *
 * A report whose processing crashes the process counts as failed:
 * a journal in cache_dir has the reports in hand (journal.h). Reports that failed before are processed alone, so that
 * no other is blamed for them.
 *
 * Threads: each worker has its own connection, symbols and arena; they share the rule pack, which never changes.
 */
#ifndef MIRE_PIPELINE_WORK_H
#define MIRE_PIPELINE_WORK_H

#include "inbox/inbox.h"

#include <stdbool.h>
#include <stddef.h>

struct log;
struct stage;
struct text;
#define MIRE_REKEY_WORKERS 2 /* of rekey/, at most */

struct work;

struct work_options {
    struct pg *pg; /* a connection for each worker must come free */
    const struct log *log;
    struct inbox_wakeup *wakeup; /* woken when reports arrive; NULL: look once a second */
    int threads;                 /* 1.. */
    int keep_days;               /* days for which reports are kept; 0: for ever */
    int64_t new_values;          /* versions and so on that an app takes in a day (known.h); 0: no limit */
    int64_t new_issues;          /* the same of issues */
    int64_t enough;              /* reports of an issue, version and day kept whole; 0: all. An app may set its own */
    const char *rules_path;      /* rules asked before the built-in ones; NULL or "": none */
    const char *suspects_path;   /* rules for memory, asked before the built-in ones; NULL or "": none */
    const char *cache_dir;       /* where uploaded debug files are unpacked and converted ones kept; may be emptied at
                                  any time; NULL: uploaded ones are not used, others converted into memory */
    uint64_t cache_max_bytes;    /* limit of its files; the least recently used one is deleted first; 0: none */
    const char *converter;       /* as in symbols_options; NULL: debug files are converted in this process */
    const char *const *symbol_dirs; /* roots with .build-id/ below */
    size_t symbol_dir_count;
    const struct stage *stages; /* work_stages, or a test's own; NULL: work_stages */
    size_t stage_count;
    bool by_slot;      /* a batch is of one slot: the database is on several machines */
    bool local_images; /* also read the images' own paths on this machine, if the build ids are the same */
};

#define MIRE_WORK_OPTIONS_INIT \
    {                          \
        .threads = 2           \
    }

/* Start the workers. Options are borrowed until work_stop. 0, or a fault, logged (MIRE_FAULT_BROKEN: the rule pack is
 * wrong). */
int work_start(struct work **out, const struct work_options *options);

/* Stop the workers after their current reports. NULL is allowed. */
void work_stop(struct work *work);

/* Append counters in Prometheus' format. */
void work_metrics(struct work *work, struct text *out);

#endif
