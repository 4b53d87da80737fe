/*
 * contents.c - the child writes a list of an archive's items; the parent reads the list as untrusted data.
 *
 *     file    [ member ][ member ]... [ row of each item ][ struct contents_end ]
 */
#include "archive/contents.h"
#include "archive/archive.h"
#include "archive/manifest.h"
#include "object/maps.h"

#include "base/grow.h"
#include "base/scope.h"
#include "base/text.h"
#include "base/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "Mire\x7fITM"
#define PAGE  4096u

struct contents_end {
    char magic[8];
    uint64_t count;
    struct contents_version version;
};

/*
 * Copy a name for display. Invalid UTF-8 and control characters are replaced.
 *
 *   room  bytes of `out`; of a longer name the end is copied
 */
static void copy_name(char *out, size_t room, const char *name)
{
    MIRE_SCOPED(text_fini) struct text text = {0};
    text_add_valid(&text, name, strlen(name));
    const char *from = text_failed(&text) || !text.bytes ? "" : text.bytes;
    size_t len = strlen(from);
    if (len >= room) {
        from += len - (room - 1);
        while ((*from & 0xc0) == 0x80) /* a continuation byte */
            from++;
    }
    size_t i = 0;
    for (; from[i]; i++)
        out[i] = (unsigned char)from[i] < ' ' || from[i] == 0x7f ? '_' : from[i];
    out[i] = '\0';
}

static const char *add_item(struct contents *contents, const uint8_t *bytes, uint64_t at, uint64_t len,
                            const char *name)
{
    struct contents_item item = {.at = at, .len = len};
    const char *wrong = object_look(&item.facts, bytes, (size_t)len, NULL, 0);
    if (wrong)
        return wrong;
    if (!item.facts.id_len)
        return "has no GNU build id (link with -Wl,--build-id), and no UUID";
    if (!item.facts.has_dwarf && !item.facts.has_symbols)
        return "has neither DWARF nor a symbol table; send the unstripped or the debug file";
    if (contents->count == MIRE_CONTENTS_MAX || !GROW(contents))
        return "holds too many files";
    copy_name(item.name, sizeof item.name, name);
    contents->rows[contents->count++] = item;
    return NULL;
}

const char *contents_add(struct contents *contents, const uint8_t *bytes, uint64_t at, uint64_t len, const char *name)
{
    size_t before = contents->count;
    const char *wrong = NULL;
    uint64_t slice_at, slice_len;
    for (size_t i = 0; object_slice(&slice_at, &slice_len, bytes, (size_t)len, i); i++) {
        const char *why = add_item(contents, bytes + slice_at, at + slice_at, slice_len, name);
        wrong = wrong ? wrong : why;
    }
    if (contents->count > before)
        return NULL;
    return wrong ? wrong : "has a list of slices that lies outside the file";
}

struct unpacked {
    struct contents contents;
    struct maps maps;
    const char *wrong; /* problem of the first debug file that could not be kept */
    int fd;
};

static bool wanted(void *context, const char *name, const uint8_t *bytes, size_t len)
{
    (void)context;
    return object_begins(bytes, len) || maps_wants(name, bytes, len) || (manifest_is(name) && len < MIRE_ARCHIVE_PEEK);
}

static void passed_over(void *context, const char *wrong)
{
    struct unpacked *unpacked = context;
    unpacked->wrong = unpacked->wrong ? unpacked->wrong : wrong;
}

static bool kept(void *context, uint64_t at, uint64_t len, const char *name)
{
    struct unpacked *unpacked = context;
    uint64_t page = at & ~(uint64_t)(PAGE - 1);
    size_t mapped = (size_t)(at - page + len);
    uint8_t *bytes = mmap(NULL, mapped, PROT_READ, MAP_SHARED, unpacked->fd, (off_t)page);
    if (bytes == MAP_FAILED)
        return false;
    struct contents_version *version = &unpacked->contents.version;
    bool is_object = object_begins(bytes + (at - page), (size_t)len);
    bool is_map = maps_add(&unpacked->maps, name, bytes + (at - page), (size_t)len, at, NULL);
    if (!is_object && !is_map && !version->version[0])
        (void)manifest_read(version, bytes + (at - page), (size_t)len);
    const char *wrong = is_object ? contents_add(&unpacked->contents, bytes + (at - page), at, len, name) : NULL;
    munmap(bytes, mapped);
    unpacked->wrong = unpacked->wrong ? unpacked->wrong : wrong;
    return unpacked->contents.count < MIRE_CONTENTS_MAX;
}

static bool write_rows(int fd, const struct contents *contents)
{
    struct contents_end end = {.count = contents->count, .version = contents->version};
    size_t len = contents->count * sizeof *contents->rows;
    memcpy(end.magic, MAGIC, sizeof end.magic);
    return write_all(fd, contents->rows, len) && write_all(fd, &end, sizeof end);
}

static bool write_part(int fd, uint64_t at, uint64_t len)
{
    uint64_t page = at & ~(uint64_t)(PAGE - 1);
    size_t mapped = (size_t)(at - page + len);
    const uint8_t *bytes = mmap(NULL, mapped, PROT_READ, MAP_SHARED, fd, (off_t)page);
    bool good = bytes != MAP_FAILED && write_all(fd, bytes + (at - page), (size_t)len);
    if (bytes != MAP_FAILED)
        munmap((void *)(uintptr_t)bytes, mapped);
    return good;
}

/* Write each debug file that has a map again, followed by the map. */
static bool attach_maps(struct unpacked *unpacked)
{
    for (size_t i = 0; i < unpacked->contents.count; i++) {
        struct contents_item *item = &unpacked->contents.rows[i];
        const struct maps_row *map = maps_of(&unpacked->maps, &item->facts);
        uint8_t tail[MIRE_HIDDEN_TAIL];
        off_t at = map ? lseek(unpacked->fd, 0, SEEK_CUR) : 0;
        if (!map || (uint64_t)at + item->len + map->len + sizeof tail > MIRE_CONTENTS_BYTES)
            continue;
        hidden_tail(tail, map->len);
        if (!write_part(unpacked->fd, item->at, item->len) || !write_part(unpacked->fd, map->at, map->len) ||
            !write_all(unpacked->fd, tail, sizeof tail))
            return false;
        item->at = (uint64_t)at;
        item->len += map->len + sizeof tail;
    }
    return true;
}

static void say_why(char *why, const char *wrong, const struct archive_end *end)
{
    char where[MIRE_SYMBOL_WHY / 2];
    copy_name(where, sizeof where, end->where);
    if (wrong && end->bounded)
        snprintf(why, MIRE_SYMBOL_WHY, "%s%s%s: send the debug files without that archive", wrong,
                 where[0] ? ", at " : "", where);
    else
        snprintf(why, MIRE_SYMBOL_WHY, "%s", wrong ? wrong : "");
}

bool contents_unpack(char *why, int out, int in)
{
    struct unpacked unpacked = {.fd = out};
    struct archive_use use = {.context = &unpacked,
                              .wanted = wanted,
                              .kept = kept,
                              .passed_over = passed_over,
                              .fd = out,
                              .kept_max = MIRE_CONTENTS_BYTES,
                              .members_max = MIRE_CONTENTS_MAX};
    struct archive_end end = {0};
    struct file_bytes file;
    if (!file_bytes_map_fd(&file, in)) {
        say_why(why, "cannot be mapped", &end);
        return false;
    }
    const char *wrong = archive_read(&end, &use, file.bytes, file.len);
    if (!wrong && !unpacked.contents.count)
        wrong = unpacked.wrong ? unpacked.wrong : MIRE_CONTENTS_NONE;
    if (!wrong && (!attach_maps(&unpacked) || !write_rows(out, &unpacked.contents)))
        wrong = "could not be written";
    file_bytes_unmap(&file);
    free(unpacked.contents.rows);
    maps_free(&unpacked.maps);
    say_why(why, wrong, &end);
    return !wrong;
}

static bool is_sound(const struct contents_item *item, uint64_t file_bytes)
{
    return item->facts.id_len && item->facts.id_len <= MIRE_OBJECT_ID_MAX &&
           item->facts.alt_id_len <= MIRE_OBJECT_ID_MAX && item->at <= file_bytes &&
           item->len <= file_bytes - item->at && memchr(item->name, '\0', sizeof item->name) &&
           memchr(item->facts.arch, '\0', sizeof item->facts.arch);
}

bool contents_read(struct contents *contents)
{
    struct contents_end end;
    struct stat st;
    if (fstat(contents->fd, &st) != 0 || st.st_size < (off_t)sizeof end ||
        pread(contents->fd, &end, sizeof end, st.st_size - (off_t)sizeof end) != (ssize_t)sizeof end ||
        memcmp(end.magic, MAGIC, sizeof end.magic) != 0 || end.count > MIRE_CONTENTS_MAX)
        return false;
    size_t len = (size_t)end.count * sizeof *contents->rows;
    off_t at = st.st_size - (off_t)sizeof end - (off_t)len;
    if (at < 0 || !(contents->rows = malloc(len + 1)) || pread(contents->fd, contents->rows, len, at) != (ssize_t)len)
        return false;
    contents->count = contents->room = (size_t)end.count;
    contents->version = end.version;
    if (!memchr(end.version.version, '\0', sizeof end.version.version) ||
        !memchr(end.version.build, '\0', sizeof end.version.build))
        return false;
    for (size_t i = 0; i < contents->count; i++)
        if (!is_sound(&contents->rows[i], (uint64_t)at))
            return false;
    return true;
}

void contents_close(struct contents *contents)
{
    if (contents->own)
        close(contents->fd);
    free(contents->rows);
    *contents = (struct contents){0};
}
