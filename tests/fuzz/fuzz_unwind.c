/*
 * fuzz_unwind.c - unwinding by arbitrary call frame information.
 *
 *     input   [ how | size of the CIE's part | CIE's part | FDE's part ]
 *
 * how & 1: both parts are instructions, put after valid headers; otherwise they are whole entries with headers. A
 * module with these entries and a stack of addresses in it are made around them. The walk must end, inside its bounds.
 */
#include "unwind/cfi.h"
#include "capture/unwind.h"

#include <stdlib.h>
#include <string.h>

#define PART_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whole pages: the reader caches pages. */
static struct {
    uint8_t header[64];
    uint8_t cie[64 + PART_MAX];
    uint8_t fde[64 + PART_MAX];
    uint8_t text[4096];
    uint8_t rest[16384];
} module_bytes __attribute__((aligned(4096)));

static uint8_t *put(uint8_t *at, uint32_t value)
{
    memcpy(at, &value, 4);
    return at + 4;
}

static uint32_t distance(const void *to, const void *from)
{
    return (uint32_t)((intptr_t)to - (intptr_t)from);
}

static void put_header(void)
{
    static const uint8_t encodings[] = {1, 0x1b, 0x03, 0x3b};
    uint8_t *at = module_bytes.header;

    memcpy(at, encodings, 4);
    at = put(at + 4, 0);
    at = put(at, 1);
    at = put(at, distance(module_bytes.text, module_bytes.header));
    put(at, distance(module_bytes.fde, module_bytes.header));
}

/* "zR", relative pointers of 4 bytes; the return address is in column 16. */
static void put_entries(const uint8_t *cie, size_t cie_size, const uint8_t *fde, size_t fde_size)
{
    static const uint8_t front[] = {1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b};
    uint8_t *at = put(put(module_bytes.cie, (uint32_t)(4 + sizeof(front) + cie_size)), 0);

    memcpy(at, front, sizeof(front));
    memcpy(at + sizeof(front), cie, cie_size);
    at = put(module_bytes.fde, (uint32_t)(13 + fde_size));
    at = put(at, distance(at, module_bytes.cie));
    at = put(at, distance(module_bytes.text, at));
    at = put(at, sizeof(module_bytes.text));
    *at++ = 0;
    memcpy(at, fde, fde_size);
}

static void walk(const uint8_t *data, size_t size)
{
    static struct modules modules;
    static struct stack_snapshot snapshot;
    struct sample sample = {0};
    uint64_t base = (uintptr_t)&module_bytes;

    memset(modules.cache.address, 0, sizeof(modules.cache.address));
    modules.count = 1;
    modules.list[0] = (struct module){.start = base,
                                      .end = base + sizeof(module_bytes),
                                      .text_start = (uintptr_t)module_bytes.text,
                                      .text_end = (uintptr_t)module_bytes.text + sizeof(module_bytes.text),
                                      .load = base,
                                      .eh_frame_hdr = (uintptr_t)module_bytes.header};
    snapshot.stack_address = 0x7000;
    snapshot.stack_size = 4096;
    for (uint64_t at = 0; at < 4096; at += 8) {
        uint64_t word = at % 16 ? 0x7000 + at + 16 : (uintptr_t)module_bytes.text + (size ? data[at % size] : 0);

        memcpy(snapshot.stack + at, &word, 8);
    }
    snapshot.regs.known = ~0ull;
    snapshot.regs.pc = (uintptr_t)module_bytes.text + 100;
    for (uint64_t reg = 0; reg < MIRE_REGS_MAX; reg++)
        snapshot.regs.value[reg] = 0x7000 + reg * 8;
    mire__unwind(&sample, &snapshot, &modules);
    if (sample.depth < 1 || sample.depth > MIRE_DEPTH_MAX)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t cie_size, fde_size;

    if (size < 2)
        return 0;
    cie_size = data[1] < size - 2 ? data[1] : size - 2;
    fde_size = size - 2 - cie_size < PART_MAX ? size - 2 - cie_size : PART_MAX;
    memset(&module_bytes, 0, sizeof(module_bytes));
    put_header();
    if (data[0] & 1)
        put_entries(data + 2, cie_size, data + 2 + cie_size, fde_size);
    else {
        memcpy(module_bytes.cie, data + 2, cie_size);
        memcpy(module_bytes.fde, data + 2 + cie_size, fde_size);
    }
    walk(data, size);
    return 0;
}
