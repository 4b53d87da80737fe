/*
 * archive.c - which archive it is; one member of any.
 */
#include "symbols/archive_inside.h"

#include "base/scope.h"
#include "base/write.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool archive_is(const uint8_t *bytes, size_t len)
{
    return (len > 18 && bytes[0] == 0x1f && bytes[1] == 0x8b && bytes[2] == 8) || zip_is(bytes, len) ||
           tar_is(bytes, len);
}

const char *member_take(struct unpacking *unpacking, struct stream *stream, uint64_t len, const char *name)
{
    const struct archive_use *use = unpacking->use;
    const char *slash = strrchr(name, '/');
    uint64_t at = unpacking->kept_bytes;
    uint64_t done = 0;
    bool wanted = true;
    if (unpacking->members++ == use->members_max)
        return "holds too many files";
    while (done < len && !stream->ended) {
        size_t most = len - done < sizeof unpacking->chunk ? (size_t)(len - done) : sizeof unpacking->chunk;
        size_t got = stream_read(stream, unpacking->chunk, most);
        if (stream->wrong)
            return stream->wrong;
        if (!done)
            wanted = use->wanted(use->context, unpacking->chunk, got);
        done += got;
        if (!wanted && stream->alone)
            return NULL;
        if (!wanted)
            continue;
        unpacking->kept_bytes += got;
        if (unpacking->kept_bytes > use->kept_max)
            return "unpacks to too much";
        if (!write_all(use->fd, unpacking->chunk, got))
            return "could not be written";
    }
    if (len != UINT64_MAX && done < len)
        return "is damaged: it ends within a file";
    if (wanted && done)
        unpacking->enough = !use->kept(use->context, at, done, slash ? slash + 1 : name);
    return NULL;
}

static const char *read_stream(struct unpacking *unpacking, enum stream_kind kind, const uint8_t *bytes, size_t len)
{
    uint8_t first[MIRE_TAR_BLOCK];
    struct stream stream;
    if (!stream_init(&stream, kind, bytes, len))
        return "needs more memory than there is";
    size_t got = stream_read(&stream, first, sizeof first);
    const char *wrong = stream.wrong;
    if (!wrong && tar_is(first, got)) {
        wrong = tar_read(unpacking, &stream, first);
    } else if (!wrong) { /* one file: from its beginning again */
        stream_fini(&stream);
        if (!stream_init(&stream, kind, bytes, len))
            return "needs more memory than there is";
        wrong = member_take(unpacking, &stream, UINT64_MAX, "");
    }
    stream_fini(&stream);
    return wrong;
}

const char *archive_read(const struct archive_use *use, const uint8_t *bytes, size_t len)
{
    MIRE_SCOPED(free_memory) struct unpacking *unpacking = calloc(1, sizeof *unpacking);
    if (!unpacking)
        return "needs more memory than there is";
    unpacking->use = use;
    if (zip_is(bytes, len))
        return zip_read(unpacking, bytes, len);
    return read_stream(unpacking, bytes[0] == 0x1f ? STREAM_GZIP : STREAM_PLAIN, bytes, len);
}
