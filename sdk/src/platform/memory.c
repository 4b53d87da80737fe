/* memory.c - reads memory of the process that may be unmapped. Signal-safe: the kernel copies, and stops at unmapped
 * pages. */
#include "platform/platform.h"

#include "platform/filter.h"
#include "platform/mine.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define CODE_MOST 64 /* bytes that the sampling handler reads */

/* The way for kernels and sandboxes without process_vm_readv. */
static size_t peek_file(void *out, uint64_t address, size_t size_bytes)
{
    long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDONLY | O_CLOEXEC, 0);
    long got;

    if (fd < 0)
        return 0;
    got = syscall(SYS_pread64, fd, out, size_bytes, address);
    syscall(SYS_close, fd);
    return got > 0 ? (size_t)got : 0;
}

size_t mire__peek(void *out, uint64_t address, size_t size_bytes)
{
    struct iovec to = {out, size_bytes}, from = {(void *)(uintptr_t)address, size_bytes};
    int saved = errno;
    long got;

    if (size_bytes == 0 || address + size_bytes < address)
        return 0;
    if (mire__quiet_holds() && size_bytes > CODE_MOST)
        return 0;
    if (mire__quiet_holds()) { /* the sampling handler reads the code that it returns to */
        memcpy(out, (const void *)(uintptr_t)address, size_bytes);
        return size_bytes;
    }
    got = syscall(SYS_process_vm_readv, mire__pid(), &to, 1, &from, 1, 0);
    if (got < 0 && (errno == ENOSYS || errno == EPERM))
        got = (long)peek_file(out, address, size_bytes);
    errno = saved;
    return got > 0 ? (size_t)got : 0;
}

/*
 * Use small pages only. On a system with huge pages by default, the first touch of a nearly empty table would take 2
 * MiB.
 */
void mire__pages_keep_small(void *pages, size_t size_bytes)
{
    int saved = errno;

    syscall(SYS_madvise, pages, size_bytes, MADV_NOHUGEPAGE);
    errno = saved;
}

/*
 * Direct system calls, because libc's may be hooked by the memory monitor. If the program has the kernel lock all
 * mapped memory, the pages are mapped without access first: such pages are not filled, and stay so after they are
 * unlocked.
 */
static long map(size_t size_bytes, int flags, int fd)
{
    const int access = PROT_READ | PROT_WRITE;
    bool locked = mire__mine_is_future_locked();
    long at = syscall(SYS_mmap, NULL, size_bytes, locked ? PROT_NONE : access, flags, fd, 0);

    if (at != -1 && locked &&
        (syscall(SYS_munlock, at, size_bytes) != 0 || syscall(SYS_mprotect, at, size_bytes, access) != 0)) {
        syscall(SYS_munmap, at, size_bytes);
        at = -1;
    }
    if (at != -1)
        mire__mine_add((void *)at, size_bytes);
    return at;
}

#define PRIVATE_PAGES (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

void *mire__pages_map_file(size_t size_bytes, int fd)
{
    int saved = errno;
    long at = map(size_bytes, MAP_SHARED | MAP_NORESERVE, fd);

    errno = saved;
    return at == -1 ? NULL : (void *)at;
}

void *mire__pages_map(size_t size_bytes)
{
    int saved = errno;
    long at = map(size_bytes, PRIVATE_PAGES, -1);

    if (at != -1) {
        syscall(SYS_madvise, at, size_bytes, MADV_DONTFORK);
        mire__pages_keep_small((void *)at, size_bytes);
    }
    errno = saved;
    return at == -1 ? NULL : (void *)at;
}

void mire__pages_unmap(void *pages, size_t size_bytes)
{
    int saved = errno;

    mire__mine_remove(pages, size_bytes);
    syscall(SYS_munmap, pages, size_bytes);
    errno = saved;
}

void mire__pages_empty(void *pages, size_t size_bytes)
{
    int saved = errno;

    syscall(SYS_madvise, pages, size_bytes, MADV_DONTNEED);
    errno = saved;
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/*
 * For kernels before 5.14: without room a system call that writes to the page fails, while a store would kill the
 * process. The pages are fresh, so the written byte is set to zero again.
 */
static bool claim_each(char *pages, size_t size_bytes)
{
    struct timespec *page;

    for (size_t at = 0; at < size_bytes; at += 4096) {
        page = (struct timespec *)(void *)(pages + at);
        if (syscall(SYS_clock_getres, CLOCK_MONOTONIC, page))
            return false;
        page->tv_sec = 0;
        page->tv_nsec = 0;
    }
    return true;
}

bool mire__pages_claim(void *pages, size_t size_bytes)
{
    int saved = errno;
    bool claimed = syscall(SYS_madvise, pages, size_bytes, MADV_POPULATE_WRITE) == 0 ||
                   (errno == EINVAL && claim_each(pages, size_bytes));

    errno = saved;
    return claimed;
}

bool mire__pages_punch(void *pages, size_t size_bytes)
{
    int saved = errno;
    bool punched =
        size_bytes >= (size_t)sysconf(_SC_PAGESIZE) && syscall(SYS_madvise, pages, size_bytes, MADV_REMOVE) == 0;

    errno = saved;
    return punched;
}

void mire__yield(void)
{
    int saved = errno;

    syscall(SYS_sched_yield);
    errno = saved;
}

void mire__pages_wipe_on_fork(void *pages, size_t size_bytes)
{
    int saved = errno;

    syscall(SYS_madvise, pages, size_bytes, MADV_WIPEONFORK);
    errno = saved;
}

void *mire__pages_map_inherited(size_t size_bytes, bool wiped)
{
    int saved = errno;
    long at = map(size_bytes, PRIVATE_PAGES, -1);

    if (at != -1 && wiped && syscall(SYS_madvise, at, size_bytes, MADV_WIPEONFORK) != 0) {
        mire__pages_unmap((void *)at, size_bytes);
        at = -1;
    }
    if (at != -1)
        mire__pages_keep_small((void *)at, size_bytes);
    errno = saved;
    return at == -1 ? NULL : (void *)at;
}
