/* headers.c - see headers.h. Signal-safe. */
#include "unwind/headers.h"

#include "platform/arch.h"
#include "platform/platform.h"

#include <elf.h>
#include <string.h>

#define PROGRAM_HEADERS_MAX 256 /* looked at; linkers write some 13 */
#define NOTES_BYTES         512 /* of one PT_NOTE; a build id comes in the first 100 or so */
#define DYNAMIC_MAX         256 /* entries looked at; most have some 30 */

static bool peek(void *out, const struct headers *headers, uint64_t address, size_t size_bytes)
{
    uint64_t from = address - headers->front_at;

    if (from > headers->front_bytes || headers->front_bytes - from < size_bytes)
        return mire__peek(out, address, size_bytes) == size_bytes;
    memcpy(out, headers->front + from, size_bytes);
    return true;
}

static void find_build_id(struct headers *out, uint64_t address, uint64_t size_bytes)
{
    uint8_t notes[NOTES_BYTES];
    size_t size = size_bytes < sizeof(notes) ? (size_t)size_bytes : sizeof(notes), at = 0;
    Elf64_Nhdr note;

    if (!peek(notes, out, address, size))
        return;
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
            out->id_size = note.n_descsz;
            memcpy(out->id, notes + desc, note.n_descsz);
            return;
        }
        at = desc + (note.n_descsz + 3u) / 4 * 4;
    }
}

static void add_segment(struct headers *out, const Elf64_Phdr *part)
{
    if (out->segment_count < MIRE_SEGMENTS_MAX && part->p_memsz > 0)
        out->segments[out->segment_count++] =
            (struct segment){.address = part->p_vaddr,
                             .offset = part->p_filesz ? part->p_offset : MIRE_NO_OFFSET,
                             .size_bytes = part->p_memsz,
                             .executable = part->p_flags & PF_X};
}

/* The first page of the file lies where the segment with the least offset lies; of several such, the lowest one. */
static bool find_load(struct headers *out, uint64_t start)
{
    const struct segment *first = NULL;

    for (uint32_t i = 0; i < out->segment_count; i++) {
        const struct segment *segment = &out->segments[i];

        if (!first || segment->offset < first->offset ||
            (segment->offset == first->offset && segment->address < first->address))
            first = segment;
    }
    if (!first)
        return false;
    out->load = start - (first->address - first->offset);
    out->end = 0;
    for (uint32_t i = 0; i < out->segment_count; i++) {
        uint64_t end = out->load + out->segments[i].address + out->segments[i].size_bytes;

        out->end = end > out->end ? end : out->end;
    }
    return true;
}

static bool read_elf(struct headers *out, uint64_t start, uint64_t size_bytes)
{
    Elf64_Ehdr header;
    Elf64_Phdr part;
    uint64_t at;

    if (!peek(&header, out, start, sizeof(header)) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_machine != mire__arch.elf_machine || header.e_phentsize != sizeof(part) ||
        (header.e_type != ET_DYN && header.e_type != ET_EXEC) || header.e_phnum > PROGRAM_HEADERS_MAX ||
        header.e_phoff > size_bytes || size_bytes - header.e_phoff < header.e_phnum * sizeof(part))
        return false;
    out->is_elf = true;
    at = start + header.e_phoff;
    for (uint32_t i = 0; i < header.e_phnum; i++) {
        if (!peek(&part, out, at + i * sizeof(part), sizeof(part)))
            return false;
        if (part.p_type == PT_LOAD)
            add_segment(out, &part);
    }
    if (!find_load(out, start))
        return false;
    for (uint32_t i = 0; i < header.e_phnum && peek(&part, out, at + i * sizeof(part), sizeof(part)); i++) {
        if (part.p_type == PT_GNU_EH_FRAME) {
            out->eh_frame_hdr = out->load + part.p_vaddr;
        } else if (part.p_type == PT_DYNAMIC) {
            out->dynamic = out->load + part.p_vaddr;
            out->dynamic_bytes = part.p_memsz;
        } else if (part.p_type == PT_NOTE && out->id_size == 0) {
            find_build_id(out, out->load + part.p_vaddr, part.p_memsz);
        }
    }
    return true;
}

/* A library of .NET or Wine: its loader maps each section where the header says, from a file that has no ELF header. */
static bool read_pe(struct headers *out, uint64_t start, uint64_t size_bytes)
{
    uint32_t at, sizes[1];
    uint8_t magic[4];

    if (!peek(&at, out, start + 0x3c, sizeof(at)) || at > size_bytes || size_bytes - at < 84 ||
        !peek(magic, out, start + at, sizeof(magic)) || memcmp(magic, "PE\0", 4) != 0 ||
        !peek(sizes, out, start + at + 80, sizeof(sizes)) || sizes[0] == 0)
        return false;
    out->load = start;
    out->end = start + sizes[0];
    out->segments[0] = (struct segment){.size_bytes = sizes[0], .executable = true};
    out->segment_count = 1;
    return true;
}

bool mire__headers_read(struct headers *out, uint64_t start, uint64_t size_bytes)
{
    size_t front = size_bytes < sizeof(out->front) ? (size_t)size_bytes : sizeof(out->front);

    out->is_elf = false;
    out->segment_count = out->id_size = 0;
    out->eh_frame_hdr = out->dynamic = out->dynamic_bytes = 0;
    out->front_at = start;
    out->front_bytes = mire__peek(out->front, start, front);
    if (out->front_bytes < sizeof(Elf64_Ehdr))
        return false;
    if (memcmp(out->front, ELFMAG, SELFMAG) == 0)
        return read_elf(out, start, size_bytes);
    return memcmp(out->front, "MZ", 2) == 0 && read_pe(out, start, size_bytes);
}

size_t mire__headers_soname(char *out, size_t cap_bytes, const struct headers *headers)
{
    uint64_t names = 0, soname = UINT64_MAX;
    const char *last;
    size_t size;
    Elf64_Dyn entry;

    for (uint32_t i = 0; i < DYNAMIC_MAX && (i + 1) * sizeof(entry) <= headers->dynamic_bytes; i++) {
        if (!peek(&entry, headers, headers->dynamic + i * sizeof(entry), sizeof(entry)) || entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_STRTAB)
            names = entry.d_un.d_ptr;
        else if (entry.d_tag == DT_SONAME)
            soname = entry.d_un.d_val;
    }
    if (names == 0 || soname == UINT64_MAX)
        return 0;
    if (names < headers->load) /* glibc has moved the pointers of the section to where the module lies, others do not */
        names += headers->load;
    size = mire__peek(out, names + soname, cap_bytes);
    last = memchr(out, '\0', size);
    return last ? (size_t)(last - out) : 0;
}
