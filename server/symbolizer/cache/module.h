/*
 * module.h - a converted file: the frames at an address, and the files that were missing or damaged.
 *
 * symbolizer.h opens a module; inside symbolizer/ cache.h does too. Thread: several threads may use one module at once.
 */
#ifndef MIRE_CACHE_MODULE_H
#define MIRE_CACHE_MODULE_H

#include "object/kinds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_SYMBOL_CHAIN_MAX 64 /* limit of the inline chain at one address */

struct module;

/* The kind of file the module was made from. NULL: MIRE_SYMBOLS_NONE. */
enum symbol_kind module_kind(const struct module *module);

#define MIRE_SYMBOL_SPLITS   64 /* limit of a module's missing split files */
#define MIRE_SYMBOL_SPLIT_ID 8  /* bytes of a split file's id */

struct symbol_splits {
    uint8_t ids[MIRE_SYMBOL_SPLITS][MIRE_SYMBOL_SPLIT_ID];
    uint64_t contents_ids[MIRE_SYMBOL_SPLITS]; /* contents of a damaged file, as options.contents_id; 0: missing */
    size_t count;
};

/* Split files (.dwo, .dwp) that were missing or damaged during the conversion. Owned by the module. */
const struct symbol_splits *module_missing_splits(const struct module *module);

#define MIRE_SYMBOL_ALT 54 /* room for the name of a dwz file */

struct symbol_alt {
    uint8_t id[MIRE_SYMBOL_ID_MAX];
    size_t id_len;
    uint64_t contents_id;       /* contents of a damaged file; 0: missing */
    char name[MIRE_SYMBOL_ALT]; /* printable ASCII */
};

/*
 * The dwz file (.gnu_debugaltlink) that was missing or damaged during the conversion; the names in it are unknown.
 * NULL: the file was complete, or none is needed. Owned by the module.
 */
const struct symbol_alt *module_missing_alt(const struct module *module);

/*
 * Returns true if addresses count from the image's start instead of the program headers' 0. A Breakpad file does not
 * contain the base address. NULL: false.
 */
bool module_is_from_base(const struct module *module);

/*
 * The address at which the image begins, of the same kind as those of a look-up: offsets that count from the beginning
 * of the image in memory are added to it. 0 if module_is_from_base, or if `module` is NULL.
 */
uint64_t module_begin(const struct module *module);

/* Returns true if the file says that it is a library of Apple's systems. NULL: false. */
bool module_is_system(const struct module *module);

/* Returns true if the module was made from line tables or Breakpad, so that DWARF would add details. NULL: false. */
bool module_has_lines_alone(const struct module *module);

/* Returns true if no file would add to the module: it has all the data of its DWARF, and no file that it refers to was
 * missing or damaged; or it is a library of Apple's systems, which has no more than names. NULL: false. */
bool module_is_whole(const struct module *module);

/*
 * Describe the defects of the files that the module was made from: "is damaged: 3 or more of its units cannot be read
 * whole; 2 split files are damaged (0123456789abcdef, ...); its dwz file is missing (common.debug, 0123...); 1 split
 * file is missing (fedcba9876543210)". A longer text is cut.
 *
 *   out  room for MIRE_SYMBOL_WHY bytes; "" if the module is whole, NULL, or has no DWARF
 *
 * Returns the number of damaged parts, without the missing ones.
 */
size_t module_defect(char *out, const struct module *module);

/* A function at an address. Texts are owned by the module. */
struct symbol_frame {
    const char *function; /* linker's (mangled) name; NULL: unknown */
    const char *file;     /* NULL: unknown */
    uint32_t line;        /* 0: unknown */
    bool inlined;         /* into the next one */
    uint64_t start;       /* start address of the function; 0: unknown; the same in a whole chain */
};

/*
 * Get the inline chain at an address.
 *
 *   out  room for MIRE_SYMBOL_CHAIN_MAX frames, innermost first
 *
 * Returns the number of frames; 0 if the address is unknown. A single frame without a function has at least its start.
 */
size_t module_lookup(struct symbol_frame *out, const struct module *module, uint64_t address);

/* The frames of one address; out[first] is the innermost. */
struct symbol_chain {
    uint32_t first;
    uint32_t count; /* 0: unknown address */
};

#define MIRE_SYMBOL_ROOM (32 * MIRE_SYMBOL_CHAIN_MAX) /* minimum room of module_lookup_all */

/*
 * The same for many addresses, several times faster than single look-ups.
 *
 *   out     room for `room` frames, MIRE_SYMBOL_ROOM or more
 *   chains  one per address
 *
 * Returns the number of addresses done. It is less than `count` if less than MIRE_SYMBOL_ROOM was left in `out`; call
 * again for the rest.
 */
size_t module_lookup_all(struct symbol_frame *out, size_t room, struct symbol_chain *chains,
                         const struct module *module, const uint64_t *addresses, size_t count);

void module_close(struct module *module);

#endif
