/*
 * dwarf.h - functions, inlined calls and lines out of the DWARF (2 to 5) of an object file, unit by unit.
 *
 *     dwarf_open --> the list of units, with the forms of their entries compiled to short programs
 *     dwarf_read --> one unit, added to a harvest:
 *
 *         run      [low ............................... high)   code of one unit without a gap
 *         segment  [ f:3 ][ f:4 ][ f<-g:9 ][ f:4 ][ f:5 ]       one scope, file and line each
 *         scope    f, and g inlined into f at f:4
 *
 * What a unit claims may be claimed by others too (functions the linker folded into one): runs tell their unit, and the
 * lowest one is right. Ranges outside the code belong to what the linker dropped, and are dropped.
 *
 * Addresses are told as 32 bit offsets from `base`. Names and paths stay where they are in the object.
 *
 * Thread: units may be read by several threads at once, each into a harvest of its own.
 */
#ifndef MIRE_DWARF_DWARF_H
#define MIRE_DWARF_DWARF_H

#include "base/grow.h"
#include "object/object.h"

#define MIRE_DWARF_NESTED_MAX 1024   /* entries within each other */
#define MIRE_DWARF_NAME_MAX   65535u /* bytes of a name or path that are looked at */

struct dwarf;

struct dwarf_scope {
    uint32_t name;   /* as linked (mangled) where that is told; 0: unknown */
    uint32_t parent; /* the scope this one is inlined into, plus one; 0: it is a function */
    uint32_t file;   /* of the call, 0: unknown */
    uint32_t line;   /* of the call */
    uint32_t entry;  /* where the function begins */
    bool linked;     /* the name is the linker's */
};

struct dwarf_segment {
    uint32_t at;    /* up to the next one's, or the run's end */
    uint32_t scope; /* plus one; 0: none is known, only file and line */
    uint32_t file;  /* 0: unknown */
    uint32_t line;
};

struct dwarf_run {
    uint32_t low;
    uint32_t high; /* not in it */
    uint32_t unit;
    uint32_t count; /* of segments */
    size_t first;
};

struct dwarf_texts {
    const char **rows; /* by number; [0] stands for unknown */
    size_t count, room;
};

/* Add a borrowed text. Returns its number; 0, and sets `failed`, out of memory. */
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
    } runs; /* of functions */
    struct {
        struct dwarf_run *rows;
        size_t count, room;
    } bare_runs; /* of lines outside all functions, as of assembly */
    struct dwarf_texts files, names;
    size_t damaged_units;        /* read as far as their entries and lines go; of a text, lines that make no sense */
    bool everything;             /* asked by the caller: entries of units without code are read too, for damage */
    struct dwarf_worker *worker; /* what is reused from unit to unit */
};

/*
 * Read the list of units.
 *
 *   object  borrowed until dwarf_close
 *   alt     what DW_FORM_..._alt refers to, borrowed; NULL: those names stay unknown
 *   base    what offsets count from
 *   threads that may compile the forms of entries, 1..
 *
 * Returns NULL, or what is wrong (static). A unit that is damaged is passed over.
 */
const char *dwarf_open(struct dwarf **out, const struct object *object, const struct dwarf *alt, uint64_t base,
                       unsigned threads);
void dwarf_close(struct dwarf *dwarf);

struct dwarf_wanted { /* a unit whose functions lie in a split file */
    uint64_t id;
    const char *name;      /* of the file, where the compiler put it; "" if that is not told */
    const char *directory; /* that name counts from, "" likewise */
    bool damaged;          /* the file came, and the unit could not be read whole */
};

/*
 * The units that lack their split file, and once units were read, those it is damaged of. Returns how many, at most
 * `room`.
 */
size_t dwarf_wants(struct dwarf_wanted *out, size_t room, const struct dwarf *dwarf);

/*
 * Take the units of a split file (.dwo, .dwp) that are wanted. Not while units are read.
 *
 *   object  borrowed until dwarf_close; it lends some of its sections from the program's from now on
 *
 * Returns NULL, or what is wrong (static): then nothing was taken.
 */
const char *dwarf_add_split(struct dwarf *dwarf, struct object *object);

size_t dwarf_unit_count(const struct dwarf *dwarf);

/* Where a unit begins in .debug_info. */
uint64_t dwarf_unit_at(const struct dwarf *dwarf, size_t unit);

/* Bytes of a unit's entries: about how long it takes to read. */
uint64_t dwarf_unit_bytes(const struct dwarf *dwarf, size_t unit);

/* How many were passed over; 1 also stands for all that lie behind one whose end is not known. */
size_t dwarf_units_lost(const struct dwarf *dwarf);

/* Read unit 0..count-1. False: out of memory. */
bool dwarf_read(struct dwarf_harvest *harvest, struct dwarf *dwarf, size_t unit);

/* Give back what reading needed; what was found stays. */
void dwarf_harvest_rest(struct dwarf_harvest *harvest);
void dwarf_harvest_fini(struct dwarf_harvest *harvest);

#endif
