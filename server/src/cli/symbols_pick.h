/*
 * symbols_pick.h - the parts of a file that `mire symbols look` reads.
 *
 *     Cart.dSYM          the file of DWARF in the bundle
 *     universal Mach-O   a slice an architecture; any other file is one slice, without the name of an architecture
 */
#ifndef MIRE_CLI_SYMBOLS_PICK_H
#define MIRE_CLI_SYMBOLS_PICK_H

#include "object/object.h"

#include <limits.h>

#define MIRE_PICK_MAX 64

struct pick_slice {
    const char *arch; /* static; "": none */
    uint8_t id[MIRE_OBJECT_ID_MAX];
    size_t id_len;
};

struct pick {
    char path[PATH_MAX]; /* of the file with the slices */
    struct pick_slice slices[MIRE_PICK_MAX];
    size_t count; /* 0: the file cannot be read */
};

/* Look at a file, or into a dSYM bundle. Without slices `out` names `path` itself. */
void symbols_pick(struct pick *out, const char *path);

/* Is it the name of a slice's architecture, Apple's or Mire's? */
bool symbols_pick_is(const struct pick_slice *slice, const char *arch);

/* The names of all architectures: "x86_64, arm64". */
void symbols_pick_list(char *out, size_t room, const struct pick *pick);

#endif
