/*
 * cache_directory.h - the directory of converted files. Internal to symbolizer/.
 *
 *     ID.debug.cache              converted from a file with DWARF, or the path of a file that could not be converted
 *     ID.symtab.cache             the same, from a file with names only
 *     ID.mapping.cache            the same, from a mapping of Java names
 *     ID.CONTENTS_ID.debug.cache  each of these, from an uploaded file with those contents
 *     converting                  lock of the running conversion: one at a time, so that memory is bounded
 *
 * The contents id keeps the caches of different uploads of one build id apart. A cache gets its name when it is
 * complete. Opening a cache marks it as used; the least recently used files are removed first. A removed cache stays
 * readable where it is open. Threads: any number, also in several processes.
 */
#ifndef MIRE_SYMBOLIZER_CACHE_DIRECTORY_H
#define MIRE_SYMBOLIZER_CACHE_DIRECTORY_H

#include "cache/module.h"
#include "java/retrace.h"

struct cache_key {
    const char *dir; /* NULL: no directory */
    const uint8_t *id;
    size_t id_len;
    uint64_t contents_id; /* contents of the uploaded file, from symbols_options; 0: no upload */
    enum symbol_kind kind;
};

/* Open a converted file. Returns false if there is none, or if it has another version or is damaged; convert the file
 * then. The caller closes *out with cache_close or retrace_close. */
bool cache_directory_open(struct module **out, const struct cache_key *key);
bool cache_directory_open_mapping(struct retrace **out, const struct cache_key *key);

/* Returns true if the conversion of the file `path` failed less than a day ago. Another upload has another path and is
 * tried at once. */
bool cache_directory_refused(const struct cache_key *key, const char *path);

/* A cache that is being written. Without a directory it is only in memory, until its last descriptor is closed. */
struct cache_slot {
    int lock;
    int fd; /* the file to write to */
    char path[4096];
    char aside[4096];
};

/*
 * Wait until no other conversion runs, and begin one. The slot is ended by cache_directory_commit or _abort.
 *
 * Returns false if a system call fails; the slot needs no end then.
 */
bool cache_directory_begin(struct cache_slot *place, const struct cache_key *key);

/* End a conversion, and let the next one begin. Commit gives the cache its name and returns false if that fails. Abort
 * discards the cache; with a `bad` path it stores in its place that this file cannot be converted. */
bool cache_directory_commit(struct cache_slot *place);
void cache_directory_abort(struct cache_slot *place, const char *bad);

/*
 * Remove files of a cache_dir, and those that are unpacked there (.debug, .symtab), longest unused first, until
 * `coming` more bytes fit. Who has one open keeps it. Returns how many went.
 */
size_t cache_directory_make_room(const char *path, uint64_t max_bytes, uint64_t coming);

#endif
