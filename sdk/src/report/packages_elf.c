/*
 * packages_elf.c - modules that were built together with the program, by their ELF files.
 *
 *     note         PT_NOTE of the owner "FDO": JSON with the package's format ("type") and source package ("name");
 *                  distributions that have it give it to every file (systemd.io/ELF_PACKAGE_METADATA)
 *     search path  DT_RUNPATH, otherwise DT_RPATH, of the program. A folder there, such as /usr/lib/shop, is the program's own,
 *                  with all below it; /usr/lib and the other folders for libraries of all programs are not
 *
 * Files are read with open and pread: 2 to 5 calls a file. A damaged file says nothing.
 */
#include "report/packages_db.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PARTS_MAX    64
#define DYNAMIC_MAX  256
#define TEXT_BYTES   1024
#define PACKAGE_NOTE 0xcafe1a7e
#define HERE         (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)

struct elf {
    int fd;
    size_t count;
    ElfW(Phdr) parts[PARTS_MAX];
};

static bool read_whole(const struct elf *elf, void *out, size_t size, uint64_t offset)
{
    return offset <= INT64_MAX && pread(elf->fd, out, size, (off_t)offset) == (ssize_t)size;
}

/* False: it is no file of this device's kind; close it in any case. */
static bool open_elf(struct elf *out, const char *root, const char *path)
{
    char whole[2 * MIRE_PACKAGE_PATH_BYTES];
    ElfW(Ehdr) head;
    struct stat status;

    snprintf(whole, sizeof(whole), "%s%s", root, path);
    out->fd = path[0] == '/' ? open(whole, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    if (out->fd < 0 || fstat(out->fd, &status) != 0 || !S_ISREG(status.st_mode) ||
        !read_whole(out, &head, sizeof(head), 0) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != HERE || head.e_phentsize != sizeof(*out->parts))
        return false;
    out->count = head.e_phnum < PARTS_MAX ? head.e_phnum : PARTS_MAX;
    return read_whole(out, out->parts, out->count * sizeof(*out->parts), head.e_phoff);
}

static void close_elf(const struct elf *elf)
{
    if (elf->fd >= 0)
        close(elf->fd);
}

/* The end of a JSON string that begins there, at its closing quote; NULL: it has none. */
static const char *end_of_string(const char *at)
{
    for (; *at && *at != '"'; at++)
        if (*at == '\\' && at[1])
            at++;
    return *at ? at : NULL;
}

/* Append the text of a member of a flat JSON object, as it stands there. False: it has no such text, or no room. */
static bool add_member(char *out, const char *json, const char *name)
{
    size_t length = strlen(name), have = strlen(out);
    const char *end;

    for (const char *at = json; (at = strchr(at, '"')); at = end + 1) {
        const char *value;

        end = end_of_string(++at);
        if (!end)
            return false;
        value = end + 1 + strspn(end + 1, " \t\r\n");
        if (*value != ':')
            continue;
        value += 1 + strspn(value + 1, " \t\r\n");
        if ((size_t)(end - at) != length || memcmp(at, name, length) != 0 || *value != '"')
            continue;
        end = end_of_string(++value);
        if (!end || end == value || have + (size_t)(end - value) + 2 > TEXT_BYTES)
            return false;
        snprintf(out + have, TEXT_BYTES - have, "%.*s:", (int)(end - value), value);
        return true;
    }
    return false;
}

/* "deb:evince:" of the package note in a part's bytes; "" if it has none. Numbers are of this device's byte order. */
static void find_in_notes(char *out, const char *notes, size_t size)
{
    ElfW(Nhdr) note;

    for (size_t at = 0; size - at > sizeof(note) + 4;) {
        char json[TEXT_BYTES];
        size_t owner, text;

        memcpy(&note, notes + at, sizeof(note));
        at += sizeof(note);
        owner = ((size_t)note.n_namesz + 3) & ~(size_t)3;
        text = ((size_t)note.n_descsz + 3) & ~(size_t)3;
        if (note.n_namesz > size || note.n_descsz > size || owner + text > size - at)
            return;
        if (note.n_type == PACKAGE_NOTE && note.n_namesz == 4 && memcmp(notes + at, "FDO", 4) == 0 &&
            note.n_descsz < sizeof(json)) {
            memcpy(json, notes + at + owner, note.n_descsz);
            json[note.n_descsz] = '\0';
            if (!add_member(out, json, "type") || !add_member(out, json, "name"))
                out[0] = '\0';
            return;
        }
        at += owner + text;
    }
}

static void find_package(char *out, const struct elf *elf)
{
    char notes[2 * TEXT_BYTES];

    out[0] = '\0';
    for (size_t i = 0; i < elf->count && !out[0]; i++) {
        size_t size = elf->parts[i].p_filesz < sizeof(notes) ? elf->parts[i].p_filesz : sizeof(notes);

        if (elf->parts[i].p_type == PT_NOTE && read_whole(elf, notes, size, elf->parts[i].p_offset))
            find_in_notes(out, notes, size);
    }
}

/* The part of the file with an address; NULL: none. */
static const ElfW(Phdr) * find_part(const struct elf *elf, uint64_t address)
{
    for (size_t i = 0; i < elf->count; i++)
        if (elf->parts[i].p_type == PT_LOAD && address >= elf->parts[i].p_vaddr &&
            address - elf->parts[i].p_vaddr < elf->parts[i].p_filesz)
            return &elf->parts[i];
    return NULL;
}

/* The search path, folders with colons between; "" if the program has none. */
static void find_search_path(char *out, const struct elf *elf)
{
    ElfW(Dyn) entries[DYNAMIC_MAX];
    uint64_t texts = 0, run = 0, old = 0;
    const ElfW(Phdr) *part = NULL, *dynamic = NULL;
    size_t count = 0;
    ssize_t got = 0;

    out[0] = '\0';
    for (size_t i = 0; i < elf->count; i++)
        if (elf->parts[i].p_type == PT_DYNAMIC)
            dynamic = &elf->parts[i];
    if (dynamic)
        count = dynamic->p_filesz < sizeof(entries) ? dynamic->p_filesz / sizeof(*entries) : DYNAMIC_MAX;
    if (count == 0 || !read_whole(elf, entries, count * sizeof(*entries), dynamic->p_offset))
        return;
    for (size_t i = 0; i < count && entries[i].d_tag != DT_NULL; i++) {
        texts = entries[i].d_tag == DT_STRTAB ? entries[i].d_un.d_ptr : texts;
        run = entries[i].d_tag == DT_RUNPATH ? entries[i].d_un.d_val : run;
        old = entries[i].d_tag == DT_RPATH ? entries[i].d_un.d_val : old;
    }
    run = run ? run : old;
    part = run ? find_part(elf, texts + run) : NULL;
    if (part)
        got = pread(elf->fd, out, TEXT_BYTES - 1, (off_t)(part->p_offset + (texts + run - part->p_vaddr)));
    out[got > 0 ? got : 0] = '\0';
}

/*
 * Is a folder one of a program inside the system's, /usr/lib/shop or /lib/x86_64-linux-gnu/shop? Given without a leading
 * /usr. The folder around it is for libraries of all programs. Libraries elsewhere are taken for the app's in any case.
 */
static bool is_own_folder(const char *folder)
{
    const char *rest = folder + strcspn(folder + (*folder == '/'), "/") + (*folder == '/');
    const char *processor = strstr(rest, "-linux-"), *next = *rest ? strchr(rest + 1, '/') : NULL;

    return strncmp(folder, "/lib", 4) == 0 && *rest && (next || !processor);
}

/* Take "//", "/." and "/.." out of an absolute path, in place, and a slash at its end. */
static void tidy_path(char *path)
{
    char *to = path;

    for (const char *at = path; *at;) {
        size_t length = strcspn(++at, "/");

        if (length == 2 && memcmp(at, "..", 2) == 0) {
            while (to > path && *--to != '/')
                ;
        } else if (length > 0 && !(length == 1 && *at == '.')) {
            *to++ = '/';
            memmove(to, at, length);
            to += length;
        }
        at += length;
    }
    *to = '\0';
}

/* A folder of the search path: $ORIGIN is the program's. False: it is relative, or too long. */
static bool make_folder(char *out, const char *text, size_t length, const char *program)
{
    static const char *const origins[] = {"$ORIGIN", "${ORIGIN}"};
    size_t origin = (size_t)(strrchr(program, '/') - program);
    int size = length < MIRE_PACKAGE_PATH_BYTES && *text == '/'
                   ? snprintf(out, MIRE_PACKAGE_PATH_BYTES, "%.*s", (int)length, text)
                   : -1;

    for (size_t i = 0; i < sizeof(origins) / sizeof(*origins); i++) {
        size_t skip = strlen(origins[i]);

        if (length >= skip && memcmp(text, origins[i], skip) == 0 && (length == skip || text[skip] == '/'))
            size = snprintf(out, MIRE_PACKAGE_PATH_BYTES, "%.*s%.*s", (int)origin, program, (int)(length - skip),
                            text + skip);
    }
    if (size < 0 || size >= MIRE_PACKAGE_PATH_BYTES)
        return false;
    tidy_path(out);
    return true;
}

/* Is the module in or below a folder of the search path that is the program's own? */
static bool is_on_path(const char *search, const char *program, const struct package_file *module)
{
    char folder[MIRE_PACKAGE_PATH_BYTES];
    size_t length;

    for (const char *at = search; *at; at += length + (at[length] == ':')) {
        struct package_file own;

        length = strcspn(at, ":");
        if (!make_folder(folder, at, length, program))
            continue;
        mire__package_file(&own, folder);
        if (is_own_folder(own.path) && strncmp(module->path, own.path, own.length) == 0 &&
            module->path[own.length] == '/')
            return true;
    }
    return false;
}

void mire__packages_elf(enum package_tie *ties, const char *root, const char *program, const struct package_file *files,
                        const char *const *paths, size_t count)
{
    char own[TEXT_BYTES] = "", other[TEXT_BYTES], search[TEXT_BYTES] = "";
    struct elf elf;

    if (open_elf(&elf, root, program)) {
        find_package(own, &elf);
        find_search_path(search, &elf);
    }
    close_elf(&elf);
    for (size_t i = 0; i < count && (own[0] || search[0]); i++) {
        if (ties[i] != MIRE_PACKAGE_UNKNOWN)
            continue;
        other[0] = '\0';
        if (own[0] && open_elf(&elf, root, paths[i]))
            find_package(other, &elf);
        if (own[0])
            close_elf(&elf);
        if (other[0])
            ties[i] = strcmp(own, other) == 0 ? MIRE_PACKAGE_SAME : MIRE_PACKAGE_OTHER;
        else if (is_on_path(search, program, &files[i]))
            ties[i] = MIRE_PACKAGE_SAME;
    }
}
