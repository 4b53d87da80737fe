/*
 * locked.c - locks its memory, as time daemons and databases do, and goes on.
 *
 *     locked FLAGS LIMIT_KIB MORE_KIB    FLAGS of mlockall: c current mappings, f future ones, o when touched;
 *                                        LIMIT_KIB of RLIMIT_MEMLOCK, -1: none; then MORE_KIB are allocated, twice
 *
 * Prints the result of each call, and VmLck and VmRSS in KiB.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long field(const char *name)
{
    FILE *file = fopen("/proc/self/status", "re");
    char line[256];
    long kib = -1;

    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, name, strlen(name)) == 0)
            kib = atol(line + strlen(name));
    if (file)
        fclose(file);
    return kib;
}

static int flags_of(const char *text)
{
    return (strchr(text, 'c') ? MCL_CURRENT : 0) | (strchr(text, 'f') ? MCL_FUTURE : 0) |
           (strchr(text, 'o') ? 4 /* MCL_ONFAULT */ : 0);
}

static void allocate(size_t bytes)
{
    char *block = malloc(bytes);

    printf("malloc %s\n", block ? "ok" : strerror(errno));
    if (block)
        memset(block, 1, bytes);
}

int main(int count, char **arguments)
{
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    size_t more;

    if (count < 4)
        return 2;
    if (atol(arguments[2]) >= 0)
        limit.rlim_cur = limit.rlim_max = (rlim_t)atol(arguments[2]) << 10;
    more = (size_t)atol(arguments[3]) << 10;
    if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0 && limit.rlim_cur != RLIM_INFINITY)
        return 2;
    printf("mlockall %s\n", mlockall(flags_of(arguments[1])) == 0 ? "ok" : strerror(errno));
    allocate(more);
    poll(NULL, 0, 100);
    allocate(more);
    printf("munlockall %s\n", munlockall() == 0 ? "ok" : strerror(errno));
    printf("mlockall %s\n", mlockall(flags_of(arguments[1])) == 0 ? "ok" : strerror(errno));
    fflush(stdout);
    printf("VmLck %ld\nVmRSS %ld\n", field("VmLck:"), field("VmRSS:"));
    return 0;
}
