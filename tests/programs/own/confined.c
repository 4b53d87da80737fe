/*
 * confined.c - a program that installs a seccomp filter while it runs: confined SCOPE ACTION LIST
 *
 *   SCOPE   main     prctl, for its first thread       tsync    seccomp, for all threads
 *           seccomp  as main, by seccomp               thread   by another thread, for itself alone
 *           twice    main, then tsync                  before   and executes itself: filtered from the start
 *           hidden   as tsync, not through the C library
 *           strict   SECCOMP_MODE_STRICT               probe    asks whether there are filters, by a call that fails
 *           limits   RLIMIT_NOFILE, _FSIZE, _AS and _NPROC as low as they go
 *   ACTION  kill, thread, errno, trap: result of a call that is not in the list
 *   LIST    allowed calls: small, or all but a few (deny)
 *
 * The program hangs once before and twice after, allocates, forks if it may, and prints the processor time of two idle
 * seconds.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ALLOW(name)     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define DENY(name, how) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, how)
#define NUMBER          BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))

static uint32_t action;
static const char *list;

static double now(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Processor time, so that a busy machine does not shorten the hang. */
__attribute__((noinline)) static void hang(double seconds)
{
    double end = now(CLOCK_THREAD_CPUTIME_ID) + seconds;
    void *blocks[500];

    while (now(CLOCK_THREAD_CPUTIME_ID) < end) {
        for (int i = 0; i < 500; i++)
            blocks[i] = malloc(4000);
        for (int i = 0; i < 500; i++)
            free(blocks[i]);
    }
}

static struct sock_fprog filter(void)
{
    static struct sock_filter small[] = {
        NUMBER, ALLOW(read), ALLOW(write), ALLOW(close), ALLOW(poll), ALLOW(ppoll), ALLOW(brk), ALLOW(mmap),
        ALLOW(munmap), ALLOW(clock_gettime), ALLOW(restart_syscall), ALLOW(rt_sigreturn), ALLOW(exit),
        ALLOW(exit_group), ALLOW(execve),
        /* calls of a loader, and another filter */
        ALLOW(prctl), ALLOW(seccomp), ALLOW(openat), ALLOW(fstat), ALLOW(newfstatat), ALLOW(pread64), ALLOW(mprotect),
        ALLOW(arch_prctl), ALLOW(set_tid_address), ALLOW(set_robust_list), ALLOW(rseq), ALLOW(prlimit64),
        ALLOW(getrandom), ALLOW(access), ALLOW(faccessat), ALLOW(madvise), ALLOW(rt_sigprocmask), ALLOW(sched_yield),
        BPF_STMT(BPF_RET | BPF_K, 0)};
    static struct sock_filter deny[] = {NUMBER, DENY(ptrace, 0), DENY(mount, 0), DENY(reboot, 0),
                                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const size_t small_count = sizeof(small) / sizeof(small[0]), deny_count = sizeof(deny) / sizeof(deny[0]);

    small[small_count - 1].k = action;
    for (size_t i = 2; i < deny_count - 1; i += 2)
        deny[i].k = action;
    if (strcmp(list, "deny") == 0)
        return (struct sock_fprog){(unsigned short)deny_count, deny};
    return (struct sock_fprog){(unsigned short)small_count, small};
}

static void confine(unsigned flags, int by_prctl)
{
    struct sock_fprog program = filter();
    long failed = by_prctl ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)
                           : syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);

    if (failed) {
        perror("seccomp");
        _exit(2);
    }
}

/* A direct system call, as programs without a C library make it, and some with one. */
static void confine_hidden(void)
{
    struct sock_fprog program = filter();
    long answer = SYS_seccomp;

#ifdef __x86_64__
    __asm__ volatile("syscall"
                     : "+a"(answer)
                     : "D"((long)SECCOMP_SET_MODE_FILTER), "S"((long)SECCOMP_FILTER_FLAG_TSYNC), "d"(&program)
                     : "rcx", "r11", "memory");
#else
    answer = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
#endif
    if (answer)
        _exit(2);
}

static void *confine_thread(void *unused)
{
    confine(0, 0);
    for (int i = 0; i < 3; i++) {
        hang(0.03);
        poll(NULL, 0, 100);
    }
    return unused;
}

static void limit(void)
{
    static const int limits[] = {RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_NPROC};
    const struct rlimit none = {0, 0};

    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        setrlimit(limits[i], &none);
}

static void probe(void)
{
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) != -1 || errno != EFAULT)
        _exit(3);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) != -1 || errno != EFAULT)
        _exit(4);
}

static void say(const char *text)
{
    if (write(1, text, strlen(text)) < 0)
        _exit(9);
}

/* In a child that inherits the filter. */
static void hang_in_child(void)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        poll(NULL, 0, 50);
        hang(0.7);
        poll(NULL, 0, 50);
        _exit(6);
    }
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 6)
        say("the child failed\n");
}

static void begin(const char *scope, char **argv)
{
    pthread_t thread;

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (strcmp(scope, "main") == 0 || strcmp(scope, "twice") == 0 || strcmp(scope, "before") == 0)
        confine(0, 1);
    if (strcmp(scope, "seccomp") == 0)
        confine(0, 0);
    if (strcmp(scope, "hidden") == 0)
        confine_hidden();
    if (strcmp(scope, "twice") == 0) {
        hang(0.3);
        poll(NULL, 0, 20);
    }
    if (strcmp(scope, "tsync") == 0 || strcmp(scope, "twice") == 0)
        confine(SECCOMP_FILTER_FLAG_TSYNC, 0);
    if (strcmp(scope, "thread") == 0 && pthread_create(&thread, NULL, confine_thread, NULL) != 0)
        _exit(8);
    if (strcmp(scope, "limits") == 0)
        limit();
    if (strcmp(scope, "probe") == 0)
        probe();
    if (strcmp(scope, "strict") == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
        _exit(2);
    if (strcmp(scope, "before") == 0) {
        argv[1] = "after";
        execv(argv[0], argv);
        _exit(7);
    }
}

int main(int argc, char **argv)
{
    const char *scope = argc > 3 ? argv[1] : "";
    double idle;

    if (argc < 4)
        return 2;
    list = argv[3];
    action = strcmp(argv[2], "kill") == 0     ? SECCOMP_RET_KILL_PROCESS
             : strcmp(argv[2], "thread") == 0 ? SECCOMP_RET_KILL_THREAD
             : strcmp(argv[2], "trap") == 0   ? SECCOMP_RET_TRAP
                                              : SECCOMP_RET_ERRNO | EPERM;
    poll(NULL, 0, 50);
    hang(0.7);
    poll(NULL, 0, 50);
    begin(scope, argv);
    if (strcmp(scope, "strict") == 0) {
        /* Functions that allocate would fail from here on. */
        for (volatile long i = 0; i < 300000000; i++) /* clock_gettime is not allowed */
            ;
        say("done\n");
        syscall(SYS_exit, 5);
    }
    idle = now(CLOCK_PROCESS_CPUTIME_ID);
    poll(NULL, 0, 1500);
    idle = now(CLOCK_PROCESS_CPUTIME_ID) - idle;
    for (int i = 0; i < 2; i++) {
        hang(0.7);
        poll(NULL, 0, 100);
    }
    if (strcmp(list, "deny") == 0)
        hang_in_child();
    say(idle < 0.2 ? "done\n" : "busy while idle\n");
    return 5;
}
