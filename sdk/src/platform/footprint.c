/* footprint.c - see footprint.h. Signal-safe: own number parsing, no stdio.
 *
 * Two kinds of cgroup files: of the memory controller's own hierarchy (memory.usage_in_bytes ...) and of the unified
 * one (memory.current ...). The kind of a directory is known by its files.
 */
#include "platform/footprint.h"

#include "platform/apart.h"
#include "platform/platform.h"
#include "platform/text.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define SMALL_BYTES     4096
#define MOUNTS_BYTES    (48u << 10) /* later mounts are ignored */
#define VMSTAT_BYTES    (16u << 10)
#define LEVELS_MAX      8
#define NO_LIMIT        (UINT64_C(1) << 62) /* the value for "max" in cgroup v1 */
#define DIRECTORY_BYTES 4096
#define UNIFIED_MAGIC   0x63677270 /* linux/magic.h */
#define MEMORY_MAGIC    0x27e0eb

void mire__footprint(struct footprint *out)
{
    char text[SMALL_BYTES];

    memset(out, 0, sizeof(*out));
    if (mire__file_read(text, sizeof(text), "/proc/self/status") <= 0)
        return;
    out->bytes =
        (number_after(text, "RssAnon:") + number_after(text, "RssShmem:") + number_after(text, "VmSwap:")) * 1024;
    out->file_bytes = number_after(text, "RssFile:") * 1024;
    out->peak_rss_bytes = number_after(text, "VmHWM:") * 1024;
    out->thread_count = (uint32_t)number_after(text, "Threads:");
    out->traced = number_after(text, "TracerPid:") != 0;
}

static uint32_t count_entries(long fd)
{
    _Alignas(uint64_t) char entries[DIRECTORY_BYTES];
    uint32_t count = 0;
    long got;

    while ((got = syscall(SYS_getdents64, fd, entries, sizeof(entries))) > 0) {
        for (long at = 0; at < got; count++) {
            uint16_t size;

            memcpy(&size, entries + at + 16, sizeof(size)); /* behind inode and offset */
            at += size;
        }
    }
    return count;
}

uint32_t mire__fd_count(void)
{
    int saved = errno;
    long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    uint32_t count = fd >= 0 ? count_entries(fd) : 0;

    if (fd >= 0)
        syscall(SYS_close, fd);
    errno = saved;
    count -= mire__apart_is() ? 2 : 3; /* ".", "..", and the one just opened if it is in the program's table */
    return (int32_t)count > 0 ? count : 0;
}

/* ---- which cgroup ---- */

static bool is_word_end(char c)
{
    return c == ' ' || c == '\n' || c == '\0';
}

static size_t word_length(const char *text)
{
    size_t length = 0;

    while (!is_word_end(text[length]))
        length++;
    return length;
}

static const char *next_word(const char *text)
{
    text += word_length(text);
    return *text == ' ' ? text + 1 : text;
}

static bool is_word(const char *text, const char *word)
{
    size_t length = strlen(word);

    return strncmp(text, word, length) == 0 && is_word_end(text[length]);
}

/* Is `word` one of the words of a list with commas, which ends at a space, a colon or the line's end? */
static bool list_has(const char *list, const char *word)
{
    size_t length = strlen(word);

    for (;; list++) {
        char end = strncmp(list, word, length) == 0 ? list[length] : 'x';

        if (end == ',' || end == ':' || is_word_end(end))
            return true;
        while (*list != ',' && *list != ':' && !is_word_end(*list))
            list++;
        if (*list != ',')
            return false;
    }
}

static const char *next_line(const char *text)
{
    text = strchr(text, '\n');
    return text && text[1] ? text + 1 : NULL;
}

/* The path in a line "number:controllers:path": of the memory controller, otherwise of the unified hierarchy
 * ("0::path"). */
static const char *path_within(const char *cgroup, bool *unified)
{
    const char *found = NULL;

    *unified = true;
    for (const char *line = cgroup; line && *line; line = next_line(line)) {
        const char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;

        if (!path)
            continue;
        if (path == list + 1) {
            found = path + 1;
        } else if (list_has(list + 1, "memory")) {
            *unified = false;
            return path + 1;
        }
    }
    return found;
}

/* "id parent device root point options tags - kind source options": the mount of that hierarchy. */
static bool find_mount(const char **root, const char **point, const char *mountinfo, bool unified)
{
    for (const char *line = mountinfo; line && *line; line = next_line(line)) {
        const char *at = next_word(next_word(next_word(line)));

        *root = at;
        *point = next_word(at);
        for (at = next_word(*point); !is_word_end(*at) && !is_word(at, "-");)
            at = next_word(at);
        at = next_word(at);
        if (unified ? is_word(at, "cgroup2") : is_word(at, "cgroup") && list_has(next_word(next_word(at)), "memory"))
            return true;
    }
    return false;
}

static size_t line_length(const char *text)
{
    const char *end = strchr(text, '\n');

    return end ? (size_t)(end - text) : strlen(text);
}

void mire__cgroup_from(struct cgroup *out, const char *cgroup, const char *mountinfo)
{
    const char *path, *root, *point;
    size_t root_size, path_size, point_size;
    bool unified;

    memset(out, 0, sizeof(*out));
    path = path_within(cgroup, &unified);
    if (!path || !find_mount(&root, &point, mountinfo, unified))
        return;
    root_size = word_length(root);
    point_size = word_length(point);
    path_size = line_length(path);
    if (root_size == 1)
        root_size = 0; /* "/" */
    if (path_size < root_size || strncmp(path, root, root_size) != 0)
        return; /* outside of this mount */
    path += root_size;
    path_size -= root_size;
    if (path_size == 1)
        path_size = 0;
    if (strncmp(path, "/..", 3) == 0 || point_size + path_size >= sizeof(out->dir))
        return;
    memcpy(out->dir, point, point_size);
    memcpy(out->dir + point_size, path, path_size);
    out->top = (uint32_t)point_size;
}

static uint64_t inode_of(const char *dir)
{
    int saved = errno;
    struct stat info;
    uint64_t inode = stat(dir, &info) == 0 ? info.st_ino : 0;

    errno = saved;
    return inode;
}

/*
 * The place where nearly every system mounts the hierarchies, under names of their own. The list of mounts costs the
 * kernel more than all other steps here. Not for the root: it may be a namespace's, while the mount there is the
 * machine's.
 */
static bool find_usual(struct cgroup *out, const char *cgroup)
{
    static const char unified_at[] = "/sys/fs/cgroup", memory_at[] = "/sys/fs/cgroup/memory";
    int saved = errno;
    struct statfs system;
    bool unified;
    const char *path = path_within(cgroup, &unified), *point = unified ? unified_at : memory_at;
    size_t path_size = path ? line_length(path) : 0;

    out->top = (uint32_t)strlen(point);
    if (path_size < 2 || strncmp(path, "/..", 3) == 0 || out->top + path_size >= sizeof(out->dir))
        return false;
    memcpy(out->dir, point, out->top);
    memcpy(out->dir + out->top, path, path_size);
    out->dir[out->top + path_size] = '\0';
    if (syscall(SYS_statfs, out->dir, &system) == 0 && system.f_type == (unified ? UNIFIED_MAGIC : MEMORY_MAGIC))
        out->inode = inode_of(out->dir);
    errno = saved;
    return out->inode != 0;
}

void mire__cgroup_find(struct cgroup *out)
{
    static char mountinfo[MOUNTS_BYTES]; /* too large for some threads' stacks */
    char cgroup[SMALL_BYTES];

    memset(out, 0, sizeof(*out));
    if (mire__file_read(cgroup, sizeof(cgroup), "/proc/self/cgroup") <= 0 || find_usual(out, cgroup))
        return;
    memset(out, 0, sizeof(*out));
    if (mire__file_read(mountinfo, sizeof(mountinfo), "/proc/self/mountinfo") <= 0)
        return;
    mire__cgroup_from(out, cgroup, mountinfo);
    if (out->dir[0])
        out->inode = inode_of(out->dir);
    if (out->inode == 0)
        out->dir[0] = '\0';
}

/* ---- its files ---- */

/* The file `name` in the first `length` bytes of a directory. False: it cannot be read. */
static bool read_in(char out[SMALL_BYTES], const char *dir, size_t length, const char *name)
{
    char path[MIRE_PATH_BYTES + 64];

    if (length == 0 || length >= MIRE_PATH_BYTES || strlen(name) > 60)
        return false;
    memcpy(path, dir, length);
    path[length] = '/';
    mire__text_copy(path + length + 1, sizeof(path) - length - 1, name);
    return mire__file_read(out, SMALL_BYTES, path) > 0;
}

static bool number_in(uint64_t *out, const char *dir, size_t length, const char *name)
{
    char text[SMALL_BYTES];

    if (!read_in(text, dir, length, name) || text[0] < '0' || text[0] > '9')
        return false; /* "max" among others */
    read_decimal(out, text);
    return true;
}

/* Bytes of files that the kernel can drop: its caches, without shared memory, which has no file to go back to. */
static uint64_t cached_in(const char *dir, size_t length)
{
    char text[SMALL_BYTES];
    uint64_t cached, shared;

    if (!read_in(text, dir, length, "memory.stat"))
        return 0;
    cached = text_after(text, "total_cache ") ? number_after(text, "total_cache ") : number_after(text, "file ");
    shared = text_after(text, "total_shmem ") ? number_after(text, "total_shmem ") : number_after(text, "shmem ");
    return cached > shared ? cached - shared : 0;
}

/* One level. False: it has no limit. */
static bool level_room(uint64_t *limit, uint64_t *used, const char *dir, size_t length)
{
    if (number_in(limit, dir, length, "memory.max")) {
        if (!number_in(used, dir, length, "memory.current"))
            return false;
    } else if (!number_in(limit, dir, length, "memory.limit_in_bytes") || *limit >= NO_LIMIT ||
               !number_in(used, dir, length, "memory.usage_in_bytes")) {
        return false;
    }
    /* The division by kinds costs the kernel something: only where it could matter. */
    if (*used >= *limit / 2) {
        uint64_t cached = cached_in(dir, length);

        *used = *used > cached ? *used - cached : 0;
    }
    return *limit > 0;
}

static uint64_t left_of(uint64_t used, uint64_t limit)
{
    return limit > used ? limit - used : 0;
}

uint64_t mire__disk_free(const char *directory)
{
    struct statfs disk;

    return syscall(SYS_statfs, directory, &disk) == 0 ? (uint64_t)disk.f_bavail * (uint64_t)disk.f_bsize : 0;
}

void mire__memory_room(struct memory_room *out, const struct cgroup *cgroup)
{
    char text[SMALL_BYTES];
    uint64_t limit, used;
    size_t length = strlen(cgroup->dir);

    memset(out, 0, sizeof(*out));
    if (mire__file_read(text, sizeof(text), "/proc/meminfo") > 0) {
        limit = number_after(text, "MemTotal:") * 1024;
        out->available_bytes = number_after(text, "MemAvailable:") * 1024;
        if (limit > 0 && out->available_bytes > 0 && out->available_bytes <= limit)
            *out = (struct memory_room){MIRE_LIMIT_MACHINE, limit, limit - out->available_bytes, out->available_bytes};
    }
    for (int level = 0; level < LEVELS_MAX && length > 0 && length >= cgroup->top; level++) {
        if (level_room(&limit, &used, cgroup->dir, length) &&
            (out->limit == MIRE_LIMIT_NONE || left_of(used, limit) < left_of(out->used_bytes, out->limit_bytes))) {
            out->limit = MIRE_LIMIT_CGROUP;
            out->limit_bytes = limit;
            out->used_bytes = used;
        }
        while (length > 0 && cgroup->dir[--length] != '/')
            ;
    }
}

void mire__oom_counts(struct oom_counts *out, const struct cgroup *cgroup)
{
    char text[SMALL_BYTES], vmstat[VMSTAT_BYTES];
    size_t length = strlen(cgroup->dir);

    memset(out, 0, sizeof(*out));
    if (length > 0 && inode_of(cgroup->dir) == cgroup->inode &&
        (read_in(text, cgroup->dir, length, "memory.events") ||
         read_in(text, cgroup->dir, length, "memory.oom_control")) &&
        text_after(text, "oom_kill ")) {
        out->cgroup = number_after(text, "oom_kill ");
        out->cgroup_known = 1;
    }
    if (mire__file_read(vmstat, sizeof(vmstat), "/proc/vmstat") > 0 && text_after(vmstat, "oom_kill ")) {
        out->system = number_after(vmstat, "oom_kill ");
        out->system_known = 1;
    }
}

uint32_t mire__memory_pressure_ppm(const struct cgroup *cgroup)
{
    char text[SMALL_BYTES];
    uint64_t percent, hundredths = 0;
    const char *at;

    if (!read_in(text, cgroup->dir, strlen(cgroup->dir), "memory.pressure") &&
        mire__file_read(text, sizeof(text), "/proc/pressure/memory") <= 0)
        return 0;
    at = text_after(text, "some avg10=");
    if (!at)
        return 0;
    at = read_decimal(&percent, at);
    if (at[0] == '.' && at[1] >= '0' && at[1] <= '9' && at[2] >= '0' && at[2] <= '9')
        hundredths = (uint64_t)(at[1] - '0') * 10 + (uint64_t)(at[2] - '0');
    return percent < 100 ? (uint32_t)(percent * 10000 + hundredths * 100) : 1000000;
}
