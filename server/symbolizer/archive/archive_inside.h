/*
 * archive_inside.h - state and functions that the readers of zip, tar and .deb share. Internal to archive/.
 */
#ifndef MIRE_ARCHIVE_ARCHIVE_INSIDE_H
#define MIRE_ARCHIVE_ARCHIVE_INSIDE_H

#include "archive/archive.h"
#include "archive/stream.h"

struct progress { /* of the outermost archive and all inside it */
    struct stream_work work;
    uint64_t kept_bytes;
    size_t inside;                 /* number of inner archives */
    bool enough;                   /* `kept` returned false */
    char where[MIRE_ARCHIVE_NAME]; /* last member begun */
};

struct unpacking {
    const struct archive_use *use;
    struct progress *all;
    size_t members;   /* members of this archive */
    unsigned depth;   /* of this archive; 0: outermost */
    const char *name; /* of this archive in the outer one; "" for the outermost */
    uint8_t chunk[MIRE_ARCHIVE_PEEK];
};

/*
 * Take one member from a stream, or skip it. If the member is an archive, read it.
 *
 *   len   bytes of the member; UINT64_MAX: up to the stream's end
 *   name  with folders
 *
 * Returns NULL, or the problem.
 */
const char *member_take(struct unpacking *unpacking, struct stream *stream, uint64_t len, const char *name);

/* Skip bytes of a stream. Returns NULL, or the problem. */
const char *stream_skip(struct unpacking *unpacking, struct stream *stream, uint64_t len);

const char *zip_read(struct unpacking *unpacking, const uint8_t *bytes, size_t len);
bool zip_is(const uint8_t *bytes, size_t len);

/* Returns true if the block is the header of a tar file. */
bool tar_is(const uint8_t *block, size_t len);

/* `first` is the first block of the stream, already read. */
const char *tar_read(struct unpacking *unpacking, struct stream *stream, const uint8_t *first);

#define MIRE_TAR_BLOCK 512u

/* A Debian package is an ar file with "debian-binary" first. Other ar files hold unlinked objects. */
bool deb_is(const uint8_t *bytes, size_t len);
const char *deb_read(struct unpacking *unpacking, const uint8_t *bytes, size_t len);

#endif
