/*
 * packages_dpkg.c - dpkg: file lists of packages, and which source a package is of.
 */
#include "report/packages_db.h"

#include "base/alloc.h"
#include "base/path.h"
#include "platform/own.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_MAX   (32u << 20)
#define NAME_BYTES 256
#define ALIKE      3 /* first bytes of a program's name and its package's */

void mire__package_file(struct package_file *out, const char *path)
{
    if (strncmp(path, "/usr/", 5) == 0)
        path += 4;
    *out = (struct package_file){.path = path, .length = strlen(path)};
}

char *mire__package_text(size_t *size_out, int folder, const char *name)
{
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
    struct stat status;
    size_t size = 0;
    char *text;

    if (fd < 0)
        return NULL;
    text = fstat(fd, &status) == 0 && status.st_size >= 0 && status.st_size < TEXT_MAX
               ? mire__malloc((size_t)status.st_size + 1)
               : NULL;
    for (ssize_t got = 1; text && got > 0 && size<(size_t)status.st_size; size += got> 0 ? (size_t)got : 0)
        got = read(fd, text + size, (size_t)status.st_size - size);
    close(fd);
    if (text)
        text[size] = '\0';
    *size_out = size;
    return text;
}

/* Is that line of a list the file? */
static bool is_file(const struct package_file *file, const char *line, size_t length)
{
    if (length > 5 && memcmp(line, "/usr/", 5) == 0) {
        line += 4;
        length -= 4;
    }
    return length == file->length && memcmp(line, file->path, length) == 0;
}

/* Look through a package's list: sets `found`, or `same`, of the files in it. Returns whether the program is. */
static bool look_through(int folder, const char *list, const struct package_file *program, struct package_file *files,
                         size_t count, bool same)
{
    bool owned = false;
    size_t size;
    char *text = mire__package_text(&size, folder, list);

    for (const char *line = text, *end; line && line < text + size; line = end + 1) {
        end = memchr(line, '\n', size - (size_t)(line - text));
        if (!end)
            break;
        owned |= is_file(program, line, (size_t)(end - line));
        for (size_t i = 0; i < count; i++)
            if (is_file(&files[i], line, (size_t)(end - line)))
                *(same ? &files[i].same : &files[i].found) = true;
    }
    mire__free(text);
    return owned;
}

/* The package of a list: libgeany0:amd64.list -> libgeany0. False: the file is no list. */
static bool package_of(char *out, const char *list)
{
    size_t length = strlen(list);

    if (length < 6 || length >= NAME_BYTES || strcmp(list + length - 5, ".list") != 0)
        return false;
    length -= 5;
    memcpy(out, list, length);
    out[length] = '\0';
    out[strcspn(out, ":")] = '\0';
    return true;
}

/* The package that owns the program: first of those named alike, then of all. */
static bool find_owner(char *owner, int folder, const struct package_file *program, struct package_file *files,
                       size_t count)
{
    const char *base = mire__path_base(program->path);
    char path[48];
    bool owned = false;

    snprintf(path, sizeof(path), "/proc/thread-self/fd/%d", folder);
    for (int alike = 1; alike >= 0 && !owned; alike--) {
        DIR *lists = mire__own.opendir(path); /* not libc's: that allocates, on a thread of ours */
        struct dirent *entry;

        while (lists && !owned && (entry = mire__own.readdir(lists)))
            if (package_of(owner, entry->d_name) && (strncmp(owner, base, ALIKE) == 0) == (alike == 1))
                owned = look_through(folder, entry->d_name, program, files, count, false);
        if (lists)
            mire__own.closedir(lists);
    }
    return owned;
}

/* A paragraph of the status: "Package: libevview3-3", "Source: evince (43.1)", "Architecture: amd64". */
struct paragraph {
    char package[NAME_BYTES], source[NAME_BYTES], arch[NAME_BYTES];
};

/* The value of a line's field up to the first blank, if that is its name. */
static void read_field(char *out, const char *line, const char *name)
{
    size_t length = strlen(name), size;

    if (strncmp(line, name, length) != 0)
        return;
    size = strcspn(line + length, " \n");
    if (size < NAME_BYTES) {
        memcpy(out, line + length, size);
        out[size] = '\0';
    }
}

/* Read the paragraph that begins there. Returns where the next one begins, NULL at the end of the text. */
static const char *next_paragraph(struct paragraph *out, const char *line)
{
    if (!*line)
        return NULL;
    memset(out, 0, sizeof(*out));
    while (*line && *line != '\n') {
        read_field(out->package, line, "Package: ");
        read_field(out->source, line, "Source: ");
        read_field(out->arch, line, "Architecture: ");
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    if (!out->source[0])
        memcpy(out->source, out->package, sizeof(out->source));
    return line + strspn(line, "\n");
}

/* Look through the lists of all packages of the owner's source. */
static void look_through_source(int folder, const char *status, const char *owner, const struct package_file *program,
                                struct package_file *files, size_t count)
{
    char source[NAME_BYTES] = "", list[2 * NAME_BYTES + 8];
    struct paragraph paragraph;

    for (const char *at = status; (at = next_paragraph(&paragraph, at));)
        if (strcmp(paragraph.package, owner) == 0)
            memcpy(source, paragraph.source, sizeof(source));
    for (const char *at = status; (at = next_paragraph(&paragraph, at));) {
        if (strcmp(paragraph.source, source) != 0)
            continue;
        snprintf(list, sizeof(list), "%s.list", paragraph.package);
        look_through(folder, list, program, files, count, true);
        snprintf(list, sizeof(list), "%s:%s.list", paragraph.package, paragraph.arch);
        look_through(folder, list, program, files, count, true);
    }
}

bool mire__packages_dpkg(const char *root, const struct package_file *program, struct package_file *files, size_t count)
{
    char path[MIRE_PACKAGE_PATH_BYTES], owner[NAME_BYTES];
    bool owned;
    char *status;
    size_t size;
    int folder;

    snprintf(path, sizeof(path), "%s/var/lib/dpkg/info", root);
    folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return false;
    owned = find_owner(owner, folder, program, files, count);
    status = owned ? mire__package_text(&size, folder, "../status") : NULL;
    if (status)
        look_through_source(folder, status, owner, program, files, count);
    mire__free(status);
    close(folder);
    return owned && status;
}
