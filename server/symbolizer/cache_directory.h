/*
 * cache_directory.h - the directory converted files are kept in. Inside symbolizer/ only.
 *
 *     ID.debug.cache          from a file with DWARF, or which file was there and could not be converted
 *     ID.symtab.cache         likewise, from one with names only
 *     ID.mapping.cache        likewise, from one with names of Java
 *     ID.CONTENTS_ID.debug.cache  each of these, of a file that was uploaded with those contents
 *     converting              locked by whoever converts: one at a time, so that memory is bounded
 *
 * So what is converted once stays, and what was sent in place of something else is never taken for it.
 * A cache appears under its name only when it is whole. It is marked as used each time it is opened; what was used
 * longest ago goes when room is needed. Whoever has it open keeps it. Any number of threads and processes.
 */
#ifndef MIRE_SYMBOLIZER_CACHE_DIRECTORY_H
#define MIRE_SYMBOLIZER_CACHE_DIRECTORY_H

#include "java/retrace.h"
#include "symbolizer/symbolizer.h"

struct cache_key {
    const char *dir; /* NULL: there is none */
    const uint8_t *id;
    size_t id_len;
    uint64_t contents_id; /* of the uploaded file, as symbols_options tells it; 0: nothing is uploaded */
    enum symbol_kind kind;
};

/* Open what was converted. False: it is not there, or is to be made anew. */
bool cache_directory_open(struct module **out, const struct cache_key *key);
bool cache_directory_open_mapping(struct retrace **out, const struct cache_key *key);

/* Could that very file not be converted the last time, less than a day ago? One that is uploaded anew has another path.
 */
bool cache_directory_refused(const struct cache_key *key, const char *path);

/* One that is being made. Without a directory it is only in memory, and the last one to close it loses it. */
struct cache_slot {
    int lock;
    int fd; /* write here */
    char path[4096];
    char aside[4096];
};

/*
 * Wait for the turn to convert, and begin.
 *
 * Returns false if the system refuses. Then nothing is to be ended.
 */
bool cache_directory_begin(struct cache_slot *place, const struct cache_key *key);

/* End: put it in its place, or note that the file `bad` could not be converted, or nothing; and let the next one have
 * its turn. */
bool cache_directory_commit(struct cache_slot *place);
void cache_directory_abort(struct cache_slot *place, const char *bad);

/*
 * Remove files of a cache_dir, and those that are unpacked there (.debug, .symtab), longest unused first, until
 * `coming` more bytes fit. Who has one open keeps it. Returns how many went.
 */
size_t cache_directory_make_room(const char *path, uint64_t max_bytes, uint64_t coming);

#endif
