/* memory.c - reading own memory that may not be there. Signal-safe: the kernel copies, and stops where nothing is
 * mapped. */
#include "platform/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

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
    got = syscall(SYS_process_vm_readv, mire__pid(), &to, 1, &from, 1, 0);
    if (got < 0 && (errno == ENOSYS || errno == EPERM))
        got = (long)peek_file(out, address, size_bytes);
    errno = saved;
    return got > 0 ? (size_t)got : 0;
}
