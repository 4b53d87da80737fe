/*
 * dwarf.h - functions, inlined calls and lines from the DWARF (versions 2 to 5) of an object file, one compilation unit
 * at a time.
 *
 *     dwarf_open --> the list of units, with the forms of their entries compiled to short programs
 *     dwarf_read --> one unit, added to a harvest:
 *
 *         run      [low ............................... high)   code of one unit without a gap
 *         segment  [ f:3 ][ f:4 ][ f<-g:9 ][ f:4 ][ f:5 ]       one scope, file and line each
 *         scope    f, and g inlined into f at f:4
 *
 * Several units may describe the same code, if the linker folded their functions into one. A run names its unit, and
 * the lowest unit is right. Ranges outside the code belong to functions that the linker dropped; they are ignored.
 *
 * Addresses are 32-bit offsets from `base`. Names and paths point into the object.
 *
 * Thread: several threads may read units at once, each into a harvest of its own.
 */
#ifndef MIRE_DWARF_DWARF_H
#define MIRE_DWARF_DWARF_H

#include "base/grow.h"
#include "object/object.h"

#define MIRE_DWARF_NESTED_MAX 1024   /* depth of nested entries */
#define MIRE_DWARF_NAME_MAX   65535u /* limit of a name or path, bytes */

struct dwarf;

struct dwarf_scope {
    uint32_t name;   /* linker's (mangled) name if known; 0: unknown */
    uint32_t parent; /* scope this one is inlined into, plus one; 0: a function */
    uint32_t file;   /* file of the call; 0: unknown */
    uint32_t line;   /* line of the call */
    uint32_t entry;  /* start of the function */
    bool linked;     /* `name` is the linker's name */
};

struct dwarf_segment {
    uint32_t at;    /* start; the end is the next segment's start, or the run's end */
    uint32_t scope; /* plus one; 0: unknown, only file and line are known */
    uint32_t file;  /* 0: unknown */
    uint32_t line;
};

struct dwarf_run {
    uint32_t low;
    uint32_t high; /* end of range, exclusive */
    uint32_t unit;
    uint32_t count; /* number of segments */
    size_t first;
};

struct dwarf_texts {
    const char **rows; /* by number; [0] means unknown */
    size_t count, room;
};

/* Add a borrowed text. Returns its number; out of memory returns 0 and sets `failed`. */
static inline uint32_t dwarf_texts_add(struct dwarf_texts *texts, bool *failed, const char *text)
{
    if (!GROW(texts)) {
        *failed = true;
        return 0;
    }
    texts->rows[texts->count] = text;
    return (uint32_t)texts->count++;
}

struct dwarf_harvest {
    struct {
        struct dwarf_scope *rows;
        size_t count, room;
    } scopes;
    struct {
        struct dwarf_segment *rows;
        size_t count, room;
    } segments;
    struct {
        struct dwarf_run *rows;
        size_t count, room;
    } runs; /* runs of functions */
    struct {
        struct dwarf_run *rows;
        size_t count, room;
    } bare_runs; /* runs of lines outside all functions, as in assembly */
    struct dwarf_texts files, names;
    size_t damaged_units;        /* partly read units; of a text file, invalid lines */
    bool everything;             /* set by the caller: also read units without code, to find damage */
    struct dwarf_worker *worker; /* memory reused from unit to unit */
};

/*
 * Read the list of units.
 *
 *   object   borrowed until dwarf_close
 *   alt      the dwz file that DW_FORM_..._alt refers to, borrowed; NULL: those names are unknown
 *   base     start address of the offsets
 *   threads  number of threads that may compile abbreviations, 1..
 *
 * Returns NULL, or the problem (static). A damaged unit is skipped and counted (dwarf_units_lost).
 */
const char *dwarf_open(struct dwarf **out, const struct object *object, const struct dwarf *alt, uint64_t base,
                       unsigned threads);
void dwarf_close(struct dwarf *dwarf);

struct dwarf_wanted { /* unit whose functions are in a split file */
    uint64_t id;
    const char *name;      /* path of that file, from the compiler; "": not specified */
    const char *directory; /* directory of a relative name; "": not specified */
    bool damaged;          /* the file was found, and the unit is damaged */
};

/*
 * List the units whose split file is missing and, after units were read, those whose entries are damaged. Returns their
 * number, at most `room`.
 */
size_t dwarf_wants(struct dwarf_wanted *out, size_t room, const struct dwarf *dwarf);

/*
 * Attach the units of a split file (.dwo, .dwp) to the skeleton units that refer to them. Not while units are read.
 *
 *   object  borrowed until dwarf_close; its .debug_addr and .debug_ranges are replaced by the program's
 *
 * Returns NULL, or the problem (static); nothing was attached then.
 */
const char *dwarf_add_split(struct dwarf *dwarf, struct object *object);

size_t dwarf_unit_count(const struct dwarf *dwarf);

/* Offset of a unit in .debug_info. */
uint64_t dwarf_unit_at(const struct dwarf *dwarf, size_t unit);

/* Bytes of a unit's entries, a measure of the time to read it. */
uint64_t dwarf_unit_bytes(const struct dwarf *dwarf, size_t unit);

/* Number of skipped units. All units after one whose end is unknown count as one. */
size_t dwarf_units_lost(const struct dwarf *dwarf);

/* Read unit 0..count-1. Returns false out of memory. Damage is counted in harvest->damaged_units. */
bool dwarf_read(struct dwarf_harvest *harvest, struct dwarf *dwarf, size_t unit);

/* Free the working memory of reading; the results stay. */
void dwarf_harvest_rest(struct dwarf_harvest *harvest);
void dwarf_harvest_fini(struct dwarf_harvest *harvest);

#endif
