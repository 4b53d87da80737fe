/*
 * archive.h - zip, tar, Debian packages and compressed files, as far as members are taken out of them. Inside symbols/
 * only, run by the child.
 *
 *     zip (also jar, apk, aab, ipa)      deflated, or by zstd, xz or bzip2
 *     tar, .deb                          plain or compressed: gzip, xz, zstd, bzip2
 *     one compressed file                app.debug.xz
 *     an archive in an archive           likewise, some levels deep
 *
 * Members are read as streams, one after the other; of each the first bytes decide whether it is kept. Neither sizes
 * that are claimed nor names are relied on: what comes out is counted, and a name is only told. Of an archive inside
 * another nothing counts but what is kept: damage there is passed over.
 *
 * The work is bounded, counted in bytes that go into all decompressors and come out of them, archives inside included:
 * MIRE_ARCHIVE_FREE bytes, and MIRE_ARCHIVE_RATIO for each byte of the file. A file that needs more is refused whole,
 * also if an archive inside it is to blame.
 */
#ifndef MIRE_ARCHIVE_ARCHIVE_H
#define MIRE_ARCHIVE_ARCHIVE_H

#include "object/object.h"

#define MIRE_ARCHIVE_PEEK  65536         /* bytes of a member `wanted` is shown, if it has as many */
#define MIRE_ARCHIVE_NAME  1024          /* room for a member's name, with NUL */
#define MIRE_ARCHIVE_FREE  (64ull << 20) /* bytes of work for any file */
#define MIRE_ARCHIVE_RATIO 256           /* for each of its bytes; honest files of DWARF need below 20 */
#define MIRE_ARCHIVE_MOST  (64ull << 30) /* for the largest */

struct archive_use {
    void *context;
    bool (*wanted)(void *context, const char *name, const uint8_t *bytes, size_t len); /* by its beginning: keep it? */
    bool (*kept)(void *context, uint64_t at, uint64_t len, const char *name); /* it lies there in `fd`; false: enough */
    void (*passed_over)(void *context, const char *wrong);                    /* an archive inside, and why */
    int fd;             /* kept members are written here, one behind the other, from its beginning */
    uint64_t kept_max;  /* bytes; archives inside are written there, too */
    size_t members_max; /* that are looked at in one archive */
};

/* Is it an archive? Also one of those that archive_read only has a word for: 7z, rar, rpm, lz4. */
bool archive_is(const uint8_t *bytes, size_t len);

struct archive_end {
    uint64_t work;                 /* bytes, as they are bounded */
    bool bounded;                  /* it is wrong because a bound was met, of work or of bytes kept */
    char where[MIRE_ARCHIVE_NAME]; /* the member that was begun last, "lib.zip: arm64/libx.so"; "": it has no name */
};

/* Go through it. Returns NULL, or what is wrong with it (static). */
const char *archive_read(struct archive_end *out, const struct archive_use *use, const uint8_t *bytes, size_t len);

#endif
