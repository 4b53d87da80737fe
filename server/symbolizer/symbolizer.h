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
#include "symbolizer/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
