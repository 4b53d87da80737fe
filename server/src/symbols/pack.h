/*
 * pack.h - writes a cache. Inside symbols/ only.
 *
 * Segments come in order of address; scopes, files and names are added as they are first met, so that those of
 * neighbouring code have neighbouring numbers. Files and names that are equal are kept once; so are scopes, unless they
 * come far apart. Paths lie together: there are few, and every look-up reads some.
 */
#ifndef MIRE_SYMBOLS_PACK_H
#define MIRE_SYMBOLS_PACK_H

#include "symbols/blocks.h"

#define MIRE_PACK_RECENT 8192

struct pack_scope {
    uint32_t name;
    uint32_t parent; /* 0: it is a function */
    uint32_t file;   /* of the call */
    uint32_t line;
    uint32_t entry; /* of a function */
};

struct pack_texts { /* one behind the other, each ends in a NUL; equal ones once */
    char *rows;
    size_t count, room;
    uint64_t *hash; /* upper half of the hash, place in rows; its room is a power of two */
    size_t hash_room;
    size_t hash_count;
};

struct pack {
    bool failed; /* out of memory; what is added from then on is lost */
    struct {
        struct pack_scope *rows;
        size_t count, room;
    } scopes;
    struct {
        uint32_t *rows; /* where the path lies in paths; once written, in texts */
        size_t count, room;
    } files;
    struct pack_texts texts; /* names; once written, the paths behind them */
    struct pack_texts paths;
    struct blocks blocks;              /* of segments, which the caller adds */
    uint64_t recent[MIRE_PACK_RECENT]; /* scopes, hash above: equal ones are parts of one function, so they come soon */
    uint32_t *file_hash;               /* numbers, by place of the text; the room of a hash is a power of two */
    size_t file_hash_room;
};

/* False: out of memory. */
bool pack_init(struct pack *pack);
void pack_fini(struct pack *pack);

/* Where a name lies; 0: it is NULL or empty. */
uint32_t pack_text(struct pack *pack, const char *text);

/* The same of `len` bytes. */
uint32_t pack_text_of(struct pack *pack, const char *text, size_t len);

/* Number of a path, the same for equal ones; 0: unknown. */
uint32_t pack_file(struct pack *pack, const char *path);

/* Number of a scope. */
uint32_t pack_scope(struct pack *pack, const struct pack_scope *scope);

/* The last block is written, and paths are put behind the names: nothing more is added. */
void pack_flush(struct pack *pack);

/*
 * Write the cache to a file, from its beginning.
 *
 *   head   id, kind, base, arch, lack_count and damaged_units are the caller's; the rest is filled
 *   lacks  borrowed; head->lack_count of them
 *   high   behind the last segment
 *
 * Returns false if the system refuses, or memory was lacking at any time.
 */
bool pack_write(struct pack *pack, int fd, struct cache_head *head, const struct cache_lack *lacks, uint32_t high);

#endif
