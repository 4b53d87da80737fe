/*
 * contents.h - the items of an uploaded file: the file itself, or members of an archive.
 *
 *     app.debug                    one item
 *     universal Mach-O             one item per slice
 *     zip, tar, .deb, compressed   one item for each member in a format of object.h, including those of inner archives;
 *     (archive.h)                  the files in dSYM bundles are ordinary members; other members are skipped
 *
 * An item is sent, stored and fetched by itself, under facts.id. Its bytes are in contents.fd. For an archive this is
 * an unnamed file that the child unpacked (sandbox/open.h): no file is created by a member's name, and the size is
 * limited.
 *
 * Thread: any, one at a time per struct.
 */
#ifndef MIRE_ARCHIVE_CONTENTS_H
#define MIRE_ARCHIVE_CONTENTS_H

#include "archive/manifest.h"
#include "object/kinds.h"
#include "object/object.h"

#define MIRE_CONTENTS_NAME  512          /* room for a member's name, with NUL */
#define MIRE_CONTENTS_MAX   20000        /* limit of members examined */
#define MIRE_CONTENTS_BYTES (4ull << 30) /* limit of an unpacked archive, bytes */

struct contents_item {
    struct object_facts facts;     /* id_len > 0; has_dwarf or has_symbols */
    char name[MIRE_CONTENTS_NAME]; /* with folders, "inner.zip: a/b.so"; UTF-8, the end of a long one; "": no archive */
    uint64_t at;                   /* position in contents.fd */
    uint64_t len;
};

#define MIRE_CONTENTS_NONE "holds no file that names could be taken from" /* problem of most archives */

struct contents {
    struct contents_version version; /* from the manifest of an .aab or .apk; applies to its mapping */
    int fd;                          /* borrowed unless `own` */
    bool own;                        /* closed by contents_close */
    struct contents_item *rows;
    size_t count;
    size_t room;
};

/*
 * Unpack the archive `in` into `out`, and write a list of its items. For the child.
 *
 *   why  room for MIRE_SYMBOL_WHY bytes: the problem
 *
 * Returns false if the archive has nothing to keep.
 */
bool contents_unpack(char *why, int out, int in);

/* Read the list that contents_unpack wrote to contents->fd. Returns false if it is invalid. */
bool contents_read(struct contents *contents);

/* Add the items of one file: `len` bytes at `at` of the contents' file. Returns NULL or the problem (static). */
const char *contents_add(struct contents *contents, const uint8_t *bytes, uint64_t at, uint64_t len, const char *name);

void contents_close(struct contents *contents);

#endif
