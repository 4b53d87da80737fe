/*
 * packages_rpm.c - rpm: which source package a file's package is of, by the header of that package.
 *
 *     header   entries, bytes of data; for each entry tag, type, offset, count; the data. Numbers are big-endian
 *     file i   of a package is DIRNAMES[DIRINDEXES[i]] BASENAMES[i]
 *     source   SOURCERPM, evince-43.1-2.fc37.src.rpm, without version and release
 */
#include "report/packages_db.h"

#include "base/alloc.h"
#include "report/packages_rpm_db.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SAME_NAME 64 /* packages with a file of one base name that are looked at */

enum tag { SOURCERPM = 1044, DIRINDEXES = 1116, BASENAMES = MIRE_RPM_BASENAMES, DIRNAMES = 1118 };

bool mire__rpm_read(struct rpm_db *db, int fd, void *out, size_t size, uint64_t offset)
{
    if (size > db->left || offset > INT64_MAX - size)
        return false;
    db->left -= size;
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(fd, (uint8_t *)out + done, size - done, (off_t)(offset + done));

        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

struct header {
    const uint8_t *bytes;
    size_t size;
};

/* A package's header; modules that are asked about one after the other are often of one package. */
static bool load(struct header *out, struct rpm_db *db, uint32_t package)
{
    if (!db->loaded || db->loaded_package != package) {
        mire__free(db->loaded);
        db->loaded = db->format->load(db, &db->loaded_size, package);
        db->loaded_package = package;
    }
    *out = (struct header){db->loaded, db->loaded_size};
    return db->loaded != NULL;
}

const uint8_t *mire__rpm_tag(uint32_t *count_out, const uint8_t *header, size_t size, uint32_t tag)
{
    uint64_t entries = size >= 8 ? rpm_be32(header) : 0, data = 8 + entries * 16;

    if (data > size)
        return NULL;
    for (uint64_t i = 0; i < entries; i++) {
        const uint8_t *entry = header + 8 + i * 16;

        *count_out = rpm_be32(entry + 12);
        if (rpm_be32(entry) == tag)
            return rpm_be32(entry + 8) < size - data ? header + data + rpm_be32(entry + 8) : NULL;
    }
    return NULL;
}

static const uint8_t *find_tag(uint32_t *count_out, const struct header *header, enum tag tag)
{
    return mire__rpm_tag(count_out, header->bytes, header->size, tag);
}

/* Text number `index` of a tag's; NULL: it has none. */
static const char *find_text(const struct header *header, enum tag tag, uint32_t index)
{
    uint32_t count;
    const uint8_t *at = find_tag(&count, header, tag), *end = header->bytes + header->size, *zero = NULL;

    for (uint32_t i = 0; at && i < count && i <= index; i++, at = zero ? zero + 1 : NULL) {
        zero = memchr(at, 0, (size_t)(end - at));
        if (zero && i == index)
            return (const char *)at;
    }
    return NULL;
}

/* Is that file of the package the one asked about? */
static bool is_file(const struct header *header, uint32_t index, const struct package_file *file)
{
    char path[MIRE_PACKAGE_PATH_BYTES];
    const char *name = find_text(header, BASENAMES, index), *folder;
    struct package_file listed;
    uint32_t count;
    const uint8_t *at = find_tag(&count, header, DIRINDEXES);

    if (!name || !at || index >= count || (size_t)(header->bytes + header->size - at) / 4 <= index)
        return false;
    folder = find_text(header, DIRNAMES, rpm_be32(at + (size_t)index * 4));
    if (!folder || snprintf(path, sizeof(path), "%s%s", folder, name) >= (int)sizeof(path))
        return false;
    mire__package_file(&listed, path);
    return listed.length == file->length && memcmp(listed.path, file->path, file->length) == 0;
}

/* The name of the source package: without its last two parts. 0: it has none. */
static size_t source_length(const char *package)
{
    size_t length = package ? strlen(package) : 0;

    for (int hyphens = 0; length > 0 && hyphens < 2; hyphens += package[length] == '-')
        length--;
    return length;
}

/* The source of the package that owns a file, and that there is one. */
static bool find_source(char *source, struct rpm_db *db, const struct package_file *file)
{
    struct rpm_ref refs[SAME_NAME];
    const char *slash = strrchr(file->path, '/');
    size_t count;
    bool found = false;

    count = slash && slash[1] ? db->format->find(db, refs, SAME_NAME, slash + 1) : 0;
    for (size_t i = 0; i < count && !found; i++) {
        struct header header;
        const char *package;
        size_t length;

        found = load(&header, db, refs[i].package) && is_file(&header, refs[i].file, file);
        package = found ? find_text(&header, SOURCERPM, 0) : NULL;
        length = source_length(package);
        length = length < MIRE_PACKAGE_PATH_BYTES ? length : MIRE_PACKAGE_PATH_BYTES - 1;
        if (package)
            memcpy(source, package, length);
        source[length] = '\0';
    }
    return found;
}

/* The database of that format in a folder. */
static bool open_db(struct rpm_db *db, const struct rpm_format *format, const char *root, const char *folder)
{
    char path[MIRE_PACKAGE_PATH_BYTES];

    *db = (struct rpm_db){.format = format, .index = -1, .left = MIRE_RPM_READ_MAX};
    snprintf(path, sizeof(path), "%s%s/%s", root, folder, format->file);
    db->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (db->fd >= 0 && format->index) {
        snprintf(path, sizeof(path), "%s%s/%s", root, folder, format->index);
        db->index = open(path, O_RDONLY | O_CLOEXEC);
    }
    return db->fd >= 0 && (!format->index || db->index >= 0) && format->open(db);
}

static void close_db(struct rpm_db *db)
{
    mire__free(db->loaded);
    if (db->format->close)
        db->format->close(db);
    if (db->fd >= 0)
        close(db->fd);
    if (db->index >= 0)
        close(db->index);
}

/* Ask a database about the program and the files. */
static bool ask(struct rpm_db *db, const struct package_file *program, struct package_file *files, size_t count)
{
    char own[MIRE_PACKAGE_PATH_BYTES], source[MIRE_PACKAGE_PATH_BYTES];
    bool owned = find_source(own, db, program);

    for (size_t i = 0; i < count; i++)
        if (find_source(source, db, &files[i])) {
            files[i].found = true;
            files[i].same = owned && own[0] && strcmp(own, source) == 0;
        }
    return owned;
}

bool mire__packages_rpm(const char *root, const struct package_file *program, struct package_file *files, size_t count)
{
    static const char *const folders[] = {"/usr/lib/sysimage/rpm", "/usr/share/rpm", "/var/lib/rpm"};
    static const struct rpm_format *const formats[] = {&mire__rpm_sqlite, &mire__rpm_ndb, &mire__rpm_bdb};
    bool owned = false, opened = false;

    for (size_t i = 0; i < 9 && !opened; i++) {
        struct rpm_db db;

        opened = open_db(&db, formats[i % 3], root, folders[i / 3]);
        if (opened)
            owned = ask(&db, program, files, count);
        close_db(&db);
    }
    return owned;
}
