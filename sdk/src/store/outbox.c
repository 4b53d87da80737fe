/*
 * outbox.c - see outbox.h.
 *
 *     [ used | making ][ entry: state, size, id | sealed file: frame, body ][ entry ... ]
 *
 *     entry: READY --finder--> TAKEN      used grows with each entry; 0 again once all are TAKEN
 *
 * Invariant: only the owning process appends, and holds `making` meanwhile; only a finder takes. A finder may read an
 * entry while the process overwrites it from the front. The checksum of the frame detects that.
 */
#include "store/outbox.h"

#include "base/alloc.h"
#include "platform/own.h"
#include "platform/platform.h"
#include "store/inside.h"
#include "store/runs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUTBOX_BYTES (1u << 20)
#define ALIGN        8u
#define MAKING_NS    MIRE_NS_PER_S /* far longer than a copy takes */

enum { READY = 0x52454459, TAKEN = 0x54414b45 };

struct outbox {
    _Atomic uint32_t used;   /* bytes of entries; stored after their content */
    _Atomic uint32_t making; /* 1: a thread of the process appends */
};

struct outbox_entry {
    _Atomic uint32_t state;
    uint32_t size; /* of the file behind the entry */
    char id[MIRE_STORE_ID_LENGTH + 1];
};

static uint32_t room_of(uint32_t size)
{
    return (uint32_t)((sizeof(struct outbox_entry) + size + ALIGN - 1) / ALIGN * ALIGN);
}

static struct outbox_entry *entry_at(struct outbox *box, uint32_t at)
{
    return (struct outbox_entry *)((char *)(box + 1) + at);
}

/* The entry at `at`, below `used`; NULL: there is none, or it is damaged. */
static struct outbox_entry *look(struct outbox *box, uint32_t at, uint32_t used, uint32_t *size_out)
{
    struct outbox_entry *entry = entry_at(box, at);

    if (used > OUTBOX_BYTES - sizeof(*box) || at >= used || used - at < sizeof(*entry))
        return NULL;
    *size_out = entry->size;
    return *size_out <= used - at - sizeof(*entry) ? entry : NULL;
}

/* ---- the process ---- */

enum mire_err mire__outbox_open(struct store *store, const char *run)
{
    struct store_box file;
    enum mire_err err;

    if (atomic_load(&store->outbox))
        return MIRE_OK;
    err = mire__store_box_open(&file, store, run, MIRE_STORE_OUTBOX, OUTBOX_BYTES, OUTBOX_BYTES);
    if (err != MIRE_OK)
        return err;
    mire__text_copy(store->outbox_path, sizeof(store->outbox_path), file.path);
    atomic_store(&store->outbox, (struct outbox *)file.memory);
    return MIRE_OK;
}

static bool is_empty(struct outbox *box)
{
    uint32_t used = atomic_load(&box->used), size;
    struct outbox_entry *entry;

    for (uint32_t at = 0; (entry = look(box, at, used, &size)); at += room_of(size))
        if (atomic_load(&entry->state) != TAKEN)
            return false;
    return true;
}

void mire__outbox_close(struct store *store)
{
    struct outbox *box = atomic_exchange(&store->outbox, NULL);

    if (!box || store->pid != mire__pid()) /* a forked child has no such mapping */
        return;
    if (is_empty(box))
        unlink(store->outbox_path); /* without the right to, a finder deletes it */
    munmap(box, OUTBOX_BYTES);
}

static bool begin(struct outbox *box)
{
    uint64_t end_ns = mire__now_ns() + MAKING_NS;

    while (atomic_exchange(&box->making, 1) != 0) {
        if (mire__now_ns() >= end_ns)
            return false;
        mire__futex_wait(&box->making, 1, mire__now_ns() + MIRE_NS_PER_MS);
    }
    return true;
}

static bool append(struct outbox *box, const struct store_report *report)
{
    const struct disk_part body = {report->body, report->size};
    const struct frame frame = {.value = report->value};
    uint32_t size = (uint32_t)(MIRE_FRAME_BYTES + report->size), used;
    struct outbox_entry *entry;

    if (is_empty(box))
        atomic_store(&box->used, 0);
    used = atomic_load(&box->used);
    if (report->size > OUTBOX_BYTES || room_of(size) > OUTBOX_BYTES - sizeof(*box) - used)
        return false;
    entry = entry_at(box, used);
    entry->size = size;
    mire__text_copy(entry->id, sizeof(entry->id), report->id);
    mire__frame_write((uint8_t *)(entry + 1), &frame, &body, 1);
    memcpy((uint8_t *)(entry + 1) + MIRE_FRAME_BYTES, report->body, report->size);
    atomic_store(&entry->state, READY);
    atomic_store(&box->used, used + room_of(size));
    return true;
}

bool mire__outbox_put(struct store *store, const struct store_report *report)
{
    struct outbox *box = atomic_load(&store->outbox);
    bool put;

    if (!box || !begin(box))
        return false;
    put = append(box, report);
    atomic_store(&box->making, 0);
    return put;
}

/* ---- the finder ---- */

static bool is_id(const char id[MIRE_STORE_ID_LENGTH + 1])
{
    return memchr(id, '\0', MIRE_STORE_ID_LENGTH + 1) == id + MIRE_STORE_ID_LENGTH &&
           strspn(id, "0123456789abcdef-") == MIRE_STORE_ID_LENGTH;
}

/* Returns MIRE_OK; MIRE_E_FORMAT (damaged); or the error of mire__store_put. */
static enum mire_err put_file(struct store *store, const char *id, const uint8_t *file, uint32_t size, uint64_t now_ms)
{
    struct store_report report = {.id = id};
    struct frame frame;
    enum mire_err err;

    if (!is_id(id) || mire__frame_check(&frame, file, size) != FRAME_WHOLE || frame.value < MIRE_VALUE_BASELINE ||
        frame.value > MIRE_VALUE_SESSION)
        return MIRE_E_FORMAT;
    report.body = file + frame.body_at;
    report.size = frame.body_size;
    report.value = frame.value;
    err = mire__store_put(store, &report, now_ms);
    return err == MIRE_E_FULL ? MIRE_OK : err; /* dropped, and counted */
}

/* False: the store takes no reports now, so later entries wait too. */
static bool take_one(struct store *store, struct outbox_entry *entry, uint32_t size, uint64_t now_ms)
{
    char id[MIRE_STORE_ID_LENGTH + 1];
    uint32_t ready = READY;
    uint8_t *copy;
    enum mire_err err;

    if (atomic_load(&entry->state) != READY)
        return true;
    copy = mire__malloc(size ? size : 1);
    if (!copy)
        return false;
    memcpy(copy, entry + 1, size);
    memcpy(id, entry->id, sizeof(id));
    err = put_file(store, id, copy, size, now_ms);
    mire__free(copy);
    if (err != MIRE_OK && err != MIRE_E_FORMAT)
        return false;
    if (atomic_compare_exchange_strong(&entry->state, &ready, TAKEN) && err == MIRE_E_FORMAT)
        mire__store_count_drop(store, MIRE_DROP_BROKEN);
    return true;
}

/* Returns true if no entry is left. */
static bool take(struct store *store, struct outbox *box, uint64_t now_ms)
{
    struct outbox_entry *entry;
    uint32_t size;

    for (uint32_t at = 0; (entry = look(box, at, atomic_load(&box->used), &size)); at += room_of(size))
        if (!take_one(store, entry, size, now_ms))
            return false;
    return true;
}

/* Returns true if the owning process lives. */
static bool visit(struct store *store, int dir, const char *name, uint64_t now_ms)
{
    int fd = openat(dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    bool dead, empty = true;
    struct stat info;
    void *memory;

    if (fd < 0)
        return false;
    dead = flock(fd, LOCK_EX | LOCK_NB) == 0; /* the owner's mapping holds the lock */
    if (fstat(fd, &info) == 0 && info.st_nlink > 0 && info.st_size == OUTBOX_BYTES) {
        memory = mmap(NULL, OUTBOX_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        empty = memory != MAP_FAILED && take(store, memory, now_ms);
        if (memory != MAP_FAILED)
            munmap(memory, OUTBOX_BYTES);
    }
    if (dead && empty)
        unlinkat(dir, name, 0);
    close(fd);
    return !dead;
}

size_t mire__outbox_take_all(struct store *store, uint64_t now_ms)
{
    char path[MIRE_STORE_PATH_MAX];
    size_t alive = 0;
    DIR *dir;

    if (!mire__store_path(path, store, "box", "") || !(dir = mire__own.opendir(path)))
        return 0;
    for (struct dirent *entry; (entry = mire__own.readdir(dir));)
        if (mire__store_ends_with(entry->d_name, MIRE_STORE_OUTBOX))
            alive += visit(store, dirfd(dir), entry->d_name, now_ms);
    mire__own.closedir(dir);
    return alive;
}
