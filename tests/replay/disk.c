/*
 * disk.c - see disk.h.
 */
#include "replay/disk.h"

#include "support/seed.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_MAX 512

const struct op *disk_op(size_t at)
{
    return (const struct op *)(const void *)(shim->log + at);
}

static const char *path_of(const struct op *op)
{
    return (const char *)(op + 1);
}

static const char *path_to_of(const struct op *op)
{
    return path_of(op) + op->path_size;
}

const uint8_t *disk_bytes(const struct op *op)
{
    return (const uint8_t *)(op + 1) + op->path_size + op->path_to_size;
}

struct name {
    char path[128];
    uint32_t inode; /* 0: a directory */
};

struct disk {
    struct name names[FILES_MAX];
    size_t count;
};

static size_t find(const struct disk *disk, const char *path)
{
    size_t i = 0;

    while (i < disk->count && strcmp(disk->names[i].path, path) != 0)
        i++;
    return i;
}

static void add(struct disk *disk, const char *path, uint32_t inode)
{
    size_t i = find(disk, path);

    if (i == FILES_MAX)
        abort();
    snprintf(disk->names[i].path, sizeof(disk->names[i].path), "%s", path);
    disk->names[i].inode = inode;
    disk->count += i == disk->count;
}

static void drop(struct disk *disk, const char *path)
{
    size_t i = find(disk, path);

    if (i < disk->count)
        disk->names[i] = disk->names[--disk->count];
}

/* Returns true for an entry that changes names. */
static bool is_naming(const struct op *op)
{
    return op->kind == OP_MADE || op->kind == OP_DIR || op->kind == OP_RENAMED || op->kind == OP_LINKED ||
           op->kind == OP_REMOVED;
}

static void apply(struct disk *disk, const struct op *op)
{
    switch ((enum op_kind)op->kind) {
    case OP_MADE:
    case OP_DIR:
        add(disk, path_of(op), op->inode);
        break;
    case OP_RENAMED:
        drop(disk, path_of(op));
        add(disk, path_to_of(op), op->inode);
        break;
    case OP_LINKED:
        add(disk, path_to_of(op), op->inode);
        break;
    case OP_REMOVED:
        drop(disk, path_of(op));
        break;
    default:
        break;
    }
}

static bool is_dir_of(const char *dir, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;

    return strlen(dir) == length && strncmp(dir, path, length) == 0;
}

/* Returns true if the directory changed by `changed` was synced before the end. No rename of the scenario leaves its
 * directory. */
static bool is_synced(const struct op *changed, size_t next, size_t end)
{
    for (size_t at = next; at < end; at += disk_op(at)->size)
        if (disk_op(at)->kind == OP_DIR_SYNCED && is_dir_of(path_of(disk_op(at)), path_of(changed)))
            return true;
    return false;
}

static void choose_names(struct disk *disk, size_t end, enum disk_names how, uint64_t *random)
{
    size_t up_to = how == NAMES_UP_TO ? test_roll(random, (uint32_t)end + 1) : 0;

    for (size_t at = 0; at < end;) {
        const struct op *op = disk_op(at);
        bool kept = how == NAMES_THERE || (how == NAMES_UP_TO && at < up_to) ||
                    (how == NAMES_SOME && test_roll(random, 2) == 1);

        at += op->size;
        if (is_naming(op) && (kept || is_synced(op, at, end)))
            apply(disk, op);
    }
}

/* A file: `size` bytes, then zeros up to `length`. */
struct content {
    uint8_t *bytes;
    size_t size, cap;
    uint64_t length;
};

static void put(struct content *content, size_t at, const uint8_t *bytes, size_t size)
{
    if (!size)
        return;
    if (!content->bytes || at + size > content->cap) {
        content->cap = at + size;
        content->bytes = realloc(content->bytes, content->cap);
        if (!content->bytes)
            abort();
    }
    if (at > content->size)
        memset(content->bytes + content->size, 0, at - content->size);
    if (bytes)
        memcpy(content->bytes + at, bytes, size);
    else
        memset(content->bytes + at, 0, size);
    content->size = at + size > content->size ? at + size : content->size;
    content->length = content->size > content->length ? content->size : content->length;
}

static void write_one(struct content *content, const struct op *op, enum disk_data how)
{
    const size_t half = how == DATA_HALF ? op->bytes_size / 2 : op->bytes_size;

    if (op->kind == OP_SIZED) {
        content->size = op->at < content->size ? (size_t)op->at : content->size;
        content->length = op->at;
        return;
    }
    put(content, (size_t)op->at, how == DATA_ZEROS ? NULL : disk_bytes(op), half);
    put(content, (size_t)op->at + half, NULL, op->bytes_size - half);
}

/* Fill the file with all synced data, and with the rest as `how` says. */
static void fill(struct content *content, uint32_t inode, size_t end, enum disk_data how)
{
    size_t synced = 0;

    content->size = 0;
    content->length = 0;
    for (size_t at = 0; at < end; at += disk_op(at)->size)
        if (disk_op(at)->kind == OP_SYNCED && disk_op(at)->inode == inode)
            synced = at;
    for (size_t at = 0; at < end; at += disk_op(at)->size) {
        const struct op *op = disk_op(at);

        if (op->inode != inode || (op->kind != OP_WRITTEN && op->kind != OP_SIZED))
            continue;
        if (at < synced || how != DATA_LOST)
            write_one(content, op, at < synced ? DATA_THERE : how);
    }
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct name *)a)->path, ((const struct name *)b)->path);
}

void disk_make(const char *dir, size_t end, enum disk_names names, enum disk_data data, uint64_t *random)
{
    static struct disk disk;
    struct content content = {.bytes = NULL};
    char path[PATH_MAX];

    disk.count = 0;
    choose_names(&disk, end, names, random);
    qsort(disk.names, disk.count, sizeof(disk.names[0]), by_path); /* directories before their contents */
    for (size_t i = 0; i < disk.count; i++) {
        enum disk_data how = data == DATA_ANY ? (enum disk_data)test_roll(random, DATA_ANY) : data;
        FILE *file;

        snprintf(path, sizeof(path), "%s/%s", dir, disk.names[i].path);
        if (disk.names[i].inode == 0) {
            mkdir(path, 0700);
            continue;
        }
        file = fopen(path, "wb");
        if (!file)
            continue; /* its directory does not exist */
        fill(&content, disk.names[i].inode, end, how);
        if (content.size > 0 && fwrite(content.bytes, 1, content.size, file) != content.size)
            abort();
        fflush(file);
        if (ftruncate(fileno(file), (off_t)content.length) != 0)
            abort();
        fclose(file);
    }
    free(content.bytes);
}
