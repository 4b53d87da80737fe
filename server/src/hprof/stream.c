/* stream.c - see stream.h. */
#include "hprof/stream.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void hprof_rewind(struct hprof_stream *s)
{
    s->begin = s->at = s->len = 0;
    s->ended = lseek(s->fd, 0, SEEK_SET) != 0;
}

/* At least `count` bytes in the buffer behind `at`. */
static bool fill(struct hprof_stream *s, size_t count)
{
    memmove(s->buffer, s->buffer + s->at, s->len - s->at);
    s->begin += s->at;
    s->len -= s->at;
    s->at = 0;
    while (s->len < count) {
        ssize_t got = read(s->fd, s->buffer + s->len, STREAM_ROOM - s->len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            s->ended = true;
            return false;
        }
        s->len += (size_t)got;
    }
    return true;
}

const uint8_t *hprof_bytes(struct hprof_stream *s, size_t count)
{
    if (s->ended || count > STREAM_ROOM || (s->len - s->at < count && !fill(s, count)))
        return NULL;
    const uint8_t *bytes = s->buffer + s->at;
    s->at += count;
    return bytes;
}

uint64_t hprof_number(struct hprof_stream *s, unsigned width)
{
    const uint8_t *bytes = hprof_bytes(s, width);
    return bytes ? load_big(bytes, width) : 0;
}

void hprof_skip(struct hprof_stream *s, uint64_t count)
{
    if (count <= s->len - s->at) {
        s->at += (size_t)count;
        return;
    }
    uint64_t place = hprof_place(s) + count;
    off_t end = place < hprof_place(s) || place > INT64_MAX ? -1 : lseek(s->fd, 0, SEEK_END);
    s->at = s->len = 0;
    s->begin = place;
    if (end < 0 || place > (uint64_t)end || lseek(s->fd, (off_t)place, SEEK_SET) < 0)
        s->ended = true;
}
