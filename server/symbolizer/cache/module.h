/*
 * module.h - a converted file: what is at an address, and what the file does not tell.
 *
 * A module is opened by symbolizer.h, or by cache.h inside symbolizer/. Thread: any number may ask one module.
 */
#ifndef MIRE_CACHE_MODULE_H
#define MIRE_CACHE_MODULE_H

#include "object/kinds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_SYMBOL_CHAIN_MAX 64 /* inlined calls at one address */

struct module;

/* What the module was made of; of NULL nothing. */
enum symbol_kind module_kind(const struct module *module);

#define MIRE_SYMBOL_SPLITS   64 /* split files of a module that are told to be lacking */
#define MIRE_SYMBOL_SPLIT_ID 8  /* bytes of the id of one */

struct symbol_splits {
    uint8_t ids[MIRE_SYMBOL_SPLITS][MIRE_SYMBOL_SPLIT_ID];
    uint64_t
        contents_ids[MIRE_SYMBOL_SPLITS]; /* of the damaged ones, as options.contents_id told it; 0: it was not there */
    size_t count;
};

/* Split files (.dwo, .dwp) that were not there when the module was converted, or were damaged. The module's. */
const struct symbol_splits *module_missing_splits(const struct module *module);

#define MIRE_SYMBOL_ALT 54 /* room for the name of a file of dwz */

struct symbol_alt {
    uint8_t id[MIRE_SYMBOL_ID_MAX];
    size_t id_len;
    uint64_t contents_id;       /* of the damaged one; 0: it was not there */
    char name[MIRE_SYMBOL_ALT]; /* for people: printable ASCII */
};

/*
 * The file into which dwz put what several programs share (.gnu_debugaltlink), if it was not there when the module was
 * converted, or was damaged: names that lie in it are unknown. NULL: it was, or none is wanted. The module's.
 */
const struct symbol_alt *module_missing_alt(const struct module *module);

/*
 * Do addresses count from where the image begins, whatever its program headers say there? Of what was made of a file of
 * Breakpad, which does not tell that. Of NULL no.
 */
bool module_is_from_base(const struct module *module);

/* Was it made of line tables or a file of Breakpad, so that DWARF would tell more? Of NULL no. */
bool module_has_lines_alone(const struct module *module);

/* Does it have all that DWARF can tell? Not while files it refers to are lacking, nor if one was damaged. Of NULL no.
 */
bool module_is_whole(const struct module *module);

/*
 * What is wrong with the files it was made of, for people: "is damaged: 3 or more of its units cannot be read whole; 2
 * split files are damaged (0123456789abcdef, ...); its dwz file is missing (common.debug, 0123...); 1 split file is
 * missing (fedcba9876543210)". Cut if it is longer.
 *
 *   out  room for MIRE_SYMBOL_WHY bytes; "" if the module is whole, NULL, or has no DWARF
 *
 * Returns how many parts are damaged, those that are merely missing not among them.
 */
size_t module_defect(char *out, const struct module *module);

/* One function at an address. Texts are the module's. */
struct symbol_frame {
    const char *function; /* as linked (mangled), NULL if unknown */
    const char *file;     /* NULL if unknown */
    uint32_t line;        /* 0 if unknown */
    bool inlined;         /* into the next one */
    uint64_t start;       /* address the function begins at, 0 if unknown; the same for a whole chain */
};

/*
 * What is at an address.
 *
 *   out  room for MIRE_SYMBOL_CHAIN_MAX, innermost first
 *
 * Returns how many; 0 if nothing is known. A single one without a function tells at least its start.
 */
size_t module_lookup(struct symbol_frame *out, const struct module *module, uint64_t address);

/* The frames of one address: out[first] is the innermost. */
struct symbol_chain {
    uint32_t first;
    uint32_t count; /* 0: nothing is known */
};

#define MIRE_SYMBOL_ROOM (32 * MIRE_SYMBOL_CHAIN_MAX) /* the least room of module_lookup_all */

/*
 * The same for many addresses, several times faster than one by one.
 *
 *   out     room for `room` frames, MIRE_SYMBOL_ROOM or more
 *   chains  one an address
 *
 * Returns how many addresses are done: fewer than `count` once less than MIRE_SYMBOL_ROOM is left in `out`.
 */
size_t module_lookup_all(struct symbol_frame *out, size_t room, struct symbol_chain *chains,
                         const struct module *module, const uint64_t *addresses, size_t count);

void module_close(struct module *module);

#endif
