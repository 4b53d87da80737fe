/*
 * frame.c - see frame.h.
 */
#include "store/frame.h"

#include <string.h>

#define MAGIC     0x184D2A5Eu
#define FIXED     24u /* bytes before the counts */
#define AT_CRC    12u
#define CRC_BYTES 4u

/* The first version, reports only: body | 0x184D2A5D | 72 | nine counts. */
#define OLD_MAGIC   0x184D2A5Du
#define OLD_REASONS 9u
#define OLD_TRAILER (8 + 8 * OLD_REASONS)
#define ZSTD_MAGIC  0xFD2FB528u

static void store_le(uint8_t *out, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        out[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t load_le(const uint8_t *in, size_t bytes)
{
    uint64_t value = 0;

    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)in[i] << 8 * i;
    return value;
}

/* CRC-32 (IEEE 802.3), four bits at a time: 100 MB/s with a table of 16 words. */
static uint32_t crc_add(uint32_t crc, const void *bytes, size_t size)
{
    static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                       0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                       0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    const uint8_t *at = bytes;

    for (size_t i = 0; i < size; i++) {
        crc = table[(crc ^ at[i]) & 15] ^ crc >> 4;
        crc = table[(crc ^ at[i] >> 4) & 15] ^ crc >> 4;
    }
    return crc;
}

/* The checksum of the frame, whose checksum field counts as zeros. */
static uint32_t crc_of_frame(const uint8_t *frame, size_t size)
{
    static const uint8_t zeros[CRC_BYTES];
    uint32_t crc = crc_add(~0u, frame, AT_CRC);

    crc = crc_add(crc, zeros, CRC_BYTES);
    return crc_add(crc, frame + AT_CRC + CRC_BYTES, size - AT_CRC - CRC_BYTES);
}

void mire__frame_write(uint8_t out[MIRE_FRAME_BYTES], const struct frame *frame, const struct disk_part *body,
                       size_t count)
{
    uint64_t size = 0;
    uint32_t crc;

    for (size_t i = 0; i < count; i++)
        size += body[i].size;
    memset(out, 0, MIRE_FRAME_BYTES);
    store_le(out, MAGIC, 4);
    store_le(out + 4, MIRE_FRAME_BYTES - 8, 4);
    out[8] = MIRE_FRAME_VERSION;
    out[9] = (uint8_t)frame->value;
    out[10] = MIRE_DROP_REASONS;
    out[11] = (uint8_t)frame->format;
    store_le(out + 16, size, 8);
    for (size_t i = 0; i < MIRE_DROP_REASONS; i++)
        store_le(out + FIXED + 8 * i, frame->losses[i], 8);
    crc = crc_of_frame(out, MIRE_FRAME_BYTES);
    for (size_t i = 0; i < count; i++)
        crc = crc_add(crc, body[i].bytes, body[i].size);
    store_le(out + AT_CRC, ~crc, 4);
}

/* Counts of reasons unknown to this version are added to MIRE_DROP_FORMAT. */
static void read_losses(struct frame *out, const uint8_t *counts, size_t reasons)
{
    for (size_t i = 0; i < reasons; i++)
        out->losses[i < MIRE_DROP_REASONS ? i : MIRE_DROP_FORMAT] += load_le(counts + 8 * i, 8);
}

enum frame_state mire__frame_peek(struct frame *out, const void *head, size_t head_size, uint64_t file_size)
{
    const uint8_t *at = head;
    size_t length;

    memset(out, 0, sizeof(*out));
    out->value = MIRE_VALUE_HANG;
    if (head_size < 4)
        return FRAME_BROKEN;
    if (load_le(at, 4) != MAGIC)
        return FRAME_OLD;
    if (head_size < FIXED)
        return FRAME_BROKEN;
    if (at[8] > MIRE_FRAME_VERSION)
        return FRAME_NEWER;
    length = FIXED + 8u * at[10];
    if (at[8] != MIRE_FRAME_VERSION || load_le(at + 4, 4) != length - 8 || head_size < length ||
        file_size - length != load_le(at + 16, 8))
        return FRAME_BROKEN;
    if (at[9] >= MIRE_VALUE_BASELINE && at[9] <= MIRE_VALUE_SESSION)
        out->value = (enum store_value)at[9];
    out->format = at[11] == MIRE_FORMAT_METRICKIT ? MIRE_FORMAT_METRICKIT : MIRE_FORMAT_OWN;
    out->body_at = length;
    out->body_size = (size_t)(file_size - length);
    read_losses(out, at + FIXED, at[10]);
    return FRAME_WHOLE;
}

/* A report of the first version, or a text without NUL. */
static enum frame_state check_old(struct frame *out, const uint8_t *file, size_t size)
{
    if (size >= OLD_TRAILER) {
        const uint8_t *trailer = file + size - OLD_TRAILER;
        if (load_le(trailer, 4) == OLD_MAGIC && load_le(trailer + 4, 4) == OLD_TRAILER - 8) {
            out->body_size = size - OLD_TRAILER;
            read_losses(out, trailer + 8, OLD_REASONS);
            return FRAME_OLD;
        }
    }
    if (load_le(file, 4) == ZSTD_MAGIC || memchr(file, '\0', size))
        return FRAME_BROKEN;
    out->body_size = size;
    return FRAME_OLD;
}

enum frame_state mire__frame_check(struct frame *out, const void *file, size_t size)
{
    enum frame_state state = mire__frame_peek(out, file, size, size);
    const uint8_t *bytes = file;

    if (state == FRAME_OLD)
        return check_old(out, bytes, size);
    if (state != FRAME_WHOLE)
        return state;
    uint32_t crc = crc_add(crc_of_frame(bytes, out->body_at), bytes + out->body_at, out->body_size);
    return load_le(bytes + AT_CRC, 4) == (uint32_t)~crc ? FRAME_WHOLE : FRAME_BROKEN;
}
