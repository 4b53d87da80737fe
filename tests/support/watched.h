/*
 * watched.h - makes a test program an app that Mire watches: options, idle and busy times, and sealed reports.
 */
#ifndef MIRE_TESTS_WATCHED_H
#define MIRE_TESTS_WATCHED_H

#include "mire/mire.h"
#include "store/store.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/emulator.h"

/* The threshold is longer than a stall of a busy machine; a hang of HANG_MS always exceeds it. */
#define THRESHOLD_MS 300
#define HANG_MS      600
#define PATIENCE_MS  60000

static inline mire_options *options_for(const char *dir)
{
    mire_options *options = mire_options_new();

    assert_non_null(options);
    assert_int_equal(mire_options_set_app(options, "test", "1.0"), MIRE_OK);
    assert_int_equal(mire_options_set_store(options, dir), MIRE_OK);
    assert_int_equal(mire_options_set_threshold_ms(options, THRESHOLD_MS), MIRE_OK);
    assert_int_equal(mire_options_set_period_ms(options, 5), MIRE_OK);
    assert_int_equal(mire_options_set_launch(options, 0), MIRE_OK); /* the launch of this process is long over */
    return options;
}

static inline enum mire_err start(const char *dir)
{
    mire_options *options = options_for(dir);
    enum mire_err err = mire_start(options);

    mire_options_free(options);
    return err;
}

/* Idle in one wait; under an emulator a sample ends it early, and more waits follow. */
static inline void idle_ms(int ms)
{
    uint64_t end_ns = mire__now_ns() + (uint64_t)ms * MIRE_NS_PER_MS, now_ns;

    poll(NULL, 0, ms);
    while ((now_ns = mire__now_ns()) < end_ns)
        poll(NULL, 0, (int)((end_ns - now_ns) / MIRE_NS_PER_MS) + 1);
}

static inline void busy_ms(unsigned ms)
{
    sleep_through(ms);
}

static inline size_t sealed(const char *dir)
{
    const struct store_caps caps = MIRE_STORE_CAPS_INIT;
    struct store_item items[16];
    struct store *store;
    size_t count;

    assert_int_equal(mire__store_open(&store, dir, &caps), MIRE_OK);
    count = mire__store_list(items, 16, store);
    mire__store_close(store);
    return count;
}

/* Wait until COUNT reports are sealed; NAP is called between two looks. */
static inline void assert_sealed(const char *dir, size_t count, void (*nap)(void))
{
    for (int ms = 0; ms < PATIENCE_MS && sealed(dir) < count; ms += 10)
        nap();
    assert_int_equal(sealed(dir), count);
}

static inline void idle_nap(void)
{
    idle_ms(10);
}

static inline void busy_nap(void)
{
    busy_ms(10);
}

#endif
