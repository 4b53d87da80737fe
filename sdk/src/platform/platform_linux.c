/* platform_linux.c - calls that a Linux program may make, and an Android app may not. Signal-safe. */
#include "platform/filter.h"
#include "platform/platform.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void mire__barrier_all(void)
{
    _Atomic uint32_t never = 0;
    int saved = errno;
    long failed;

    if (mire__quiet_holds())
        return;
    failed = syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);

    /* A process, and each of its children, has to announce first that it will. */
    if (failed && errno == EPERM)
        failed = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) ||
                 syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    if (failed)
        mire__futex_wait(&never, 0, mire__now_ns() + MIRE_NS_PER_MS);
    errno = saved;
}

/* ---- a mark of the process's end ---- */

static struct robust_list mark_entry;
static struct robust_list_head mark_head;

void mire__thread_mark_end(_Atomic uint32_t *word)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    mark_entry.next = &mark_head.list;
    mark_head = (struct robust_list_head){.list.next = &mark_entry,
                                          .futex_offset = (long)((uintptr_t)word - (uintptr_t)&mark_entry)};
    atomic_store(word, mire__tid());
    /* From here on a store to the page is a fault, and a write to the file at that instant. */
    if (syscall(SYS_madvise, (uintptr_t)word & ~(page - 1), page, MADV_DONTNEED) == 0)
        syscall(SYS_set_robust_list, &mark_head, sizeof(mark_head));
}

void mire__thread_mark_no_end(void)
{
    mark_head.list.next = &mark_head.list;
}
