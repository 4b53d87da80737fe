/* space.c - see space.h. */
#include "daemon/space.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdatomic.h>
#include <sys/statvfs.h>

#define LOOK_NS 100000000u

uint64_t space_free(struct space *space)
{
    struct statvfs disk;
    if (!statvfs(space->dir, &disk)) {
        uint64_t share_bytes = (uint64_t)disk.f_blocks * disk.f_frsize / MIRE_SPACE_LEAST_SHARE;
        atomic_store(&space->free_bytes, (uint64_t)disk.f_bavail * disk.f_frsize);
        atomic_store(&space->least_bytes, share_bytes < space->reserve_bytes ? share_bytes : space->reserve_bytes);
    }
    return atomic_load(&space->free_bytes);
}

bool space_is_low(void *context)
{
    struct space *space = context;
    uint64_t now = clock_mono_ns() / LOOK_NS + 1, looked = atomic_load(&space->looked);
    if (looked == now || !atomic_compare_exchange_strong(&space->looked, &looked, now))
        return atomic_load(&space->is_low);
    uint64_t free_bytes = space_free(space);
    bool is_low = free_bytes < atomic_load(&space->least_bytes);
    bool was_low = atomic_exchange(&space->is_low, is_low);
    if (is_low != was_low)
        log_event(space->log, is_low ? MIRE_LOG_ERROR : MIRE_LOG_INFO, is_low ? "disk.full" : "disk.has_room",
                  LOG_TEXT("dir", space->dir), LOG_NUMBER("free_mb", free_bytes >> 20),
                  LOG_TEXT("next",
                           is_low ? "Reports are refused until there is room: free disk space, or lower retention_days."
                                  : ""));
    return is_low;
}
