/* proc.c - reads /proc of this process and its threads. Signal-safe: own number parsing, no stdio. */
#include "platform/apart.h"
#include "platform/filter.h"
#include "platform/locals.h"
#include "platform/mapping.h"
#include "platform/platform.h"
#include "platform/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define TICKS_PER_S 100 /* USER_HZ, the unit of /proc on every Linux we run on */

static long open_file(const char *path)
{
    return syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
}

/*
 * Files that a thread of the library keeps open. None of them leads to another, and their content is the same for any
 * thread of the process. The descriptors are in that thread's table, and end with it.
 */
#define KEPT_MAX 8u

struct kept_thread {
    uint32_t tid; /* 0: none */
    long syscall, stat;
};

static struct kept {
    long maps;
    uint32_t next; /* the row for the next thread */
    struct kept_thread threads[KEPT_MAX];
} kept;

/* Read a whole file, again from its beginning. Returns its bytes, 0 if it cannot be read. */
static long read_kept(char *out, size_t cap_bytes, long fd)
{
    int saved = errno;
    long got = fd >= 0 ? syscall(SYS_pread64, fd, out, cap_bytes - 1, 0) : -1;

    errno = saved;
    out[got > 0 ? got : 0] = '\0';
    return got > 0 ? got : 0;
}

static const struct kept_thread *find_kept(uint32_t tid)
{
    const struct kept *keeping = mire__locals_as_own()->keeping;

    for (uint32_t i = 0; keeping && i < KEPT_MAX; i++)
        if (keeping->threads[i].tid == tid)
            return &keeping->threads[i];
    return NULL;
}

long mire__file_read(char *out, size_t cap_bytes, const char *path)
{
    int saved = errno;
    long fd = mire__quiet_holds() ? -1 : open_file(path), got = -1, size = 0;

    if (fd >= 0) {
        while ((size_t)size + 1 < cap_bytes &&
               (got = syscall(SYS_read, fd, out + size, cap_bytes - 1 - (size_t)size)) > 0)
            size += got;
        syscall(SYS_close, fd);
    }
    out[size] = '\0';
    errno = saved;
    return fd < 0 || (got < 0 && size == 0) ? -1 : size;
}

static size_t put_decimal(char *out, size_t at, uint32_t number)
{
    char digits[12];
    size_t count = 0;

    do
        digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (count > 0)
        out[at++] = digits[--count];
    return at;
}

/* "/proc/self/task/TID/NAME", or "/proc/PID/NAME" when of_process. */
static void proc_path(char out[64], bool of_process, uint32_t number, const char *name)
{
    const char *front = of_process ? "/proc/" : "/proc/self/task/";
    size_t at = 0;

    while (*front)
        out[at++] = *front++;
    at = put_decimal(out, at, number);
    out[at++] = '/';
    mire__text_copy(out + at, 64 - at, name);
}

/* /proc/.../stat after the name in parentheses, which may hold anything: "S 1 2 ...", the letter being field 3. */
static const char *stat_fields(const char *stat)
{
    const char *end = strrchr(stat, ')');

    return end && end[1] == ' ' ? end + 2 : "";
}

static uint64_t stat_field(const char *stat, int number)
{
    const char *at = stat_fields(stat);
    uint64_t value = 0;

    for (int field = 3; *at && field < number; field++) {
        at = strchr(at, ' ');
        if (!at)
            return 0;
        at++;
    }
    read_decimal(&value, at);
    return value;
}

static void read_syscall(struct thread_state *out, const char *text)
{
    bool negative = *text == '-';
    uint64_t number;
    const char *at = read_decimal(&number, text + negative);

    if (at == text + negative)
        return; /* "running" */
    for (int i = 0; !negative && i < 6; i++)
        at = read_hex(&out->args[i], at);
    at = read_hex(&out->sp, at);
    read_hex(&out->pc, at);
    out->syscall = negative ? -1 : (int)number;
    out->blocked = out->sp != 0 && out->pc != 0;
}

void mire__thread_state(struct thread_state *out, uint32_t tid)
{
    char path[64], text[512];

    const struct kept_thread *known = find_kept(tid);

    *out = (struct thread_state){.letter = '?', .syscall = -1};
    proc_path(path, false, tid, "syscall");
    out->known =
        (known && read_kept(text, sizeof(text), known->syscall) > 0) || mire__file_read(text, sizeof(text), path) > 0;
    if (out->known)
        read_syscall(out, text);
    proc_path(path, false, tid, "stat");
    if (((known && read_kept(text, sizeof(text), known->stat) > 0) || mire__file_read(text, sizeof(text), path) > 0) &&
        *stat_fields(text))
        out->letter = *stat_fields(text);
}

/* Documentation/admin-guide/devices.txt: consoles, /dev/tty, serial lines, pseudo terminals. */
static bool is_terminal_device(unsigned major_number)
{
    return major_number == 4 || major_number == 5 || (major_number >= 136 && major_number <= 143) ||
           major_number == 188 || major_number == 204 || major_number == 229;
}

bool mire__thread_has_terminal(uint32_t tid, uint64_t fd)
{
    struct stat status;
    char path[64];

    if (fd > INT32_MAX)
        return false;
    proc_path(path, true, tid, "fd/");
    path[put_decimal(path, strlen(path), (uint32_t)fd)] = '\0';
    return stat(path, &status) == 0 && S_ISCHR(status.st_mode) && is_terminal_device(major(status.st_rdev));
}

void mire__thread_end_as_first(void)
{
    char path[64], text[1024];

    proc_path(path, false, mire__pid(), "stat");
    if (mire__file_read(text, sizeof(text), path) > 0 && *stat_fields(text) == 'Z')
        syscall(SYS_exit, (int)(stat_field(text, 52) >> 8 & 0xff));
}

void mire__proc_keep(uint32_t tid)
{
    struct kept_thread *thread;
    int saved = errno;
    char path[64];

    if (!mire__apart_is() || !mire__locals_as_exist() || find_kept(tid))
        return;
    if (!mire__locals_as_own()->keeping) {
        memset(&kept, 0, sizeof(kept)); /* the descriptors of another thread ended with it */
        kept.maps = open_file("/proc/self/maps");
        mire__locals_as_own()->keeping = &kept;
    }
    thread = &kept.threads[kept.next++ % KEPT_MAX];
    if (thread->tid != 0) {
        syscall(SYS_close, thread->syscall);
        syscall(SYS_close, thread->stat);
    }
    thread->tid = tid;
    proc_path(path, false, tid, "syscall");
    thread->syscall = open_file(path);
    proc_path(path, false, tid, "stat");
    thread->stat = open_file(path);
    errno = saved;
}

long mire__proc_kept_maps(void)
{
    const struct kept *keeping = mire__locals_as_own()->keeping;

    return keeping ? keeping->maps : -1;
}

bool mire__thread_is_gone(uint32_t tid)
{
    struct thread_state state;

    mire__thread_state(&state, tid);
    return state.letter == 'Z' || state.letter == 'X' || !mire__thread_signal(tid, 0);
}

bool mire__thread_states_hold(void)
{
    struct thread_state reading = {.syscall = -1};
    char path[64], text[512];

    proc_path(path, false, mire__tid(), "syscall");
    if (mire__file_read(text, sizeof(text), path) <= 0)
        return true; /* nothing is shown, so nothing is wrong */
    read_syscall(&reading, text);
    return reading.syscall == SYS_read && reading.args[1] == (uintptr_t)text;
}

/* The set of signals after "key", a hexadecimal mask. */
static uint64_t signals_after(const char *text, const char *key)
{
    const char *at = text_after(text, key);
    uint64_t mask = 0;

    if (at)
        read_hex(&mask, at);
    return mask;
}

void mire__thread_signals(struct thread_signals *out, uint32_t tid)
{
    char path[64], text[4096];
    uint64_t tracer;

    *out = (struct thread_signals){.blocked = 0};
    proc_path(path, false, tid, "status");
    if (mire__file_read(text, sizeof(text), path) <= 0)
        return;
    out->pending = signals_after(text, "SigPnd:");
    out->blocked = signals_after(text, "SigBlk:");
    tracer = number_after(text, "TracerPid:");
    out->by_parent = tracer != 0 && tracer == number_after(text, "PPid:");
}

void mire__thread_name(char out[MIRE_THREAD_NAME_BYTES], uint32_t tid)
{
    char path[64];
    long size;

    proc_path(path, false, tid, "comm");
    size = mire__file_read(out, MIRE_THREAD_NAME_BYTES, path);
    if (size > 0 && out[size - 1] == '\n')
        out[size - 1] = '\0';
}

/* A row of getdents64. */
struct dirent64_row {
    uint64_t inode;
    int64_t next;
    uint16_t size_bytes;
    uint8_t kind;
    char name[];
};

bool mire__threads_visit(bool (*visit)(void *context, uint32_t tid), void *context)
{
    _Alignas(struct dirent64_row) char entries[4096];
    int saved = errno;
    long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0), got = -1;
    bool more = fd >= 0;

    while (more && (got = syscall(SYS_getdents64, fd, entries, sizeof(entries))) > 0) {
        for (long at = 0; more && at < got;) {
            const struct dirent64_row *entry = (const struct dirent64_row *)(entries + at);
            uint64_t tid;

            read_decimal(&tid, entry->name);
            if (tid > 0) /* "." and ".." are no numbers */
                more = visit(context, (uint32_t)tid);
            at += entry->size_bytes;
        }
    }
    if (fd >= 0)
        syscall(SYS_close, fd);
    errno = saved;
    return fd >= 0 && got >= 0;
}

void mire__io_bytes(struct io_bytes *out, uint32_t tid)
{
    char path[64] = "/proc/self/io", text[512];

    memset(out, 0, sizeof(*out));
    if (tid != 0)
        proc_path(path, false, tid, "io");
    if (mire__file_read(text, sizeof(text), path) <= 0)
        return;
    out->read = number_after(text, "read_bytes:");
    out->written = number_after(text, "write_bytes:");
}

void mire__thread_counters(struct thread_counters *out, uint32_t tid)
{
    char path[64], text[4096];
    struct io_bytes io;

    memset(out, 0, sizeof(*out));
    out->cpu_ns = mire__thread_cpu_ns(tid);
    proc_path(path, false, tid, "stat");
    if (mire__file_read(text, sizeof(text), path) > 0)
        out->major_faults = stat_field(text, 12);
    proc_path(path, false, tid, "status");
    if (mire__file_read(text, sizeof(text), path) > 0) {
        out->voluntary_switches = number_after(text, "voluntary_ctxt_switches:");
        out->involuntary_switches = number_after(text, "nonvoluntary_ctxt_switches:");
    }
    mire__io_bytes(&io, tid);
    out->read_bytes = io.read;
    out->write_bytes = io.written;
    mire__thread_name(out->name, tid);
}

uint64_t mire__thread_waited_ns(uint32_t tid)
{
    char path[64], text[128];
    uint64_t ran_ns, waited_ns = 0;

    proc_path(path, false, tid, "schedstat"); /* its time of running is not up to date there */
    if (mire__file_read(text, sizeof(text), path) > 0)
        read_decimal(&waited_ns, skip_spaces(read_decimal(&ran_ns, text)));
    return waited_ns;
}

uint64_t mire__thread_awake_ns(uint32_t tid)
{
    return mire__thread_cpu_ns(tid) + mire__thread_waited_ns(tid);
}

void mire__process_counters(struct process_counters *out)
{
    char text[2048];

    memset(out, 0, sizeof(*out));
    if (mire__file_read(text, sizeof(text), "/proc/self/stat") > 0) {
        out->cpu_user_ms = stat_field(text, 14) * (1000 / TICKS_PER_S);
        out->cpu_system_ms = stat_field(text, 15) * (1000 / TICKS_PER_S);
        out->thread_count = (uint32_t)stat_field(text, 20);
    }
    if (mire__file_read(text, sizeof(text), "/proc/self/status") > 0)
        out->rss_bytes = number_after(text, "VmRSS:") * 1024;
}

uint64_t mire__process_start_ticks(uint32_t pid)
{
    char path[64], text[1024];

    proc_path(path, true, pid, "stat");
    return mire__file_read(text, sizeof(text), path) > 0 ? stat_field(text, 22) : 0;
}

bool mire__process_runs(uint32_t pid, uint64_t start_ticks)
{
    char path[64], text[1024];

    proc_path(path, true, pid, "stat");
    if (mire__file_read(text, sizeof(text), path) <= 0 || stat_field(text, 22) != start_ticks)
        return false;
    return stat_field(text, 23) > 0; /* bytes of address space: given up first when a process dies */
}
