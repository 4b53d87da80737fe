/* file.c - see file.h. */
#include "platform/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#define TMPFS_MAGIC 0x01021994

struct timespec mire__file_changed(const struct stat *info)
{
    return info->st_mtim;
}

bool mire__file_reserve(int fd, uint64_t at, uint64_t size_bytes)
{
    return posix_fallocate(fd, (off_t)at, (off_t)size_bytes) == 0;
}

bool mire__file_sync(int fd)
{
    return fdatasync(fd) == 0;
}

bool mire__file_in_memory(uint64_t *left_bytes_out, const char *folder)
{
    struct statfs system;

    if (statfs(folder, &system) != 0 || system.f_type != TMPFS_MAGIC)
        return false;
    *left_bytes_out = system.f_blocks == 0 ? UINT64_MAX : (uint64_t)system.f_bavail * (uint64_t)system.f_bsize;
    return true;
}

bool mire__pages_keep_from_child(void *pages, size_t size_bytes)
{
    return madvise(pages, size_bytes, MADV_DONTFORK) == 0;
}
