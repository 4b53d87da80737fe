/*
 * hand.h - what each worker has in hand, told to the next process if this one does not end well. Inside work/ only.
 *
 *     cache_dir/in-hand      one slot a worker: report, stage, build id of the debug file in use
 *     cache_dir/ID.suspect   one byte for each process in a row that ended while it used the debug file ID
 *
 * The slots are plain stores into a shared mapping: nothing a report costs, and they outlive a crash and SIGKILL. A
 * process that dies says not why, so everything in hand is suspected, and counted as one failed attempt; failed reports
 * are worked on alone (work.c), so an innocent one is cleared by its second attempt.
 *
 * One process at a time has the file (flock). A slot is its worker's own; hand_recover comes before the workers.
 */
#ifndef MIRE_WORK_HAND_H
#define MIRE_WORK_HAND_H

#include "inbox/inbox.h"

#define MIRE_HAND_SLOTS    64 /* workers */
#define MIRE_HAND_SUSPECTS 3  /* processes in a row that ended over a debug file, then it is left alone */

struct log;

struct hand_slot {
    uint32_t busy; /* written last on the way in, first on the way out */
    int32_t day;
    int16_t slot;
    uint8_t report_id[16];
    uint8_t build_id_len; /* 0: no debug file is in use */
    bool suspected;       /* the debug file has been in use when a process ended */
    uint8_t build_id[64];
    char stage[16];
};

struct hand {
    int dir; /* cache_dir */
    int fd;  /* locked */
    struct hand_slot *slots;
};

/* Take the file of `cache_dir`. 0; 1: another process has it; below zero: it cannot be had, errno says why. */
int hand_open(struct hand *hand, const char *cache_dir);
void hand_close(struct hand *hand); /* also one that was not opened */

/* Count an attempt for every report, and a byte for every debug file, that the last process had in hand. 0 or a fault.
 */
int hand_recover(struct hand *hand, struct pg *pg, const struct log *log);

/* The worker's slot; NULL if there is no file, which all below take for "tell nobody". */
struct hand_slot *hand_slot(struct hand *hand, size_t worker);

/* The worker has this report in hand and begins a stage, which ends the one before; then it has nothing. */
void hand_take(struct hand *hand, struct hand_slot *slot, const struct inbox_claim *claim);
void hand_stage(struct hand *hand, struct hand_slot *slot, const char *stage);
void hand_drop(struct hand *hand, struct hand_slot *slot);

/* A debug file is to be used, until the next one or the next stage. False: it ended too many processes, leave it alone.
 */
bool hand_module(struct hand *hand, struct hand_slot *slot, const uint8_t *build_id, size_t len);

#endif
