/*
 * archive_inside.h - what the readers of zip and tar share. Inside symbols/ only.
 */
#ifndef MIRE_SYMBOLS_ARCHIVE_INSIDE_H
#define MIRE_SYMBOLS_ARCHIVE_INSIDE_H

#include "symbols/archive.h"
#include "symbols/stream.h"

struct unpacking {
    const struct archive_use *use;
    uint64_t kept_bytes;
    size_t members;
    bool enough; /* `kept` said so */
    uint8_t chunk[MIRE_ARCHIVE_PEEK];
};

/*
 * Take one member from a stream, or read past it.
 *
 *   len   its bytes; UINT64_MAX: up to the stream's end
 *   name  with folders
 *
 * Returns NULL, or what is wrong.
 */
const char *member_take(struct unpacking *unpacking, struct stream *stream, uint64_t len, const char *name);

const char *zip_read(struct unpacking *unpacking, const uint8_t *bytes, size_t len);

/* Does a tar file's header stand there? */
bool tar_is(const uint8_t *block, size_t len);

/* `first` are the stream's first bytes, already read. */
const char *tar_read(struct unpacking *unpacking, struct stream *stream, const uint8_t *first);

#define MIRE_TAR_BLOCK 512u

bool zip_is(const uint8_t *bytes, size_t len);

#endif
