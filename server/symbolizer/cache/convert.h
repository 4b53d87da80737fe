/*
 * convert.h - object files -> one cache.
 *
 *     units, shared out among threads --> a harvest each --.
 *     symbols of all files ---------------------------------+--> laid over each other --> pack --> file
 *     functions of the unwind table ------------------------'
 *
 * Where several speak of one address: functions of the DWARF before symbols, symbols before functions of the unwind
 * table, which have no name; of units the lowest. Lines outside of functions (assembly) go with the symbol there. What
 * nobody speaks of is a gap.
 */
#ifndef MIRE_CACHE_CONVERT_H
#define MIRE_CACHE_CONVERT_H

#include "object/object.h"

#define MIRE_CONVERT_OBJECTS 4
#define MIRE_CONVERT_THREADS 16

struct convert_split {     /* a split file that was found for the skeletons of the first object */
    struct object *object; /* NULL: it cannot be read */
    uint64_t id;           /* it was asked for by; of a package the package's own */
    uint64_t contents_id;  /* of its contents, never 0 */
    bool package;
};

struct convert_source {
    const struct object *objects[MIRE_CONVERT_OBJECTS]; /* of one module, what knows more first */
    size_t object_count;
    const struct object *alt; /* what DW_FORM_..._alt refers to; NULL: there is none, or it cannot be read */
    uint64_t alt_contents_id; /* of its contents; 0: there is none */
    const struct convert_split *splits;
    size_t split_count;
    bool asks;         /* rather than convert without a split file, tell which are wanted */
    const uint8_t *id; /* the cache's; id_len 0: that of the first object */
    size_t id_len;
};

struct convert_facts {
    size_t units;
    size_t damaged_units; /* passed over, or read as far as they go; those of split files that were found, too */
    uint64_t dwarf_bytes;
    size_t wanted; /* split files; of source.asks: the rows that were written */
};

#define MIRE_CONVERT_WANTS 20000

struct convert_want {   /* written to fd instead of a cache, lowest id first */
    uint64_t id;        /* of an object file its number in the debug map */
    uint64_t is_object; /* 1: it is one that the program was linked from */
    char path[496];     /* where the compiler put it; "" if that is not told */
};

/*
 * Convert.
 *
 *   fd       the cache is written here, from its beginning; if facts.wanted is not 0 and source.asks: what is wanted
 *   threads  1..MIRE_CONVERT_THREADS
 *
 * Returns NULL, or what is wrong (static).
 */
const char *convert(struct convert_facts *out, int fd, const struct convert_source *source, unsigned threads);

/* The id of a split file as bytes, MIRE_SYMBOL_SPLIT_ID of them. */
void split_id_bytes(uint8_t *out, uint64_t id);

#endif
