/*
 * archive.h - extracts members of zip, tar, Debian packages and compressed files. Internal to symbolizer/; the child
 * runs it.
 *
 *     zip (also jar, apk, aab, ipa)      deflated, or by zstd, xz or bzip2
 *     tar, .deb                          plain or compressed: gzip, xz, zstd, bzip2
 *     one compressed file                app.debug.xz
 *     an archive in an archive           likewise, some levels deep
 *
 * Members are streamed one after the other; the first bytes of each decide whether it is kept. Claimed sizes and names
 * are not trusted: output is counted, and a name is only reported. Damage in an archive inside another one is ignored.
 *
 * The work is counted in bytes into and out of all decompressors, including inner archives. Its limit is
 * MIRE_ARCHIVE_FREE bytes plus MIRE_ARCHIVE_RATIO for each byte of the file. A file beyond the limit is refused as a
 * whole, also if an inner archive is the cause.
 *
 * Thread: any.
 */
#ifndef MIRE_ARCHIVE_ARCHIVE_H
#define MIRE_ARCHIVE_ARCHIVE_H

#include "object/object.h"

#define MIRE_ARCHIVE_PEEK  65536         /* bytes of a member that `wanted` gets, if it has as many */
#define MIRE_ARCHIVE_NAME  1024          /* room for a member's name, with NUL */
#define MIRE_ARCHIVE_FREE  (64ull << 20) /* bytes of work allowed for any file */
#define MIRE_ARCHIVE_RATIO 256           /* more for each of its bytes; honest files of DWARF need below 20 */
#define MIRE_ARCHIVE_MOST  (64ull << 30) /* for the largest file */

struct archive_use {
    void *context;
    bool (*wanted)(void *context, const char *name, const uint8_t *bytes, size_t len); /* true: keep it */
    bool (*kept)(void *context, uint64_t at, uint64_t len, const char *name); /* position in `fd`; false: stop */
    void (*passed_over)(void *context, const char *wrong); /* skipped inner archive, and the reason */
    int fd;             /* output: kept members one after the other, from its beginning */
    uint64_t kept_max;  /* limit of `fd`, bytes, including inner archives */
    size_t members_max; /* limit of members examined in one archive */
};

/* Returns true for an archive, also for one that archive_read only refuses: 7z, rar, rpm, lz4. */
bool archive_is(const uint8_t *bytes, size_t len);

struct archive_end {
    uint64_t work;                 /* bytes of work */
    bool bounded;                  /* the error is a limit: work or bytes kept */
    char where[MIRE_ARCHIVE_NAME]; /* last member begun, "lib.zip: arm64/libx.so"; "": unnamed */
};

/* Read an archive. Returns NULL, or the problem (static). */
const char *archive_read(struct archive_end *out, const struct archive_use *use, const uint8_t *bytes, size_t len);

#endif
