/*
 * package.c - reads .debug_cu_index of a package of split files (.dwp).
 *
 *     version, columns, units, slots   u32 each
 *     ids      slots * u64             a hash table; 0 and row 0: free
 *     rows     slots * u32             number of the row below, from 1
 *     columns  u32 each                section of a column: 1 info, 3 abbrev, 6 str_offsets, 8 rnglists
 *     offsets  units * columns * u32
 *     sizes    units * columns * u32
 */
#include "dwarf/package.h"

#include "base/bytes.h"
#include "base/grow.h"

#include <stdlib.h>

#define HEAD        16u
#define COLUMNS_MAX 16u

enum { COLUMN_INFO = 1, COLUMN_ABBREV = 3, COLUMN_STR_OFFSETS = 6, COLUMN_RNGLISTS = 8 };

static void read_row(struct package_piece *out, const uint8_t *kinds, const uint8_t *offsets, const uint8_t *sizes,
                     uint32_t columns)
{
    for (uint32_t i = 0; i < columns; i++) {
        uint64_t offset = load_32(offsets + i * 4);
        switch (load_32(kinds + i * 4)) {
        case COLUMN_INFO:
            out->info = offset;
            out->info_len = load_32(sizes + i * 4);
            break;
        case COLUMN_ABBREV:
            out->abbrev = offset;
            break;
        case COLUMN_STR_OFFSETS:
            out->str_offsets = offset;
            break;
        case COLUMN_RNGLISTS:
            out->rnglists = offset;
            break;
        default:
            break;
        }
    }
}

static int by_info(const void *a, const void *b)
{
    const struct package_piece *x = a;
    const struct package_piece *y = b;
    return (x->info > y->info) - (x->info < y->info);
}

bool package_read(struct package *out, const struct section *index)
{
    *out = (struct package){0};
    if (index->len < HEAD)
        return true;
    uint64_t columns = load_32(index->bytes + 4);
    uint64_t units = load_32(index->bytes + 8);
    uint64_t slots = load_32(index->bytes + 12);
    uint64_t left = index->len - HEAD;
    if (columns > COLUMNS_MAX || slots > left / 12 || units > left / 8 ||
        slots * 12 + columns * 4 + units * columns * 8 > left)
        return true;
    const uint8_t *kinds = index->bytes + HEAD + slots * 12;
    const uint8_t *offsets = kinds + columns * 4;
    const uint8_t *sizes = offsets + units * columns * 4;
    out->rows = calloc(units + 1, sizeof *out->rows);
    if (!out->rows)
        return false;
    for (uint64_t i = 0; i < units; i++)
        read_row(&out->rows[i], kinds, offsets + i * columns * 4, sizes + i * columns * 4, (uint32_t)columns);
    out->count = units;
    qsort(out->rows, out->count, sizeof *out->rows, by_info);
    return true;
}

const struct package_piece *package_at(const struct package *package, uint64_t info)
{
    size_t low = 0;
    size_t high = package->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (package->rows[middle].info <= info)
            low = middle + 1;
        else
            high = middle;
    }
    const struct package_piece *piece = low ? &package->rows[low - 1] : NULL;
    return piece && info - piece->info < piece->info_len ? piece : NULL;
}

void package_fini(struct package *package)
{
    free(package->rows);
    *package = (struct package){0};
}
