/*
 * pack.h - numbers the parts of a cache and writes it. Internal to cache/.
 *
 * Segments are added in order of address; scopes, files and names at first use, so that neighbouring code has
 * neighbouring numbers. Equal files and names are stored once, and so are equal scopes that are close together. All
 * paths are stored together, since they are few and every look-up reads some.
 *
 * Texts are borrowed until pack_flush. They are compared by address first: equal texts mostly have one address.
 *
 * Thread: one per struct pack.
 */
#ifndef MIRE_CACHE_PACK_H
#define MIRE_CACHE_PACK_H

#include "cache/writer_queue.h"

#define MIRE_PACK_RECENT 8192

struct pack_key { /* identity of a text */
    uint32_t hash;
    uint32_t len; /* without the NUL, limited to the stored length */
};

struct pack_text {
    const char *text;
    uint32_t len;
    uint32_t place; /* position after the texts before it, each with its NUL */
};

struct pack_recent {
    uint32_t hash;
    uint32_t number; /* 0: free */
    struct pack_scope scope;
};

struct pack_texts {
    struct pack_text *rows; /* by number, from 1 */
    size_t count, room;
    uint64_t *hash; /* upper half: hash, lower half: number; the room is a power of two */
    size_t hash_room;
    size_t bytes; /* all texts, and a NUL before them */
};

struct pack {
    bool failed; /* out of memory; later parts are lost */
    size_t scope_count;
    struct pack_texts names;
    struct pack_texts paths;
    struct pack_recent *recent; /* scopes by hash: equal ones are parts of one function and close together */
    struct writer_queue queue;  /* segments from the caller, and numbered parts */
};

/* Returns false out of memory. */
bool pack_init(struct pack *pack);
void pack_fini(struct pack *pack);

/* Get the key of `len` bytes, or of a whole text. Thread: any. */
struct pack_key pack_key_of(const char *text, size_t len);
struct pack_key pack_key(const char *text);

/* The position of a name in the texts; 0: empty. */
uint32_t pack_name(struct pack *pack, const char *name, struct pack_key key);

/* The number of a path, the same for equal paths; 0: NULL or empty. */
uint32_t pack_file(struct pack *pack, const char *path);

/* The number of a scope. */
uint32_t pack_scope(struct pack *pack, const struct pack_scope *scope);

/* Write everything that was added, and put the paths after the names. Nothing may be added afterwards. */
void pack_flush(struct pack *pack);

/*
 * Write the cache to a file, from its beginning. Call pack_flush before.
 *
 *   head           the caller sets id, kind, base, arch, missing_count and damaged_units; the rest is filled
 *   missing_files  borrowed; head->missing_count rows
 *   high           end of the last segment, exclusive
 *
 * Returns false if a system call fails, or if memory was lacking at any time.
 */
bool pack_write(struct pack *pack, int fd, struct cache_head *head, const struct cache_missing_file *missing_files,
                uint32_t high);

#endif
