/*
 * search.c - examines files one by one. A file's name and path prove nothing; its contents decide.
 */
#include "symbolizer/search.h"
#include "archive/archive.h"
#include "archive/contents.h"
#include "sandbox/open.h"

#include "base/bytes.h"
#include "base/id.h"
#include "base/scope.h"
#include "base/write.h"

#include <fcntl.h>
#include <libdeflate.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BREAKPAD_ID 16 /* bytes of a build id that a Breakpad file contains, if it does not contain the whole id */

/* The id of a Breakpad file that contains only a UUID: the first bytes of the build id, padded with zeros. */
static void breakpad_id(uint8_t out[BREAKPAD_ID], const uint8_t *id, size_t id_len)
{
    memset(out, 0, BREAKPAD_ID);
    memcpy(out, id, id_len < BREAKPAD_ID ? id_len : BREAKPAD_ID);
}

static bool is_of(const struct object_facts *facts, const uint8_t *id, size_t id_len)
{
    uint8_t uuid[BREAKPAD_ID];
    if (facts->id_len == id_len && !memcmp(facts->id, id, id_len))
        return true;
    breakpad_id(uuid, id, id_len);
    return facts->format == MIRE_FORMAT_BREAKPAD && facts->id_len == BREAKPAD_ID &&
           !memcmp(facts->id, uuid, sizeof uuid);
}

/* Returns NULL if a file can be used for a module, otherwise the problem (static). */
static const char *judge_file(struct object_facts *facts, int fd, const uint8_t *id, size_t id_len)
{
    struct file_bytes bytes;
    if (!file_bytes_map_fd(&bytes, fd))
        return "is empty, too large, or no plain file";
    const char *wrong = object_look(facts, bytes.bytes, bytes.len, id, id_len);
    file_bytes_unmap(&bytes);
    if (!wrong && id_len && !is_of(facts, id, id_len))
        wrong = "is of another build";
    if (!wrong && facts->split)
        wrong = "is a split file; its functions are found through the program";
    if (!wrong && (facts->format == MIRE_FORMAT_MAPPING || facts->format == MIRE_FORMAT_METHODMAP))
        wrong = "maps names of Java, not addresses";
    return wrong;
}

/* Open a file and examine it. Returns -1 if it cannot be used; *wrong_out is the reason. */
static int open_file(const char **wrong_out, struct object_facts *facts, const char *path, const uint8_t *id,
                     size_t id_len)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    *wrong_out = fd < 0 ? "cannot be opened" : judge_file(facts, fd, id, id_len);
    if (fd >= 0 && *wrong_out) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Keep an open file of the module, the most informative one first. */
static void keep(struct search *search, int fd, const struct object_facts *given, const char *path)
{
    struct object_facts facts = *given;
    enum symbol_kind kind = facts.has_dwarf ? MIRE_SYMBOLS_DEBUG : MIRE_SYMBOLS_SYMTAB;
    size_t at = search->files.count++;
    if (kind > search->best) {
        search->best = kind;
        snprintf(search->path, sizeof search->path, "%s", path);
        memmove(search->files.fds + 1, search->files.fds, at * sizeof search->files.fds[0]);
        at = 0;
    }
    search->files.fds[at] = fd;
    if (!facts.has_dwarf && facts.link[0]) {
        memcpy(search->link, facts.link, sizeof search->link);
        search->link_crc = facts.link_crc;
    }
    if (facts.has_dwarf && facts.alt_id_len) {
        memcpy(search->alt_id, facts.alt_id, facts.alt_id_len);
        search->alt_id_len = facts.alt_id_len;
    }
}

void search_take(struct search *search, const char *path)
{
    struct object_facts facts;
    if (search->files.count == MIRE_CONVERT_OBJECTS)
        return;
    int fd = open_file(&search->wrong, &facts, path, search->id, search->id_len);
    if (fd >= 0)
        keep(search, fd, &facts, path);
}

/* Copy a part of a file into a file of its own. Returns -1 if a system call fails. */
static int copy_part(int from, uint64_t at, uint64_t len)
{
    struct file_bytes file;
    int fd = memfd_create("mire-member", MFD_CLOEXEC);
    if (fd < 0 || !file_bytes_map_fd(&file, from))
        return fd;
    bool good = at <= file.len && len <= file.len - at && write_all(fd, file.bytes + at, (size_t)len);
    file_bytes_unmap(&file);
    if (good)
        return fd;
    close(fd);
    return -1;
}

/*
 * Take a member of an archive that a program was mapped from: "/x/base.apk!/libx.so", or "/x/base.apk" if the linker
 * gave no member name. The build id selects the member, not its name.
 */
static void take_member(struct search *search, const char *image)
{
    const struct symbols_options *options = search->options;
    const char *mark = strstr(image, "!/");
    struct contents contents;
    struct file_bytes file;
    char path[PATH_MAX], why[MIRE_SYMBOL_WHY];
    snprintf(path, sizeof path, "%.*s", mark ? (int)(mark - image) : PATH_MAX - 1, image);
    MIRE_SCOPED(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (!search->id_len || search->files.count == MIRE_CONVERT_OBJECTS || fd < 0 || !file_bytes_map_fd(&file, fd))
        return;
    bool packed = archive_is(file.bytes, file.len);
    file_bytes_unmap(&file);
    if (!packed)
        return;
    enum contents_answer answer = contents_open(&contents, why, fd, options->cache_dir, options->converter);
    for (size_t i = 0; answer == CONTENTS_GOOD && i < contents.count; i++) {
        const struct contents_item *item = &contents.rows[i];
        int member = is_of(&item->facts, search->id, search->id_len) && !item->facts.split
                         ? copy_part(contents.fd, item->at, item->len)
                         : -1;
        if (member < 0)
            continue;
        keep(search, member, &item->facts, image);
        break;
    }
    contents_close(&contents);
}

/* Find the uploaded file of a build id. Returns 1, 0 if there is none, below zero a fault. */
static int find_uploaded(char *path, size_t room, const struct symbols_options *options, const uint8_t *id,
                         size_t id_len)
{
    if (!options->uploaded || !id_len)
        return 0;
    int found = options->uploaded(options->uploaded_context, path, room, id, id_len);
    uint8_t uuid[BREAKPAD_ID];
    breakpad_id(uuid, id, id_len);
    if (!found && id_len != BREAKPAD_ID)
        found = options->uploaded(options->uploaded_context, path, room, uuid, BREAKPAD_ID);
    return found;
}

static bool name_in_dir(char *path, size_t room, const char *dir, const uint8_t *id, size_t id_len)
{
    char hex[2 * MIRE_SYMBOL_ID_MAX + 1];
    hex_format(hex, id, id_len);
    return id_len && snprintf(path, room, "%s/.build-id/%.2s/%s.debug", dir, hex, hex + 2) < (int)room;
}

/* The contents id of the first file of that build id in the symbol directories; 0: none. */
static uint64_t contents_id_in_dirs(const struct symbols_options *options, const uint8_t *id, size_t id_len)
{
    char path[PATH_MAX];
    struct stat st;
    for (size_t i = 0; i < options->dir_count; i++) {
        if (!name_in_dir(path, sizeof path, options->dirs[i], id, id_len) || stat(path, &st) != 0)
            continue;
        uint64_t given[] = {st.st_dev, st.st_ino, (uint64_t)st.st_size, (uint64_t)st.st_mtim.tv_sec,
                            (uint64_t)st.st_mtim.tv_nsec};
        uint8_t hash[16];
        hash_blake2b(hash, sizeof hash, given, sizeof given);
        uint64_t contents_id = load_64(hash);
        return contents_id + !contents_id;
    }
    return 0;
}

int search_contents_id(uint64_t *out, const struct symbols_options *options, const uint8_t *id, size_t id_len)
{
    int found = 0;
    *out = 0;
    if (options->contents_id && id_len)
        found = options->contents_id(options->uploaded_context, out, id, id_len);
    uint8_t uuid[BREAKPAD_ID];
    breakpad_id(uuid, id, id_len);
    if (options->contents_id && !found && id_len && id_len != BREAKPAD_ID)
        found = options->contents_id(options->uploaded_context, out, uuid, BREAKPAD_ID);
    if (found <= 0)
        *out = found ? 0 : contents_id_in_dirs(options, id, id_len);
    return found < 0 ? found : 0;
}

int search_identify(struct search *search)
{
    return search_contents_id(&search->contents_id, search->options, search->id, search->id_len);
}

int search_alt(struct search *search)
{
    const struct symbols_options *options = search->options;
    struct object_facts facts;
    char path[PATH_MAX];
    if (!search->alt_id_len)
        return 0;
    int rc = search_contents_id(&search->files.alt_contents_id, options, search->alt_id, search->alt_id_len);
    if (rc)
        return rc;
    int found = find_uploaded(path, sizeof path, options, search->alt_id, search->alt_id_len);
    if (found > 0)
        search->files.alt = open_file(&search->wrong, &facts, path, search->alt_id, search->alt_id_len);
    for (size_t i = 0; found >= 0 && search->files.alt < 0 && i < options->dir_count; i++)
        if (name_in_dir(path, sizeof path, options->dirs[i], search->alt_id, search->alt_id_len))
            search->files.alt = open_file(&search->wrong, &facts, path, search->alt_id, search->alt_id_len);
    if (search->files.alt >= 0 && !search->files.alt_contents_id)
        search->files.alt_contents_id = 1; /* contents ids of uploads are unknown */
    return found < 0 ? found : 0;
}

/* Compares the CRC of .gnu_debuglink if the build id is unknown. With a build id search_take() compares the ids. */
static bool is_linked(const struct search *search, const char *path)
{
    struct file_bytes file;
    if (!file_bytes_map(&file, path))
        return false;
    bool same = search->id_len || libdeflate_crc32(0, file.bytes, file.len) == search->link_crc;
    file_bytes_unmap(&file);
    return same;
}

int search_mapping(struct search *search)
{
    const struct symbols_options *options = search->options;
    struct object_facts facts;
    struct file_bytes file;
    int found = options->uploaded ? options->uploaded(options->uploaded_context, search->path, sizeof search->path,
                                                      search->id, search->id_len)
                                  : 0;
    int fd = found > 0 ? open(search->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
    if (fd < 0)
        return found < 0 ? found : 0;
    bool good = file_bytes_map_fd(&file, fd);
    if (good) {
        good = !object_look(&facts, file.bytes, file.len, NULL, 0) &&
               (facts.format == MIRE_FORMAT_MAPPING || facts.format == MIRE_FORMAT_METHODMAP);
        file_bytes_unmap(&file);
    }
    if (!good) {
        close(fd);
        return 0;
    }
    snprintf(search->uploaded, sizeof search->uploaded, "%s", search->path);
    search->files.fds[search->files.count++] = fd;
    return 0;
}

/* The candidates for .gnu_debuglink: beside the image, in .debug beside it, or below a symbol directory. */
void search_linked(struct search *search, const char *image)
{
    const struct symbols_options *options = search->options;
    const char *slash = strrchr(image, '/');
    int dir = slash ? (int)(slash - image) + 1 : 0;
    char path[PATH_MAX];
    for (size_t i = 0; i < options->dir_count + 2 && search->link[0] && search->best != MIRE_SYMBOLS_DEBUG; i++) {
        int len = i == 0   ? snprintf(path, sizeof path, "%.*s%s", dir, image, search->link)
                  : i == 1 ? snprintf(path, sizeof path, "%.*s.debug/%s", dir, image, search->link)
                           : snprintf(path, sizeof path, "%s%.*s%s", options->dirs[i - 2], dir, image, search->link);
        if (len < (int)sizeof path && is_linked(search, path))
            search_take(search, path);
    }
}

int search_all(struct search *search, const char *image)
{
    const struct symbols_options *options = search->options;
    char path[PATH_MAX];
    int found = find_uploaded(path, sizeof path, options, search->id, search->id_len);
    if (found < 0)
        return found;
    if (found > 0) {
        search_take(search, path);
        snprintf(search->uploaded, sizeof search->uploaded, "%s", path);
    }
    for (size_t i = 0; i < options->dir_count && search->best != MIRE_SYMBOLS_DEBUG; i++)
        if (name_in_dir(path, sizeof path, options->dirs[i], search->id, search->id_len))
            search_take(search, path);
    if (options->local_images && image[0] == '/') {
        size_t before = search->files.count;
        search_take(search, image);
        search_linked(search, image);
        if (search->files.count == before)
            take_member(search, image);
    }
    return search_alt(search);
}

void search_close(struct search *search)
{
    for (size_t i = 0; i < search->files.count; i++)
        close(search->files.fds[i]);
    if (search->files.alt >= 0)
        close(search->files.alt);
    if (search->files.splits >= 0)
        close(search->files.splits);
}
