/*
 * rights.c - a program with one thread that changes its rights, and hangs in between. Each letter of argv[1] is a step.
 * It ends with 0, or with 9 if a step was refused; it prints the kernel's error.
 *
 *   p  wait 50 ms                     1, 2, 3  compute for argv[3] ms, in step_1, step_2, step_3    z  sleep that long
 *   u  give up root for good          e, E     change the effective user, and back              g  change groups alone
 *   k  keep capabilities over u       c        chroot to argv[2]                                d  clear dumpable
 *   r  give up root by syscall()      b        drop all capabilities by capset
 *   n  a new user namespace           s        join that of a child     m  join the mount namespace it is in
 *   x  the same by clone3
 *   f  go on in a child, and wait for it       K  end by SIGKILL       F  fill the disk at argv[2]
 *   l  allow no more memory           L        allow no more descriptors
 *   w  wait for another line of libmire's log
 *
 * Built with WITH_MIRE it links libmire: argv[4] is its store, argv[5] and argv[6] are the server and its key, argv[7]
 * is the app's name.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef WITH_MIRE
#include <mire/mire.h>
#endif

#define NOBODY 65534

#define PATIENCE 400 /* waits of 50 ms */

static double work_s;
static _Atomic unsigned lines; /* lines of libmire's log */

int capset(struct __user_cap_header_struct *header, const struct __user_cap_data_struct *data);

static double now(void)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

/* clang-format off */
#define STEP(number)                                                       \
    __attribute__((noinline)) void step_##number(void);                    \
    void step_##number(void)                                               \
    {                                                                      \
        double end = now() + work_s;                                         \
        volatile double sum = 0;                                           \
                                                                           \
        while (now() < end)                                                \
            for (int i = 0; i < 1000; i++)                                 \
                sum += i;                                                  \
    }
STEP(1)
STEP(2)
STEP(3)
/* clang-format on */

static int drop_by_calls(void)
{
    return syscall(SYS_setgroups, 0, NULL) || syscall(SYS_setresgid, NOBODY, NOBODY, NOBODY) ||
           syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY);
}

static int drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}};

    return capset(&header, none);
}

static int join(pid_t pid, const char *name, int kind)
{
    char path[64];
    int fd, result;

    snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    result = fd < 0 ? -1 : setns(fd, kind);
    if (fd >= 0)
        close(fd);
    return result;
}

static int join_child(void)
{
    int ready[2], result;
    char byte;
    pid_t pid;

    if (pipe(ready) != 0)
        return -1;
    pid = fork();
    if (pid == 0) {
        if (unshare(CLONE_NEWUSER) == 0 && write(ready[1], "", 1) == 1)
            pause();
        _exit(1);
    }
    result = read(ready[0], &byte, 1) == 1 ? join(pid, "user", CLONE_NEWUSER) : -1;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return result;
}

static void go_on_in_child(bool by_clone3)
{
    struct clone_args args = {.exit_signal = SIGCHLD};
    int status;
    pid_t pid = by_clone3 ? (pid_t)syscall(SYS_clone3, &args, sizeof(args)) : fork();

    if (pid == 0)
        return;
    waitpid(pid, &status, 0);
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static int await_line(void)
{
    unsigned before = atomic_load(&lines);

    for (int i = 0; i < PATIENCE && atomic_load(&lines) == before; i++)
        poll(NULL, 0, 50);
    errno = ETIMEDOUT;
    return atomic_load(&lines) == before;
}

static void fill(const char *place)
{
    static const char zeros[4096];
    char path[4096];
    int fd;

    snprintf(path, sizeof(path), "%s/fill", place);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    while (fd >= 0 && write(fd, zeros, sizeof(zeros)) > 0) {
    }
    close(fd);
}

static int step(char letter, const char *root)
{
    switch (letter) {
    case 'p':
        return poll(NULL, 0, 50);
    case '1':
        return step_1(), 0;
    case '2':
        return step_2(), 0;
    case '3':
        return step_3(), 0;
    case 'z':
        return usleep((useconds_t)(work_s * 1e6));
    case 'u':
        return setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY);
    case 'g':
        return initgroups("nobody", NOBODY) || setegid(NOBODY) || setegid(0);
    case 'e':
        return seteuid(NOBODY);
    case 'E':
        return seteuid(0);
    case 'k':
        return prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
    case 'c':
        return chroot(root) || chdir("/");
    case 'd':
        return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    case 'r':
        return drop_by_calls();
    case 'b':
        return drop_capabilities();
    case 'n':
        return unshare(CLONE_NEWUSER);
    case 's':
        return join_child();
    case 'm':
        return join(getpid(), "mnt", CLONE_NEWNS);
    case 'w':
        return await_line();
    case 'l':
        return setrlimit(RLIMIT_AS, &(struct rlimit){4096, 4096});
    case 'L':
        return setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, 0});
    case 'F':
        fill(root);
        return 0;
    case 'f':
    case 'x':
        go_on_in_child(letter == 'x');
        return 0;
    case 'K':
        return raise(SIGKILL);
    default:
        return -1;
    }
}

#ifdef WITH_MIRE
static void print_log(void *context, enum mire_log_level level, const char *text)
{
    (void)context;
    printf("%d %s\n", (int)level, text);
    atomic_fetch_add(&lines, 1);
}

static void begin(char **argv)
{
    mire_options *options = mire_options_new();

    mire_options_set_app(options, argv[7], "1");
    mire_options_set_store(options, argv[4]);
    mire_options_set_server(options, argv[5], argv[6]);
    mire_options_set_threshold_ms(options, 400);
    mire_options_set_sampling(options, 1);
    mire_options_set_log(options, print_log, NULL);
    printf("start %s\n", mire_err_name(mire_start(options)));
    mire_options_free(options);
}

static void end(void)
{
    enum mire_err err = mire_flush(20000);

    printf("flush %s\n", mire_err_name(err));
    mire_stop(NULL);
}
#else
static void begin(char **argv)
{
    (void)argv;
}

static void end(void)
{
}
#endif

int main(int argc, char **argv)
{
    if (argc > 7)
        begin(argv);
    work_s = argc > 3 ? atof(argv[3]) / 1000 : 0;
    for (const char *letter = argc > 1 ? argv[1] : ""; *letter; letter++) {
        errno = 0;
        if (step(*letter, argc > 2 ? argv[2] : "/") != 0) {
            printf("%c: %s\n", *letter, strerror(errno));
            return 9;
        }
    }
    if (argc > 7)
        end();
    return 0;
}
