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
 */
#ifndef MIRE_SYMBOLS_ARCHIVE_H
#define MIRE_SYMBOLS_ARCHIVE_H

#include "object/object.h"

#define MIRE_ARCHIVE_PEEK 65536 /* bytes of a member `wanted` is shown, if it has as many */

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

/* Go through it. Returns NULL, or what is wrong with it (static). */
const char *archive_read(const struct archive_use *use, const uint8_t *bytes, size_t len);

#endif
