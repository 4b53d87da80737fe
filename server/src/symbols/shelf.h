/*
 * shelf.h - the directory converted files are kept in. Inside symbols/ only.
 *
 *     <build id>.debug.cache    from a file with DWARF       empty: such a file was there, and could not be converted
 *     <build id>.symtab.cache   from one with names only     likewise
 *     converting                locked by whoever converts: one at a time, so that memory is bounded
 *
 * A cache appears under its name only when it is whole. It is marked as used each time it is opened; what was used
 * longest ago goes when room is needed. Whoever has it open keeps it. Any number of threads and processes.
 */
#ifndef MIRE_SYMBOLS_SHELF_H
#define MIRE_SYMBOLS_SHELF_H

#include "symbols/symbols.h"

enum shelf_answer {
    SHELF_NONE,
    SHELF_OPENED,
    SHELF_BAD, /* it could not be converted the last time, which is less than a day ago */
};

enum shelf_answer shelf_open(struct module **out, const char *dir, const uint8_t *id, size_t id_len,
                             enum symbol_kind kind);

/* One that is being made. Without a directory it is only in memory, and the last one to close it loses it. */
struct shelf_place {
    int lock;
    int fd; /* write here */
    char path[4096];
    char aside[4096];
};

/*
 * Wait for the turn to convert, and begin.
 *
 * Returns false if the system refuses. Then nothing is to be ended.
 */
bool shelf_begin(struct shelf_place *place, const char *dir, const uint8_t *id, size_t id_len, enum symbol_kind kind);

/* End: put it in its place, or leave an empty one there (`bad`), or nothing; and let the next one have its turn. */
bool shelf_commit(struct shelf_place *place);
void shelf_abort(struct shelf_place *place, bool bad);

#endif
