/*
 * elf.c - reads little-endian ELF files of 32 and 64 bits. Fields are loaded by offset and width; no struct is cast.
 */
#include "object/elf_inside.h"

#include "base/bytes.h"
#include "base/grow.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#define CHDR_ZLIB 1 /* ch_type; the system's elf.h may be older than zstd */
#define CHDR_ZSTD 2

/* Limits of what is read. Sections may overlap, so their sizes do not limit the work. */
#define NAME_LOOK 64u         /* bytes of a section's name; every known name is shorter */
#define NOTES_MAX (16u << 20) /* bytes of notes; the build id of an honest file is among the first */

static const struct {
    const char *name; /* after .debug_ */
    enum section_name section;
} wanted[] = {
    {"info", MIRE_SECTION_INFO},         {"abbrev", MIRE_SECTION_ABBREV},     {"line", MIRE_SECTION_LINE},
    {"str", MIRE_SECTION_STR},           {"line_str", MIRE_SECTION_LINE_STR}, {"str_offsets", MIRE_SECTION_STR_OFFSETS},
    {"addr", MIRE_SECTION_ADDR},         {"ranges", MIRE_SECTION_RANGES},     {"rnglists", MIRE_SECTION_RNGLISTS},
    {"cu_index", MIRE_SECTION_CU_INDEX},
};

bool parts_are_elf(const uint8_t *bytes, size_t len)
{
    return len >= sizeof(Elf32_Ehdr) && !memcmp(bytes, ELFMAG, SELFMAG);
}

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

struct section_row elf_row(const struct elf *elf, uint64_t index)
{
    uint64_t at = elf->table + index * SIZE(elf, Shdr);
    uint64_t name = elf->names + FIELD(elf, at, Shdr, sh_name);
    struct section_row row = {
        .index = index,
        .name = "",
        .type = FIELD(elf, at, Shdr, sh_type),
        .flags = FIELD(elf, at, Shdr, sh_flags),
        .address = FIELD(elf, at, Shdr, sh_addr),
        .offset = FIELD(elf, at, Shdr, sh_offset),
        .size = FIELD(elf, at, Shdr, sh_size),
        .link = FIELD(elf, at, Shdr, sh_link),
        .entry_size = FIELD(elf, at, Shdr, sh_entsize),
    };
    uint64_t room = name >= elf->names && name < elf->names_end ? elf->names_end - name : 0;
    if (room && memchr(elf->parts->bytes + name, '\0', room < NAME_LOOK ? (size_t)room : NAME_LOOK))
        row.name = (const char *)elf->parts->bytes + name;
    return row;
}

static const char *check_tables(struct elf *elf)
{
    struct parts *parts = elf->parts;
    elf->table = FIELD(elf, 0, Ehdr, e_shoff);
    elf->count = FIELD(elf, 0, Ehdr, e_shnum);
    uint64_t names = FIELD(elf, 0, Ehdr, e_shstrndx);
    if (!elf->table)
        return "has no sections";
    if (FIELD(elf, 0, Ehdr, e_shentsize) != SIZE(elf, Shdr) || !parts_hold(parts, elf->table, SIZE(elf, Shdr)))
        return "has a section table that lies outside the file";
    if (!elf->count)
        elf->count = FIELD(elf, elf->table, Shdr, sh_size);
    if (names == SHN_XINDEX)
        names = FIELD(elf, elf->table, Shdr, sh_link);
    if (elf->count > parts->len / SIZE(elf, Shdr) || !parts_hold(parts, elf->table, elf->count * SIZE(elf, Shdr)) ||
        names >= elf->count)
        return "has a section table that lies outside the file";
    for (uint64_t i = 1; i < elf->count; i++) {
        struct section_row row = elf_row(elf, i);
        if (row.type != SHT_NOBITS && !parts_hold(parts, row.offset, row.size))
            return "has a section that lies outside the file";
    }
    struct section_row row = elf_row(elf, names);
    if (row.type == SHT_NOBITS)
        return "has section names that are not in the file";
    elf->names = row.offset;
    elf->names_end = row.offset + row.size;
    return NULL;
}

/* The kind of a DWARF section; MIRE_SECTION_COUNT for an unread one; -1: not DWARF. */
static int wanted_as(const char *name, bool *packed_out, bool *split_out)
{
    *packed_out = !strncmp(name, ".zdebug_", 8);
    if (!*packed_out && strncmp(name, ".debug_", 7) != 0)
        return -1;
    name += *packed_out ? 8 : 7;
    size_t len = strlen(name);
    *split_out = len > 4 && !strcmp(name + len - 4, ".dwo");
    len -= *split_out ? 4 : 0;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (strlen(wanted[i].name) == len && !memcmp(wanted[i].name, name, len))
            return (int)wanted[i].section;
    return MIRE_SECTION_COUNT;
}

/* Get the decompressed length of a section. False: not compressed, or by an unknown method. */
static bool is_packed(struct packed *out, const struct elf *elf, const struct section_row *row, bool old)
{
    const uint8_t *bytes = elf->parts->bytes + row->offset;
    size_t head = elf->wide ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
    if (old)
        head = 12;
    if (row->size < head)
        return false;
    uint64_t type = CHDR_ZLIB;
    uint64_t len;
    if (old) {
        if (memcmp(bytes, "ZLIB", 4) != 0)
            return false;
        len = __builtin_bswap64(load_64(bytes + 4));
    } else {
        type = load_32(bytes);
        len = elf->wide ? load_64(bytes + 8) : load_32(bytes + 4);
    }
    *out =
        (struct packed){.zstd = type == CHDR_ZSTD, .from = bytes + head, .from_len = row->size - head, .to_len = len};
    return type == CHDR_ZLIB || type == CHDR_ZSTD;
}

/* Keep a section that determines a split file's id. */
static void take_split(struct split_parts *out, const struct section *plain, int section, const struct packed *packed)
{
    struct section *to = section == MIRE_SECTION_INFO       ? &out->info
                         : section == MIRE_SECTION_ABBREV   ? &out->abbrev
                         : section == MIRE_SECTION_CU_INDEX ? &out->index
                                                            : NULL;
    if (!to || to->bytes)
        return;
    *to = *plain;
    if (packed) {
        out->packed[out->packed_count] = *packed;
        out->packed[out->packed_count++].name = (enum section_name)section;
    }
}

static const char *take_dwarf(const struct elf *elf, const struct section_row *row, int section, bool old, bool split)
{
    struct parts *parts = elf->parts;
    struct object *object = parts->object;
    struct packed packed;
    bool compressed = old || row->flags & SHF_COMPRESSED;
    if (compressed && !is_packed(&packed, elf, row, old))
        return "has a section that is compressed in an unknown way";
    if (section == MIRE_SECTION_INFO)
        parts->facts.has_dwarf = true;
    if (section == MIRE_SECTION_INFO && split && row->index != elf->split_info)
        return NULL;
    struct section plain = {parts->bytes + row->offset, row->size};
    if (split || section == MIRE_SECTION_CU_INDEX)
        take_split(&parts->split, &plain, section, compressed ? &packed : NULL);
    if (!object)
        return NULL;
    object->dwarf_bytes += compressed ? packed.to_len : row->size;
    if (section == MIRE_SECTION_COUNT || object->sections[section].bytes ||
        (section != MIRE_SECTION_CU_INDEX && split != object->split))
        return NULL; /* not read, a duplicate, or of the other kind in a file with both */
    object->sections[section] = plain;
    if (compressed) {
        packed.name = (enum section_name)section;
        parts->packed[parts->packed_count++] = packed;
    }
    return NULL;
}

static const char *take_code(const struct elf *elf, const struct section_row *row)
{
    struct code_list *code = &elf->parts->code;
    if (!elf->parts->object || !row->size || row->address > UINT64_MAX - row->size)
        return NULL;
    if (!GROW(code))
        return "needs more memory than there is";
    code->rows[code->count++] = (struct code){row->address, row->address + row->size};
    return NULL;
}

/* Go's table of functions; a position-independent program has it in .data.rel.ro. */
static bool is_go_table(const struct section_row *row)
{
    return row->flags & SHF_ALLOC && row->size &&
           (!strcmp(row->name, ".gopclntab") || !strcmp(row->name, ".data.rel.ro.gopclntab"));
}

/* Keep a loaded section that is Go's table or may point to it. */
static const char *take_loaded(const struct elf *elf, const struct section_row *row)
{
    struct parts *parts = elf->parts;
    struct loaded_list *list = &parts->loaded;
    const uint8_t *bytes = parts->bytes + row->offset;
    if (!strcmp(row->name, ".text"))
        parts->object->go_text = row->address;
    if (!(row->flags & SHF_ALLOC) || row->flags & SHF_EXECINSTR || !row->size)
        return NULL;
    if (is_go_table(row)) {
        parts->object->go = (struct section){bytes, row->size};
        parts->object->go_address = row->address;
    }
    if (!GROW(list))
        return "needs more memory than there is";
    list->rows[list->count++] = (struct loaded){row->address, bytes, row->size, row->flags & SHF_WRITE};
    return NULL;
}

static const char *take_row(struct elf *elf, const struct section_row *row)
{
    struct parts *parts = elf->parts;
    const uint8_t *bytes = parts->bytes + row->offset;
    bool old;
    bool split;
    if (row->flags & SHF_EXECINSTR && row->flags & SHF_ALLOC) {
        const char *wrong = take_code(elf, row);
        if (wrong)
            return wrong;
    }
    if (row->type == SHT_NOBITS)
        return NULL;
    if (row->type == SHT_NOTE) {
        uint64_t size = row->size < elf->notes_left ? row->size : elf->notes_left;
        notes_read(&parts->facts, bytes, size);
        elf->notes_left -= size;
    }
    if (row->type == SHT_SYMTAB || row->type == SHT_DYNSYM)
        return elf_take_symbols(elf, row);
    int section = wanted_as(row->name, &old, &split);
    if (section >= 0)
        return take_dwarf(elf, row, section, old, split);
    if (!strcmp(row->name, ".gnu_debugaltlink"))
        altlink_read(&parts->facts, bytes, row->size);
    if (!strcmp(row->name, ".gnu_debuglink"))
        debuglink_read(&parts->facts, bytes, row->size);
    parts->facts.has_symbols |= is_go_table(row);
    if (!parts->object)
        return NULL;
    const char *wrong = take_loaded(elf, row);
    if (wrong)
        return wrong;
    struct section plain = {bytes, row->size};
    if (!strcmp(row->name, ".eh_frame") && !eh_frame_read(&parts->frames, &plain, row->address, elf->wide ? 8 : 4))
        return "needs more memory than there is";
    if (!strcmp(row->name, ".gnu_debugdata"))
        hidden_read(parts, bytes, row->size);
    return NULL;
}

/*
 * With -fdebug-types-section gcc writes one .debug_info.dwo for each type, and one for the code. Returns a score; the
 * section with the highest score is the code's. Of a compressed section only the length is known.
 */
static uint64_t code_worth(const struct elf *elf, const struct section_row *row, bool old)
{
    struct packed packed;
    const uint8_t *bytes = elf->parts->bytes + row->offset;
    if (old || row->flags & SHF_COMPRESSED)
        return is_packed(&packed, elf, row, old) ? 1 + packed.to_len : 1;
    return row->type != SHT_NOBITS && split_begins_with_type(bytes, row->size) ? 1 : 1 + row->size;
}

/*
 * Accept linked files, split files, and dwz files (no code, type ET_REL). If a file has both kinds of DWARF, the
 * ordinary kind is used; in an unlinked file (-gsplit-dwarf=single) the split kind, since it needs no relocation.
 */
static const char *check_type(struct elf *elf, bool *whole_out)
{
    uint64_t most = 0;
    bool linked = FIELD(elf, 0, Ehdr, e_type) != ET_REL;
    bool split = false;
    bool whole = false;
    bool code = false;
    for (uint64_t i = 1; i < elf->count; i++) {
        struct section_row row = elf_row(elf, i);
        bool old;
        bool dwo;
        code |= (row.flags & SHF_EXECINSTR) != 0;
        if (wanted_as(row.name, &old, &dwo) == MIRE_SECTION_INFO) {
            split |= dwo;
            whole |= !dwo;
            uint64_t worth = dwo ? code_worth(elf, &row, old) : 0;
            elf->split_info = worth > most ? i : elf->split_info;
            most = worth > most ? worth : most;
        }
    }
    linked |= !code;
    *whole_out = linked ? whole || !split : !split;
    return linked || split ? NULL : "was not linked (.o, .ko); send what the linker made of it";
}

/* Where the image begins: the page (4 KiB) of the lowest address that is loaded. 0 if no header tells it. */
static uint64_t find_begin(const struct elf *elf)
{
    uint64_t table = FIELD(elf, 0, Ehdr, e_phoff);
    uint64_t count = FIELD(elf, 0, Ehdr, e_phnum);
    uint64_t begin = UINT64_MAX;
    if (FIELD(elf, 0, Ehdr, e_phentsize) != SIZE(elf, Phdr) || !parts_hold(elf->parts, table, count * SIZE(elf, Phdr)))
        return 0;
    for (uint64_t at = table; count; count--, at += SIZE(elf, Phdr)) {
        uint64_t address = FIELD(elf, at, Phdr, p_vaddr);
        if (FIELD(elf, at, Phdr, p_type) == PT_LOAD && address < begin)
            begin = address;
    }
    return begin == UINT64_MAX ? 0 : begin & ~(uint64_t)4095;
}

const char *elf_read(struct parts *parts)
{
    struct elf elf = {.parts = parts, .wide = parts->bytes[EI_CLASS] == ELFCLASS64, .notes_left = NOTES_MAX};
    if ((!elf.wide && parts->bytes[EI_CLASS] != ELFCLASS32) || parts->len < SIZE(&elf, Ehdr))
        return "is not an ELF file";
    if (parts->bytes[EI_DATA] != ELFDATA2LSB)
        return "is big-endian, and such files are not read";
    snprintf(parts->facts.arch, sizeof parts->facts.arch, "%s", arch_name(FIELD(&elf, 0, Ehdr, e_machine)));
    parts->facts.begin = find_begin(&elf);
    const char *wrong = check_tables(&elf);
    bool whole = false;
    if (!wrong)
        wrong = check_type(&elf, &whole);
    bool both = whole && elf.split_info;
    whole = whole && !(parts->want_split && both);
    if (parts->object)
        parts->object->split = !whole;
    for (uint64_t i = 1; i < elf.count && !wrong; i++) {
        struct section_row row = elf_row(&elf, i);
        wrong = take_row(&elf, &row);
    }
    parts->facts.both = both && whole;
    parts->facts.split = !whole && parts->split.info.bytes;
    parts->facts.package = parts->facts.split && parts->split.index.bytes;
    if (parts->facts.split && !wrong)
        wrong = split_inflate(&parts->split);
    if (parts->facts.split && !wrong && !split_id(&parts->facts, &parts->split))
        wrong = "is a split file without an id";
    split_deflate(&parts->split);
    return wrong;
}
