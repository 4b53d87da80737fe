/*
 * convert.h - object files -> one cache.
 *
 *     units, shared out among threads --> a harvest each --.
 *     symbols of all files ---------------------------------+--> laid over each other --> pack --> file
 *     functions of the unwind table ------------------------'
 *
 * If several sources describe an address, DWARF functions win over symbols, symbols over functions of the unwind table
 * (which have no name), and a lower unit over a higher one. Lines outside functions (assembly) go with the symbol
 * there. An address without any source is a gap.
 */
#ifndef MIRE_CACHE_CONVERT_H
#define MIRE_CACHE_CONVERT_H

#include "object/object.h"

#define MIRE_CONVERT_OBJECTS 4
#define MIRE_CONVERT_THREADS 16

struct convert_split {     /* split file for the skeleton units of the first object */
    struct object *object; /* NULL: unreadable */
    uint64_t id;           /* id it was requested by; of a package its own */
    uint64_t contents_id;  /* contents id, never 0 */
    bool package;
};

struct convert_source {
    const struct object *objects[MIRE_CONVERT_OBJECTS]; /* of one module, most informative first */
    size_t object_count;
    const struct object *alt; /* dwz file (DW_FORM_..._alt); NULL: missing or unreadable */
    uint64_t alt_contents_id; /* contents of the dwz file; 0: missing */
    const struct convert_split *splits;
    size_t split_count;
    bool asks;         /* request missing split files instead of converting without them */
    const uint8_t *id; /* id of the cache; id_len 0: that of the first object */
    size_t id_len;
};

struct convert_facts {
    size_t units;
    size_t damaged_units; /* skipped or partly read, including those of split files */
    uint64_t dwarf_bytes;
    size_t wanted; /* split files requested; with source.asks: rows written */
};

#define MIRE_CONVERT_WANTS 20000

struct convert_want {   /* written to fd instead of a cache, lowest id first */
    uint64_t id;        /* id of a split file; of an object file, its number in the debug map */
    uint64_t is_object; /* 1: object file of the debug map */
    char path[496];     /* path from the compiler; "": not specified */
};

/*
 * Convert object files.
 *
 *   fd       the cache is written here, from its beginning. If source.asks and facts.wanted is not 0, rows of struct
 *            convert_want are written instead
 *   threads  1..MIRE_CONVERT_THREADS
 *
 * Returns NULL, or the problem (static).
 */
const char *convert(struct convert_facts *out, int fd, const struct convert_source *source, unsigned threads);

/* Write the id of a split file as MIRE_SYMBOL_SPLIT_ID bytes. */
void split_id_bytes(uint8_t *out, uint64_t id);

#endif
