/*
 * symbolizer.h - build id + address -> functions, files and lines.
 *
 *     build id --> uploaded debug file, symbol directories, the image itself (demo only)
 *                    | converted once, in a process of its own (sandbox/child.h, cache/convert.h)
 *                    v
 *                  cache, kept in a directory by build id (cache_directory.h), mapped (cache/cache.h)  = module
 *     module + address --> from DWARF: function and file:line, with the chain of inlined calls
 *                          else from .symtab, .gnu_debugdata, .dynsym: function
 *                          else from .eh_frame: only where the function begins
 *
 * Modules stay open, the least recently used one is closed for another; what was not found is not looked for again for
 * a while. Addresses are those of the file's program headers, unless module_is_from_base. An address in a gap between
 * functions is unknown: it is never given the name of what lies before it. Of a return address, ask for the address
 * before it.
 *
 * Files come from anywhere: whatever they claim, the worst is a wrong answer. Thread: one at a time per struct symbols;
 * several, and several processes, may share a directory.
 */
#ifndef MIRE_SYMBOLIZER_SYMBOLIZER_H
#define MIRE_SYMBOLIZER_SYMBOLIZER_H

#include "cache/module.h"
#include "demangle/demangle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols_options {
    const char *const *dirs; /* roots with .build-id/xx/yyyy.debug below; borrowed */
    size_t dir_count;
    bool local_images; /* also open the image's own path on this machine, if its build id is the same */
    size_t open_max;   /* modules kept open, 1.. */
    uint64_t retry_ms; /* for how long a module that was not found is not looked for */

    /*
     * Asked before a module is used, by symbols_find: false leaves it alone. NULL: every module may be used. It is in
     * use until the next call.
     */
    bool (*admit)(void *context, const uint8_t *id, size_t id_len);
    void *admit_context;

    /*
     * The uploaded file of that build id: fills `path` (room: path_room bytes) with where it lies.
     * 1 found, 0 there is none, below zero a fault, which symbols_find returns. NULL: nothing is uploaded.
     */
    int (*uploaded)(void *context, char *path, size_t path_room, const uint8_t *id, size_t id_len);

    /*
     * Which contents that file has: a number that is another one once others were sent in their place; then they are
     * converted, whatever there is. Never 0. Answers as `uploaded`. NULL: nobody tells.
     */
    int (*contents_id)(void *context, uint64_t *out, const uint8_t *id, size_t id_len);

    /*
     * How many files have come so far. While the number stays as it was, what was found, or not, is said again without
     * looking. 0 or a fault, which symbols_find returns. NULL: nobody tells.
     */
    int (*arrivals)(void *context, int64_t *count_out);
    void (*converted)(void *context, const char *path); /* that file is not needed any more; NULL: nobody asks */
    void *uploaded_context;

    const char *cache_dir;    /* converted files are kept here; may be emptied at any time; NULL: only in memory */
    uint64_t cache_max_bytes; /* of the files there; what was used longest ago goes first; 0: no limit */
    const char *converter;    /* program that hands "symbol-child" to symbols_child; NULL: convert in this process */

    /* Told of a file that cannot be converted, or of which a part is damaged, and why. NULL: nobody asks. */
    void (*refused)(void *context, const char *path, const char *why);
    void *refused_context;
};

#define MIRE_SYMBOLS_OPTIONS              \
    {                                     \
        .open_max = 64, .retry_ms = 60000 \
    }

struct symbols;
struct retrace;

/* 0, or -1 out of memory. Options are copied, what they point to is borrowed. */
int symbols_open(struct symbols **out, const struct symbols_options *options);
void symbols_close(struct symbols *symbols);

/*
 * Find a module.
 *
 *   out     borrowed until the next call; NULL if there is none
 *   id      build id; id_len 0: the module has none, and only its path can be tried (local_images)
 *   path    the image's path on the device
 *   now_ms  any clock that only goes forward
 *
 * Returns 0, or the fault of options.uploaded, or -1 out of memory.
 */
int symbols_find(struct module **out, struct symbols *symbols, const uint8_t *id, size_t id_len, const char *path,
                 uint64_t now_ms);

/*
 * Find a mapping of Java names (retrace.h) by its id: the uploaded one.
 *
 *   out  borrowed until the next call; NULL if there is none
 *
 * Returns 0 or a fault, as symbols_find.
 */
int symbols_find_mapping(struct retrace **out, struct symbols *symbols, const uint8_t *id, size_t id_len,
                         uint64_t now_ms);

/*
 * Convert one file into memory, for whoever has it at hand; closed by module_close.
 *
 *   why   room for MIRE_SYMBOL_WHY bytes: what is wrong with it if false is returned, else what module_defect says
 *   path  of the file
 *   id    of a universal file the slice with this UUID is converted, else the file must have that build id; id_len 0:
 *         the first slice, whatever its id is
 *   dirs  as in symbols_options: where a file that its DWARF refers to may be
 */
bool module_open(struct module **out, char *why, const char *path, const uint8_t *id, size_t id_len,
                 const char *const *dirs, size_t dir_count);

#endif
