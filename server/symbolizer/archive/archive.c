/*
 * archive.c - recognizes archives, takes members, and reads archives inside archives.
 *
 * An inner archive is written to the output after the members kept so far, and read from there. Its bytes therefore
 * count as kept, which bounds a file that contains itself or expands forever. Members may overlap, and so may inner
 * archives: each reading of the same bytes counts as work.
 */
#include "archive/archive_inside.h"

#include "base/scope.h"
#include "base/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define DEPTH_MAX  4
#define INSIDE_MAX 2000 /* limit of inner archives */
#define MEMBER     1024 /* bytes of work that each member counts as */
#define PAGE       4096u
#define TOO_MUCH   "unpacks to too much"

/* Archives that are not supported. */
static const struct {
    const char *begin;
    size_t len;
    const char *wrong;
} unread[] = {
    {"7z\xbc\xaf\x27\x1c", 6, "is a 7z archive, which is not read: pack it as zip or tar"},
    {"Rar!\x1a\x07", 6, "is a rar archive, which is not read: pack it as zip or tar"},
    {"\xed\xab\xee\xdb", 4, "is an rpm package, which is not read: send the files of its debug package (rpm2cpio)"},
    {"\x04\x22\x4d\x18", 4, "is compressed by lz4, which is not read: use zstd, xz, gzip or bzip2"},
};

static const char *why_unread(const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < sizeof unread / sizeof *unread; i++)
        if (len >= 32 && !memcmp(bytes, unread[i].begin, unread[i].len))
            return unread[i].wrong;
    return NULL;
}

bool archive_is(const uint8_t *bytes, size_t len)
{
    return stream_kind_of(bytes, len) != STREAM_PLAIN || zip_is(bytes, len) || tar_is(bytes, len) ||
           deb_is(bytes, len) || why_unread(bytes, len);
}

static const char *read_any(struct unpacking *unpacking, const uint8_t *bytes, size_t len);

static bool met_a_bound(const struct unpacking *unpacking)
{
    const struct progress *all = unpacking->all;
    return all->work.done > all->work.most || all->kept_bytes > unpacking->use->kept_max;
}

/* Read an archive in `fd`, unless a limit is reached. */
static const char *read_inside(struct unpacking *around, uint64_t at, uint64_t len, const char *name)
{
    uint64_t page = at & ~(uint64_t)(PAGE - 1);
    size_t mapped = (size_t)(at - page + len);
    MIRE_SCOPED(free_memory) struct unpacking *inside = calloc(1, sizeof *inside);
    uint8_t *bytes = inside ? mmap(NULL, mapped, PROT_READ, MAP_SHARED, around->use->fd, (off_t)page) : MAP_FAILED;
    if (bytes == MAP_FAILED)
        return "needs more memory than there is";
    inside->use = around->use;
    inside->all = around->all;
    inside->depth = around->depth + 1;
    inside->name = name;
    const char *wrong = read_any(inside, bytes + (at - page), (size_t)len);
    munmap(bytes, mapped);
    if (met_a_bound(around))
        return wrong;
    if (wrong && around->use->passed_over)
        around->use->passed_over(around->use->context, wrong);
    return NULL;
}

/* "lib.zip: arm64/libx.so" */
static void whole_name(char *out, const struct unpacking *unpacking, const char *name)
{
    bool both = unpacking->name[0] && name[0];
    snprintf(out, MIRE_ARCHIVE_NAME, "%s%s%s", unpacking->name, both ? ": " : "", name);
}

enum fate { PASS, KEEP, OPEN };

static enum fate fate_of(struct unpacking *unpacking, const char *name, size_t len)
{
    const struct archive_use *use = unpacking->use;
    if (use->wanted(use->context, name, unpacking->chunk, len))
        return KEEP;
    if (unpacking->depth >= DEPTH_MAX || unpacking->all->inside >= INSIDE_MAX || !archive_is(unpacking->chunk, len))
        return PASS;
    return OPEN;
}

const char *member_take(struct unpacking *unpacking, struct stream *stream, uint64_t len, const char *name)
{
    const struct archive_use *use = unpacking->use;
    char whole[MIRE_ARCHIVE_NAME];
    struct progress *all = unpacking->all;
    uint64_t at = all->kept_bytes;
    uint64_t done = 0;
    enum fate fate = PASS;
    if (unpacking->members++ == use->members_max)
        return "holds too many files";
    whole_name(whole, unpacking, name);
    memcpy(all->where, whole, strlen(whole) + 1);
    all->work.done += MEMBER;
    while (done < len && !stream->ended) {
        size_t most = len - done < sizeof unpacking->chunk ? (size_t)(len - done) : sizeof unpacking->chunk;
        size_t got = stream_read(stream, unpacking->chunk, most);
        if (stream->wrong)
            return stream->wrong;
        if (!done)
            fate = fate_of(unpacking, whole, got);
        done += got;
        if (fate == PASS && stream->alone)
            return NULL;
        if (fate == PASS)
            continue;
        all->kept_bytes += got;
        if (all->kept_bytes > use->kept_max)
            return TOO_MUCH;
        if (!write_all(use->fd, unpacking->chunk, got))
            return "could not be written";
    }
    if (len != UINT64_MAX && done < len)
        return "is damaged: it ends within a file";
    if (fate == KEEP && done)
        all->enough = !use->kept(use->context, at, done, whole);
    all->inside += fate == OPEN;
    return fate == OPEN ? read_inside(unpacking, at, done, whole) : NULL;
}

const char *stream_skip(struct unpacking *unpacking, struct stream *stream, uint64_t len)
{
    while (len) {
        size_t most = len < sizeof unpacking->chunk ? (size_t)len : sizeof unpacking->chunk;
        size_t got = stream_read(stream, unpacking->chunk, most);
        if (stream->wrong)
            return stream->wrong;
        if (got < most)
            return "is damaged: it ends within a file";
        len -= got;
    }
    return NULL;
}

static const char *read_stream(struct unpacking *unpacking, const uint8_t *bytes, size_t len)
{
    enum stream_kind kind = stream_kind_of(bytes, len);
    uint8_t first[MIRE_TAR_BLOCK];
    struct stream stream;
    if (!stream_init(&stream, kind, bytes, len, &unpacking->all->work))
        return "needs more memory than there is";
    size_t got = stream_read(&stream, first, sizeof first);
    const char *wrong = stream.wrong;
    if (!wrong && tar_is(first, got)) {
        wrong = tar_read(unpacking, &stream, first);
    } else if (!wrong) { /* a single file: restart from its beginning */
        stream_fini(&stream);
        if (!stream_init(&stream, kind, bytes, len, &unpacking->all->work))
            return "needs more memory than there is";
        wrong = member_take(unpacking, &stream, UINT64_MAX, "");
    }
    stream_fini(&stream);
    return wrong;
}

static const char *read_any(struct unpacking *unpacking, const uint8_t *bytes, size_t len)
{
    const char *wrong = why_unread(bytes, len);
    if (wrong)
        return wrong;
    if (zip_is(bytes, len))
        return zip_read(unpacking, bytes, len);
    if (deb_is(bytes, len))
        return deb_read(unpacking, bytes, len);
    return read_stream(unpacking, bytes, len);
}

static uint64_t most_work(size_t len)
{
    uint64_t most = MIRE_ARCHIVE_FREE + MIRE_ARCHIVE_RATIO * (uint64_t)len;
    return most < MIRE_ARCHIVE_MOST ? most : MIRE_ARCHIVE_MOST;
}

const char *archive_read(struct archive_end *out, const struct archive_use *use, const uint8_t *bytes, size_t len)
{
    struct progress all = {.work.most = most_work(len)};
    MIRE_SCOPED(free_memory) struct unpacking *unpacking = calloc(1, sizeof *unpacking);
    *out = (struct archive_end){0};
    if (!unpacking)
        return "needs more memory than there is";
    unpacking->use = use;
    unpacking->all = &all;
    unpacking->name = "";
    const char *wrong = read_any(unpacking, bytes, len);
    out->work = all.work.done;
    out->bounded = wrong && met_a_bound(unpacking);
    memcpy(out->where, all.where, sizeof out->where);
    return wrong;
}
