/*
 * sort.c - few keys by insertion, many byte by byte from the lowest (radix); a byte that is the same in all keys is
 * passed over.
 */
#include "base/sort.h"

#include <string.h>

#define FEW 24

static void insert_few(uint64_t *keys, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint64_t key = keys[i];
        size_t k = i;
        for (; k && keys[k - 1] >> 32 > key >> 32; k--)
            keys[k] = keys[k - 1];
        keys[k] = key;
    }
}

void sort_keys(uint64_t *keys, uint64_t *spare, size_t count)
{
    size_t counts[4][256] = {0};
    size_t in_order = 1;
    uint64_t *from = keys;
    uint64_t *to = spare;
    if (count <= FEW) {
        insert_few(keys, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        for (unsigned byte = 0; byte < 4; byte++)
            counts[byte][keys[i] >> (32 + 8 * byte) & 0xff]++;
        in_order += i && keys[i] >> 32 >= keys[i - 1] >> 32;
    }
    if (in_order == count)
        return;
    for (unsigned byte = 0; byte < 4; byte++) {
        size_t place = 0;
        if (counts[byte][keys[0] >> (32 + 8 * byte) & 0xff] == count)
            continue;
        for (unsigned value = 0; value < 256; value++) {
            size_t here = counts[byte][value];
            counts[byte][value] = place;
            place += here;
        }
        for (size_t i = 0; i < count; i++)
            to[counts[byte][from[i] >> (32 + 8 * byte) & 0xff]++] = from[i];
        uint64_t *other = from;
        from = to;
        to = other;
    }
    if (from != keys)
        memcpy(keys, from, count * sizeof *keys);
}
