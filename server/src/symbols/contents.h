/*
 * contents.h - what a file that was sent can name: itself, or the members of an archive.
 *
 *     app.debug                    one item
 *     universal Mach-O             an item a slice
 *     zip, tar, .deb, compressed   an item for each member that is one of the formats of object.h, in archives inside
 *     (archive.h)                  them, too; dSYM bundles are found in them as they are, other members are passed over
 *
 * An item is sent, kept and fetched by itself, under facts.id. Its bytes lie in contents.fd, which for an archive is a
 * file of its own that was unpacked by the child (child.h): nothing is written by name, and how much is bounded.
 *
 * Thread: any, one at a time per struct; a check waits for others.
 */
#ifndef MIRE_SYMBOLS_CONTENTS_H
#define MIRE_SYMBOLS_CONTENTS_H

#include "object/object.h"
#include "symbols/symbols.h"

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

enum contents_answer {
    CONTENTS_GOOD,   /* one item or more */
    CONTENTS_WRONG,  /* the file holds nothing that could be kept: `why` says what is wrong with it */
    CONTENTS_FAILED, /* the system refused */
};

/*
 * See what an open file holds.
 *
 *   out        closed by contents_close, whatever is returned
 *   why        room for MIRE_SYMBOL_WHY bytes
 *   fd         of a plain file, at any place; borrowed until contents_close
 *   dir        archives are unpacked into a file without a name there; NULL: into memory
 *   converter  as in symbols_options: the program that unpacks; NULL: this process does
 */
enum contents_answer contents_open(struct contents *out, char *why, int fd, const char *dir, const char *converter);
void contents_close(struct contents *contents);

/*
 * Can an item be read whole? A second for 400 MB, in the child; one at a time among all who have the same `dir`, so
 * that memory is bounded.
 *
 *   why        room for MIRE_SYMBOL_WHY bytes: what is damaged, and where
 *   depth_out  what the file tells of the code
 *
 * Returns CONTENTS_GOOD, CONTENTS_WRONG: it is damaged, or CONTENTS_FAILED.
 */
enum contents_answer contents_check(char *why, enum symbol_depth *depth_out, const struct contents *contents,
                                    const struct contents_item *item, const char *dir, const char *converter);

#endif
