/* symbols_find.c - walks, and looks into every plain file. */
#include "cli/symbols_find.h"
#include "cli/say.h"
#include "cli/symbols_maps.h"

#include "base/scope.h"
#include "archive/archive.h"
#include "sandbox/open.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SMALLEST 64 /* bytes of the smallest debug file */

static bool is_java(const struct contents_item *item)
{
    enum object_format format = item->facts.format;
    return format == MIRE_FORMAT_MAPPING || format == MIRE_FORMAT_METHODMAP;
}

bool symbols_is_java(const struct found_file *file)
{
    return is_java(&file->item);
}

/* Two files of one id and one length are copies; of others the server uses the better one. */
static bool is_known(const struct found *found, const struct contents_item *item)
{
    const struct object_facts *facts = &item->facts;
    for (size_t i = 0; i < found->count; i++) {
        const struct object_facts *other = &found->files[i].item.facts;
        if (other->id_len == facts->id_len && other->has_dwarf == facts->has_dwarf &&
            found->files[i].item.len == item->len && !memcmp(other->id, facts->id, facts->id_len))
            return true;
    }
    return false;
}

/* The version belongs to the one mapping in the archive; with several mappings it belongs to none. */
static const struct contents_version *version_of(const struct contents *contents, const struct contents_item *item)
{
    size_t mappings = 0;
    for (size_t i = 0; i < contents->count; i++)
        mappings += is_java(&contents->rows[i]);
    return is_java(item) && mappings == 1 ? &contents->version : NULL;
}

static int add(struct found *found, const char *path, const struct contents *contents, const struct contents_item *item,
               int fd)
{
    const struct contents_version *version = version_of(contents, item);

    if (is_known(found, item))
        return 0;
    if (found->count == found->room) {
        size_t room = found->room * 2 + 64;
        struct found_file *files = realloc(found->files, room * sizeof *files);
        if (!files)
            return -1;
        found->files = files;
        found->room = room;
    }
    struct found_file *file = &found->files[found->count];
    *file = (struct found_file){.path = strdup(path), .item = *item, .fd = fd};
    if (version)
        file->version = *version;
    found->count += file->path != NULL;
    return file->path ? 0 : -1;
}

/* An archive stays open, because its files are sent from there. */
static int keep_open(struct found *found, int fd)
{
    int *archives = realloc(found->archives, (found->archive_count + 1) * sizeof *archives);
    if (!archives)
        return -1;
    found->archives = archives;
    found->archives[found->archive_count++] = fd;
    return 0;
}

static int keep_archive(struct found *found, struct contents *contents)
{
    int rc = keep_open(found, contents->fd);
    contents->own = rc != 0;
    return rc;
}

/* Debug files with a map are written once more, with the map after them. */
static int join_maps(struct found *found)
{
    int fd = -1;

    for (size_t i = 0; i < found->count; i++) {
        struct found_file *file = &found->files[i];
        const struct maps_row *map = maps_of(&found->maps, &file->item.facts);
        struct file_bytes whole, bytes;
        if (!map || file->fd >= 0) /* in an archive its own maps count */
            continue;
        if (fd < 0 && ((fd = symbols_maps_scratch()) < 0 || keep_open(found, fd) != 0))
            return -1;
        if (!symbols_map(&whole, &bytes, file))
            continue;
        if (symbols_maps_join(&file->item.at, &file->item.len, fd, bytes.bytes, bytes.len, map))
            file->fd = fd;
        else
            found->missed++;
        file_bytes_unmap(&whole);
    }

    return 0;
}

/* Does a file look as if it should hold something? Most files of a build, and archives of other things, do not. */
static bool is_of_use(int fd, const char *why)
{
    struct file_bytes file;
    if (!file_bytes_map_fd(&file, fd))
        return true;
    bool good = object_begins(file.bytes, file.len) ||
                (archive_is(file.bytes, file.len) && strcmp(why, MIRE_CONTENTS_NONE) != 0);
    file_bytes_unmap(&file);
    return good;
}

static void pass_over(struct found *found, const char *path, const char *why)
{
    size_t i = 0;

    while (i < found->passed_count && strcmp(found->passed[i].why, why) != 0)
        i++;
    if (i == sizeof found->passed / sizeof *found->passed)
        return;
    if (i == found->passed_count) {
        snprintf(found->passed[i].why, sizeof found->passed[i].why, "%s", why);
        found->passed[i].first = strdup(path);
        found->passed_count++;
    }
    found->passed[i].count++;
}

static void print_passed(const struct found *found)
{
    for (size_t i = 0; i < found->passed_count; i++) {
        const char *first = found->passed[i].first ? found->passed[i].first : "a file";
        size_t others = found->passed[i].count - 1;
        if (others)
            say(stderr, "mire symbols: %s, and %zu other%s: each %s\n", first, others, others == 1 ? "" : "s",
                found->passed[i].why);
        else
            say(stderr, "mire symbols: %s %s\n", first, found->passed[i].why);
    }
}

/* The libraries of a system in one file, which is not read: the device support of Xcode has them one by one. */
static bool is_shared_cache(int fd)
{
    static const char magic[] = "dyld_v1";
    char begin[sizeof magic - 1];
    return pread(fd, begin, sizeof begin, 0) == (ssize_t)sizeof begin && !memcmp(begin, magic, sizeof begin);
}

/* Directory for unpacked archives, which may be larger than memory. NULL: unpack in memory. */
static const char *scratch_dir(void)
{
    const char *dir = getenv("TMPDIR");
    dir = dir && *dir ? dir : "/var/tmp";
    return access(dir, W_OK | X_OK) == 0 ? dir : NULL;
}

/* `named`: on the command line. */
static int consider(struct found *found, const char *path, bool named)
{
    struct stat st;
    struct contents contents;
    char why[MIRE_SYMBOL_WHY];
    int rc = 0;

    MIRE_SCOPED(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        say(stderr, "mire symbols: %s: %s\n", path, strerror(errno));
        found->missed++;
        return 0;
    }
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < SMALLEST) {
        if (named)
            pass_over(found, path, "is too short for a debug file");
        found->missed += named;
        return 0;
    }
    if (symbols_maps_take(&found->maps, path, fd))
        return 0;
    if (is_shared_cache(fd)) {
        pass_over(found, path, "is a shared cache: send the libraries that Xcode or `ipsw dyld split` extract from it");
        found->missed += named;
        return 0;
    }
    const char *dir = scratch_dir();
    enum contents_answer answer = contents_open(&contents, why, fd, dir, NULL);
    if (answer == CONTENTS_FAILED && dir) { /* not all file systems have files without a name */
        contents_close(&contents);
        answer = contents_open(&contents, why, fd, NULL, NULL);
    }
    bool unpacked = answer == CONTENTS_GOOD && contents.own;
    if (answer != CONTENTS_GOOD && (named || is_of_use(fd, why)))
        pass_over(found, path, why[0] ? why : "cannot be unpacked");
    found->missed += answer == CONTENTS_FAILED || (named && answer == CONTENTS_WRONG);
    if (unpacked)
        rc = keep_archive(found, &contents);
    for (size_t i = 0; !rc && answer == CONTENTS_GOOD && i < contents.count; i++)
        rc = add(found, path, &contents, &contents.rows[i], unpacked ? contents.fd : -1);
    contents_close(&contents);
    return rc;
}

int symbols_find_files(struct found *out, char *const *paths)
{
    int rc = 0;

    *out = (struct found){0};
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_COMFOLLOW, NULL);
    if (!tree)
        return -1;
    for (FTSENT *entry; !rc && (entry = fts_read(tree));) {
        if (entry->fts_info == FTS_F)
            rc = consider(out, entry->fts_accpath, entry->fts_level == FTS_ROOTLEVEL);
        else if (entry->fts_info == FTS_NS || entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR) {
            say(stderr, "mire symbols: %s: %s\n", entry->fts_path, strerror(entry->fts_errno));
            out->missed++;
        }
    }

    fts_close(tree);
    rc = rc ? rc : join_maps(out);
    print_passed(out);
    return rc;
}

bool symbols_map(struct file_bytes *whole, struct file_bytes *out, const struct found_file *file)
{
    MIRE_SCOPED(close_fd) int fd = file->fd < 0 ? open(file->path, O_RDONLY | O_CLOEXEC) : dup(file->fd);
    if (fd < 0 || !file_bytes_map_fd(whole, fd))
        return false;
    if (file->item.at > whole->len || file->item.len > whole->len - file->item.at) { /* it has changed meanwhile */
        file_bytes_unmap(whole);
        return false;
    }
    *out = *whole;
    out->bytes += file->item.at;
    out->len = file->item.len;
    return true;
}

void symbols_found_free(struct found *found)
{
    for (size_t i = 0; i < found->count; i++)
        free(found->files[i].path);
    for (size_t i = 0; i < found->archive_count; i++)
        close(found->archives[i]);
    for (size_t i = 0; i < found->passed_count; i++)
        free(found->passed[i].first);
    free(found->files);
    free(found->archives);
    maps_free(&found->maps);
    *found = (struct found){0};
}
