/*
 * reports.c - sealed reports: put, list, get. forget.c deletes them.
 *
 * On disk a sealed report is a frame (frame.h), which zstd readers skip, followed by the body.
 */
#include "store/inside.h"

#include "base/alloc.h"
#include "platform/own.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX   ".report"
#define READ_MAX (16u << 20)

bool mire__store_report_path(char out[MIRE_STORE_PATH_MAX], const struct store *store, const char *id)
{
    int length = snprintf(out, MIRE_STORE_PATH_MAX, "%s/out/%s" SUFFIX, store->dir, id);
    return length > 0 && length < MIRE_STORE_PATH_MAX;
}

/* ---- list ---- */

static bool is_id(const char *name)
{
    return strlen(name) == MIRE_STORE_ID_LENGTH + strlen(SUFFIX) && strcmp(name + MIRE_STORE_ID_LENGTH, SUFFIX) == 0 &&
           strspn(name, "0123456789abcdef-") == MIRE_STORE_ID_LENGTH;
}

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct store_item *)a)->id, ((const struct store_item *)b)->id);
}

/* Keep the `cap` smallest ids: in a full array the new item replaces the largest. */
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

/* Value and format from the frame; without a readable frame the lowest value. */
static void read_head(struct store_item *item, int dir, const char *name)
{
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    uint8_t head[MIRE_FRAME_BYTES_MAX];
    ssize_t size = fd < 0 ? -1 : pread(fd, head, sizeof(head), 0);
    struct frame frame;

    if (fd >= 0)
        close(fd);
    if (size < 0 || mire__frame_peek(&frame, head, (size_t)size, item->bytes) > FRAME_OLD)
        return;
    item->value = frame.value;
    item->format = frame.format;
}

size_t mire__store_list(struct store_item *items, size_t cap, struct store *store)
{
    char path[MIRE_STORE_PATH_MAX], name[MIRE_STORE_ID_LENGTH + sizeof(SUFFIX)];
    size_t count = 0;
    DIR *dir;

    if (!mire__store_path(path, store, "out", "") || !(dir = mire__own.opendir(path)))
        return 0;
    for (struct dirent *entry; (entry = mire__own.readdir(dir));) {
        struct store_item item = {.value = MIRE_VALUE_BASELINE};
        struct stat info;
        if (!is_id(entry->d_name)) {
            mire__store_sweep(dirfd(dir), entry->d_name);
            continue;
        }
        if (fstatat(dirfd(dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
            continue;
        memcpy(item.id, entry->d_name, MIRE_STORE_ID_LENGTH);
        item.bytes = (uint64_t)info.st_size;
        count = keep(items, count, cap, &item);
    }
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "%s" SUFFIX, items[i].id);
        read_head(&items[i], dirfd(dir), name);
    }
    mire__own.closedir(dir);
    mire__own.qsort(items, count, sizeof(*items), by_id);
    return count;
}

/* ---- get ---- */

/* The whole file. Returns MIRE_OK, MIRE_E_MEMORY, MIRE_E_STORE. */
static enum mire_err read_file(uint8_t **bytes_out, size_t *size_out, const char *path)
{
    struct stat info;
    uint8_t *bytes;

    *bytes_out = NULL;
    *size_out = 0;
    if (stat(path, &info) != 0)
        return MIRE_E_STORE;
    if (info.st_size > READ_MAX)
        return MIRE_OK; /* too large for a report: no bytes, which is a broken report to the caller */
    bytes = mire__malloc((size_t)info.st_size + 1);
    if (!bytes)
        return MIRE_E_MEMORY;
    if (mire__disk_read(bytes, (size_t)info.st_size, path) != (ssize_t)info.st_size) {
        mire__free(bytes);
        return MIRE_E_STORE;
    }
    *bytes_out = bytes;
    *size_out = (size_t)info.st_size;
    return MIRE_OK;
}

/* A report of the first version is a body without a frame in front. */
static enum frame_state check(struct frame *frame, const uint8_t *bytes, size_t size)
{
    enum frame_state state = bytes ? mire__frame_check(frame, bytes, size) : FRAME_BROKEN;

    return state == FRAME_OLD && frame->body_size == size ? FRAME_BROKEN : state;
}

bool mire__store_report_losses(uint64_t losses[MIRE_DROP_REASONS], const char *path)
{
    struct frame frame;
    uint8_t *bytes;
    size_t size;

    memset(losses, 0, MIRE_DROP_REASONS * sizeof(losses[0]));
    if (read_file(&bytes, &size, path) != MIRE_OK)
        return access(path, F_OK) == 0;
    if (check(&frame, bytes, size) <= FRAME_OLD)
        memcpy(losses, frame.losses, sizeof(frame.losses));
    mire__free(bytes);
    return true;
}

enum mire_err mire__store_get(void **body_out, size_t *size_out, struct store *store, const char *id)
{
    char path[MIRE_STORE_PATH_MAX];
    enum frame_state state;
    struct frame frame;
    uint8_t *bytes;
    size_t size;
    enum mire_err err;

    *body_out = NULL;
    *size_out = 0;
    if (!mire__store_report_path(path, store, id))
        return MIRE_E_STORE;
    err = read_file(&bytes, &size, path);
    if (err != MIRE_OK)
        return err;
    state = check(&frame, bytes, size);
    if (state > FRAME_OLD) {
        mire__free(bytes);
        mire__store_drop(store, id, state == FRAME_NEWER ? MIRE_DROP_FORMAT : MIRE_DROP_BROKEN);
        return MIRE_E_FORMAT;
    }
    memmove(bytes, bytes + frame.body_at, frame.body_size);
    *body_out = bytes;
    *size_out = frame.body_size;
    return MIRE_OK;
}

/* ---- put ---- */

static enum mire_err write_report(struct store *store, const struct store_report *report, const char *path)
{
    const struct disk_part body = {report->body, report->size};
    struct frame frame = {.value = report->value, .format = report->format};
    uint8_t head[MIRE_FRAME_BYTES];
    const struct disk_part parts[2] = {{head, sizeof(head)}, body};
    unsigned how = mire__store_how(store, true);

    if (report->losses)
        memcpy(frame.losses, report->losses, sizeof(frame.losses));
    mire__frame_write(head, &frame, &body, 1);
    if (how & MIRE_DISK_SYNC_NAME)
        mire__store_root(store);
    return mire__disk_write(path, parts, 2, how);
}

static bool is_any(const uint64_t counts[MIRE_DROP_REASONS])
{
    for (size_t i = 0; counts && i < MIRE_DROP_REASONS; i++)
        if (counts[i] > 0)
            return true;
    return false;
}

/* The report, or the one it replaces, has counts: the ledger records the step before it, and its end. */
static enum mire_err put_with_losses(struct store *store, const struct store_report *report, const char *path,
                                     const uint64_t replaced[MIRE_DROP_REASONS])
{
    struct ledger ledger;
    enum mire_err err = MIRE_E_STATE;

    if (!mire__ledger_open(&ledger, store, MIRE_STORE_LOCK_MS)) {
        if (is_any(report->losses))
            return MIRE_E_STATE;
        err = write_report(store, report, path);
        if (err == MIRE_OK)
            mire__store_keep_drops(store, replaced);
        return err;
    }
    if (mire__ledger_seal(&ledger, report, replaced) && mire__ledger_save(&ledger, store, true) == MIRE_OK) {
        err = write_report(store, report, path);
        mire__ledger_finish(&ledger, store);
        mire__ledger_save(&ledger, store, false); /* if it fails, the next process finds the decision and finishes */
    }
    mire__ledger_close(&ledger, store);
    return err;
}

static enum mire_err put_here(struct store *store, const struct store_report *report, uint64_t now_ms)
{
    const uint64_t size = (uint64_t)report->size + MIRE_FRAME_BYTES;
    uint64_t replaced[MIRE_DROP_REASONS];
    char path[MIRE_STORE_PATH_MAX];
    enum mire_err err;

    if (size > store->caps.bytes || size > READ_MAX) {
        mire__store_count_drop(store, MIRE_DROP_BIG);
        return MIRE_E_FULL;
    }
    if (!mire__store_report_path(path, store, report->id))
        return MIRE_E_STORE;
    mire__store_report_losses(replaced, path);
    if (is_any(report->losses) || is_any(replaced))
        err = put_with_losses(store, report, path, replaced);
    else
        err = write_report(store, report, path);
    if (err == MIRE_E_STORE)
        atomic_store(&store->why, errno);
    if (err == MIRE_E_STORE && atomic_load(&store->outbox)) {
        if (is_any(report->losses))
            return MIRE_E_STATE; /* the ledger has its counts back */
        return mire__outbox_put(store, report) ? MIRE_OK : err;
    }
    if (err != MIRE_OK)
        return err;
    atomic_fetch_add_explicit(&store->written_bytes, size, memory_order_relaxed);
    mire__store_enforce(store, report->id, now_ms);
    return access(path, F_OK) == 0 || errno != ENOENT ? MIRE_OK : MIRE_E_FULL;
}

enum mire_err mire__store_put(struct store *store, const struct store_report *report, uint64_t now_ms)
{
    enum mire_err err;

    mire__store_go_home(store);
    err = put_here(store, report, now_ms);
    if (err == MIRE_E_STORE && mire__store_remake(store))
        err = put_here(store, report, now_ms);
    if (err == MIRE_E_STORE && store->lost && store->lost(store->lost_context, store))
        err = put_here(store, report, now_ms);
    return err;
}

int mire__store_why(const struct store *store)
{
    return atomic_load(&store->why);
}

uint64_t mire__store_written(const struct store *store)
{
    return atomic_load_explicit(&store->written_bytes, memory_order_relaxed);
}

void mire__store_balance(struct store_balance *out, const struct store *store)
{
    out->sent = atomic_load_explicit(&store->sent_count, memory_order_relaxed);
    out->dropped = atomic_load_explicit(&store->dropped_count, memory_order_relaxed);
}
