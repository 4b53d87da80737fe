/* files.c - see machine.h: files of libSystem. The numbers and offsets are those of Apple's headers. */
#include "apple/machine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define AT_FDCWD_OF_MAC (-2)

/* ---- errno: the numbers that differ ---- */

static int *fake_errno(void)
{
    static const struct {
        int ours, theirs;
    } rows[] = {{EAGAIN, 35}, {ENOTEMPTY, 66}, {ELOOP, 62}, {ETIMEDOUT, 60}, {EDQUOT, 69}, {EOPNOTSUPP, 102}};

    for (size_t i = 0; i < MACHINE_COUNT(rows); i++)
        if (errno == rows[i].ours)
            errno = rows[i].theirs;
    return &errno;
}

/* ---- files ---- */

static int open_flags(int flags)
{
    static const struct {
        int theirs, ours;
    } rows[] = {{0x200, O_CREAT},       {0x400, O_TRUNC},        {0x800, O_EXCL},   {0x100, O_NOFOLLOW},
                {0x1000000, O_CLOEXEC}, {0x100000, O_DIRECTORY}, {0x4, O_NONBLOCK}, {0x8, O_APPEND}};
    int out = flags & O_ACCMODE;

    for (size_t i = 0; i < MACHINE_COUNT(rows); i++)
        if (flags & rows[i].theirs)
            out |= rows[i].ours;
    return out;
}

static int folder_of(int fd)
{
    return fd == AT_FDCWD_OF_MAC ? AT_FDCWD : fd;
}

static int at_flags(int flags)
{
    return (flags & 0x20 ? AT_SYMLINK_NOFOLLOW : 0) | (flags & 0x80 ? AT_REMOVEDIR : 0) |
           (flags & 0x10 ? AT_EACCESS : 0);
}

static int fake_open(const char *path, int flags, int mode)
{
    return open(path, open_flags(flags), mode);
}

static int fake_openat(int fd, const char *path, int flags, int mode)
{
    return openat(folder_of(fd), path, open_flags(flags), mode);
}

static int fake_faccessat(int fd, const char *path, int mode, int flags)
{
    return faccessat(folder_of(fd), path, mode, at_flags(flags));
}

static int fake_unlinkat(int fd, const char *path, int flags)
{
    return unlinkat(folder_of(fd), path, at_flags(flags));
}

static int stat_out(void *out, int result, const struct stat *info)
{
    memset(out, 0, result == 0 ? 144 : 0);
    if (result != 0)
        return result;
    MACHINE_PUT(out, 0, int32_t, info->st_dev);
    MACHINE_PUT(out, 4, uint16_t, info->st_mode);
    MACHINE_PUT(out, 6, uint16_t, info->st_nlink);
    MACHINE_PUT(out, 8, uint64_t, info->st_ino);
    MACHINE_PUT(out, 16, uint32_t, info->st_uid);
    MACHINE_PUT(out, 20, uint32_t, info->st_gid);
    MACHINE_PUT(out, 32, struct timespec, info->st_atim);
    MACHINE_PUT(out, 48, struct timespec, info->st_mtim);
    MACHINE_PUT(out, 64, struct timespec, info->st_ctim);
    MACHINE_PUT(out, 96, int64_t, info->st_size);
    MACHINE_PUT(out, 104, int64_t, info->st_blocks);
    MACHINE_PUT(out, 112, int32_t, info->st_blksize);
    return 0;
}

static int fake_stat(const char *path, void *out)
{
    struct stat info;

    return stat_out(out, stat(path, &info), &info);
}

static int fake_lstat(const char *path, void *out)
{
    struct stat info;

    return stat_out(out, lstat(path, &info), &info);
}

static int fake_fstat(int fd, void *out)
{
    struct stat info;

    return stat_out(out, fstat(fd, &info), &info);
}

static int fake_fstatat(int fd, const char *path, void *out, int flags)
{
    struct stat info;

    return stat_out(out, fstatat(folder_of(fd), path, &info, at_flags(flags)), &info);
}

static int fake_utimensat(int fd, const char *path, const struct timespec times[2], int flags)
{
    struct timespec mine[2];

    for (int i = 0; times && i < 2; i++) {
        mine[i] = times[i];
        if (times[i].tv_nsec == -1 || times[i].tv_nsec == -2)
            mine[i].tv_nsec = times[i].tv_nsec == -1 ? UTIME_NOW : UTIME_OMIT;
    }
    return utimensat(folder_of(fd), path, times ? mine : NULL, at_flags(flags));
}

static void *fake_readdir(DIR *folder)
{
    static _Thread_local char entry[1048];
    const struct dirent *found = readdir(folder);

    if (!found)
        return NULL;
    MACHINE_PUT(entry, 0, uint64_t, found->d_ino);
    MACHINE_PUT(entry, 18, uint16_t, strlen(found->d_name));
    MACHINE_PUT(entry, 20, uint8_t, found->d_type);
    memcpy(entry + 21, found->d_name, strlen(found->d_name) + 1);
    return entry;
}

/* fstore_t: flags, mode, offset, length, bytes allocated */
static int preallocate(int fd, const uint64_t *store)
{
    struct stat info;

    if (fstat(fd, &info) != 0)
        return -1;
    return fallocate(fd, FALLOC_FL_KEEP_SIZE, info.st_blocks * 512, (off_t)store[2]);
}

static int fake_fcntl(int fd, int command, uintptr_t argument)
{
    switch (command) {
    case 42:
        return preallocate(fd, (const uint64_t *)argument);
    case 51:
    case 85:
        return fdatasync(fd);
    case 67:
        return fcntl(fd, F_DUPFD_CLOEXEC, (int)argument);
    default:
        return fcntl(fd, command, argument);
    }
}

void *files_find(const char *name)
{
    static const struct machine_name names[] = {
        {"___error", (void *)fake_errno},
        {"_open", (void *)fake_open},
        {"_openat", (void *)fake_openat},
        {"_faccessat", (void *)fake_faccessat},
        {"_unlinkat", (void *)fake_unlinkat},
        {"_stat$INODE64", (void *)fake_stat},
        {"_lstat$INODE64", (void *)fake_lstat},
        {"_fstat$INODE64", (void *)fake_fstat},
        {"_fstatat$INODE64", (void *)fake_fstatat},
        {"_utimensat", (void *)fake_utimensat},
        {"_opendir$INODE64", (void *)opendir},
        {"_readdir$INODE64", (void *)fake_readdir},
        {"_realpath$DARWIN_EXTSN", (void *)realpath},
        {"_fcntl", (void *)fake_fcntl},
    };

    return machine_find(names, MACHINE_COUNT(names), name);
}
