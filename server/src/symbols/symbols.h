/*
 * symbols.h - build id + address -> functions, files and lines.
 *
 *     build id --> uploaded debug file, symbol directories, the image itself (demo only)
 *                    | converted once, in a process of its own (child.h, convert.h)
 *                    v
 *                  cache, kept in a directory by build id (shelf.h), mapped (cache.h)  = module
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
#ifndef MIRE_SYMBOLS_SYMBOLS_H
#define MIRE_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_SYMBOL_CHAIN_MAX 64  /* inlined calls at one address */
#define MIRE_SYMBOL_ID_MAX    64  /* bytes of a build id */
#define MIRE_SYMBOL_WHY       240 /* room for what is wrong with a file */

enum symbol_kind { /* what a module is known by */
                   MIRE_SYMBOLS_NONE,
                   MIRE_SYMBOLS_SYMTAB, /* names only */
                   MIRE_SYMBOLS_DEBUG,  /* DWARF */
                   MIRE_SYMBOLS_MAPPING /* names of Java, not addresses */
};

enum symbol_depth { /* what a file tells of the code, less to more */
                    MIRE_DEPTH_UNKNOWN,
                    MIRE_DEPTH_NAMES, /* functions */
                    MIRE_DEPTH_LINES, /* and lines: line tables, Breakpad's files, mappings */
                    MIRE_DEPTH_DWARF, /* and calls, types, variables */
};

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
    int (*edition)(void *context, uint64_t *out, const uint8_t *id, size_t id_len);

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
struct module;
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

/* What the module was made of; of NULL nothing. */
enum symbol_kind module_kind(const struct module *module);

#define MIRE_SYMBOL_SPLITS   64 /* split files of a module that are told to be lacking */
#define MIRE_SYMBOL_SPLIT_ID 8  /* bytes of the id of one */

struct symbol_splits {
    uint8_t ids[MIRE_SYMBOL_SPLITS][MIRE_SYMBOL_SPLIT_ID];
    uint64_t editions[MIRE_SYMBOL_SPLITS]; /* of the damaged ones, as options.edition told it; 0: it was not there */
    size_t count;
};

/* Split files (.dwo, .dwp) that were not there when the module was converted, or were damaged. The module's. */
const struct symbol_splits *module_lacks(const struct module *module);

#define MIRE_SYMBOL_ALT 54 /* room for the name of a file of dwz */

struct symbol_alt {
    uint8_t id[MIRE_SYMBOL_ID_MAX];
    size_t id_len;
    uint64_t edition;           /* of the damaged one; 0: it was not there */
    char name[MIRE_SYMBOL_ALT]; /* for people: printable ASCII */
};

/*
 * The file into which dwz put what several programs share (.gnu_debugaltlink), if it was not there when the module was
 * converted, or was damaged: names that lie in it are unknown. NULL: it was, or none is wanted. The module's.
 */
const struct symbol_alt *module_lacks_alt(const struct module *module);

/*
 * Do addresses count from where the image begins, whatever its program headers say there? Of what was made of a file of
 * Breakpad, which does not tell that. Of NULL no.
 */
bool module_is_from_base(const struct module *module);

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

/*
 * Find a mapping of Java names (retrace.h) by its id: the uploaded one.
 *
 *   out  borrowed until the next call; NULL if there is none
 *
 * Returns 0 or a fault, as symbols_find.
 */
int symbols_find_mapping(struct retrace **out, struct symbols *symbols, const uint8_t *id, size_t id_len,
                         uint64_t now_ms);

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

/*
 * A name as people read it: those of C++, Rust, D and Swift demangled, blocks named by the function they are in, others
 * as they are. Swift's without types and modules, "closure #1 in Cart.add(_:)"; one that does not fit whole stays as it
 * is.
 *
 * Returns bytes written without the NUL; cuts at room, which is 1 or more.
 */
size_t symbol_demangle(char *out, size_t room, const char *name);

/*
 * The same for many names: those of C++ that take long do so together no longer than a hostile file shall hold anybody.
 *
 *   left_ns  processor time they still have: what one took, 0.1 s at most, is taken off; at 0 they stay as they are
 */
size_t symbol_demangle_within(char *out, size_t room, const char *name, uint64_t *left_ns);

/*
 * Remove files of a cache_dir, and those that are unpacked there (.debug, .symtab), longest unused first, until
 * `coming` more bytes fit. Who has one open keeps it. Returns how many went.
 */
size_t symbols_make_room(const char *path, uint64_t max_bytes, uint64_t coming);

/*
 * What options.converter runs, with the arguments behind its own name: converts the files it was given as open file
 * descriptors, after giving up every other right. Returns the exit status.
 */
int symbols_child(int argc, char **argv);

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
void module_close(struct module *module);

#endif
