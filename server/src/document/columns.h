/*
 * columns.h - locations, nodes and samples of the resolved-stack document, as binary columns after the JSON. As text
 * these thousands of numbers would be most of a document's bytes and time. Inside document/ only.
 *
 *     texts      their number, then each text after its length: functions, images and files, each once
 *     a table    the columns in order; the first column is complete and begins with the number of rows
 *     a column   the number of values, and the values; the last value applies to all further rows
 *
 * All numbers are encoded as in base/varint.h. Numbers and differences that can be negative are folded (0, -1, 1, -2 are
 * 0, 1, 2, 3).
 *
 *     locations  function   an even number: twice the index of the text; an odd number: half of the number is the offset of
 *                           a made name, such as "libc.so.6+0x10"
 *                image, file, line
 *                offset     less that of the name, folded
 *                flags      1 named, 2 inlined
 *                role, rule, mark
 *     nodes      parent     how many rows before; location: less that of the row before, folded
 *     samples    at_ms      less that of the row before, folded; weight_ms, node, state, syscall (folded), loss, folded,
 *                           skipped, thread
 */
#ifndef MIRE_DOCUMENT_COLUMNS_H
#define MIRE_DOCUMENT_COLUMNS_H

#include "base/arena.h"
#include "json/write.h"
#include "model/resolved.h"

#include <stdint.h>

/* Append the columns to the JSON. */
void columns_write(struct json_writer *w, const struct resolved *doc);

/* Read the columns, with checks of nodes' locations and samples' nodes. 0, or -1: malformed, or memory ran out. */
int columns_read(struct resolved *out, struct arena *arena, const unsigned char *bytes, size_t len);

/* Do rules of locations and threads of samples exist, now that rules and threads were read too? */
bool columns_fit(const struct resolved *doc);

static inline uint64_t columns_fold(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t columns_unfold(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

#endif
