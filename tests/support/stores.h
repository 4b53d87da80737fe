/*
 * stores.h - a store in a test's scratch directory. Include after cmocka.h.
 */
#ifndef MIRE_TESTS_STORES_H
#define MIRE_TESTS_STORES_H

#include "store/runs.h"
#include "store/store.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STORE_NOW 1763685118456ull

/* Open a blackbox of a new run. */
static inline enum mire_err stores_box(struct store_box *box, struct store *store, size_t size, size_t reserved)
{
    char run[MIRE_STORE_RUN_BYTES];

    mire__store_run_name(run);
    return mire__store_box_open(box, store, run, MIRE_STORE_BOX, size, reserved);
}

/* The id of a report made `ms` milliseconds after 1970. */
static inline const char *id_at(uint64_t ms, unsigned serial)
{
    static char id[4][40];
    static unsigned turn;
    char *out = id[turn++ % 4];

    snprintf(out, 40, "%08x-%04x-7000-8000-%012x", (unsigned)(ms >> 16), (unsigned)(ms & 0xffff), serial);
    return out;
}

static inline struct store *store_capped(const char *dir, struct store_caps caps)
{
    struct store *store;

    assert_int_equal(mire__store_open(&store, dir, &caps), MIRE_OK);
    return store;
}

static inline struct store *store_default(const char *dir)
{
    return store_capped(dir, (struct store_caps)MIRE_STORE_CAPS_INIT);
}

static inline enum mire_err put_worth(struct store *store, const char *id, enum store_value value, size_t size)
{
    static const char body[4096];
    const struct store_report report = {.id = id, .body = body, .size = size, .value = value};

    return mire__store_put(store, &report, STORE_NOW);
}

static inline enum mire_err put_report(struct store *store, const char *id, const void *body, size_t size,
                                       const uint64_t *given, uint64_t now_ms)
{
    const struct store_report report = {
        .id = id, .body = body, .size = size, .value = MIRE_VALUE_HANG, .losses = given};

    return mire__store_put(store, &report, now_ms);
}

static inline size_t count_reports(struct store *store)
{
    struct store_item items[MIRE_STORE_LIST_MAX];
    return mire__store_list(items, MIRE_STORE_LIST_MAX, store);
}

static inline uint64_t dropped(struct store *store, enum store_reason reason)
{
    uint64_t counts[MIRE_DROP_REASONS];

    mire__store_drops(counts, store);
    return counts[reason];
}

static inline void assert_body(struct store *store, const char *id, const char *want)
{
    void *body;
    size_t size;

    assert_int_equal(mire__store_get(&body, &size, store, id), MIRE_OK);
    assert_int_equal(size, strlen(want));
    assert_memory_equal(body, want, size);
    free(body);
}

static inline size_t files_in(const char *dir, const char *sub)
{
    char path[256];
    size_t count = 0;
    DIR *open_dir;

    snprintf(path, sizeof(path), "%s/%s", dir, sub);
    open_dir = opendir(path);
    assert_non_null(open_dir);
    for (struct dirent *entry; (entry = readdir(open_dir));)
        count += entry->d_name[0] != '.';
    closedir(open_dir);
    return count;
}

#endif
