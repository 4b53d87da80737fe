/*
 * contents.h - what a file that was sent can name: itself, or the members of an archive.
 *
 *     app.debug                    one item
 *     universal Mach-O             an item a slice
 *     zip, tar, .deb, compressed   an item for each member that is one of the formats of object.h, in archives inside
 *     (archive.h)                  them, too; dSYM bundles are found in them as they are, other members are passed over
 *
 * An item is sent, kept and fetched by itself, under facts.id. Its bytes lie in contents.fd, which for an archive is a
 * file of its own that was unpacked by the child (sandbox/open.h): nothing is written by name, and how much is bounded.
 *
 * Thread: any, one at a time per struct.
 */
#ifndef MIRE_ARCHIVE_CONTENTS_H
#define MIRE_ARCHIVE_CONTENTS_H

#include "object/kinds.h"
#include "object/object.h"

#define MIRE_CONTENTS_NAME  512          /* room for a member's name, with NUL */
#define MIRE_CONTENTS_MAX   20000        /* members that are looked at */
#define MIRE_CONTENTS_BYTES (4ull << 30) /* that an archive unpacks to */

struct contents_item {
    struct object_facts facts;     /* id_len > 0; has_dwarf or has_symbols */
    char name[MIRE_CONTENTS_NAME]; /* with folders, "inner.zip: a/b.so"; UTF-8, of a long one the end; "" if no archive
                                    */
    uint64_t at;                   /* of its bytes in contents.fd */
    uint64_t len;
};

#define MIRE_CONTENTS_NONE "holds no file that names could be taken from" /* what is wrong with most archives */

struct contents_version { /* of the app that an archive is; UTF-8 */
    char version[128];    /* "": it tells none */
    char build[32];       /* likewise */
};

struct contents {
    struct contents_version version; /* of an .aab or .apk, by its manifest: that of a mapping in it */
    int fd;                          /* borrowed unless `own` */
    bool own;                        /* closed by contents_close */
    struct contents_item *rows;
    size_t count;
    size_t room;
};

/*
 * Unpack the archive `in` into `out`, and write down what is in it. For the child.
 *
 *   why  room for MIRE_SYMBOL_WHY bytes: what is wrong with it
 *
 * Returns false if it holds nothing that could be kept.
 */
bool contents_unpack(char *why, int out, int in);

/* Read what contents_unpack wrote into contents->fd. False: it wrote nothing that makes sense. */
bool contents_read(struct contents *contents);

/* Add what one file holds, `len` bytes that lie at `at` of the contents' file. Returns NULL or what is wrong. */
const char *contents_add(struct contents *contents, const uint8_t *bytes, uint64_t at, uint64_t len, const char *name);

void contents_close(struct contents *contents);

#endif
