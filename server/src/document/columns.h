/*
 * columns.h - locations, nodes and samples of the resolved-stack document, behind its JSON: thousands of numbers, which
 * as text would be most of a document's bytes and time. Inside document/ only.
 *
 *     texts      how many, and each with its length before it: functions, images and files, each once
 *     a table    its columns, one behind the other; the first one is whole and begins with the number of rows
 *     a column   the number of its values, and the values; the last one holds for all rows behind it
 *
 * All numbers are those of base/varint.h; those that may fall below zero, or below the one before, are folded (0, -1, 1,
 * -2 are 0, 1, 2, 3).
 *
 *     locations  function   an even number: twice the place among the texts; an odd one: half of it is the offset in a name
 *                           that is made of it and the image, as "libc.so.6+0x10"
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

/* Append them to what was written. */
void columns_write(struct json_writer *w, const struct resolved *doc);

/* Read them; locations of nodes and nodes of samples are checked. 0, or -1: they are none, or memory ran out. */
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
