/*
 * disk.h - a directory as a disk may hold it when the power goes after a given entry of what was written down.
 *
 * What was synced is there. What was not is there or is not: names by one choice, what files hold by another.
 */
#ifndef MIRE_REPLAY_DISK_H
#define MIRE_REPLAY_DISK_H

#include "replay/shim.h"

/* Made, renamed, removed since their directory was synced. */
enum disk_names {
    NAMES_LOST,  /* none of it reached the disk */
    NAMES_THERE, /* all of it */
    NAMES_UP_TO, /* up to some point, as a journal has it */
    NAMES_SOME   /* any of it, by chance */
};

/* Written since the file was synced. */
enum disk_data {
    DATA_LOST, /* the file is as it was: empty, if it is new */
    DATA_THERE,
    DATA_ZEROS, /* as long as it should be, of zeros */
    DATA_HALF,  /* the first half of what was written, then zeros */
    DATA_ANY    /* any of these, each file by chance */
};

/*
 * Put it together below `dir`, which is empty.
 *
 *   end     bytes of the log that count
 *   random  state of test_roll
 */
void disk_make(const char *dir, size_t end, enum disk_names names, enum disk_data data, uint64_t *random);

/* The entry at `at`; at = entry->size + at leads to the next. */
const struct op *disk_op(size_t at);
const uint8_t *disk_bytes(const struct op *op);

#endif
