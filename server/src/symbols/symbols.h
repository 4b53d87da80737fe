/*
 * symbols.h - build id + address -> functions, files and lines.
 *
 *     build id --> uploaded debug file, symbol directories, the image itself (demo only)  --> module
 *     module + address --> DWARF: function and file:line, with the chain of inlined calls
 *                          else .symtab, .gnu_debugdata, .dynsym: function
 *                          else .eh_frame: only where the function begins
 *
 * Modules stay open, the least recently used one is closed for another; what was not found is not looked for again for
 * a while. Addresses are those of the file's program headers. An address in a gap between functions is unknown: it is
 * never given the name of what lies before it.
 *
 * Files come from anywhere: before libelf sees one, elf_check() has verified that all its tables and sections lie
 * inside it. Thread: one at a time per struct symbols; libdw shares nothing between two of them.
 */
#ifndef MIRE_SYMBOLS_SYMBOLS_H
#define MIRE_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MIRE_SYMBOL_FILE_MAX  (2ull << 30) /* bytes of a debug file that is opened */
#define MIRE_SYMBOL_CHAIN_MAX 64           /* inlined calls at one address */
#define MIRE_SYMBOL_ID_MAX    32           /* bytes of a build id */

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
    void *uploaded_context;
};

#define MIRE_SYMBOLS_OPTIONS              \
    {                                     \
        .open_max = 64, .retry_ms = 60000 \
    }

struct symbols;
struct module;

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
size_t module_lookup(struct symbol_frame *out, struct module *module, uint64_t address);

/* A name as people read it: C++ and Rust names demangled, others as they are. Returns bytes written without the NUL;
 * cuts at room. */
size_t symbol_demangle(char *out, size_t room, const char *name);

enum elf_kind { MIRE_ELF_NONE, MIRE_ELF_SYMTAB, MIRE_ELF_DEBUG }; /* what it has: nothing, names only, DWARF */

struct elf_facts {
    uint8_t id[MIRE_SYMBOL_ID_MAX];
    size_t id_len; /* 0: none */
    enum elf_kind kind;
    const char *arch; /* static */
};

/*
 * Look at an ELF file without trusting it.
 *
 * Returns NULL, or what is wrong with it (static): not ELF, big endian, a table or section outside the file, ...
 */
const char *elf_check(struct elf_facts *out, const void *bytes, size_t len);

#endif
