/*
 * stream.h - a heap dump read from its beginning, big-endian numbers and skips. Inside hprof/ only.
 *
 * After the end of the file numbers are 0 and `ended` is set: ask once, at a record's end.
 */
#ifndef MIRE_HPROF_STREAM_H
#define MIRE_HPROF_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STREAM_ROOM (1u << 20)

struct hprof_stream {
    int fd;
    uint64_t begin;   /* of the buffer in the file */
    size_t at, len;   /* in the buffer */
    unsigned id_len;  /* bytes of an object's id: 4 or 8 */
    uint64_t wall_ms; /* when the dump was taken */
    bool ended;
    uint8_t *buffer; /* STREAM_ROOM bytes */
};

/* From the first byte on. */
void hprof_rewind(struct hprof_stream *s);

/* `count` bytes, at most STREAM_ROOM, valid until the next call; NULL at the end. */
const uint8_t *hprof_bytes(struct hprof_stream *s, size_t count);
void hprof_skip(struct hprof_stream *s, uint64_t count);

static inline uint64_t hprof_place(const struct hprof_stream *s)
{
    return s->begin + s->at;
}

/* A number of 1, 2, 4 or 8 bytes. */
uint64_t hprof_number(struct hprof_stream *s, unsigned width);

/* The same where it lies. */
static inline uint64_t load_big(const uint8_t *at, unsigned width)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < width; i++)
        value = value << 8 | at[i];
    return value;
}

static inline uint64_t hprof_id(struct hprof_stream *s)
{
    return hprof_number(s, s->id_len);
}

#endif
