/*
 * flush.c - see flush.h.
 */
#include "core/flush.h"

#include "capture/capture.h"
#include "core/memory_reports.h"
#include "core/sealing.h"
#include "platform/platform.h"

#include <string.h>

#define LOOK_MS 10u

static bool any_left(const struct store_item *items, size_t count, struct store *store)
{
    struct store_item now[MIRE_STORE_LIST_MAX / 4];
    size_t now_count = mire__store_list(now, MIRE_COUNT(now), store);

    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < now_count; j++)
            if (strcmp(items[i].id, now[j].id) == 0)
                return true;
    return false;
}

/* Sleep for LOOK_MS. False: the time is over. */
static bool pause_until(uint64_t end_ns)
{
    _Atomic uint32_t never = 0;
    uint64_t now_ns = mire__now_ns();

    if (now_ns >= end_ns)
        return false;
    mire__futex_wait(&never, 0, now_ns + LOOK_MS * MIRE_NS_PER_MS);
    return true;
}

enum mire_err mire__flush(const struct monitor_context *monitors, struct store *store, uint32_t timeout_ms)
{
    struct store_item items[MIRE_STORE_LIST_MAX / 4];
    const uint64_t end_ns = mire__now_ns() + timeout_ms * MIRE_NS_PER_MS;
    size_t count;

    while (!mire__watch_settled() || !mire__sealing_settled(monitors) || !mire__memory_reports_settled())
        if (!pause_until(end_ns))
            return MIRE_E_TIMEOUT;
    count = mire__store_list(items, MIRE_COUNT(items), store);
    while (any_left(items, count, store))
        if (!pause_until(end_ns))
            return MIRE_E_TIMEOUT;
    return MIRE_OK;
}
