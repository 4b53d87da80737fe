/*
 * unit.h - units and their entries (DIEs). Internal to dwarf/.
 *
 * Each abbreviation is compiled into steps. A run of unused attributes becomes one skip; the others are fetched raw and
 * interpreted only when used. The steps of bounded length of one entry never exceed MIRE_OBJECT_PAD together, and the
 * steps of unbounded length check themselves. One check per entry is therefore enough.
 */
#ifndef MIRE_DWARF_UNIT_H
#define MIRE_DWARF_UNIT_H

#include "dwarf/dwarf.h"
#include "dwarf/package.h"

#include "base/bytes.h"

enum entry_kind { /* use of an entry */
                  KIND_OTHER,
                  KIND_FUNCTION,
                  KIND_INLINED,
                  KIND_TYPE, /* contains code only inside a function */
                  KIND_UNIT,
};

enum attribute { /* attributes that are read */
                 AT_NONE,
                 AT_SIBLING,
                 AT_NAME,
                 AT_LINKAGE_NAME,
                 AT_LOW,
                 AT_HIGH,
                 AT_RANGES,
                 AT_ORIGIN,
                 AT_SPECIFICATION,
                 AT_CALL_FILE,
                 AT_CALL_LINE,
                 AT_DECLARATION,
                 AT_LINES,
                 AT_DIRECTORY,
                 AT_STR_OFFSETS_BASE,
                 AT_ADDR_BASE,
                 AT_RNGLISTS_BASE,
                 AT_RANGES_BASE,
                 AT_DWO_ID,
                 AT_DWO_NAME,
                 AT_COUNT
};

enum form { /* DW_FORM_... that matter after fetching */
            FORM_ADDR = 0x01,
            FORM_STRING = 0x08,
            FORM_STRP = 0x0e,
            FORM_REF_ADDR = 0x10,
            FORM_REF1 = 0x11,
            FORM_REF_UDATA = 0x15,
            FORM_INDIRECT = 0x16,
            FORM_STRX = 0x1a,
            FORM_ADDRX = 0x1b,
            FORM_REF_SUP4 = 0x1c,
            FORM_STRP_SUP = 0x1d,
            FORM_LINE_STRP = 0x1f,
            FORM_IMPLICIT_CONST = 0x21,
            FORM_RNGLISTX = 0x23,
            FORM_REF_SUP8 = 0x24,
            FORM_STRX1 = 0x25,
            FORM_STRX4 = 0x28,
            FORM_ADDRX1 = 0x29,
            FORM_ADDRX4 = 0x2c,
            FORM_GNU_ADDR_INDEX = 0x1f01,
            FORM_GNU_STR_INDEX = 0x1f02,
            FORM_GNU_REF_ALT = 0x1f20,
            FORM_GNU_STRP_ALT = 0x1f21,
            FORM_LLVM_ADDRX_OFFSET = 0x2001,
};

enum operation {
    STEP_SKIP, /* skips `arg` bytes */
    STEP_LEB,  /* from here on: fetched if the attribute is used */
    STEP_SLEB,
    STEP_BLOCK_1,
    STEP_BLOCK_2,
    STEP_BLOCK_4,
    STEP_BLOCK_LEB,
    STEP_STRING,
    STEP_INDIRECT, /* the entry contains the form */
    STEP_FETCH_1,
    STEP_FETCH_2,
    STEP_FETCH_3,
    STEP_FETCH_4,
    STEP_FETCH_8,
    STEP_ADDRX_OFFSET, /* low half: index of an address; high half: offset from it, 4 bytes */
    STEP_NOTHING,      /* flag_present: true */
    STEP_CONSTANT,     /* constants[arg] */
};

struct unit_step {
    uint8_t operation;
    uint8_t attribute;
    uint16_t arg; /* of a fetch: form */
};

struct abbrev {
    uint16_t tag; /* 0: no such code */
    uint8_t kind;
    bool has_children;
    int16_t sibling; /* offset of a 4-byte DW_AT_sibling; -1: unknown */
    uint16_t step_count;
    int32_t fixed; /* bytes of an entry; -1: variable */
    uint32_t first_step;
};

struct abbrevs {         /* a table of .debug_abbrev, for units of one shape */
    uint64_t key;        /* offset of the table, and the shape */
    struct abbrev *rows; /* indexed by code */
    size_t count, room;
    struct {
        struct unit_step *rows;
        size_t count, room;
    } steps;
    struct {
        int64_t *rows;
        size_t count, room;
    } constants;
};

struct unit {
    const struct dwarf *dwarf;
    const struct abbrevs *abbrevs;
    uint64_t at;    /* header in .debug_info; references are relative to it */
    uint64_t first; /* first entry */
    uint64_t end;
    uint8_t version;
    uint8_t address_size; /* 4 or 8 */
    uint8_t offset_size;  /* 4 or 8 */
    bool is_code;         /* neither a type unit nor a partial unit */
    bool has_lines;
    bool is_skeleton;         /* its entries are in a split file */
    const struct unit *split; /* those entries; NULL: no such file was added */
    bool damaged;             /* partly read; written by the thread that read the unit */
    uint64_t dwo_id;          /* id of a skeleton and of its split unit */
    const char *dwo_name;     /* "": not specified */
    uint64_t str_offsets_base;
    uint64_t addr_base;
    uint64_t rnglists_base;
    uint64_t rnglists_start;    /* start of the unit's lists; 0 except in a package */
    uint64_t ranges_base;       /* added to offsets in .debug_ranges: split unit of DWARF 4 */
    uint64_t split_ranges_base; /* the split unit's ranges_base; unused for the skeleton's own ranges */
    uint64_t low;               /* base address of its range lists */
    uint64_t lines;
    const char *directory; /* "": not specified */
};

struct skeleton {
    uint64_t id;
    uint32_t unit;
};

struct dwarf {
    const struct object *object;
    const struct dwarf *alt;
    uint64_t base;
    uint64_t limit; /* limit of offsets, exclusive */
    struct {
        struct unit *rows;
        size_t count, room;
    } units;
    size_t lost_units;       /* skipped: damaged, or after a unit without a known end */
    struct abbrevs **tables; /* hash table, by key */
    size_t table_count;
    size_t table_room;
    struct claims *claims;
    struct package package; /* empty unless the file is a package */
    struct {
        struct dwarf **rows;
        size_t count, room;
    } splits;
    struct skeleton *skeletons; /* by id, after the first split file was added; NULL: none */
    size_t skeleton_count;
};

struct die {
    uint32_t has; /* bits of the present attributes */
    uint16_t form[AT_COUNT];
    uint64_t raw[AT_COUNT]; /* of a string inside the entry: its address */
};

static inline bool die_has(const struct die *die, enum attribute attribute)
{
    return die->has >> attribute & 1;
}

/* The table for a unit of that shape, filled by abbrevs_compile. NULL: out of memory. Not thread-safe. */
const struct abbrevs *abbrevs_want(struct dwarf *dwarf, uint64_t offset, const struct unit *shape);

/* Compile all requested tables with up to `threads` threads. A table that is damaged, or for which memory is lacking,
 * stays empty. */
void abbrevs_compile(struct dwarf *dwarf, unsigned threads);
void abbrevs_free_all(struct dwarf *dwarf);

/* Get the step that reads a form. Returns false for an unknown form. */
bool step_of_form(struct unit_step *out, uint64_t form, const struct unit *shape);

/* Execute a step that needs more than a load, or whose length is stored in the file. NULL: it runs out of the
 * section. */
const uint8_t *step_slow(struct die *die, const uint8_t *p, const uint8_t *end, const struct unit_step *step,
                         const struct unit *unit);

/* Fetch an entry's attributes; `p` is after its code. Returns the end of the entry, NULL: damaged. */
static inline const uint8_t *die_read(struct die *die, const uint8_t *p, const uint8_t *end, const struct unit *unit,
                                      const struct abbrev *abbrev)
{
    const struct unit_step *step = unit->abbrevs->steps.rows + abbrev->first_step;
    die->has = 0;
    for (unsigned i = 0; i < abbrev->step_count; i++, step++) {
        uint64_t raw;
        switch (step->operation) {
        case STEP_SKIP:
            p += step->arg;
            continue;
        case STEP_FETCH_1:
            raw = *p++;
            break;
        case STEP_FETCH_2:
            raw = load_16(p);
            p += 2;
            break;
        case STEP_FETCH_4:
            raw = load_32(p);
            p += 4;
            break;
        case STEP_FETCH_8:
            raw = load_64(p);
            p += 8;
            break;
        case STEP_LEB:
            raw = load_uleb(&p);
            break;
        default:
            p = step_slow(die, p, end, step, unit);
            if (!p)
                return NULL;
            continue;
        }
        die->raw[step->attribute] = raw;
        die->form[step->attribute] = step->arg;
        die->has |= 1u << step->attribute;
    }
    return p;
}

/* Interpret values. A text is NULL if there is none; it ends within MIRE_DWARF_NAME_MAX bytes, or its user cuts it. */
const char *value_text(const struct unit *unit, uint16_t form, uint64_t raw);
bool value_address(uint64_t *out, const struct unit *unit, uint16_t form, uint64_t raw);
bool unit_address(uint64_t *out, const struct unit *unit, uint64_t index);

/* The unit and offset of a referenced entry; NULL: no such entry. */
const struct unit *value_reference(uint64_t *at_out, const struct unit *unit, uint16_t form, uint64_t raw);

/* Fetch the entry at an offset in .debug_info. Returns its abbreviation, NULL: no entry. */
const struct abbrev *die_at(struct die *die, const struct unit *unit, uint64_t at);

/* Iterates over the ranges [low, high) of an entry. */
struct range_walk {
    const struct unit *unit;
    const uint8_t *p;
    const uint8_t *end;
    uint64_t base;
    uint64_t low, high; /* of an entry with one range; high 0: none left */
    bool new_lists;     /* .debug_rnglists */
};
void ranges_begin(struct range_walk *walk, const struct unit *unit, const struct die *die);
bool ranges_next(uint64_t *low_out, uint64_t *high_out, struct range_walk *walk);

/* Convert [low, high) to offsets. Returns false if the range is not code. */
bool dwarf_offsets(uint32_t *low_out, uint32_t *high_out, const struct dwarf *dwarf, uint64_t low, uint64_t high);

#endif
