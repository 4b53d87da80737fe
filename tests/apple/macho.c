/* macho.c - see macho.h. The structures are those of mach-o/loader.h and mach-o/nlist.h. */
#include "apple/macho.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MAGIC_64        0xfeedfacfu
#define LC_SYMTAB       0x2u
#define LC_SEGMENT_64   0x19u
#define LC_DYLD_INFO    0x22u
#define REQUIRED        0x80000000u
#define SECTION_BYTES   80
#define SYMBOL_BYTES    16
#define SYMBOL_IN_IMAGE 0x0e
#define SYMBOL_DEBUGGER 0xe0
#define HEADER_BYTES    32

static uint32_t u32(const uint8_t *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof(value));
    return value;
}

static uint64_t u64(const uint8_t *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof(value));
    return value;
}

static uint32_t big32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static int refuse(const char *path, const char *why)
{
    fprintf(stderr, "%s: %s\n", path, why);
    return 0;
}

/* ---- reading ---- */

static void note_section(struct macho *image, const uint8_t *section)
{
    const struct macho_span span = {u64(section + 32), u64(section + 40)};
    const char *name = (const char *)section;
    uint32_t kind = u32(section + 64) & 0xff;

    if (strncmp(name, "__text", 16) == 0)
        image->text = span;
    else if (strncmp(name, "__unwind_info", 16) == 0)
        image->unwind_info = span;
    else if (strncmp(name, "__eh_frame", 16) == 0)
        image->eh_frame = span;
    else if (kind == 0x09)
        image->initializers = span;
    else if (kind == 0x11)
        image->thread_data = span;
    else if (kind == 0x12)
        image->thread_zero = span;
    else if (kind == 0x13)
        image->thread_variables = span;
}

static void note_segment(struct macho *image, const uint8_t *command)
{
    uint64_t address = u64(command + 24), size = u64(command + 32);

    if (image->segment_count < MACHO_SEGMENTS)
        image->segment[image->segment_count++] = address;
    if (u64(command + 40) == 0 && u64(command + 48) > 0)
        image->vm_base = address; /* the segment with the header */
    if (address + size > image->vm_size)
        image->vm_size = address + size;
    for (uint32_t i = 0; i < u32(command + 64); i++)
        note_section(image, command + 72 + (size_t)i * SECTION_BYTES);
}

/* Visit the load commands. */
static void each_command(struct macho *image, void (*visit)(struct macho *image, const uint8_t *command, uint32_t kind))
{
    const uint8_t *at = image->file + HEADER_BYTES;

    for (uint32_t i = 0; i < u32(image->file + 16); i++, at += u32(at + 4))
        visit(image, at, u32(at) & ~REQUIRED);
}

static void note_command(struct macho *image, const uint8_t *command, uint32_t kind)
{
    if (kind == LC_SEGMENT_64)
        note_segment(image, command);
    if (kind == LC_DYLD_INFO)
        image->fixups = command;
    if (kind == LC_SYMTAB) {
        image->symbols = image->file + u32(command + 8);
        image->symbol_count = u32(command + 12);
        image->strings = image->file + u32(command + 16);
    }
}

static bool choose_part(struct macho *image, uint32_t cpu)
{
    if (image->file_size < HEADER_BYTES)
        return false;
    if (big32(image->file) == 0xcafebabe) {
        for (uint32_t i = 0; i < big32(image->file + 4); i++) {
            const uint8_t *part = image->file + 8 + (size_t)i * 20;

            if (cpu == 0 || big32(part) == cpu) {
                image->file += big32(part + 8);
                break;
            }
        }
    }
    image->cpu = u32(image->file + 4);
    return u32(image->file) == MAGIC_64 && (cpu == 0 || image->cpu == cpu);
}

int macho_read(struct macho *out, const char *path, uint32_t cpu)
{
    FILE *file = fopen(path, "rb");
    long size = -1;

    memset(out, 0, sizeof(*out));
    if (file && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    out->file = size > 0 ? malloc((size_t)size) : NULL;
    out->file_size = size > 0 ? (size_t)size : 0;
    if (!out->file || fseek(file, 0, SEEK_SET) != 0 || fread(out->file, 1, (size_t)size, file) != (size_t)size)
        return refuse(path, "cannot be read");
    fclose(file);
    if (!choose_part(out, cpu))
        return refuse(path, "is no Mach-O image of that processor");
    each_command(out, note_command);
    out->vm_size -= out->vm_base;
    return 1;
}

/* ---- loading ---- */

static void map_segment(struct macho *image, const uint8_t *command, uint32_t kind)
{
    if (kind == LC_SEGMENT_64 && u64(command + 48) > 0)
        memcpy(image->base + (u64(command + 24) - image->vm_base), image->file + u64(command + 40), u64(command + 48));
}

static uint64_t uleb(const uint8_t **at)
{
    uint64_t value = 0;

    for (int shift = 0;; shift += 7) {
        uint8_t byte = *(*at)++;

        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
}

static int64_t sleb(const uint8_t **at)
{
    int64_t value = 0;
    int shift = 0;
    uint8_t byte;

    do {
        byte = *(*at)++;
        value |= (int64_t)((uint64_t)(byte & 0x7f) << shift);
        shift += 7;
    } while (byte >= 0x80);
    return byte & 0x40 && shift < 64 ? value | (int64_t)(~0ull << shift) : value;
}

static uint8_t *segment_at(const struct macho *image, uint32_t segment, uint64_t offset)
{
    return image->base + (image->segment[segment] - image->vm_base) + offset;
}

static void rebase(const struct macho *image, const uint8_t *at, const uint8_t *end)
{
    uint8_t *slot = NULL;

    while (at < end) {
        uint8_t op = *at & 0xf0, low = *at++ & 0x0f;
        uint64_t count = 0, skip = 0;

        switch (op) {
        case 0x00:
            return;
        case 0x20:
            slot = segment_at(image, low, uleb(&at));
            break;
        case 0x30:
            slot += uleb(&at);
            break;
        case 0x40:
            slot += 8u * low;
            break;
        case 0x50:
            count = low;
            break;
        case 0x60:
            count = uleb(&at);
            break;
        case 0x70:
            count = 1;
            skip = uleb(&at);
            break;
        case 0x80:
            count = uleb(&at);
            skip = uleb(&at);
            break;
        default:
            break;
        }
        for (; count > 0; count--, slot += 8 + skip) {
            uint64_t value = u64(slot) + (uint64_t)(uintptr_t)image->base - image->vm_base;

            memcpy(slot, &value, sizeof(value));
        }
    }
}

struct binding {
    macho_resolve_fn *resolve;
    void *context;
    bool missing;
};

static void bind_slots(struct binding *binding, uint8_t **slot, const char *name, int64_t addend, uint64_t count,
                       uint64_t skip)
{
    for (; count > 0; count--, *slot += 8 + skip) {
        uint8_t *target = binding->resolve(binding->context, name);
        uint64_t value = (uint64_t)(uintptr_t)target + (uint64_t)addend;

        if (!target || !*slot) {
            fprintf(stderr, "%s is not bound\n", name);
            binding->missing = true;
            return;
        }
        memcpy(*slot, &value, sizeof(value));
    }
}

static void bind_list(const struct macho *image, const uint8_t *at, const uint8_t *end, bool lazy,
                      struct binding *binding)
{
    const char *name = "";
    uint8_t *slot = NULL;
    int64_t addend = 0;

    while (at < end) {
        uint8_t op = *at & 0xf0, low = *at++ & 0x0f;
        uint64_t count = 0, skip = 0;

        switch (op) {
        case 0x00:
            if (!lazy)
                return;
            break;
        case 0x20:
            uleb(&at);
            break;
        case 0x40:
            name = (const char *)at;
            at += strlen(name) + 1;
            break;
        case 0x60:
            addend = sleb(&at);
            break;
        case 0x70:
            slot = segment_at(image, low, uleb(&at));
            break;
        case 0x80:
            slot += uleb(&at);
            break;
        case 0x90:
            count = 1;
            break;
        case 0xa0:
            count = 1;
            skip = uleb(&at);
            break;
        case 0xb0:
            count = 1;
            skip = 8u * low;
            break;
        case 0xc0:
            count = uleb(&at);
            skip = uleb(&at);
            break;
        default:
            break;
        }
        bind_slots(binding, &slot, name, addend, count, skip);
    }
}

int macho_load(struct macho *image, macho_resolve_fn *resolve, void *context)
{
    struct binding binding = {resolve, context, false};
    const uint8_t *of = image->fixups;

    image->base = mmap(NULL, image->vm_size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (image->base == MAP_FAILED)
        return refuse("image", "cannot be mapped");
    each_command(image, map_segment);
    if (of) {
        rebase(image, image->file + u32(of + 8), image->file + u32(of + 8) + u32(of + 12));
        bind_list(image, image->file + u32(of + 16), image->file + u32(of + 16) + u32(of + 20), false, &binding);
        bind_list(image, image->file + u32(of + 24), image->file + u32(of + 24) + u32(of + 28), false, &binding);
        bind_list(image, image->file + u32(of + 32), image->file + u32(of + 32) + u32(of + 36), true, &binding);
    }
    struct macho_span *spans[] = {&image->text,        &image->unwind_info, &image->eh_frame,
                                  &image->thread_data, &image->thread_zero, &image->thread_variables,
                                  &image->initializers};
    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++)
        if (spans[i]->size)
            spans[i]->address += (uint64_t)(uintptr_t)image->base - image->vm_base;
    __builtin___clear_cache((char *)image->base, (char *)image->base + image->vm_size);
    return !binding.missing;
}

void macho_start(const struct macho *image)
{
    void (*const *list)(void) = (void (*const *)(void))(uintptr_t)image->initializers.address;

    for (uint64_t i = 0; i < image->initializers.size / sizeof(*list); i++)
        list[i]();
}

/* ---- symbols ---- */

void *macho_find(const struct macho *image, const char *name)
{
    for (uint32_t i = 0; image->symbols && i < image->symbol_count; i++) {
        const uint8_t *symbol = image->symbols + (size_t)i * SYMBOL_BYTES;

        if (!(symbol[4] & SYMBOL_DEBUGGER) && (symbol[4] & SYMBOL_IN_IMAGE) == SYMBOL_IN_IMAGE &&
            strcmp((const char *)image->strings + u32(symbol), name) == 0)
            return (image->base ? image->base : image->file) + (u64(symbol + 8) - image->vm_base);
    }
    return NULL;
}

const char *macho_name(const struct macho *image, uint64_t address)
{
    uint64_t wanted = address - (uint64_t)(uintptr_t)image->base + image->vm_base, best = 0;
    const char *name = "?";

    for (uint32_t i = 0; i < image->symbol_count; i++) {
        const uint8_t *symbol = image->symbols + (size_t)i * SYMBOL_BYTES;
        uint64_t value = u64(symbol + 8);

        if ((symbol[4] & SYMBOL_IN_IMAGE) == SYMBOL_IN_IMAGE && !(symbol[4] & SYMBOL_DEBUGGER) && value <= wanted &&
            value >= best) {
            best = value;
            name = (const char *)image->strings + u32(symbol);
        }
    }
    return name;
}
