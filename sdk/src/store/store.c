/*
 * store.c - sealed reports: put, list, get, forget; and the caps.
 *
 * On disk a sealed report is its body, then a skippable zstd frame, which every zstd reader passes over:
 *
 *     body | 0x184D2A5D | size | count of reason 0 | count of reason 1 | ...        (little endian; u32, u32, u64 each)
 */
#include "store/store.h"

#include "platform/platform.h"
#include "store/disk.h"
#include "store/inside.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TRAILER_MAGIC 0x184D2A5Du
#define TRAILER_BYTES (8 + 8 * MIRE_DROP_REASONS)
#define SUFFIX        ".report"
#define ASIDE_AGE_S   3600 /* an aside this old has lost its writer */
#define READ_MAX      (16u << 20)

bool mire__store_path(char out[MIRE_STORE_PATH_MAX], const struct store *store, const char *name, const char *suffix)
{
    int length = snprintf(out, MIRE_STORE_PATH_MAX, "%s/%s%s", store->dir, name, suffix);
    return length > 0 && length < MIRE_STORE_PATH_MAX;
}

static bool report_path(char out[MIRE_STORE_PATH_MAX], const struct store *store, const char *id)
{
    int length = snprintf(out, MIRE_STORE_PATH_MAX, "%s/out/%s" SUFFIX, store->dir, id);
    return length > 0 && length < MIRE_STORE_PATH_MAX;
}

enum mire_err mire__store_open(struct store **store_out, const char *dir, const struct store_caps *caps)
{
    struct store *store = calloc(1, sizeof(*store));
    char path[MIRE_STORE_PATH_MAX];
    enum mire_err err = MIRE_E_STORE;

    *store_out = NULL;
    if (!store)
        return MIRE_E_MEMORY;
    store->caps = *caps;
    if (mire__disk_make_dir(dir) != MIRE_OK || !(store->dir = realpath(dir, NULL)))
        goto fail;
    if (!mire__store_path(path, store, "box", "") || mire__disk_make_dir(path) != MIRE_OK)
        goto fail;
    if (!mire__store_path(path, store, "out", "") || mire__disk_make_dir(path) != MIRE_OK)
        goto fail;
    if (access(path, R_OK | W_OK | X_OK) != 0)
        goto fail;
    *store_out = store;
    return MIRE_OK;
fail:
    mire__store_close(store);
    return err;
}

void mire__store_close(struct store *store)
{
    if (!store)
        return;
    free(store->dir);
    free(store);
}

const char *mire__store_dir(const struct store *store)
{
    return store->dir;
}

static bool is_hex(const char *text, size_t length)
{
    return strspn(text, "0123456789abcdef") == length;
}

enum mire_err mire__store_install(char install[33], struct store *store)
{
    char path[MIRE_STORE_PATH_MAX];
    char digits[33];
    uint8_t random[16];
    const struct disk_part part = {digits, 32};

    if (!mire__store_path(path, store, "install", ""))
        return MIRE_E_STORE;
    for (int tries = 0; tries < 2; tries++) {
        memset(digits, 0, sizeof(digits));
        if (mire__disk_read(digits, 32, path) == 32 && is_hex(digits, 32)) {
            memcpy(install, digits, sizeof(digits));
            return MIRE_OK;
        }
        mire__random(random, sizeof(random));
        for (size_t i = 0; i < sizeof(random); i++)
            snprintf(digits + 2 * i, 3, "%02x", random[i]);
        /* Another process may have been faster: its identifier holds. A damaged file is replaced. */
        mire__disk_write(path, &part, 1, access(path, F_OK) != 0);
    }
    return MIRE_E_STORE;
}

static bool is_id(const char *name)
{
    return strlen(name) == MIRE_STORE_ID_LENGTH + strlen(SUFFIX) && strcmp(name + MIRE_STORE_ID_LENGTH, SUFFIX) == 0 &&
           strspn(name, "0123456789abcdef-") == MIRE_STORE_ID_LENGTH;
}

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct store_item *)a)->id, ((const struct store_item *)b)->id);
}

/* Keep the `cap` smallest ids seen: a full array gives up its largest. */
static size_t keep(struct store_item *items, size_t count, size_t cap, const struct store_item *item)
{
    size_t largest = 0;

    if (count < cap) {
        items[count] = *item;
        return count + 1;
    }
    for (size_t i = 1; i < count; i++)
        if (by_id(&items[i], &items[largest]) > 0)
            largest = i;
    if (count > 0 && by_id(item, &items[largest]) < 0)
        items[largest] = *item;
    return count;
}

bool mire__store_ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), end_length = strlen(end);
    return length > end_length && strcmp(name + length - end_length, end) == 0;
}

void mire__store_sweep(int dir, const char *name)
{
    struct stat info;

    if (mire__store_ends_with(name, ".new") && fstatat(dir, name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
        info.st_mtime < time(NULL) - ASIDE_AGE_S)
        unlinkat(dir, name, 0);
}

size_t mire__store_list(struct store_item *items, size_t cap, struct store *store)
{
    char path[MIRE_STORE_PATH_MAX];
    size_t count = 0;
    DIR *dir;

    if (!mire__store_path(path, store, "out", "") || !(dir = opendir(path)))
        return 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        struct store_item item;
        struct stat info;
        if (!is_id(entry->d_name)) {
            mire__store_sweep(dirfd(dir), entry->d_name);
            continue;
        }
        if (fstatat(dirfd(dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
            continue;
        memcpy(item.id, entry->d_name, MIRE_STORE_ID_LENGTH);
        item.id[MIRE_STORE_ID_LENGTH] = '\0';
        item.bytes = (uint64_t)info.st_size;
        count = keep(items, count, cap, &item);
    }
    closedir(dir);
    qsort(items, count, sizeof(*items), by_id);
    return count;
}

static void store_u64(uint8_t *out, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        out[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t load_u64(const uint8_t *in, size_t bytes)
{
    uint64_t value = 0;

    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)in[i] << 8 * i;
    return value;
}

/* The whole file, split. `told` may be NULL. */
static enum mire_err read_report(void **body_out, size_t *size_out, uint64_t told[MIRE_DROP_REASONS], const char *path)
{
    struct stat info;
    uint8_t *bytes, *trailer;
    size_t size;

    *body_out = NULL;
    *size_out = 0;
    if (stat(path, &info) != 0)
        return MIRE_E_STORE;
    if (info.st_size < TRAILER_BYTES || info.st_size > READ_MAX)
        return MIRE_E_FORMAT;
    size = (size_t)info.st_size;
    bytes = malloc(size);
    if (!bytes)
        return MIRE_E_MEMORY;
    if (mire__disk_read(bytes, size, path) != (ssize_t)size) {
        free(bytes);
        return MIRE_E_STORE;
    }
    trailer = bytes + size - TRAILER_BYTES;
    if (load_u64(trailer, 4) != TRAILER_MAGIC || load_u64(trailer + 4, 4) != TRAILER_BYTES - 8) {
        free(bytes);
        return MIRE_E_FORMAT;
    }
    for (size_t i = 0; told && i < MIRE_DROP_REASONS; i++)
        told[i] = load_u64(trailer + 8 + 8 * i, 8);
    *body_out = bytes;
    *size_out = size - TRAILER_BYTES;
    return MIRE_OK;
}

enum mire_err mire__store_get(void **body_out, size_t *size_out, struct store *store, const char *id)
{
    char path[MIRE_STORE_PATH_MAX];

    *body_out = NULL;
    *size_out = 0;
    return report_path(path, store, id) ? read_report(body_out, size_out, NULL, path) : MIRE_E_STORE;
}

void mire__store_done(struct store *store, const char *id)
{
    char path[MIRE_STORE_PATH_MAX];

    if (report_path(path, store, id))
        unlink(path);
}

void mire__store_drop(struct store *store, const char *id, enum store_reason reason)
{
    uint64_t counts[MIRE_DROP_REASONS] = {0};
    char path[MIRE_STORE_PATH_MAX];
    void *body;
    size_t size;

    if (!report_path(path, store, id))
        return;
    read_report(&body, &size, counts, path);
    free(body);
    /* Of several processes that drop it, the one that removes it counts it. */
    if (unlink(path) != 0)
        return;
    counts[reason]++;
    mire__store_drops_change(store, counts, NULL);
}

/* Milliseconds in a UUIDv7's first 48 bits: "0123abcd-ef01-7...". */
static uint64_t id_ms(const char *id)
{
    return (strtoull(id, NULL, 16) & 0xffffffffu) << 16 | (strtoull(id + 9, NULL, 16) & 0xffffu);
}

/* Drop the oldest until the caps hold; `id` stays, whatever its age. */
static void enforce_caps(struct store *store, const char *id, uint64_t now_ms)
{
    struct store_item *items = calloc(MIRE_STORE_LIST_MAX, sizeof(*items));
    size_t count = items ? mire__store_list(items, MIRE_STORE_LIST_MAX, store) : 0;
    size_t left = count;
    uint64_t bytes = 0;

    for (size_t i = 0; i < count; i++)
        bytes += items[i].bytes;
    for (size_t i = 0; i < count; i++) {
        bool old = id_ms(items[i].id) + store->caps.age_ms < now_ms;
        bool much = left > store->caps.count || bytes > store->caps.bytes;
        if (strcmp(items[i].id, id) == 0 || (!old && !much))
            continue;
        mire__store_drop(store, items[i].id, old ? MIRE_DROP_AGE : MIRE_DROP_FULL);
        bytes -= items[i].bytes;
        left--;
    }
    free(items);
}

enum mire_err mire__store_put(struct store *store, const char *id, const void *body, size_t size,
                              const uint64_t told[MIRE_DROP_REASONS], uint64_t now_ms)
{
    uint8_t trailer[TRAILER_BYTES];
    const struct disk_part parts[2] = {{body, size}, {trailer, sizeof(trailer)}};
    char path[MIRE_STORE_PATH_MAX];

    if (size + sizeof(trailer) > store->caps.bytes || size + sizeof(trailer) > READ_MAX) {
        mire__store_count_drop(store, MIRE_DROP_BIG);
        return MIRE_E_FULL;
    }
    store_u64(trailer, TRAILER_MAGIC, 4);
    store_u64(trailer + 4, TRAILER_BYTES - 8, 4);
    for (size_t i = 0; i < MIRE_DROP_REASONS; i++)
        store_u64(trailer + 8 + 8 * i, told ? told[i] : 0, 8);
    if (!report_path(path, store, id) || mire__disk_write(path, parts, 2, false) != MIRE_OK)
        return MIRE_E_STORE;
    /* Killed here, the counts are told twice: better than never. */
    if (told)
        mire__store_drops_change(store, NULL, told);
    atomic_fetch_add_explicit(&store->written_bytes, size + sizeof(trailer), memory_order_relaxed);
    enforce_caps(store, id, now_ms);
    return MIRE_OK;
}

uint64_t mire__store_written(const struct store *store)
{
    return atomic_load_explicit(&store->written_bytes, memory_order_relaxed);
}

uint64_t mire__store_after(struct store *store)
{
    char path[MIRE_STORE_PATH_MAX];
    char digits[24] = "";

    if (!mire__store_path(path, store, "after", "") || mire__disk_read(digits, sizeof(digits) - 1, path) <= 0)
        return 0;
    return strtoull(digits, NULL, 10);
}

enum mire_err mire__store_set_after(struct store *store, uint64_t wall_ms)
{
    char path[MIRE_STORE_PATH_MAX];
    char digits[24];
    struct disk_part part = {digits, 0};

    part.size = (size_t)snprintf(digits, sizeof(digits), "%llu\n", (unsigned long long)wall_ms);
    if (!mire__store_path(path, store, "after", ""))
        return MIRE_E_STORE;
    return mire__disk_write(path, &part, 1, false);
}
