/*
 * spend.c - runs a program and measures its resources.
 *
 *     spend OUT [NAME=VALUE...] -- PROGRAM [ARGUMENT...]
 *
 * OUT gets one line: nanoseconds of processor time, peak resident bytes. Exits as PROGRAM does, 128 + N if signal N
 * ended it.
 *
 * MIRE_FIRST is PROGRAM's process number, as from mire-run, so that PROGRAM is watched from its first instruction on
 * without the cost of mire-run. `spend` is small because the kernel starts a process with the peak resident bytes of
 * the one it was forked from.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long long ns(struct timeval time)
{
    return time.tv_sec * 1000000000ll + time.tv_usec * 1000ll;
}

int main(int argc, char **argv)
{
    int at = 2, status;
    struct rusage usage;
    FILE *out;
    pid_t child;

    while (at < argc && strcmp(argv[at], "--") != 0)
        at++;
    if (at + 1 >= argc)
        return 125;
    child = fork();
    if (child == 0) {
        char number[16];

        snprintf(number, sizeof(number), "%d", (int)getpid());
        setenv("MIRE_FIRST", number, 1);
        for (int i = 2; i < at; i++)
            putenv(argv[i]);
        execvp(argv[at + 1], argv + at + 1);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        return 125;
    out = fopen(argv[1], "w");
    if (!out || fprintf(out, "%lld %lld\n", ns(usage.ru_utime) + ns(usage.ru_stime), usage.ru_maxrss * 1024ll) < 0 ||
        fclose(out) != 0)
        return 125;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
