/*
 * pack.h - writes a cache. Inside cache/ only.
 *
 * Segments come in order of address; scopes, files and names are added as they are first met, so that those of
 * neighbouring code have neighbouring numbers. Files and names that are equal are kept once; so are scopes, unless they
 * come far apart. Paths lie together: there are few, and every look-up reads some.
 *
 * Texts are borrowed until pack_flush, and found again by where they lie: most of those that are equal lie in one
 * place.
 */
#ifndef MIRE_CACHE_PACK_H
#define MIRE_CACHE_PACK_H

#include "cache/writer_queue.h"

#define MIRE_PACK_RECENT 8192

struct pack_key { /* what a text is found by */
    uint32_t hash;
    uint32_t len; /* up to its NUL, or what is kept of it */
};

struct pack_text {
    const char *text;
    uint32_t len;
    uint32_t place; /* behind those before it, each with its NUL */
};

struct pack_recent {
    uint32_t hash;
    uint32_t number; /* 0: there is none */
    struct pack_scope scope;
};

struct pack_texts {
    struct pack_text *rows; /* by number, from 1 */
    size_t count, room;
    uint64_t *hash; /* upper half of the hash, number; its room is a power of two */
    size_t hash_room;
    size_t bytes; /* of all texts, and a NUL before them */
};

struct pack {
    bool failed; /* out of memory; what is added from then on is lost */
    size_t scope_count;
    struct pack_texts names;
    struct pack_texts paths;
    struct pack_recent *recent; /* scopes by hash: equal ones are parts of one function, so they come soon */
    struct writer_queue queue;  /* of segments, which the caller adds, and what has a number */
};

/* False: out of memory. */
bool pack_init(struct pack *pack);
void pack_fini(struct pack *pack);

/* The key of `len` bytes, and that of a whole text. Any thread. */
struct pack_key pack_key_of(const char *text, size_t len);
struct pack_key pack_key(const char *text);

/* Where a name lies; 0: it is empty. */
uint32_t pack_name(struct pack *pack, const char *name, struct pack_key key);

/* Number of a path, the same for equal ones; 0: it is NULL or empty. */
uint32_t pack_file(struct pack *pack, const char *path);

/* Number of a scope. */
uint32_t pack_scope(struct pack *pack, const struct pack_scope *scope);

/* Everything is written down, and paths are put behind the names: nothing more is added. */
void pack_flush(struct pack *pack);

/*
 * Write the cache to a file, from its beginning. After pack_flush.
 *
 *   head   id, kind, base, arch, missing_count and damaged_units are the caller's; the rest is filled
 *   lacks  borrowed; head->missing_count of them
 *   high   behind the last segment
 *
 * Returns false if the system refuses, or memory was lacking at any time.
 */
bool pack_write(struct pack *pack, int fd, struct cache_head *head, const struct cache_missing_file *missing_files,
                uint32_t high);

#endif
