/*
 * disk.h - builds a directory as a disk may contain it when the power fails after a given entry of the log.
 *
 * Synced data is present. Unsynced data is present or not: one choice for names, another for contents.
 */
#ifndef MIRE_REPLAY_DISK_H
#define MIRE_REPLAY_DISK_H

#include "replay/shim.h"

/* Names made, renamed or removed after the last sync of their directory. */
enum disk_names {
    NAMES_LOST,  /* none reached the disk */
    NAMES_THERE, /* all reached the disk */
    NAMES_UP_TO, /* all up to some point, as with a journal */
    NAMES_SOME   /* a random subset */
};

/* Contents written after the last sync of the file. */
enum disk_data {
    DATA_LOST, /* unchanged file; a new one is empty */
    DATA_THERE,
    DATA_ZEROS, /* full length, all zeros */
    DATA_HALF,  /* the first half of the data, then zeros */
    DATA_ANY    /* a random choice for each file */
};

/*
 * Build the directory in `dir`, which is empty.
 *
 *   end     bytes of the log that count
 *   random  state of test_roll
 */
void disk_make(const char *dir, size_t end, enum disk_names names, enum disk_data data, uint64_t *random);

/* The entry at offset `at`; the next one is at `at` + entry->size. */
const struct op *disk_op(size_t at);
const uint8_t *disk_bytes(const struct op *op);

#endif
