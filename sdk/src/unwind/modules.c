/* modules.c - see modules.h. Signal-safe. */
#include "unwind/modules.h"

#include "platform/arch.h"
#include "platform/platform.h"

#include <elf.h>
#include <string.h>

#define HEADERS_MAX 32   /* program headers of one module; linkers write some 13 */
#define NOTES_BYTES 1024 /* of one PT_NOTE; a build id comes in the first 100 or so */
#define FRONT_BYTES 1024 /* linkers put all that is looked for there */

/* The start of a module, read in one go. */
struct front {
    uint64_t at;
    size_t size_bytes;
    uint8_t bytes[FRONT_BYTES];
};

static size_t peek(void *out, const struct front *front, uint64_t address, size_t size_bytes)
{
    uint64_t from = address - front->at;

    if (from > front->size_bytes || front->size_bytes - from < size_bytes)
        return mire__peek(out, address, size_bytes);
    memcpy(out, front->bytes + from, size_bytes);
    return size_bytes;
}

static void find_build_id(struct module_facts *facts, const struct front *front, uint64_t address, uint64_t size_bytes)
{
    uint8_t notes[NOTES_BYTES];
    size_t size = peek(notes, front, address, size_bytes < sizeof(notes) ? (size_t)size_bytes : sizeof(notes)), at = 0;
    Elf64_Nhdr note;

    while (at + sizeof(note) <= size) {
        memcpy(&note, notes + at, sizeof(note));
        at += sizeof(note);
        if (note.n_namesz > size || note.n_descsz > size)
            return;

        size_t desc = at + (note.n_namesz + 3u) / 4 * 4;

        if (desc + note.n_descsz > size)
            return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(notes + at, "GNU", 4) == 0 &&
            note.n_descsz <= MIRE_BUILD_ID_MAX) {
            facts->id_size = note.n_descsz;
            memcpy(facts->id, notes + desc, note.n_descsz);
            return;
        }
        at = desc + (note.n_descsz + 3u) / 4 * 4;
    }
}

/* Load bias, unwind table and build id, from the ELF header at the module's start. */
static void read_headers(struct module *module, struct module_facts *facts)
{
    Elf64_Ehdr header;
    Elf64_Phdr segments[HEADERS_MAX];
    struct front front;
    bool loaded = false;
    size_t count;

    front.at = module->start;
    front.size_bytes = mire__peek(front.bytes, front.at, sizeof(front.bytes));
    if (peek(&header, &front, module->start, sizeof(header)) != sizeof(header) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != mire__arch.elf_machine ||
        header.e_phentsize != sizeof(segments[0]) || header.e_phoff > 1 << 20)
        return;
    count = header.e_phnum < HEADERS_MAX ? header.e_phnum : HEADERS_MAX;
    count = peek(segments, &front, module->start + header.e_phoff, count * sizeof(segments[0])) / sizeof(segments[0]);
    for (size_t i = 0; i < count; i++) {
        if (segments[i].p_type == PT_LOAD && !loaded) {
            module->load = module->start - (segments[i].p_vaddr - segments[i].p_offset);
            loaded = true;
        }
    }
    for (size_t i = 0; loaded && i < count; i++) {
        if (segments[i].p_type == PT_GNU_EH_FRAME)
            module->eh_frame_hdr = module->load + segments[i].p_vaddr;
        else if (segments[i].p_type == PT_NOTE && facts->id_size == 0)
            find_build_id(facts, &front, module->load + segments[i].p_vaddr, segments[i].p_memsz);
    }
}

/* Mappings of one file that follow each other, while they are gathered. */
struct gather {
    struct modules *modules;
    mire__module_fn *visit;
    void *context;
    struct module module;
    uint64_t first_offset, inode;
    uint64_t signature;
    char path[4096];
    bool any;
};

/* Another module in the same place has another file or another extent. */
static void sign(struct gather *gather)
{
    const uint64_t facts[] = {gather->module.start, gather->module.end, gather->inode, gather->first_offset};

    for (size_t i = 0; i < MIRE_COUNT(facts); i++) /* FNV-1a, by words */
        gather->signature = (gather->signature ^ facts[i]) * 0x100000001b3ull;
}

static void finish_module(struct gather *gather)
{
    static const char deleted[] = " (deleted)";
    struct module *module = &gather->module;
    struct module_facts facts = {.path = ""};
    size_t length = strlen(gather->path);

    if (!gather->any || module->text_end == 0 || gather->modules->count == MIRE_IMAGES_MAX)
        return;
    if (gather->path[0] == '/' || strcmp(gather->path, "[vdso]") == 0) {
        if (length > sizeof(deleted) && strcmp(gather->path + length - (sizeof(deleted) - 1), deleted) == 0)
            gather->path[length - (sizeof(deleted) - 1)] = '\0';
        module->load = module->start - gather->first_offset;
        if (gather->first_offset == 0)
            read_headers(module, &facts);
        facts.path = gather->path;
    }
    gather->modules->list[gather->modules->count++] = *module;
    if (gather->visit)
        gather->visit(gather->context, module, &facts);
    sign(gather);
}

static bool gather_mapping(void *context, const struct mapping *mapping)
{
    struct gather *gather = context;
    bool same = gather->any && mapping->path[0] && mapping->offset > 0 && strcmp(mapping->path, gather->path) == 0;

    if (strcmp(mapping->path, "[vsyscall]") == 0)
        return true;
    if (!same) {
        finish_module(gather);
        gather->any = true;
        gather->module = (struct module){.start = mapping->start};
        gather->first_offset = mapping->offset;
        gather->inode = mapping->inode;
        mire__text_copy(gather->path, sizeof(gather->path), mapping->path);
    }
    gather->module.end = mapping->end;
    if (mapping->executable) {
        if (gather->module.text_end == 0)
            gather->module.text_start = mapping->start;
        gather->module.text_end = mapping->end;
    }
    return true;
}

void mire__modules_read(struct modules *modules, mire__module_fn *visit, void *context)
{
    struct gather gather = {.modules = modules, .visit = visit, .context = context};

    modules->count = 0;
    modules->read_ns = mire__now_ns();
    mire__mappings_visit(gather_mapping, &gather, modules->scratch, sizeof(modules->scratch));
    finish_module(&gather);
    if (gather.signature == modules->signature)
        return;
    modules->signature = gather.signature;
    memset(modules->cache.address, 0, sizeof(modules->cache.address));
    memset(modules->rows.pc, 0, sizeof(modules->rows.pc));
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
