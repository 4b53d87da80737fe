/*
 * delta.h - the events that one batch stored, packed into a row. Rollups are made of these rows alone.
 *
 * The batch's transaction writes the delta, so each event is in one delta or in none. The merger adds the events to their
 * cells and deletes the delta in one transaction, too. Pure.
 */
#ifndef MIRE_ROLLUP_DELTA_H
#define MIRE_ROLLUP_DELTA_H

#include "rollup/cell.h"

#define MIRE_DELTA_ENTRIES_MAX 4096

struct delta_entry {
    int64_t issue_id;
    int32_t tree;
    const char *category;
    struct cell_event event;
};

/* As bytes in the arena. Texts are cut to MIRE_CELL_TEXT_MAX bytes. 0, or MIRE_FAULT_MEMORY. */
int delta_encode(unsigned char **bytes_out, size_t *len_out, struct arena *arena, const struct delta_entry *entries,
                 size_t count);

/* Read the entries back; texts are in the arena, equal ones at one address. 0, or MIRE_FAULT_BROKEN. */
int delta_decode(struct delta_entry **out, size_t *count_out, struct arena *arena, const void *bytes, size_t len);

#endif
