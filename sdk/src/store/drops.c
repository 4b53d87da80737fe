/*
 * drops.c - counts of losses, kept in the file `drops`: one line a reason, "<name> <count>".
 */
#include "store/disk.h"
#include "store/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[MIRE_DROP_REASONS] = {
    [MIRE_DROP_FULL] = "full",       [MIRE_DROP_AGE] = "age",           [MIRE_DROP_WRITE] = "write",
    [MIRE_DROP_REFUSED] = "refused", [MIRE_DROP_BROKEN] = "broken",     [MIRE_DROP_BIG] = "big",
    [MIRE_DROP_SHORT] = "short",     [MIRE_DROP_ANNEALED] = "annealed", [MIRE_DROP_DAILY] = "daily",
};

const char *mire__store_reason_name(enum store_reason reason)
{
    return (unsigned)reason < MIRE_DROP_REASONS ? names[reason] : "unknown";
}

static void read_counts(uint64_t counts[MIRE_DROP_REASONS], const char *path)
{
    char text[1024];
    ssize_t length = mire__disk_read(text, sizeof(text) - 1, path);
    char *rest = text;

    memset(counts, 0, MIRE_DROP_REASONS * sizeof(counts[0]));
    text[length > 0 ? length : 0] = '\0';
    for (char *line; (line = strtok_r(rest, "\n", &rest));) {
        char *space = strchr(line, ' ');
        if (!space)
            continue;
        *space = '\0';
        for (size_t i = 0; i < MIRE_DROP_REASONS; i++)
            if (strcmp(line, names[i]) == 0)
                counts[i] = strtoull(space + 1, NULL, 10);
    }
}

static enum mire_err write_counts(const uint64_t counts[MIRE_DROP_REASONS], const char *path)
{
    char text[1024];
    struct disk_part part = {text, 0};

    for (size_t i = 0; i < MIRE_DROP_REASONS; i++)
        part.size += (size_t)snprintf(text + part.size, sizeof(text) - part.size, "%s %llu\n", names[i],
                                      (unsigned long long)counts[i]);
    return mire__disk_write(path, &part, 1, false);
}

static uint64_t less(uint64_t from, uint64_t what)
{
    return from > what ? from - what : 0;
}

/* In memory, for the next one who can write. What is taken off and cannot be written is told twice. */
static void keep_unsaved(struct store *store, const uint64_t add[MIRE_DROP_REASONS])
{
    for (size_t i = 0; i < MIRE_DROP_REASONS; i++)
        atomic_fetch_add_explicit(&store->unsaved[i], add[i], memory_order_relaxed);
}

void mire__store_drops_change(struct store *store, const uint64_t add[MIRE_DROP_REASONS],
                              const uint64_t take[MIRE_DROP_REASONS])
{
    char path[MIRE_STORE_PATH_MAX], lock_path[MIRE_STORE_PATH_MAX];
    uint64_t counts[MIRE_DROP_REASONS], more[MIRE_DROP_REASONS];
    int lock = -1;

    for (size_t i = 0; i < MIRE_DROP_REASONS; i++)
        more[i] = (add ? add[i] : 0) + atomic_exchange_explicit(&store->unsaved[i], 0, memory_order_relaxed);
    if (mire__store_path(path, store, "drops", "") && mire__store_path(lock_path, store, "lock", ""))
        lock = mire__disk_lock(lock_path);
    if (lock < 0) {
        keep_unsaved(store, more);
        return;
    }
    read_counts(counts, path);
    for (size_t i = 0; i < MIRE_DROP_REASONS; i++)
        counts[i] = less(counts[i] + more[i], take ? take[i] : 0);
    if (write_counts(counts, path) != MIRE_OK)
        keep_unsaved(store, more);
    mire__disk_unlock(lock);
}

void mire__store_count_drop(struct store *store, enum store_reason reason)
{
    uint64_t add[MIRE_DROP_REASONS] = {0};

    add[reason] = 1;
    mire__store_drops_change(store, add, NULL);
}

void mire__store_drops(uint64_t counts[MIRE_DROP_REASONS], struct store *store)
{
    char path[MIRE_STORE_PATH_MAX];

    memset(counts, 0, MIRE_DROP_REASONS * sizeof(counts[0]));
    if (mire__store_path(path, store, "drops", ""))
        read_counts(counts, path);
    for (size_t i = 0; i < MIRE_DROP_REASONS; i++)
        counts[i] += atomic_load_explicit(&store->unsaved[i], memory_order_relaxed);
}
