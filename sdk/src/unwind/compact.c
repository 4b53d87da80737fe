/* compact.c - see compact.h. Signal-safe. */
#include "unwind/compact.h"

#define VERSION         1
#define INDEX_BYTES     12
#define PAGE_REGULAR    2
#define PAGE_COMPRESSED 3
#define MODE_DWARF      3 /* arm64; x86-64 has 4 */
#define MODE_DWARF_X86  4
#define DWARF_OFFSET    0x00ffffffu
#define ENTRIES_MAX     (1u << 20)
#define SCAN_MAX        65536 /* descriptions that are looked through for one whose offset does not fit an encoding */

/* Reads at offsets within __unwind_info. */
struct table {
    struct peek_cache *cache;
    const struct compact_info *info;
    bool bad;
};

static uint32_t number(struct table *table, uint64_t offset, size_t size_bytes)
{
    uint32_t value = 0;

    if (offset + size_bytes > table->info->unwind_info_bytes ||
        !mire__peek_cached(&value, table->cache, table->info->unwind_info + offset, size_bytes))
        table->bad = true;
    return table->bad ? 0 : value;
}

/* Entries of a table, each `stride` bytes, which begin with the function's place in `bits`, less `base`. */
struct entries {
    uint64_t at;
    uint32_t count, stride, mask, base;
};

static uint32_t place(struct table *table, const struct entries *entries, uint32_t entry)
{
    return (number(table, entries->at + (uint64_t)entry * entries->stride, 4) & entries->mask) + entries->base;
}

/* The last entry that begins at or before `wanted`; count: none. */
static uint32_t last_before(struct table *table, const struct entries *entries, uint32_t wanted)
{
    uint32_t low = 0, high = entries->count;

    while (low < high && !table->bad) {
        uint32_t middle = low + (high - low) / 2;

        if (place(table, entries, middle) <= wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 || table->bad ? entries->count : low - 1;
}

/* The encoding at an index: the first ones are the module's, the others the page's. */
static uint32_t encoding_at(struct table *table, uint64_t page, uint32_t index)
{
    uint32_t common_at = number(table, 4, 4), common_count = number(table, 8, 4);
    uint32_t own_at = number(table, page + 8, 2), own_count = number(table, page + 10, 2);

    if (index < common_count)
        return number(table, common_at + 4ull * index, 4);
    if (index - common_count >= own_count)
        table->bad = true;
    return number(table, page + own_at + 4ull * (index - common_count), 4);
}

/* Search a page. first: where its functions begin; end: where the next page's do. */
static bool find_in_page(struct compact_function *out, struct table *table, uint64_t page, uint32_t first, uint32_t end,
                         uint32_t wanted)
{
    uint32_t kind = number(table, page, 4), found;
    struct entries entries = {page + number(table, page + 4, 2), number(table, page + 6, 2), 8, UINT32_MAX, 0};

    if (kind == PAGE_COMPRESSED)
        entries = (struct entries){entries.at, entries.count, 4, 0xffffff, first};
    else if (kind != PAGE_REGULAR)
        return false;
    found = last_before(table, &entries, wanted);
    if (found == entries.count)
        return false;
    out->start = table->info->image + place(table, &entries, found);
    out->end = table->info->image + (found + 1 < entries.count ? place(table, &entries, found + 1) : end);
    out->encoding = kind == PAGE_REGULAR ? number(table, entries.at + 8ull * found + 4, 4)
                                         : encoding_at(table, page, number(table, entries.at + 4ull * found, 4) >> 24);
    return !table->bad;
}

bool mire__compact_find(struct compact_function *out, struct peek_cache *cache, const struct compact_info *info,
                        uint64_t pc)
{
    struct table table = {cache, info, false};
    uint64_t wanted = pc - info->image, at;
    struct entries index;
    uint32_t found, page;

    if (info->unwind_info == 0 || pc < info->image || wanted > UINT32_MAX || number(&table, 0, 4) != VERSION)
        return false;
    index = (struct entries){number(&table, 20, 4), number(&table, 24, 4), INDEX_BYTES, UINT32_MAX, 0};
    if (index.count < 2 || index.count > ENTRIES_MAX)
        return false;
    found = last_before(&table, &index, (uint32_t)wanted);
    if (found >= index.count - 1) /* the last one only says where the functions end */
        return false;
    at = index.at + (uint64_t)found * INDEX_BYTES;
    page = number(&table, at + 4, 4);
    return page != 0 && find_in_page(out, &table, page, place(&table, &index, found), place(&table, &index, found + 1),
                                     (uint32_t)wanted);
}

/* The description of pc in __eh_frame; the encoding's field is too narrow for where it is. */
static bool scan_eh_frame(struct cfi_row *out, struct cfi_scratch *scratch, struct peek_cache *cache,
                          const struct compact_info *info, uint64_t pc)
{
    struct cursor cursor = {cache, info->eh_frame, info->eh_frame + info->eh_frame_bytes, false};

    for (uint32_t i = 0; i < SCAN_MAX && cursor.at < cursor.end; i++) {
        uint64_t at = cursor.at, size = mire__cursor_fixed(&cursor, 4), next = cursor.at + size;

        if (cursor.bad || size < 4)
            return false;
        if (mire__cursor_fixed(&cursor, 4) != 0 && mire__cfi_read_at(out, scratch, cache, at, pc))
            return true;
        cursor.at = next;
    }
    return false;
}

static bool is_dwarf(uint32_t encoding, enum compact_processor processor)
{
    return MIRE_COMPACT_MODE(encoding) == (processor == COMPACT_ARM64 ? MODE_DWARF : MODE_DWARF_X86);
}

/* The rules of a function's first instruction, which those of a leaf are as well. */
static void row_of_leaf(struct cfi_row *out, enum compact_processor processor)
{
    if (processor == COMPACT_ARM64) {
        out->ra_column = 30;
        mire__compact_cfa(out, 31, 0);
    } else {
        out->ra_column = 16;
        mire__compact_cfa(out, 7, 8);
        mire__compact_at(out, 16, -8);
    }
}

bool mire__compact_read(struct cfi_row *out, struct cfi_scratch *scratch, struct peek_cache *cache,
                        const struct compact_info *info, enum compact_processor processor, uint64_t pc, bool exact)
{
    struct compact_function function = {.start = 0};
    bool found = mire__compact_find(&function, cache, info, pc);

    if (found && is_dwarf(function.encoding, processor)) {
        uint32_t offset = function.encoding & DWARF_OFFSET;

        if (offset == 0 || offset >= info->eh_frame_bytes)
            return scan_eh_frame(out, scratch, cache, info, pc);
        return mire__cfi_read_at(out, scratch, cache, info->eh_frame + offset, pc);
    }
    *out = (struct cfi_row){.function = 0}; /* an entry may be of several functions */
    if (!found || function.encoding == 0) {
        row_of_leaf(out, processor);
        return exact;
    }
    if (!(processor == COMPACT_ARM64 ? mire__compact_row_arm64(out, &function)
                                     : mire__compact_row_x86_64(out, cache, &function)))
        return false;
    if (exact && processor == COMPACT_ARM64)
        mire__compact_edge_arm64(out, cache, &function, pc);
    else if (exact)
        mire__compact_edge_x86_64(out, cache, &function, pc);
    else if (processor == COMPACT_ARM64)
        mire__compact_call_arm64(out, cache, pc);
    return true;
}
