/* row.c - see row.h. Signal-safe. */
#include "unwind/row.h"

#include "unwind/compact.h"

#define EXACT_BIT (UINT64_C(1) << 63) /* no address of a program has it */

#ifdef __aarch64__
#define PROCESSOR COMPACT_ARM64
#else
#define PROCESSOR COMPACT_X86_64
#endif

bool mire__row_read(struct cfi_row *out, struct cfi_scratch *scratch, struct modules *modules,
                    const struct module *module, uint64_t pc, bool exact)
{
    const struct compact_info info = {.image = module->start,
                                      .unwind_info = module->unwind_info,
                                      .eh_frame = module->eh_frame,
                                      .unwind_info_bytes = module->unwind_info_bytes,
                                      .eh_frame_bytes = module->eh_frame_bytes};

    if (module->unwind_info == 0)
        return mire__cfi_read(out, scratch, &modules->cache, module->eh_frame_hdr, pc);
    return mire__compact_read(out, scratch, &modules->cache, &info, PROCESSOR, pc, exact);
}

const struct cfi_row *mire__row_find(struct modules *modules, const struct module *module, uint64_t pc, bool exact)
{
    struct cfi_cache *rows = &modules->rows;
    uint64_t key = exact ? pc | EXACT_BIT : pc;
    size_t slot = (size_t)(key * 0x9e3779b97f4a7c15ull >> 32) % MIRE_CFI_ROWS;

    if (module->unwind_info == 0)
        return mire__cfi_find(rows, &modules->cache, module->eh_frame_hdr, pc);
    if (rows->pc[slot] != key) {
        rows->described[slot] = mire__row_read(&rows->rows[slot], &rows->scratch, modules, module, pc, exact);
        rows->pc[slot] = key;
    }
    return rows->described[slot] ? &rows->rows[slot] : NULL;
}

const struct module *mire__modules_find(const struct modules *modules, uint64_t pc)
{
    uint32_t low = 0, high = modules->count;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (modules->list[middle].end <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == modules->count || pc < modules->list[low].text_start || pc >= modules->list[low].text_end)
        return NULL;
    return &modules->list[low];
}
