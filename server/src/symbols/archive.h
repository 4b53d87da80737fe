/*
 * archive.h - zip, tar and gzip, as far as members are taken out of them. Inside symbols/ only, run by the child.
 *
 * Members are read as streams, one after the other; of each the first bytes decide whether it is kept. Neither sizes
 * that are claimed nor names are relied on: what comes out is counted, and a name is only told.
 */
#ifndef MIRE_SYMBOLS_ARCHIVE_H
#define MIRE_SYMBOLS_ARCHIVE_H

#include "object/object.h"

#define MIRE_ARCHIVE_PEEK 65536 /* bytes of a member `wanted` is shown, if it has as many */

struct archive_use {
    void *context;
    bool (*wanted)(void *context, const uint8_t *bytes, size_t len);          /* its beginning: keep it? */
    bool (*kept)(void *context, uint64_t at, uint64_t len, const char *name); /* it lies there in `fd`; false: enough */
    int fd;             /* kept members are written here, one behind the other, from its beginning */
    uint64_t kept_max;  /* bytes */
    size_t members_max; /* that are looked at */
};

/* Is it an archive? A gzip file is one, whatever is in it. */
bool archive_is(const uint8_t *bytes, size_t len);

/* Go through it. Returns NULL, or what is wrong with it (static). */
const char *archive_read(const struct archive_use *use, const uint8_t *bytes, size_t len);

#endif
