/*
 * archive_inside.h - what the readers of zip, tar and .deb share. Inside archive/ only.
 */
#ifndef MIRE_ARCHIVE_ARCHIVE_INSIDE_H
#define MIRE_ARCHIVE_ARCHIVE_INSIDE_H

#include "archive/archive.h"
#include "archive/stream.h"

struct progress { /* of the outermost archive and all inside it */
    struct stream_work work;
    uint64_t kept_bytes;
    size_t inside;                 /* archives in archives */
    bool enough;                   /* `kept` said so */
    char where[MIRE_ARCHIVE_NAME]; /* the member that was begun last */
};

struct unpacking {
    const struct archive_use *use;
    struct progress *all;
    size_t members;   /* of this archive */
    unsigned depth;   /* of this archive; the outermost has 0 */
    const char *name; /* of this archive in the one around it; "" for the outermost */
    uint8_t chunk[MIRE_ARCHIVE_PEEK];
};

/*
 * Take one member from a stream, or read past it; go through it, if it is an archive.
 *
 *   len   its bytes; UINT64_MAX: up to the stream's end
 *   name  with folders
 *
 * Returns NULL, or what is wrong.
 */
const char *member_take(struct unpacking *unpacking, struct stream *stream, uint64_t len, const char *name);

/* Read past bytes of a stream. NULL, or what is wrong. */
const char *stream_skip(struct unpacking *unpacking, struct stream *stream, uint64_t len);

const char *zip_read(struct unpacking *unpacking, const uint8_t *bytes, size_t len);
bool zip_is(const uint8_t *bytes, size_t len);

/* Does a tar file's header stand there? */
bool tar_is(const uint8_t *block, size_t len);

/* `first` are the stream's first bytes, already read. */
const char *tar_read(struct unpacking *unpacking, struct stream *stream, const uint8_t *first);

#define MIRE_TAR_BLOCK 512u

/* A package of Debian's: an ar file whose first member says so. Other ar files hold what was not linked. */
bool deb_is(const uint8_t *bytes, size_t len);
const char *deb_read(struct unpacking *unpacking, const uint8_t *bytes, size_t len);

#endif
