/*
 * journal.h - the in-flight journal: the report that each worker has in hand, for the next process if this one crashes.
 * Inside pipeline/ only.
 *
 *     cache_dir/in-flight      one slot a worker: report, stage, build id of the debug file in use
 *     cache_dir/ID.suspect   one byte for each process in a row that ended while it used the debug file ID
 *
 * The slots are plain stores into a shared mapping. They cost a report nothing and survive a crash and SIGKILL. A
 * process that died leaves no reason, so every report in hand is suspected and counted as one failed attempt. Failed
 * reports are processed alone (work.c), so the second attempt clears an innocent one.
 *
 * One process at a time has the file (flock). A slot belongs to one worker. journal_recover runs before the workers
 * start.
 */
#ifndef MIRE_PIPELINE_JOURNAL_H
#define MIRE_PIPELINE_JOURNAL_H

#include "inbox/inbox.h"

#define MIRE_JOURNAL_SLOTS    64 /* workers */
#define MIRE_JOURNAL_SUSPECTS 3  /* processes in a row that ended over a debug file; then it is not opened any more */

struct log;

struct journal_slot {
    uint32_t busy; /* written last on the way in, first on the way out */
    int32_t day;
    int16_t slot;
    uint8_t report_id[16];
    uint8_t build_id_len; /* 0: no debug file is in use */
    bool suspected;       /* the debug file has been in use when a process ended */
    uint8_t build_id[64];
    char stage[16];
};

struct journal {
    int dir; /* cache_dir */
    int fd;  /* locked */
    struct journal_slot *slots;
};

/* Open and lock the file of `cache_dir`. 0; 1: another process has it; below zero: an error, in errno. */
int journal_open(struct journal *journal, const char *cache_dir);
void journal_close(struct journal *journal); /* also after a failed journal_open */

/* Count an attempt for every report, and a byte for every debug file, that the last process had in hand. 0 or a fault.
 */
int journal_recover(struct journal *journal, struct pg *pg, const struct log *log);

/* The worker's slot. NULL without a file; all functions below then do nothing. */
struct journal_slot *journal_slot(struct journal *journal, size_t worker);

/* The worker takes this report; it begins a stage, which ends the stage before; it has no report any more. */
void journal_take(struct journal *journal, struct journal_slot *slot, const struct inbox_claim *claim);
void journal_stage(struct journal *journal, struct journal_slot *slot, const char *stage);
void journal_drop(struct journal *journal, struct journal_slot *slot);

/* A debug file is in use until the next one or the next stage. False: too many processes ended over it, do not open
 * it. */
bool journal_module(struct journal *journal, struct journal_slot *slot, const uint8_t *build_id, size_t len);

#endif
