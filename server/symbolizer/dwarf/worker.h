/*
 * worker.h - working memory of a thread that reads units, kept from unit to unit. Internal to dwarf/.
 */
#ifndef MIRE_DWARF_WORKER_H
#define MIRE_DWARF_WORKER_H

#include "dwarf/lines.h"

#include "base/arena.h"
#include "base/paint.h"

#define NAME_MEMO 8192 /* cached names of referenced entries */

struct local { /* a function or inlined call of the unit */
    const char *name;
    uint64_t die;    /* offset of its entry until the name is read; then 0 */
    uint32_t parent; /* local it is inlined into, plus one; 0: a function */
    uint32_t call_file;
    uint32_t call_line;
    uint32_t entry;
    uint32_t scope; /* scope in the harvest, plus one; 0: not added yet */
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
    struct paint paint; /* what: local plus one, 0: the unit itself, PAINT_OTHERS: code of a lower unit */
    struct lines lines;
    uint32_t stack[MIRE_DWARF_NESTED_MAX]; /* locals around an entry */
    struct memo memo[NAME_MEMO];
    uint32_t *file_ids; /* numbers of the unit's files; UINT32_MAX: not interned yet */
    size_t file_id_room;
    struct arena paths;
    uint32_t *path_hash; /* files of the harvest, by text */
    size_t path_room;
    uint32_t *name_hash; /* names of the harvest, by address: equal names mostly have one address */
    size_t name_room;
};

#define PAINT_OTHERS UINT32_MAX

struct unit_reading { /* state of reading one unit in one thread */
    struct dwarf_harvest *harvest;
    struct dwarf_worker *worker;
    struct dwarf *dwarf;
    const struct unit *outer; /* unit in the program: ranges and lines */
    const struct unit *unit;  /* unit with the entries; the same, unless they are in a split file */
    uint32_t number;
};

/* Fill worker->locals and worker->paint. Returns 0, 1: damaged and partly read, -1: out of memory. */
int walk_unit(struct unit_reading *reading);

/* The name of an entry; *linked_out: it is the linker's name. */
const char *name_of(bool *linked_out, struct dwarf_worker *worker, const struct unit *unit, const struct die *die);

/* Number of a path (copied) or a name (borrowed) in the harvest. 0: unknown; out of memory also sets *failed. */
uint32_t intern_path(struct dwarf_harvest *harvest, const char *path, size_t len, bool *failed);
uint32_t intern_name(struct dwarf_harvest *harvest, const char *name, bool *failed);

/* Combine the painted scopes with the lines, and add the result to the harvest. Returns false out of memory. */
bool emit_unit(struct unit_reading *reading);

#endif
