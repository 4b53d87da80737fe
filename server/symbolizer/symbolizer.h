/*
 * symbolizer.h - build id + address -> functions, files and lines.
 *
 *     build id --> uploaded debug file, symbol directories, the image itself (demo only)
 *                    | converted once, in a process of its own (sandbox/child.h, cache/convert.h)
 *                    v
 *                  cache, kept in a directory by build id (cache_directory.h), mapped (cache/cache.h)  = module
 *     module + address --> from DWARF: function and file:line, with the inline chain
 *                          otherwise from .symtab, .gnu_debugdata, .dynsym: function
 *                          otherwise from .eh_frame: only the start of the function
 *
 * At most open_max modules are open; the least recently used one is closed first. A failed search is repeated after the
 * retry interval. Addresses are those of the file's program headers, unless module_is_from_base. An address in a gap
 * between functions is unknown; it never gets the name of the function before it. For a return address, pass the
 * address minus one.
 *
 * Debug files are untrusted: a hostile file can cause a wrong answer and nothing worse. Thread: one at a time per
 * struct symbols. Several of them, also in several processes, may share a cache directory.
 */
#ifndef MIRE_SYMBOLIZER_SYMBOLIZER_H
#define MIRE_SYMBOLIZER_SYMBOLIZER_H

#include "cache/module.h"
#include "demangle/demangle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols_options {
    const char *const *dirs; /* directories with .build-id/xx/yyyy.debug; borrowed */
    size_t dir_count;
    bool local_images; /* also open the image's own path on this machine, if its build id is the same */
    size_t open_max;   /* limit of open modules, 1.. */
    uint64_t retry_ms; /* retry interval for a module that was not found, milliseconds */

    /*
     * Called by symbols_find before it uses a module; false refuses the module. NULL: every module may be used. An
     * admitted module is in use until the next call of symbols_find.
     */
    bool (*admit)(void *context, const uint8_t *id, size_t id_len);
    void *admit_context;

    /*
     * Find the uploaded file of a build id, and write its path to `path` (path_room bytes). Returns 1 found, 0 no such
     * upload, below zero a fault, which symbols_find returns. NULL: there are no uploads.
     */
    int (*uploaded)(void *context, char *path, size_t path_room, const uint8_t *id, size_t id_len);

    /*
     * Get a number for the contents of the uploaded file, never 0. Another number means that other contents were
     * uploaded; they are converted although a cache exists. Returns as `uploaded`. NULL: contents are not compared.
     */
    int (*contents_id)(void *context, uint64_t *out, const uint8_t *id, size_t id_len);

    /*
     * Get a number for those whose uploaded files are found now. What was found for others is not used for them. NULL:
     * all have the same files.
     */
    uint64_t (*owner)(void *context);

    /*
     * Get the number of files that have arrived so far. While it is unchanged, symbols_find uses what it found before,
     * and searches for a missing module only after retry_ms. Returns 0 or a fault, which symbols_find returns. NULL:
     * arrivals are not counted.
     */
    int (*arrivals)(void *context, int64_t *count_out);
    void (*converted)(void *context, const char *path); /* upload is not needed any more; NULL: not reported */
    void *uploaded_context;

    const char *cache_dir;    /* directory of converted files; may be emptied at any time; NULL: in memory only */
    uint64_t cache_max_bytes; /* limit of that directory; the least recently used files go; 0: no limit */
    const char *converter;    /* program that passes "symbol-child" to symbols_child; NULL: this process */

    /* Called for a file that cannot be converted or is partly damaged, with the reason. NULL: not reported. */
    void (*refused)(void *context, const char *path, const char *why);
    void *refused_context;
};

#define MIRE_SYMBOLS_OPTIONS              \
    {                                     \
        .open_max = 64, .retry_ms = 60000 \
    }

struct symbols;
struct retrace;

/* Returns 0, or -1 out of memory. Options are copied; memory that they point to is borrowed until symbols_close. */
int symbols_open(struct symbols **out, const struct symbols_options *options);
void symbols_close(struct symbols *symbols);

/*
 * Find a module, and convert its files if there is no cache yet.
 *
 *   out     borrowed until the next call; NULL if there is no such module
 *   id      build id; with id_len 0 the module has none, and only its path is tried (local_images)
 *   path    the image's path on the device
 *   now_ms  milliseconds of any clock that never goes back
 *
 * Returns 0, a fault of an options callback, or -1 out of memory.
 */
int symbols_find(struct module **out, struct symbols *symbols, const uint8_t *id, size_t id_len, const char *path,
                 uint64_t now_ms);

/*
 * Find the uploaded mapping of Java names (retrace.h) with an id.
 *
 *   out  borrowed until the next call; NULL if there is none
 *
 * Returns 0 or a fault, as symbols_find.
 */
int symbols_find_mapping(struct retrace **out, struct symbols *symbols, const uint8_t *id, size_t id_len,
                         uint64_t now_ms);

/*
 * Convert one file into memory. The caller closes the module with module_close.
 *
 *   why   room for MIRE_SYMBOL_WHY bytes: the problem of the file if false is returned, otherwise the text of
 *         module_defect
 *   path  path of the file
 *   id    UUID of the wanted slice of a universal file, or the build id that the file must have; with id_len 0 the
 *         first slice of any id
 *   dirs  as in symbols_options: symbol directories for the files that the DWARF refers to
 */
bool module_open(struct module **out, char *why, const char *path, const uint8_t *id, size_t id_len,
                 const char *const *dirs, size_t dir_count);

#endif
