/*
 * program.c - see program.h. The file is read, never mapped: it may be replaced meanwhile.
 */
#include "preload/program.h"

#include "base/path.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SEGMENTS_MAX 64u
#define NOTES_MAX    8192u
#define DYNAMIC_MAX  256u

static enum program_found judge(const char *path)
{
    struct stat info;

    if (stat(path, &info) != 0)
        return errno == EACCES ? PROGRAM_NOT_EXECUTABLE : PROGRAM_NOT_FOUND;
    if (!S_ISREG(info.st_mode) || access(path, X_OK) != 0)
        return PROGRAM_NOT_EXECUTABLE;
    return PROGRAM_FOUND;
}

enum program_found program_find(char *path, size_t cap_bytes, const char *name)
{
    const char *list = getenv("PATH");
    enum program_found best = PROGRAM_NOT_FOUND;
    size_t length;

    if (strchr(name, '/')) {
        if ((size_t)snprintf(path, cap_bytes, "%s", name) >= cap_bytes)
            return PROGRAM_NOT_FOUND;
        return judge(path);
    }
    if (!list)
        list = "/usr/local/bin:/usr/bin:/bin";
    for (; name[0]; list += length + 1) {
        length = strcspn(list, ":");
        int printed = snprintf(path, cap_bytes, "%.*s%s%s", (int)length, list, length ? "/" : "./", name);
        if (printed > 0 && (size_t)printed < cap_bytes) {
            enum program_found found = judge(path);
            if (found == PROGRAM_FOUND)
                return found;
            if (found == PROGRAM_NOT_EXECUTABLE)
                best = found;
        }
        if (list[length] == '\0')
            break;
    }
    return best;
}

static bool read_at(int fd, void *out, size_t size, uint64_t offset)
{
    return pread(fd, out, size, (off_t)offset) == (ssize_t)size;
}

static void look_for_build_id(struct program_facts *out, int fd, const ElfW(Phdr) * segment)
{
    unsigned char notes[NOTES_MAX];
    size_t size = segment->p_filesz < sizeof(notes) ? segment->p_filesz : sizeof(notes);
    ElfW(Nhdr) note;

    if (!read_at(fd, notes, size, segment->p_offset))
        return;
    for (size_t at = 0; size - at >= sizeof(note);) {
        memcpy(&note, notes + at, sizeof(note));
        at += sizeof(note);
        uint64_t name_size = ((uint64_t)note.n_namesz + 3) & ~3ull, id_size = ((uint64_t)note.n_descsz + 3) & ~3ull;
        if (name_size + id_size > size - at)
            return;
        const unsigned char *id = notes + at + name_size;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(notes + at, "GNU", 4) == 0 &&
            2 * (size_t)note.n_descsz < sizeof(out->build_id)) {
            for (size_t i = 0; i < note.n_descsz; i++)
                snprintf(out->build_id + 2 * i, 3, "%02x", id[i]);
            return;
        }
        at += name_size + id_size;
    }
}

/* The machine and loader of an ELF file; "": no loader. */
struct elf_kind {
    bool is_elf;
    unsigned char class;
    uint16_t machine;
    char loader[64]; /* the file's name alone: distributions have it in different directories */
};

static void look_for_loader(struct elf_kind *out, int fd, const ElfW(Phdr) * segment)
{
    char path[256] = "";
    size_t size = segment->p_filesz < sizeof(path) ? segment->p_filesz : sizeof(path) - 1;

    if (!read_at(fd, path, size, segment->p_offset))
        return;
    snprintf(out->loader, sizeof(out->loader), "%s", mire__path_base(path));
}

/* The file offset of an address. Returns 0 if there is none. */
static uint64_t offset_of(int fd, const ElfW(Ehdr) * header, uint64_t address)
{
    ElfW(Phdr) segment;

    for (unsigned i = 0; i < header->e_phnum && i < SEGMENTS_MAX; i++)
        if (read_at(fd, &segment, sizeof(segment), header->e_phoff + (uint64_t)i * sizeof(segment)) &&
            segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
            return segment.p_offset + (address - segment.p_vaddr);
    return 0;
}

static bool is_sanitizer(const char *library)
{
    static const char *const runtimes[] = {"libasan.so", "libtsan.so", "liblsan.so", "libhwasan.so", "libclang_rt."};

    for (size_t i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]); i++)
        if (strncmp(library, runtimes[i], strlen(runtimes[i])) == 0)
            return true;
    return false;
}

/* Search the libraries that it needs. */
static void look_for_sanitizer(struct program_facts *out, int fd, const ElfW(Ehdr) * header, const ElfW(Phdr) * segment)
{
    ElfW(Dyn) entries[DYNAMIC_MAX];
    size_t size = segment->p_filesz < sizeof(entries) ? segment->p_filesz : sizeof(entries);
    uint64_t names = 0;
    char name[sizeof(out->first)];

    if (!read_at(fd, entries, size, segment->p_offset))
        return;
    for (size_t i = 0; i < size / sizeof(entries[0]); i++)
        if (entries[i].d_tag == DT_STRTAB)
            names = offset_of(fd, header, entries[i].d_un.d_ptr);
    for (size_t i = 0; names && i < size / sizeof(entries[0]) && entries[i].d_tag != DT_NULL; i++) {
        if (entries[i].d_tag != DT_NEEDED || !read_at(fd, name, sizeof(name), names + entries[i].d_un.d_val))
            continue;
        name[sizeof(name) - 1] = '\0';
        if (is_sanitizer(name))
            memcpy(out->first, name, sizeof(name));
    }
}

static void look_at_segments(struct program_facts *out, struct elf_kind *kind, int fd)
{
    ElfW(Ehdr) header;
    ElfW(Phdr) segment;
    bool has_loader = false;

    if (!read_at(fd, &header, sizeof(header), 0) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return;
    *kind = (struct elf_kind){.is_elf = true, .class = header.e_ident[EI_CLASS], .machine = header.e_machine};
    if (kind->class != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        return;
    for (unsigned i = 0; i < header.e_phnum && i < SEGMENTS_MAX; i++) {
        if (!read_at(fd, &segment, sizeof(segment), header.e_phoff + (uint64_t)i * sizeof(segment)))
            return;
        has_loader |= segment.p_type == PT_INTERP;
        if (segment.p_type == PT_INTERP)
            look_for_loader(kind, fd, &segment);
        if (segment.p_type == PT_DYNAMIC)
            look_for_sanitizer(out, fd, &header, &segment);
        if (segment.p_type == PT_NOTE && !out->build_id[0])
            look_for_build_id(out, fd, &segment);
    }
    out->is_static = !has_loader;
}

/* Is it of another kind than mire-run, and so than the preload library? */
static bool is_foreign(const struct elf_kind *kind)
{
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct program_facts facts = {0};
    struct elf_kind own = {0};

    if (fd >= 0) {
        look_at_segments(&facts, &own, fd);
        close(fd);
    }
    if (!own.is_elf || !kind->is_elf)
        return false;
    return kind->class != own.class || kind->machine != own.machine ||
           (kind->loader[0] && own.loader[0] && strcmp(kind->loader, own.loader) != 0);
}

void program_inspect(struct program_facts *out, const char *path)
{
    struct elf_kind kind = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;

    memset(out, 0, sizeof(*out));
    if (stat(path, &info) == 0)
        out->is_privileged = (info.st_mode & S_ISUID && info.st_uid != geteuid()) ||
                             (info.st_mode & S_ISGID && info.st_gid != getegid()) ||
                             (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
    if (fd < 0)
        return;
    look_at_segments(out, &kind, fd);
    close(fd);
    out->is_foreign = is_foreign(&kind);
}
