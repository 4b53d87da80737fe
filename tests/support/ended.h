/*
 * ended.h - runs that have ended, as their processes leave them in a store, and how the next start takes them.
 */
#ifndef MIRE_TESTS_ENDED_H
#define MIRE_TESTS_ENDED_H

#include "exit/evidence.h"
#include "platform/platform.h"
#include "report/report.h"
#include "store/ends.h"
#include "store/runs.h"
#include "support/boxes.h"
#include "support/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

#include "support/stores.h"

#define NOW 1763685100000u
#define S   MIRE_NS_PER_S

static inline struct evidence_start start_of(uint32_t pid)
{
    struct evidence_start start = {.pid = pid, .wall_ms = NOW - 60000, .boot_ns = mire__boot_now_ns()};

    mire__file_read(start.boot_id, sizeof(start.boot_id), "/proc/sys/kernel/random/boot_id");
    start.boot_id[36] = '\0';
    mire__text_copy(start.app_version, sizeof(start.app_version), "8.0.38");
    mire__text_copy(start.process_name, sizeof(start.process_name), "mapview");
    return start;
}

static inline struct report_finder finder(const struct evidence_start *next)
{
    return (struct report_finder){.now_ms = NOW, .next = next};
}

static inline void put(struct store *store, const char *run, const char *suffix, const void *bytes, size_t size)
{
    char path[MIRE_STORE_PATH_MAX];
    FILE *file;

    assert_true(mire__store_run_path(path, store, run, suffix));
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static inline bool is_there(struct store *store, const char *run, const char *suffix)
{
    char path[MIRE_STORE_PATH_MAX];

    return mire__store_run_path(path, store, run, suffix) && access(path, F_OK) == 0;
}

/* A dead process with evidence in the store, and a blackbox if `boxed`, whose hang has that state, unsure for some ms. */
static inline void leave_run_unsure(struct store *store, char run[MIRE_STORE_RUN_BYTES], bool boxed,
                                    enum mire__event_state hang, uint64_t unsure_ms)
{
    struct evidence evidence;
    struct evidence_start start = start_of(4194303);
    struct blackbox *box;
    struct event record;

    mire__store_run_name(run);
    memset(&evidence, 0, sizeof(evidence));
    mire__evidence_init(&evidence, &start);
    put(store, run, MIRE_STORE_EXIT, &evidence, sizeof(evidence));
    if (!boxed)
        return;
    box = box_new();
    mire__text_copy(box->facts.boot_id, sizeof(box->facts.boot_id), start.boot_id);
    box->facts.pid = start.pid;
    mire__blackbox_event(&record, box, 0);
    record.state = hang;
    record.unsure_ns = unsure_ms * MIRE_NS_PER_MS;
    mire__blackbox_set_event(box, 0, &record);
    put(store, run, MIRE_STORE_BOX, box, sizeof(*box));
    free(box);
}

static inline void leave_run_of(struct store *store, char run[MIRE_STORE_RUN_BYTES], bool boxed,
                                enum mire__event_state hang)
{
    leave_run_unsure(store, run, boxed, hang, 0);
}

static inline void leave_run(struct store *store, char run[MIRE_STORE_RUN_BYTES], enum mire__event_state hang)
{
    leave_run_of(store, run, hang != MIRE_EVENT_NONE, hang);
}

/* Watched, and nothing hung. */
static inline void leave_run_idle(struct store *store, char run[MIRE_STORE_RUN_BYTES])
{
    leave_run_of(store, run, true, MIRE_EVENT_NONE);
}

static inline size_t recover(struct store *store)
{
    const struct report_finder next = finder(NULL);

    return mire__report_recover(store, &next);
}

static inline void assert_remembered(struct store *store, const char *run, const char *verdict)
{
    struct store_end ends[4];

    assert_int_equal(mire__store_ends(ends, 4, store), 1);
    assert_string_equal(ends[0].run, run);
    assert_string_equal(ends[0].verdict, verdict);
    assert_string_equal(ends[0].process, "mapview");
    assert_false(ends[0].reported);
}

/* The text of the only sealed report; free() it. */
static inline char *sealed_text(struct store *store)
{
    struct store_item item;
    unsigned long long plain;
    size_t size;
    void *body;
    char *text;

    assert_int_equal(mire__store_list(&item, 1, store), 1);
    assert_int_equal(mire__store_get(&body, &size, store, item.id), MIRE_OK);
    plain = ZSTD_getFrameContentSize(body, size);
    text = calloc(1, plain + 1);
    assert_int_equal(ZSTD_decompress(text, plain, body, size), plain);
    free(body);
    return text;
}

#endif
