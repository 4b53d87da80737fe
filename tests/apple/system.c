/* system.c - see machine.h: the process, and the calls that are the same. The numbers and offsets are those of Apple's headers. */
#include "apple/machine.h"
#include "apple/exceptions.h"

#include "apple/macho.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define SUCCESS          0
#define INVALID_ARGUMENT 4

static int nothing(void)
{
    return 0;
}

static int failing(void)
{
    errno = ENOTSUP;
    return -1;
}

/* ---- the process ---- */

static struct {
    uint64_t load, path, changed;
} images[MACHINE_IMAGES];
static struct {
    uint32_t version, count;
    const void *list;
    uint64_t rest[40];
} image_infos = {15, MACHINE_IMAGES, images, {0}};
static uint64_t limit_bytes;
static const struct macho *libmalloc;

void system_set_image(size_t which, const struct macho *image, const char *path)
{
    images[which].load = (uintptr_t)image->base;
    images[which].path = (uintptr_t)path;
    if (which == 1)
        libmalloc = image;
}

void system_set_limit(uint64_t bytes)
{
    limit_bytes = bytes;
}

static uint64_t status_kib(const char *name)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    unsigned long value = 0;

    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, name, strlen(name)) == 0)
            sscanf(line + strlen(name), ": %lu", &value);
    if (file)
        fclose(file);
    return value << 10;
}

/* task_dyld_info, task_vm_info and mach_task_basic_info */
static int fake_task_info(uint32_t task, uint32_t flavor, char *out, uint32_t *count)
{
    uint64_t footprint = status_kib("RssAnon") + status_kib("RssShmem") + status_kib("VmSwap");

    (void)task;
    if (flavor == 17) {
        MACHINE_PUT(out, 0, uint64_t, (uintptr_t)&image_infos);
        return SUCCESS;
    }
    memset(out, 0, *count * 4);
    if (flavor == 20)
        MACHINE_PUT(out, 8, uint64_t, status_kib("VmRSS"));
    if (flavor != 22)
        return flavor == 20 ? SUCCESS : INVALID_ARGUMENT;
    MACHINE_PUT(out, 16, uint64_t, status_kib("VmRSS"));
    MACHINE_PUT(out, 24, uint64_t, status_kib("VmHWM"));
    MACHINE_PUT(out, 64, uint64_t, status_kib("RssFile"));
    MACHINE_PUT(out, 144, uint64_t, footprint);
    MACHINE_PUT(out, 336, uint64_t, limit_bytes > footprint ? limit_bytes - footprint : limit_bytes ? 1 : 0);
    return SUCCESS;
}

static uint64_t start_ms(int pid)
{
    char path[64], text[1024];
    unsigned long long ticks = 0;
    struct timespec boot, now;
    FILE *file;
    const char *end;

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    file = fopen(path, "r");
    if (!file)
        return 0;
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    end = strrchr(text, ')');
    if (!end || end[2] == 'Z' ||
        sscanf(end + 2, "%*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu", &ticks) !=
            1)
        return 0;
    clock_gettime(CLOCK_BOOTTIME, &boot);
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)(now.tv_sec - boot.tv_sec) * 1000 + ticks * 10;
}

/* KERN_PROC_PID: struct kinfo_proc */
static int fake_sysctl(int *name, unsigned count, char *out, size_t *size, void *in, size_t in_size)
{
    uint64_t started_ms = count == 4 && name[1] == 14 ? start_ms(name[3]) : 0;

    (void)in;
    (void)in_size;
    if (started_ms == 0) {
        *size = 0;
        return 0;
    }
    memset(out, 0, *size < 648 ? *size : 648);
    MACHINE_PUT(out, 0, int64_t, started_ms / 1000);
    MACHINE_PUT(out, 8, int32_t, started_ms % 1000 * 1000);
    return 0;
}

static int fake_sysctl_named(const char *name, char *out, size_t *size, void *in, size_t in_size)
{
    static const char *const texts[][2] = {
        {"hw.model", "MacTest1,1"}, {"kern.osproductversion", "15.5"}, {"kern.osversion", "24F74"}};

    (void)in;
    (void)in_size;
    if (strcmp(name, "hw.memsize") == 0) {
        MACHINE_PUT(out, 0, uint64_t, (uint64_t)sysconf(_SC_PHYS_PAGES) * MACHINE_PAGE);
        return 0;
    }
    if (strcmp(name, "kern.memorystatus_vm_pressure_level") == 0) {
        MACHINE_PUT(out, 0, int32_t, 1);
        return 0;
    }
    if (strcmp(name, "kern.bootsessionuuid") == 0) {
        FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
        size_t got = file ? fread(out, 1, 36, file) : 0;

        if (file)
            fclose(file);
        return got == 36 ? 0 : -1;
    }
    for (size_t i = 0; i < MACHINE_COUNT(texts); i++)
        if (strcmp(name, texts[i][0]) == 0 && *size > strlen(texts[i][1])) {
            memcpy(out, texts[i][1], strlen(texts[i][1]) + 1);
            return 0;
        }
    errno = ENOENT;
    return -1;
}

static long fake_sysconf(int name)
{
    return name == 58 ? sysconf(_SC_NPROCESSORS_ONLN) : name == 29 ? (long)MACHINE_PAGE : name == 3 ? 100 : -1;
}

static int fake_getrlimit(int which, struct rlimit *out)
{
    return getrlimit(which == 8 ? RLIMIT_NOFILE : which == 5 ? RLIMIT_AS : (__rlimit_resource_t)which, out);
}

static int fake_executable_path(char *out, uint32_t *size)
{
    const char *path = (const char *)(uintptr_t)images[MACHINE_IMAGES - 1].path;

    if (strlen(path) >= *size)
        return -1;
    memcpy(out, path, strlen(path) + 1);
    return 0;
}

static const void *fake_executable_header(void)
{
    return (const void *)(uintptr_t)images[MACHINE_IMAGES - 1].load;
}

static int fake_sigaltstack(const void *stack, void *old)
{
    (void)stack;
    if (old)
        memset(old, 0, 24);
    return 0;
}

static void *fake_dlsym(void *handle, const char *name)
{
    char symbol[128];

    (void)handle;
    if (strcmp(name, "malloc_logger") == 0)
        return macho_find(libmalloc, "_malloc_logger");
    snprintf(symbol, sizeof(symbol), "_%s", name);
    return exceptions_find(symbol);
}

/* libmalloc alone is asked for: the second image. */
static int fake_dladdr(const void *address, void **info)
{
    (void)address;
    info[1] = (void *)(uintptr_t)images[1].load; /* dli_fbase */
    return 1;
}

/* Its code. */
static const void *fake_section(const void *header, const char *segment, const char *section, unsigned long *bytes)
{
    (void)header;
    (void)segment;
    (void)section;
    *bytes = libmalloc->text.size;
    return (const void *)(uintptr_t)libmalloc->text.address;
}

static uint32_t task_self = 0x103;
static uintptr_t stack_guard = 42;

static const struct machine_name own_names[] = {
    {"_pthread_sigmask", (void *)nothing},
    {"_thread_suspend", (void *)failing},
    {"_thread_resume", (void *)failing},
    {"_thread_get_state", (void *)failing},
    {"_mach_port_deallocate", (void *)nothing},
    {"_mach_msg", (void *)failing},
    {"_task_info", (void *)fake_task_info},
    {"_getenv", (void *)getenv},
    {"_sysctl", (void *)fake_sysctl},
    {"_sysctlbyname", (void *)fake_sysctl_named},
    {"_sysconf", (void *)fake_sysconf},
    {"_getrlimit", (void *)fake_getrlimit},
    {"_proc_pid_rusage", (void *)failing},
    {"_setpriority", (void *)nothing},
    {"__NSGetExecutablePath", (void *)fake_executable_path},
    {"__NSGetMachExecuteHeader", (void *)fake_executable_header},
    {"_sigaction", (void *)exceptions_sigaction},
    {"_sigaltstack", (void *)fake_sigaltstack},
    {"_dlsym", (void *)fake_dlsym},
    {"_dlerror", (void *)nothing},
    {"_dladdr", (void *)fake_dladdr},
    {"_getsectiondata", (void *)fake_section},
    {"_atexit", (void *)atexit},
    {"_pthread_atfork", (void *)pthread_atfork},
    {"_mach_task_self_", &task_self},
    {"___stack_chk_guard", &stack_guard},
};

/* Calls that are the same on both systems. */
static const char *const same_names[] = {"access",
                                         "bsearch",
                                         "close",
                                         "closedir",
                                         "dirfd",
                                         "flock",
                                         "fsync",
                                         "ftruncate",
                                         "getentropy",
                                         "getenv",
                                         "geteuid",
                                         "getpid",
                                         "getrusage",
                                         "link",
                                         "lseek",
                                         "memchr",
                                         "memcmp",
                                         "memcpy",
                                         "memmem",
                                         "memmove",
                                         "memset",
                                         "mkdir",
                                         "munmap",
                                         "nanosleep",
                                         "pread",
                                         "pwrite",
                                         "qsort",
                                         "read",
                                         "readlink",
                                         "rename",
                                         "sched_yield",
                                         "snprintf",
                                         "sscanf",
                                         "strchr",
                                         "strcmp",
                                         "strcpy",
                                         "strcspn",
                                         "strerror",
                                         "strlen",
                                         "strncmp",
                                         "strnlen",
                                         "strrchr",
                                         "strspn",
                                         "strstr",
                                         "strtok_r",
                                         "strtoul",
                                         "strtoull",
                                         "symlink",
                                         "time",
                                         "unlink",
                                         "write",
                                         "bzero",
                                         "exit",
                                         "_exit",
                                         "printf",
                                         "usleep",
                                         "fflush",
                                         "getchar",

                                         "pthread_attr_destroy",
                                         "pthread_attr_getstacksize",
                                         "pthread_attr_init",
                                         "pthread_attr_setstacksize",
                                         "pthread_detach",
                                         "pthread_equal",
                                         "pthread_getname_np",
                                         "pthread_getspecific",
                                         "pthread_join",
                                         "pthread_key_delete",
                                         "pthread_self",
                                         "pthread_setspecific"};

void *system_find(const char *name)
{
    void *found = machine_find(own_names, MACHINE_COUNT(own_names), name);

    for (size_t i = 0; !found && i < MACHINE_COUNT(same_names); i++)
        if (strcmp(same_names[i], name + 1) == 0)
            found = dlsym(RTLD_DEFAULT, name + 1);
    return found;
}
