/*
 * elf_check.c - reads the ELF header, the section table and the build id, each read checked against the file's length.
 *
 * Works on 32 and 64 bit little-endian files alike: fields are fetched by offset and width, nothing is cast.
 */
#include "symbols/symbols.h"

#include <elf.h>
#include <string.h>

struct view {
    const unsigned char *bytes;
    size_t len;
    bool wide; /* ELFCLASS64 */
};

static bool inside(const struct view *v, uint64_t at, uint64_t size)
{
    return at <= v->len && size <= v->len - at;
}

static uint64_t load(const struct view *v, uint64_t at, unsigned width)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < width; i++)
        value |= (uint64_t)v->bytes[at + i] << (8 * i);
    return value;
}

#define FIELD(v, at, type, field)                                                                  \
    ((v)->wide ? load(v, (at) + offsetof(Elf64_##type, field), sizeof(((Elf64_##type *)0)->field)) \
               : load(v, (at) + offsetof(Elf32_##type, field), sizeof(((Elf32_##type *)0)->field)))
#define SIZE(v, type) ((v)->wide ? sizeof(Elf64_##type) : sizeof(Elf32_##type))

static const char *arch_name(uint64_t machine)
{
    switch (machine) {
    case EM_X86_64:
        return "x86_64";
    case EM_AARCH64:
        return "aarch64";
    case EM_ARM:
        return "arm";
    case EM_386:
        return "x86";
    case EM_RISCV:
        return "riscv";
    default:
        return "other";
    }
}

/* The GNU build id among the notes of [at, at + size). */
static void read_notes(struct elf_facts *out, const struct view *v, uint64_t at, uint64_t size)
{
    uint64_t end = at + size;
    while (!out->id_len && end - at >= 12) {
        uint64_t name_len = load(v, at, 4);
        uint64_t data_len = load(v, at + 4, 4);
        uint64_t type = load(v, at + 8, 4);
        uint64_t name = at + 12;
        uint64_t data = name + ((name_len + 3) & ~3ull);
        uint64_t next = data + ((data_len + 3) & ~3ull);
        if (data > end || data_len > end - data)
            return;
        if (type == NT_GNU_BUILD_ID && name_len == 4 && !memcmp(v->bytes + name, "GNU", 4) && data_len >= 4 &&
            data_len <= sizeof out->id) {
            memcpy(out->id, v->bytes + data, data_len);
            out->id_len = data_len;
        }
        if (next > end)
            return;
        at = next;
    }
}

static bool name_is(const struct view *v, uint64_t at, uint64_t end, const char *name)
{
    size_t len = strlen(name) + 1;
    return at <= end && len <= end - at && !memcmp(v->bytes + at, name, len);
}

static const char *read_sections(struct elf_facts *out, const struct view *v)
{
    uint64_t table = FIELD(v, 0, Ehdr, e_shoff);
    uint64_t count = FIELD(v, 0, Ehdr, e_shnum);
    uint64_t names = FIELD(v, 0, Ehdr, e_shstrndx);
    if (!table)
        return "has no sections";
    if (FIELD(v, 0, Ehdr, e_shentsize) != SIZE(v, Shdr) || !inside(v, table, SIZE(v, Shdr)))
        return "its section table lies outside the file";
    if (!count)
        count = FIELD(v, table, Shdr, sh_size);
    if (names == SHN_XINDEX)
        names = FIELD(v, table, Shdr, sh_link);
    if (count > v->len / SIZE(v, Shdr) || !inside(v, table, count * SIZE(v, Shdr)) || names >= count)
        return "its section table lies outside the file";
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at = table + i * SIZE(v, Shdr);
        if (i && FIELD(v, at, Shdr, sh_type) != SHT_NOBITS &&
            !inside(v, FIELD(v, at, Shdr, sh_offset), FIELD(v, at, Shdr, sh_size)))
            return "a section lies outside the file";
    }
    uint64_t text = table + names * SIZE(v, Shdr);
    uint64_t text_at = FIELD(v, text, Shdr, sh_offset);
    uint64_t text_end = text_at + FIELD(v, text, Shdr, sh_size);
    if (FIELD(v, text, Shdr, sh_type) == SHT_NOBITS)
        return "its section names are not in the file";
    for (uint64_t i = 1; i < count; i++) {
        uint64_t at = table + i * SIZE(v, Shdr);
        uint64_t type = FIELD(v, at, Shdr, sh_type);
        uint64_t name = text_at + FIELD(v, at, Shdr, sh_name);
        if (type == SHT_NOTE)
            read_notes(out, v, FIELD(v, at, Shdr, sh_offset), FIELD(v, at, Shdr, sh_size));
        else if (type == SHT_PROGBITS &&
                 (name_is(v, name, text_end, ".debug_info") || name_is(v, name, text_end, ".zdebug_info")))
            out->kind = MIRE_ELF_DEBUG;
        else if ((type == SHT_SYMTAB || type == SHT_DYNSYM) && out->kind == MIRE_ELF_NONE)
            out->kind = MIRE_ELF_SYMTAB;
    }
    return NULL;
}

static const char *read_segments(const struct view *v)
{
    uint64_t table = FIELD(v, 0, Ehdr, e_phoff);
    uint64_t count = FIELD(v, 0, Ehdr, e_phnum);
    if (!table || !count)
        return NULL;
    if (FIELD(v, 0, Ehdr, e_phentsize) != SIZE(v, Phdr) || !inside(v, table, count * SIZE(v, Phdr)))
        return "its program headers lie outside the file";
    return NULL;
}

const char *elf_check(struct elf_facts *out, const void *bytes, size_t len)
{
    struct view v = {bytes, len, false};
    memset(out, 0, sizeof *out);
    out->arch = "other";
    if (len < sizeof(Elf32_Ehdr) || memcmp(bytes, ELFMAG, SELFMAG))
        return "is not an ELF file";
    v.wide = v.bytes[EI_CLASS] == ELFCLASS64;
    if ((!v.wide && v.bytes[EI_CLASS] != ELFCLASS32) || len < SIZE(&v, Ehdr))
        return "is not an ELF file";
    if (v.bytes[EI_DATA] != ELFDATA2LSB)
        return "is not little-endian";
    out->arch = arch_name(FIELD(&v, 0, Ehdr, e_machine));
    const char *wrong = read_segments(&v);
    return wrong ? wrong : read_sections(out, &v);
}
