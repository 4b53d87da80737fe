/*
 * worker.h - what a thread needs while it reads a unit, kept from one unit to the next. Inside dwarf/ only.
 */
#ifndef MIRE_DWARF_WORKER_H
#define MIRE_DWARF_WORKER_H

#include "dwarf/lines.h"

#include "base/arena.h"
#include "base/paint.h"

#define NAME_MEMO 8192 /* names of entries referred to that are remembered */

struct local { /* a function or inlined call of this unit */
    const char *name;
    uint64_t die;    /* where its entry lies, while the name was not asked for; else 0 */
    uint32_t parent; /* local plus one it is inlined into; 0: it is a function */
    uint32_t call_file;
    uint32_t call_line;
    uint32_t entry;
    uint32_t scope; /* of the harvest, plus one; 0: none yet */
    bool linked;
};

struct memo {
    const uint8_t *die;
    const char *name;
    bool linked;
};

struct dwarf_worker {
    struct {
        struct local *rows;
        size_t count, room;
    } locals;
    struct paint paint; /* what: local plus one, 0: the unit itself, PAINT_OTHERS: code that a lower unit has */
    struct lines lines;
    uint32_t stack[MIRE_DWARF_NESTED_MAX]; /* of locals around an entry */
    struct memo memo[NAME_MEMO];
    uint32_t *file_ids; /* of the unit's files, UINT32_MAX: not asked for yet */
    size_t file_id_room;
    struct arena paths;
    uint32_t *path_hash; /* the harvest's files, by their text */
    size_t path_room;
    uint32_t *name_hash; /* and its names, by where they lie: equal ones mostly lie in one place */
    size_t name_room;
};

#define PAINT_OTHERS UINT32_MAX

struct unit_reading { /* of one unit by one thread */
    struct dwarf_harvest *harvest;
    struct dwarf_worker *worker;
    struct dwarf *dwarf;
    const struct unit *outer; /* the unit in the program: its ranges and lines */
    const struct unit *unit;  /* its entries: the same, unless they lie in a split file */
    uint32_t number;
};

/* Fill worker->locals and worker->paint. 0, 1: the unit is damaged, read as far as it goes; -1: out of memory. */
int walk_unit(struct unit_reading *reading);

/* The name of an entry. */
const char *name_of(bool *linked_out, struct dwarf_worker *worker, const struct unit *unit, const struct die *die);

/* The harvest's number of a path (copied) and of a name (kept where it is); 0: unknown, or out of memory: *failed. */
uint32_t intern_path(struct dwarf_harvest *harvest, const char *path, size_t len, bool *failed);
uint32_t intern_name(struct dwarf_harvest *harvest, const char *name, bool *failed);

/* Lay what was painted and the lines over each other, and add it to the harvest. False: out of memory. */
bool emit_unit(struct unit_reading *reading);

#endif
