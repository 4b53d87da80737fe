/*
 * symbols_pick.h - which parts of the file that `mire symbols look` is given are asked.
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
    const char *arch; /* static; "": it has none */
    uint8_t id[MIRE_OBJECT_ID_MAX];
    size_t id_len;
};

struct pick {
    char path[PATH_MAX]; /* of the file that has the slices */
    struct pick_slice slices[MIRE_PICK_MAX];
    size_t count; /* 0: the file cannot be read */
};

/* Look at a file, or into a dSYM bundle. `out` names `path` itself if there is nothing that could be picked. */
void symbols_pick(struct pick *out, const char *path);

/* Is this what a slice's architecture is called, by Apple's tools or by Mire? */
bool symbols_pick_is(const struct pick_slice *slice, const char *arch);

/* The names of all architectures: "x86_64, arm64". */
void symbols_pick_list(char *out, size_t room, const struct pick *pick);

#endif
