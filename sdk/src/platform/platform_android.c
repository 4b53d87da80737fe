/* platform_android.c - what platform_linux.c does, in an app. Signal-safe.
 *
 * Since Android 8 a filter of system calls ends an app that makes one which the C library does not need
 * (SECCOMP_ALLOWLIST_*.TXT of bionic): membarrier is allowed from Android 10 on, set_robust_list never.
 */
#include "platform/filter.h"
#include "platform/platform.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/system_properties.h>
#include <unistd.h>

#define ANDROID_10 29 /* API level */

static bool may_ask; /* written before any other thread exists */

static __attribute__((constructor)) void look_at_system(void)
{
    char level[PROP_VALUE_MAX] = "";

    __system_property_get("ro.build.version.sdk", level);
    may_ask = strtoul(level, NULL, 10) >= ANDROID_10;
}

static bool ask_kernel(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0 ||
           (errno == EPERM && syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 &&
            syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0);
}

void mire__barrier_all(void)
{
    _Atomic uint32_t never = 0;
    int saved = errno;

    if (!mire__quiet_holds() && !(may_ask && ask_kernel()))
        mire__futex_wait(&never, 0, mire__now_ns() + MIRE_NS_PER_MS);
    errno = saved;
}

/* The time of the last write to the file stands for that of the end. */
void mire__thread_mark_end(_Atomic uint32_t *word)
{
    (void)word;
}

void mire__thread_mark_no_end(void)
{
}
