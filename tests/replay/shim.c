/*
 * shim.c - see shim.h.
 */
#include "replay/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#define FILES_MAX  512
#define FDS_MAX    256
#define PAGE       4096u
#define SHADOW_MAX (2u << 20) /* larger mapped files (memory tables) have no points; `make oracle` covers them */

struct shim *shim;

static char root[PATH_MAX];
static struct {
    char path[128]; /* below root */
    uint32_t inode;
} names[FILES_MAX];
static size_t name_count;
static uint32_t inodes;
static uint32_t inode_of_fd[FDS_MAX];

static struct {
    uint8_t *memory, *shadow; /* shadow: last logged contents */
    size_t size;
    uint32_t inode;
} mapped[8];
static size_t mapped_count;

void shim_open(void)
{
    shim = mmap(NULL, sizeof(*shim), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (shim == MAP_FAILED) {
        perror("mmap");
        exit(2);
    }
}

static bool is_on(void)
{
    return shim && shim->on;
}

/* ---- the log ---- */

static void note(enum op_kind kind, const char *path, const char *path_to, uint32_t inode, uint64_t at,
                 const void *bytes, size_t size)
{
    struct op op = {.kind = (uint16_t)kind, .inode = inode, .at = at, .bytes_size = (uint32_t)size};
    uint8_t *to = shim->log + shim->log_size;

    if (!shim->recording)
        return;
    op.path_size = (uint16_t)(path ? strlen(path) + 1 : 0);
    op.path_to_size = (uint16_t)(path_to ? strlen(path_to) + 1 : 0);
    op.size = (uint32_t)((sizeof(op) + op.path_size + op.path_to_size + size + 7) & ~(size_t)7);
    if (shim->log_size + op.size > sizeof(shim->log))
        abort();
    memcpy(to, &op, sizeof(op));
    to += sizeof(op);
    if (path)
        memcpy(to, path, op.path_size);
    if (path_to)
        memcpy(to + op.path_size, path_to, op.path_to_size);
    if (size)
        memcpy(to + op.path_size + op.path_to_size, bytes, size);
    shim->log_size += op.size;
}

/* Log the pages of mapped files that were stored to. */
static void note_mapped(void)
{
    for (size_t i = 0; shim->recording && i < mapped_count; i++)
        for (size_t at = 0; at < mapped[i].size; at += PAGE) {
            size_t size = mapped[i].size - at < PAGE ? mapped[i].size - at : PAGE;

            if (memcmp(mapped[i].memory + at, mapped[i].shadow + at, size) == 0)
                continue;
            memcpy(mapped[i].shadow + at, mapped[i].memory + at, size);
            note(OP_WRITTEN, NULL, NULL, mapped[i].inode, at, mapped[i].shadow + at, size);
        }
}

void shim_note(const void *bytes, size_t size)
{
    note_mapped();
    note(OP_TRUTH, NULL, NULL, 0, 0, bytes, size);
}

static void point(void)
{
    if (!is_on())
        return;
    shim->points++;
    if (shim->points == shim->kill_at)
        kill(getpid(), SIGKILL);
    note_mapped();
}

/* ---- names ---- */

/* The path below root; NULL: outside. */
static const char *below(const char *path)
{
    size_t length = strlen(root);

    return is_on() && strncmp(path, root, length) == 0 && path[length] == '/' ? path + length + 1 : NULL;
}

static uint32_t *find(const char *path)
{
    for (size_t i = 0; i < name_count; i++)
        if (strcmp(names[i].path, path) == 0)
            return &names[i].inode;
    return NULL;
}

static void name(const char *path, uint32_t inode)
{
    uint32_t *old = find(path);

    if (!old) {
        if (name_count == FILES_MAX)
            abort();
        snprintf(names[name_count].path, sizeof(names[0].path), "%s", path);
        old = &names[name_count++].inode;
    }
    *old = inode;
}

static void forget(const char *path)
{
    uint32_t *old = find(path);

    if (old)
        names[((char *)old - (char *)&names[0].inode) / (ptrdiff_t)sizeof(names[0])] = names[--name_count];
}

static bool path_of_fd(char out[PATH_MAX], int fd)
{
    char link[64];
    ssize_t length;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    length = readlink(link, out, PATH_MAX - 1);
    if (length < 0)
        return false;
    out[length] = '\0';
    return true;
}

static uint32_t inode_of(int fd)
{
    return fd >= 0 && fd < FDS_MAX ? inode_of_fd[fd] : 0;
}

/* ---- stores into mapped files ---- */

#if defined(__x86_64__)
#define TRAP_FLAG 0x100

static size_t stepping = SIZE_MAX;

static void protect(size_t i, int how)
{
    mprotect(mapped[i].memory, mapped[i].size, how);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    ucontext_t *at = context;

    for (size_t i = 0; i < mapped_count; i++)
        if ((uint8_t *)info->si_addr >= mapped[i].memory &&
            (uint8_t *)info->si_addr < mapped[i].memory + mapped[i].size) {
            stepping = i;
            protect(i, PROT_READ | PROT_WRITE);
            at->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
            return;
        }
    sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
}

static void on_step(int signal, siginfo_t *info, void *context)
{
    ucontext_t *at = context;

    (void)signal;
    (void)info;
    at->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
    if (stepping == SIZE_MAX)
        return;
    protect(stepping, PROT_READ);
    stepping = SIZE_MAX;
    shim->stores++;
    point();
}

static void watch_stores(void)
{
    struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    struct sigaction step = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};

    sigaction(SIGSEGV, &fault, NULL);
    sigaction(SIGTRAP, &step, NULL);
}
#else
static void protect(size_t i, int how)
{
    (void)i;
    (void)how;
}

static void watch_stores(void)
{
}
#endif

void shim_begin(const char *where, bool recording, uint64_t kill_at)
{
    snprintf(root, sizeof(root), "%s", where);
    shim->recording = recording;
    shim->kill_at = kill_at;
    shim->points = shim->stores = shim->log_size = 0;
    if (!recording)
        watch_stores();
    shim->on = true;
}

/* ---- system calls ---- */

int __real_open(const char *path, int flags, ...);
int __real_close(int fd);
ssize_t __real_write(int fd, const void *bytes, size_t count);
ssize_t __real_pwrite(int fd, const void *bytes, size_t count, off_t at);
int __real_rename(const char *from, const char *to);
int __real_link(const char *from, const char *to);
int __real_unlink(const char *path);
int __real_unlinkat(int dir, const char *name, int flags);
int __real_mkdir(const char *path, mode_t mode);
int __real_ftruncate(int fd, off_t size);
int __real_posix_fallocate(int fd, off_t at, off_t size);
int __real_fdatasync(int fd);
int __real_fsync(int fd);
void *__real_mmap(void *where, size_t size, int how, int flags, int fd, off_t at);
int __real_munmap(void *where, size_t size);

int __wrap_open(const char *path, int flags, ...);
int __wrap_close(int fd);
ssize_t __wrap_write(int fd, const void *bytes, size_t count);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t count, off_t at);
int __wrap_rename(const char *from, const char *to);
int __wrap_link(const char *from, const char *to);
int __wrap_unlink(const char *path);
int __wrap_unlinkat(int dir, const char *name, int flags);
int __wrap_mkdir(const char *path, mode_t mode);
int __wrap_ftruncate(int fd, off_t size);
int __wrap_posix_fallocate(int fd, off_t at, off_t size);
int __wrap_fdatasync(int fd);
int __wrap_fsync(int fd);
void *__wrap_mmap(void *where, size_t size, int how, int flags, int fd, off_t at);
int __wrap_munmap(void *where, size_t size);

int __wrap_open(const char *path, int flags, ...)
{
    const char *ours = below(path);
    bool made = ours && flags & O_CREAT && !find(ours);
    mode_t mode = 0;
    va_list rest;
    int fd;

    va_start(rest, flags);
    if (flags & O_CREAT)
        mode = va_arg(rest, mode_t);
    va_end(rest);
    fd = __real_open(path, flags, mode);
    if (fd < 0 || fd >= FDS_MAX || !ours || flags & O_DIRECTORY)
        return fd;
    if (made) {
        name(ours, ++inodes);
        note(OP_MADE, ours, NULL, inodes, 0, NULL, 0);
    }
    inode_of_fd[fd] = find(ours) ? *find(ours) : 0;
    if (made)
        point();
    return fd;
}

int __wrap_close(int fd)
{
    if (fd >= 0 && fd < FDS_MAX)
        inode_of_fd[fd] = 0;
    return __real_close(fd);
}

/* In two halves, with a point in between. */
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t count, off_t at)
{
    size_t half = is_on() && inode_of(fd) && count > 1 ? count / 2 : count;
    ssize_t wrote = __real_pwrite(fd, bytes, half, at);

    if (!is_on() || !inode_of(fd) || wrote != (ssize_t)half)
        return wrote;
    note(OP_WRITTEN, NULL, NULL, inode_of(fd), (uint64_t)at, bytes, half);
    point();
    if (half == count)
        return wrote;
    wrote = __real_pwrite(fd, (const char *)bytes + half, count - half, at + (off_t)half);
    note(OP_WRITTEN, NULL, NULL, inode_of(fd), (uint64_t)at + half, (const char *)bytes + half, count - half);
    point();
    return wrote < 0 ? (ssize_t)half : (ssize_t)half + wrote;
}

ssize_t __wrap_write(int fd, const void *bytes, size_t count)
{
    off_t at = is_on() && inode_of(fd) ? lseek(fd, 0, SEEK_CUR) : -1;
    ssize_t wrote;

    if (at < 0)
        return __real_write(fd, bytes, count);
    wrote = __wrap_pwrite(fd, bytes, count, at);
    if (wrote > 0)
        lseek(fd, at + wrote, SEEK_SET);
    return wrote;
}

int __wrap_rename(const char *from, const char *to)
{
    const char *a = below(from), *b = below(to);
    int result = __real_rename(from, to);

    if (result == 0 && a && b) {
        uint32_t inode = find(a) ? *find(a) : 0;

        forget(a);
        name(b, inode);
        note(OP_RENAMED, a, b, inode, 0, NULL, 0);
        point();
    }
    return result;
}

int __wrap_link(const char *from, const char *to)
{
    const char *a = below(from), *b = below(to);
    int result = __real_link(from, to);

    if (result == 0 && a && b) {
        name(b, find(a) ? *find(a) : 0);
        note(OP_LINKED, a, b, *find(b), 0, NULL, 0);
        point();
    }
    return result;
}

int __wrap_unlink(const char *path)
{
    const char *ours = below(path);
    int result = __real_unlink(path);

    if (result == 0 && ours) {
        forget(ours);
        note(OP_REMOVED, ours, NULL, 0, 0, NULL, 0);
        point();
    }
    return result;
}

int __wrap_unlinkat(int dir, const char *entry, int flags)
{
    char path[PATH_MAX], whole[PATH_MAX + 256];
    int result = __real_unlinkat(dir, entry, flags);

    if (result == 0 && is_on() && path_of_fd(path, dir)) {
        snprintf(whole, sizeof(whole), "%s/%s", path, entry);
        if (below(whole)) {
            forget(below(whole));
            note(OP_REMOVED, below(whole), NULL, 0, 0, NULL, 0);
            point();
        }
    }
    return result;
}

int __wrap_mkdir(const char *path, mode_t mode)
{
    const char *ours = below(path);
    int result = __real_mkdir(path, mode);

    if (result == 0 && ours) {
        note(OP_DIR, ours, NULL, 0, 0, NULL, 0);
        point();
    }
    return result;
}

int __wrap_ftruncate(int fd, off_t size)
{
    int result = __real_ftruncate(fd, size);

    if (result == 0 && is_on() && inode_of(fd)) {
        note(OP_SIZED, NULL, NULL, inode_of(fd), (uint64_t)size, NULL, 0);
        point();
    }
    return result;
}

int __wrap_posix_fallocate(int fd, off_t at, off_t size)
{
    int result = __real_posix_fallocate(fd, at, size);

    if (result == 0 && is_on() && inode_of(fd))
        point();
    return result;
}

/* A point before and after; the real disk is not synced. */
static int sync_of(int fd)
{
    char path[PATH_MAX];

    if (inode_of(fd))
        note(OP_SYNCED, NULL, NULL, inode_of(fd), 0, NULL, 0);
    else if (path_of_fd(path, fd) && (below(path) || strcmp(path, root) == 0))
        note(OP_DIR_SYNCED, below(path) ? below(path) : "", NULL, 0, 0, NULL, 0);
    point();
    return 0;
}

int __wrap_fdatasync(int fd)
{
    return is_on() ? sync_of(fd) : __real_fdatasync(fd);
}

int __wrap_fsync(int fd)
{
    return is_on() ? sync_of(fd) : __real_fsync(fd);
}

void *__wrap_mmap(void *where, size_t size, int how, int flags, int fd, off_t at)
{
    void *memory = __real_mmap(where, size, how, flags, fd, at);

    if (memory == MAP_FAILED || !is_on() || !(flags & MAP_SHARED) || !inode_of(fd) || size > SHADOW_MAX ||
        mapped_count == sizeof(mapped) / sizeof(mapped[0]))
        return memory;
    mapped[mapped_count].memory = memory;
    mapped[mapped_count].size = size;
    mapped[mapped_count].inode = inode_of(fd);
    mapped[mapped_count].shadow = calloc(1, size);
    mapped_count++;
    if (!shim->recording)
        protect(mapped_count - 1, PROT_READ);
    return memory;
}

int __wrap_munmap(void *where, size_t size)
{
    for (size_t i = 0; i < mapped_count; i++)
        if (mapped[i].memory == where) {
            free(mapped[i].shadow);
            mapped[i] = mapped[--mapped_count];
            break;
        }
    return __real_munmap(where, size);
}
