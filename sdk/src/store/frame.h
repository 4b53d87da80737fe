/*
 * frame.h - the header of every file of the store that is not mapped. Private to store/.
 *
 *      0  u32  0x184D2A5E: a skippable frame for zstd, so that `zstd -d` reads a sealed report as it is
 *      4  u32  bytes of the frame behind this: 16 + 8 * reasons
 *      8  u8   version, MIRE_FRAME_VERSION
 *      9  u8   value of a sealed report (enum store_value), otherwise 0
 *     10  u8   reasons: number of counts; a later version may have more
 *     11  u8   format of a sealed report (enum store_format), otherwise 0
 *     12  u32  CRC-32 of the file, these four bytes taken as 0
 *     16  u64  bytes of the body
 *     24  u64  each: the counts in the body, by enum store_reason
 *              body
 *
 * All little endian. Files of the library's first version have no frame: texts are bare, reports end with a trailer of
 * counts.
 *
 * Pure: no memory, no I/O.
 */
#ifndef MIRE_STORE_FRAME_H
#define MIRE_STORE_FRAME_H

#include "store/disk.h"
#include "store/store.h"

#define MIRE_FRAME_VERSION   2u
#define MIRE_FRAME_BYTES     (24 + 8 * MIRE_DROP_REASONS) /* size when written */
#define MIRE_FRAME_BYTES_MAX (24 + 8 * 255)               /* largest size when read */

struct frame {
    enum store_value value;
    enum store_format format;
    uint64_t losses[MIRE_DROP_REASONS];
    size_t body_at, body_size;
};

enum frame_state {
    FRAME_WHOLE,
    FRAME_OLD,   /* of the first version, without a frame; `out` has the known values */
    FRAME_NEWER, /* of a newer, unknown version */
    FRAME_BROKEN
};

/* Write the frame of a body in parts; value, format and told are taken from `frame`. */
void mire__frame_write(uint8_t out[MIRE_FRAME_BYTES], const struct frame *frame, const struct disk_part *body,
                       size_t count);

/* Check a complete file. `out` is set if WHOLE or OLD. */
enum frame_state mire__frame_check(struct frame *out, const void *file, size_t size);

/* Check the first bytes of a file, without the checksum. FRAME_OLD: there is no frame. */
enum frame_state mire__frame_peek(struct frame *out, const void *head, size_t head_size, uint64_t file_size);

#endif
