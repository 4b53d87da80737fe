/*
 * macho.h - loads a Mach-O library of this machine's processor into the process, for tests. Addresses are bound by
 * LC_DYLD_INFO. The file is trusted: the tests make it. Loaded code stays until the process ends.
 */
#ifndef MIRE_TEST_MACHO_H
#define MIRE_TEST_MACHO_H

#include <stddef.h>
#include <stdint.h>

#define MACHO_SEGMENTS 16

struct macho_span {
    uint64_t address; /* in memory where the image is loaded, else in the file's own numbers; 0: there is none */
    uint64_t size;
};

struct macho {
    uint8_t *file;
    size_t file_size;
    uint8_t *base; /* of the image in memory; NULL: only read */
    uint64_t vm_base, vm_size;
    uint64_t segment[MACHO_SEGMENTS]; /* their addresses in the file's own numbers */
    uint32_t segment_count;
    struct macho_span text, unwind_info, eh_frame; /* sections */
    struct macho_span thread_data, thread_zero, thread_variables;
    struct macho_span initializers;
    uint32_t cpu;
    const uint8_t *symbols, *strings; /* LC_SYMTAB */
    uint32_t symbol_count;
    const uint8_t *fixups; /* LC_DYLD_INFO: its load command */
};

#define MACHO_X86_64 0x01000007u
#define MACHO_ARM64  0x0100000cu

/* Read a file, of a universal one the part for `cpu` (0: the first). Returns false with a message on stderr. */
int macho_read(struct macho *out, const char *path, uint32_t cpu);

/* Address for an imported name, which has the underscore in front. */
typedef void *macho_resolve_fn(void *context, const char *name);

/* Map the image, and bind it. Returns false with a message on stderr. */
int macho_load(struct macho *image, macho_resolve_fn *resolve, void *context);

/* Call the functions that an image has run before the program. */
void macho_start(const struct macho *image);

/* Address of a symbol, with its underscore, exported or not; NULL: there is none. In a file that is only read: in its bytes. */
void *macho_find(const struct macho *image, const char *name);

/* The name of the symbol at or before an address in memory; "?" if there is none. */
const char *macho_name(const struct macho *image, uint64_t address);

#endif
