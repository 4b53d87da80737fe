/*
 * mlock.c - see hooks.h: mlockall without the SDK's memory.
 *
 * The kernel counts addresses against RLIMIT_MEMLOCK, and would fill the tables, of which few pages are in memory. So
 * existing mappings are locked one by one, without the SDK's own; later ones are left to the kernel. A call that
 * would fail without Mire is passed on unchanged, to fail with the same error.
 */
#include "allochook/hooks.h"

#include "platform/filter.h"
#include "platform/mine.h"
#include "platform/platform.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MCL_ONFAULT
#define MCL_ONFAULT 4
#endif
#ifndef MLOCK_ONFAULT
#define MLOCK_ONFAULT 1
#endif

#define SCRATCH_BYTES (16u << 10)

struct locking {
    uint64_t bytes; /* of the program's mappings */
    bool locks, on_fault;
};

static void take_part(struct locking *locking, uint64_t start, uint64_t end)
{
    if (start >= end)
        return;
    locking->bytes += end - start;
    /* Pages that cannot be filled are no failure of mlockall's either. */
    if (locking->locks && locking->on_fault)
        syscall(SYS_mlock2, start, end - start, MLOCK_ONFAULT);
    else if (locking->locks)
        syscall(SYS_mlock, start, end - start);
}

static bool on_mapping(void *context, const struct mapping *mapping)
{
    struct mine_span own[MIRE_MINE_MAX];
    size_t count = mire__mine_within(own, mapping->start, mapping->end);
    uint64_t at = mapping->start;

    if (strcmp(mapping->path, "[vsyscall]") == 0)
        return true;
    for (size_t i = 0; i < count; i++) {
        take_part(context, at, own[i].start);
        at = own[i].end;
    }
    take_part(context, at, mapping->end);
    return true;
}

/* Nothing forbids a process with this capability to lock more than its limit. */
static bool may_exceed(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];

    return syscall(SYS_capget, &header, data) == 0 && data[0].effective >> CAP_IPC_LOCK & 1;
}

static bool fits(uint64_t bytes)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_MEMLOCK, &limit) == 0 &&
           (limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur || may_exceed());
}

/* Later mappings by the kernel; those there are by us. */
static int lock_current(int (*real)(int), int flags, char *scratch)
{
    struct locking locking = {.on_fault = flags & MCL_ONFAULT};

    mire__mine_settle();
    if (!mire__mappings_visit(on_mapping, &locking, scratch, SCRATCH_BYTES) || !fits(locking.bytes))
        return real(flags);
    if (flags & MCL_FUTURE && real(flags & ~MCL_CURRENT) != 0)
        return -1;
    if (!(flags & MCL_FUTURE) && mire__mine_is_future_locked())
        syscall(SYS_munlockall); /* the program's own locks are taken again below */
    locking.locks = true;
    mire__mappings_visit(on_mapping, &locking, scratch, SCRATCH_BYTES);
    return 0;
}

MIRE_HIDDEN int mire__heap_mlockall(int flags)
{
    int (*real)(int) = MIRE_REAL(mlockall);
    char *scratch = NULL;
    int failed, saved = errno;

    if (!real)
        return (int)syscall(SYS_mlockall, flags);
    if (!mire__quiet_is() && flags & MCL_CURRENT && !(flags & ~(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT)))
        scratch = mire__pages_map(SCRATCH_BYTES);
    failed = scratch ? lock_current(real, flags, scratch) : real(flags);
    if (scratch)
        mire__pages_unmap(scratch, SCRATCH_BYTES);
    if (failed)
        return failed;
    mire__mine_future_locked(flags & MCL_FUTURE);
    errno = saved;
    return 0;
}

MIRE_HIDDEN int mire__heap_munlockall(void)
{
    int (*real)(void) = MIRE_REAL(munlockall);
    int failed = real ? real() : (int)syscall(SYS_munlockall);

    if (!failed)
        mire__mine_future_locked(false);
    return failed;
}
