/*
 * macho.c - reads Mach-O files: programs, libraries and the files in dSYM bundles, of 32 and 64 bits, thin and
 * universal.
 *
 * A universal file has a big-endian header and little-endian slices. Offsets in a slice count from the slice's
 * beginning.
 */
#include "object/parts.h"

#include "base/bytes.h"
#include "base/grow.h"

#include <stdio.h>
#include <string.h>

#define MAGIC_32      0xfeedfaceu
#define MAGIC_64      0xfeedfacfu
#define FAT_32        0xcafebabeu
#define FAT_64        0xcafebabfu
#define CPU_X86       7u
#define CPU_ARM       12u
#define CPU_64        0x01000000u
#define CPU_64_32     0x02000000u
#define LC_SEGMENT    1u
#define LC_SYMTAB     2u
#define LC_ID_DYLIB   0xdu
#define LC_ID_LINKER  0xfu
#define LC_SEGMENT_64 0x19u
#define LC_UUID       0x1bu
#define LC_STARTS     0x26u       /* function starts */
#define ZEROS         1u          /* section type without bytes in the file */
#define CODE_FLAGS    0x80000400u /* section flags: contains only, or some, instructions */
#define SLICES_MAX    64
#define SECTIONS_MAX  256 /* a symbol has its section number in one byte */
#define SYMBOL_STAB   0xe0
#define SYMBOL_TYPE   0x0e
#define STAB_FUNCTION 0x24
#define STAB_OBJECT   0x66
#define SYMBOL_THUMB  8
#define NAME_LEN      16

struct macho {
    struct parts *parts; /* bytes and len of the slice */
    bool wide;
    uint64_t text;                      /* load address of __TEXT; function starts count from it */
    struct code sections[SECTIONS_MAX]; /* {0, 0} for a section without code */
    size_t section_count;
    uint64_t symbols, symbol_count, names, names_len;
    uint64_t starts, starts_len;
};

static const struct {
    const char *name; /* after __debug_; a file cuts the whole name to 16 characters */
    enum section_name section;
} wanted[] = {
    {"info", MIRE_SECTION_INFO}, {"abbrev", MIRE_SECTION_ABBREV},     {"line", MIRE_SECTION_LINE},
    {"str", MIRE_SECTION_STR},   {"line_str", MIRE_SECTION_LINE_STR}, {"str_offs", MIRE_SECTION_STR_OFFSETS},
    {"addr", MIRE_SECTION_ADDR}, {"ranges", MIRE_SECTION_RANGES},     {"rnglists", MIRE_SECTION_RNGLISTS},
};

static uint32_t load_big(const uint8_t *at)
{
    return swap_32(load_32(at));
}

bool parts_are_macho(const uint8_t *bytes, size_t len)
{
    if (len < 28)
        return false;
    uint32_t magic = load_32(bytes);
    uint32_t big = swap_32(magic);
    /* A Java class file has the magic of a universal file, followed by a version above 40 in place of the slice
     * count. */
    return magic == MAGIC_32 || magic == MAGIC_64 || big == MAGIC_32 || big == MAGIC_64 ||
           ((big == FAT_32 || big == FAT_64) && load_big(bytes + 4) < 40);
}

static const char *arch_name(uint32_t cpu)
{
    switch (cpu) {
    case CPU_X86 | CPU_64:
        return "x86_64";
    case CPU_ARM | CPU_64:
    case CPU_ARM | CPU_64_32:
        return "aarch64";
    case CPU_ARM:
        return "arm";
    case CPU_X86:
        return "x86";
    default:
        return "other";
    }
}

const char *object_slice_arch(const void *bytes, size_t len)
{
    static const struct {
        uint32_t cpu, kind; /* kind 0: any other */
        const char *name;
    } rows[] = {
        {CPU_X86 | CPU_64, 8, "x86_64h"},
        {CPU_X86 | CPU_64, 0, "x86_64"},
        {CPU_ARM | CPU_64, 2, "arm64e"},
        {CPU_ARM | CPU_64, 0, "arm64"},
        {CPU_ARM | CPU_64_32, 0, "arm64_32"},
        {CPU_ARM, 6, "armv6"},
        {CPU_ARM, 11, "armv7s"},
        {CPU_ARM, 12, "armv7k"},
        {CPU_ARM, 0, "armv7"},
        {CPU_X86, 0, "i386"},
    };
    uint32_t magic = len >= 28 ? load_32(bytes) : 0;
    if (magic != MAGIC_32 && magic != MAGIC_64)
        return "";
    uint32_t cpu = load_32((const uint8_t *)bytes + 4);
    uint32_t kind = load_32((const uint8_t *)bytes + 8) & 0xffffff; /* flags in the high byte */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].cpu == cpu && (!rows[i].kind || rows[i].kind == kind))
            return rows[i].name;
    return "";
}

/* A section named __zdebug_..., as Go writes them: "ZLIB", the length in big-endian, and zlib data. */
static bool is_packed(struct packed *out, const uint8_t *bytes, uint64_t size)
{
    if (size < 12 || memcmp(bytes, "ZLIB", 4) != 0)
        return false;
    *out = (struct packed){.from = bytes + 12, .from_len = size - 12, .to_len = __builtin_bswap64(load_64(bytes + 4))};
    return true;
}

static void take_dwarf(struct macho *macho, const char *name, const uint8_t *bytes, uint64_t size)
{
    struct parts *parts = macho->parts;
    struct object *object = parts->object;
    struct packed packed = {0};
    bool old = !strncmp(name, "__zdebug_", 9);
    size_t prefix = old ? 9 : 8;
    if ((!old && strncmp(name, "__debug_", 8) != 0) || (old && !is_packed(&packed, bytes, size)))
        return;
    if (object)
        object->dwarf_bytes += old ? packed.to_len : size;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        enum section_name section = wanted[i].section;
        if (strncmp(name + prefix, wanted[i].name, NAME_LEN - prefix) != 0)
            continue;
        parts->facts.has_dwarf |= section == MIRE_SECTION_INFO && size;
        if (!object || object->sections[section].bytes)
            continue;
        object->sections[section] = (struct section){bytes, size};
        packed.name = section;
        if (old)
            parts->packed[parts->packed_count++] = packed;
    }
}

/* Keep a loaded section that is Go's table of functions or may point to it. */
static const char *take_loaded(struct macho *macho, const char *name, const struct loaded *part)
{
    struct loaded_list *list = &macho->parts->loaded;
    if (!strncmp(name, "__text", NAME_LEN))
        macho->parts->object->go_text = part->address;
    if (!strncmp(name, "__gopclntab", NAME_LEN)) {
        macho->parts->object->go = (struct section){part->bytes, part->len};
        macho->parts->object->go_address = part->address;
    }
    if (!GROW(list))
        return "needs more memory than there is";
    list->rows[list->count++] = *part;
    return NULL;
}

static const char *take_section(struct macho *macho, const uint8_t *at)
{
    struct parts *parts = macho->parts;
    uint64_t address = macho->wide ? load_64(at + 32) : load_32(at + 32);
    uint64_t size = macho->wide ? load_64(at + 40) : load_32(at + 36);
    uint64_t offset = load_32(at + (macho->wide ? 48 : 40));
    uint32_t flags = load_32(at + (macho->wide ? 64 : 56));
    struct code code = {0};
    if (!strncmp((const char *)at + NAME_LEN, "__DWARF", NAME_LEN)) { /* segment name */
        if (!parts_hold(parts, offset, size))
            return "has a section that lies outside the file";
        take_dwarf(macho, (const char *)at, parts->bytes + offset, size);
    }
    if (flags & CODE_FLAGS && size && address <= UINT64_MAX - size)
        code = (struct code){address, address + size};
    if (macho->section_count < SECTIONS_MAX)
        macho->sections[macho->section_count++] = code;
    const char *segment = (const char *)at + NAME_LEN;
    parts->facts.has_symbols |= !strncmp((const char *)at, "__gopclntab", NAME_LEN);
    bool zeros = (flags & 0xff) == ZEROS;
    if (parts->object && !zeros && size && parts_hold(parts, offset, size) &&
        strncmp(segment, "__DWARF", NAME_LEN) != 0) {
        const struct loaded part = {address, parts->bytes + offset, size, !strncmp(segment, "__DATA", 6)};
        const char *wrong = take_loaded(macho, (const char *)at, &part);
        if (wrong)
            return wrong;
    }
    if (!parts->object || !code.high)
        return NULL;
    if (!GROW(&parts->code))
        return "needs more memory than there is";
    parts->code.rows[parts->code.count++] = code;
    return NULL;
}

static const char *take_segment(struct macho *macho, const uint8_t *at, uint32_t len)
{
    uint32_t head = macho->wide ? 72 : 56;
    uint32_t each = macho->wide ? 80 : 68;
    if (len < head)
        return "has a load command that is too short";
    uint32_t count = load_32(at + (macho->wide ? 64 : 48));
    if (count > (len - head) / each)
        return "has a load command that is too short";
    if (!strncmp((const char *)at + 8, "__TEXT", NAME_LEN))
        macho->parts->facts.begin = macho->text = macho->wide ? load_64(at + 24) : load_32(at + 24);
    const char *wrong = NULL;
    for (uint32_t i = 0; i < count && !wrong; i++)
        wrong = take_section(macho, at + head + i * each);
    return wrong;
}

/* Apple's systems have their libraries in these folders, and keep the DWARF to themselves. */
static bool is_of_system(const uint8_t *at, uint32_t len)
{
    static const char *const folders[] = {"/System/", "/usr/lib/"};
    uint32_t name = len >= 12 ? load_32(at + 8) : len;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (name < len && len - name > strlen(folders[i]) && !memcmp(at + name, folders[i], strlen(folders[i])))
            return true;
    return false;
}

static const char *take_command(struct macho *macho, const uint8_t *at, uint32_t command, uint32_t len)
{
    struct object_facts *facts = &macho->parts->facts;
    if (command == (macho->wide ? LC_SEGMENT_64 : LC_SEGMENT))
        return take_segment(macho, at, len);
    if (command == LC_UUID && len >= 24) {
        memcpy(facts->id, at + 8, 16);
        facts->id_len = 16;
    } else if (command == LC_ID_DYLIB || command == LC_ID_LINKER) {
        facts->system = is_of_system(at, len);
    } else if (command == LC_SYMTAB && len >= 24) {
        macho->symbols = load_32(at + 8);
        macho->symbol_count = load_32(at + 12);
        macho->names = load_32(at + 16);
        macho->names_len = load_32(at + 20);
        if (!parts_hold(macho->parts, macho->symbols, macho->symbol_count * (macho->wide ? 16 : 12)) ||
            !parts_hold(macho->parts, macho->names, macho->names_len))
            return "has a symbol table that lies outside the file";
        facts->has_symbols |= macho->symbol_count > 0;
    } else if (command == LC_STARTS && len >= 16) {
        macho->starts = load_32(at + 8);
        macho->starts_len = load_32(at + 12);
        if (!parts_hold(macho->parts, macho->starts, macho->starts_len))
            return "has a table of functions that lies outside the file";
    }
    return NULL;
}

static const struct code *section_of(const struct macho *macho, uint64_t address)
{
    for (size_t i = 0; i < macho->section_count; i++)
        if (address >= macho->sections[i].low && address < macho->sections[i].high)
            return &macho->sections[i];
    return NULL;
}

/*
 * Add a row of the debug map. A row is an object file, or one of the two rows of a function: name and address; then no
 * name, and the size. Returns NULL, or the problem.
 */
static const char *take_stab(struct parts *parts, uint8_t kind, const char *name, uint64_t value)
{
    struct mapped_list *objects = &parts->mapped;
    struct function_list *functions = &parts->functions;
    if (kind == STAB_OBJECT && *name) {
        if (!GROW(objects))
            return "needs more memory than there is";
        objects->rows[objects->count++] = (struct mapped_object){name, (uint32_t)functions->count, 0};
    } else if (kind == STAB_FUNCTION && objects->count && *name) {
        if (functions->count == UINT32_MAX || !GROW(functions))
            return "needs more memory than there is";
        functions->rows[functions->count++] = (struct mapped_function){name + (*name == '_'), value, 0};
        objects->rows[objects->count - 1].function_count++;
    } else if (kind == STAB_FUNCTION && functions->count) {
        functions->rows[functions->count - 1].size = value;
    }
    return NULL;
}

/* Remove the underscore that the C compiler puts before every name. In a BCSymbolMap only some of the names have it. */
static const char *shown_name(const struct macho *macho, const char *name)
{
    const struct object *object = macho->parts->object;
    const char *shown = object ? hidden_name(object->hidden, name) : name;
    if (shown != name && !strncmp(shown, "_Z", 2))
        return shown;
    return shown + (*shown == '_');
}

static const char *take_symbols(struct macho *macho)
{
    struct symbol_list *list = &macho->parts->symbols;
    const uint8_t *at = macho->parts->bytes + macho->symbols;
    for (uint64_t i = 0; i < macho->symbol_count; i++, at += macho->wide ? 16 : 12) {
        uint32_t name_at = load_32(at);
        const char *name = (const char *)macho->parts->bytes + macho->names + name_at;
        uint64_t address = macho->wide ? load_64(at + 8) : load_32(at + 8);
        if (at[4] & SYMBOL_STAB && name_at < macho->names_len) {
            const char *wrong = take_stab(macho->parts, at[4], name, address);
            if (wrong)
                return wrong;
        }
        const struct code *home = at[5] && at[5] <= macho->section_count ? &macho->sections[at[5] - 1] : NULL;
        if (at[4] & SYMBOL_STAB || (at[4] & SYMBOL_TYPE) != SYMBOL_TYPE || !home || name_at >= macho->names_len)
            continue;
        if (load_16(at + 6) & SYMBOL_THUMB)
            address &= ~1ull;
        name = shown_name(macho, name);
        if (!*name || address < home->low || address >= home->high)
            continue;
        if (!GROW(list))
            return "needs more memory than there is";
        uint8_t rank = (uint8_t)(1 + (at[4] & 1)); /* external before local */
        list->rows[list->count++] = (struct symbol){address, home->high, name, rank};
    }
    return NULL;
}

/* Each entry is the distance from the previous function. */
static const char *take_starts(struct macho *macho)
{
    struct symbol_list *list = &macho->parts->frames;
    const uint8_t *p = macho->parts->bytes + macho->starts;
    const uint8_t *end = p + macho->starts_len;
    uint64_t address = macho->text;
    while (p < end) {
        uint64_t step = load_uleb(&p);
        address += step;
        if (!step)
            break;
        const struct code *home = section_of(macho, address & ~1ull);
        if (!home)
            continue;
        if (!GROW(list))
            return "needs more memory than there is";
        list->rows[list->count++] = (struct symbol){address & ~1ull, home->high, "", 0};
    }
    for (size_t i = 0; i + 1 < list->count; i++)
        if (list->rows[i + 1].low > list->rows[i].low && list->rows[i + 1].low < list->rows[i].high)
            list->rows[i].high = list->rows[i + 1].low;
    return NULL;
}

static const char *read_slice(struct parts *parts)
{
    struct macho macho = {.parts = parts, .wide = parts->len >= 32 && load_32(parts->bytes) == MAGIC_64};
    if (parts->len >= 4 && (load_big(parts->bytes) == MAGIC_32 || load_big(parts->bytes) == MAGIC_64))
        return "is big-endian, and such files are not read";
    if (parts->len < 32 || (!macho.wide && load_32(parts->bytes) != MAGIC_32))
        return "is not a Mach-O file";
    uint32_t count = load_32(parts->bytes + 16);
    uint64_t at = macho.wide ? 32 : 28;
    const char *wrong = NULL;
    parts->facts.format = MIRE_FORMAT_MACHO;
    snprintf(parts->facts.arch, sizeof parts->facts.arch, "%s", arch_name(load_32(parts->bytes + 4)));
    for (uint32_t i = 0; i < count && !wrong; i++) {
        if (!parts_hold(parts, at, 8))
            return "has load commands that lie outside the file";
        uint32_t len = load_32(parts->bytes + at + 4);
        if (len < 8 || !parts_hold(parts, at, len))
            return "has load commands that lie outside the file";
        wrong = take_command(&macho, parts->bytes + at, load_32(parts->bytes + at), len);
        at += len;
    }
    if (!wrong && parts->object)
        wrong = take_symbols(&macho);
    if (!wrong && parts->object)
        wrong = take_starts(&macho);
    return wrong;
}

bool parts_are_universal(const uint8_t *bytes, size_t len)
{
    uint32_t big = parts_are_macho(bytes, len) ? load_big(bytes) : 0;
    return big == FAT_32 || big == FAT_64;
}

struct slice {
    uint64_t at, len;
};

/* Read the position of a slice. False: no such slice, or it lies outside the file. */
static bool find_slice(struct slice *out, const struct parts *file, size_t number)
{
    bool wide = load_big(file->bytes) == FAT_64;
    uint64_t place = 8 + number * (wide ? 32u : 20u);
    if (number >= load_big(file->bytes + 4) || number >= SLICES_MAX || !parts_hold(file, place, wide ? 32 : 20))
        return false;
    const uint8_t *at = file->bytes + place;
    uint64_t offset = wide ? (uint64_t)load_big(at + 8) << 32 | load_big(at + 12) : load_big(at + 8);
    uint64_t size = wide ? (uint64_t)load_big(at + 16) << 32 | load_big(at + 20) : load_big(at + 12);
    *out = (struct slice){offset, size};
    return parts_hold(file, offset, size);
}

bool macho_slice(struct parts *out, const struct parts *file, size_t number)
{
    struct slice slice = {0};
    uint64_t together = 0; /* slices of an honest file do not overlap; the sum limits the work */
    for (size_t i = 0; i <= number; i++) {
        if (!find_slice(&slice, file, i))
            return false;
        together += slice.len;
    }
    *out = (struct parts){.bytes = file->bytes + slice.at, .len = slice.len, .facts = {.arch = "other"}};
    return together <= file->len;
}

const char *macho_read(struct parts *parts, const uint8_t *id, size_t id_len)
{
    if (!parts_are_universal(parts->bytes, parts->len))
        return read_slice(parts);
    uint32_t count = load_big(parts->bytes + 4);
    if (!count || count > SLICES_MAX)
        return "has a list of slices that lies outside the file";
    for (uint32_t i = 0; i < count; i++) {
        struct parts slice;
        if (!macho_slice(&slice, parts, i))
            return "has a slice that lies outside the file, or over another";
        const char *wrong = read_slice(&slice); /* reads the UUID only */
        if (wrong)
            return wrong;
        if (id_len && (slice.facts.id_len != id_len || memcmp(slice.facts.id, id, id_len) != 0))
            continue;
        parts->bytes = slice.bytes;
        parts->len = slice.len;
        parts->facts.universal = count > 1;
        return read_slice(parts);
    }
    return "has no slice with that UUID";
}
