/*
 * fuzz_compact.c - compact unwind information, its DWARF mode, and the instructions at a function's edges.
 *
 *     input   [ how | pc: 2 | bytes of the table: 2 | table | code, then .eh_frame: 4096 each at most ]
 *
 * how & 1: arm64, else x86-64; how & 2: an interrupted pc. The image lies in whole pages with an unreadable one behind it. A
 * function that is found holds the pc, and a row has registers that exist.
 */
#include "platform/arch.h"
#include "unwind/compact.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PART 4096
#define HEAD 5

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The table, the code, .eh_frame. */
static uint8_t *image;

static void make_image(void)
{
    image = mmap(NULL, 4 * PART, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (image == MAP_FAILED || mprotect(image + 3 * PART, PART, PROT_NONE) != 0)
        abort();
}

static size_t fill(size_t part, const uint8_t **from, size_t left, size_t most)
{
    size_t bytes = left < most ? left : most;

    memset(image + part * PART, 0, PART);
    memcpy(image + part * PART, *from, bytes);
    *from += bytes;
    return bytes;
}

static void check(const struct cfi_row *row)
{
    if (row->cfa.kind == CFI_REGISTER && row->cfa_register >= MIRE_REGS_MAX)
        abort();
    if (row->ra_column >= MIRE_REGS_MAX)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct peek_cache cache;
    static struct cfi_scratch scratch;
    static struct cfi_row row;
    struct compact_function function;
    size_t left = size - HEAD, table;

    if (size < HEAD)
        return 0;
    if (!image)
        make_image();
    uint64_t pc = (uintptr_t)image + PART + (data[1] | (data[2] & 15u) << 8);
    enum compact_processor processor = data[0] & 1 ? COMPACT_ARM64 : COMPACT_X86_64;
    const bool exact = data[0] & 2;

    table = data[3] | (data[4] & 15u) << 8;
    data += HEAD;
    table = fill(0, &data, left, table);
    left -= table;
    left -= fill(1, &data, left, PART);
    const struct compact_info info = {.image = (uintptr_t)image,
                                      .unwind_info = (uintptr_t)image,
                                      .eh_frame = (uintptr_t)image + (size_t)2 * PART,
                                      .unwind_info_bytes = (uint32_t)table,
                                      .eh_frame_bytes = (uint32_t)fill(2, &data, left, PART)};

    memset(cache.address, 0, sizeof(cache.address));
    memset(&row, 0, sizeof(row));
    if (mire__compact_find(&function, &cache, &info, pc) && (pc < function.start || pc >= function.end))
        abort();
    if (mire__compact_read(&row, &scratch, &cache, &info, processor, pc, exact))
        check(&row);
    return 0;
}
