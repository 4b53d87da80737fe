/*
 * child.c - see child.h.
 */
#include "preload/child.h"

#include "platform/platform.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const int passed_on[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1,  SIGUSR2, SIGALRM,
                                SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH, SIGPIPE};

/* Mask and disposition that mire-run was given, for the program. Main thread only. */
static sigset_t before;
static struct sigaction children_before;

static void fill_set(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
        sigaddset(set, passed_on[i]);
}

void child_prepare(void)
{
    sigset_t set;

    fill_set(&set);
    sigprocmask(SIG_BLOCK, &set, &before);
    /* The kernel tells a parent that ignores SIGCHLD of no child's end, and keeps no status for it. */
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &children_before);
}

void child_release(void)
{
    sigaction(SIGCHLD, &children_before, NULL);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* The child must not use the heap, so it overwrites the numbers in place. */
static void write_number(char *number)
{
    child_write_digits(number, CHILD_PID_DIGITS, (uint64_t)getpid());
    child_write_digits(number + CHILD_PID_DIGITS + 1, CHILD_TIME_DIGITS, mire__now_ns());
}

/* The child borrows this process's memory until it executes: that takes no descriptor, and tells the errno. */
int child_start(pid_t *pid_out, const char *path, char *const *argv)
{
    char *number = setenv(CHILD_NUMBER, CHILD_NUMBER_EMPTY, 1) == 0 ? getenv(CHILD_NUMBER) : NULL;
    volatile int err = 0;
    pid_t pid = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork) */

    if (pid == 0) {
        if (number)
            write_number(number);
        child_release(); /* NOLINT(clang-analyzer-unix.Vfork): two system calls on the child's own state */
        execv(path, argv);
        err = errno;
        _exit(127);
    }
    if (pid < 0)
        err = errno;
    else if (err)
        waitpid(pid, NULL, 0);
    *pid_out = err ? 0 : pid;
    return err;
}

int child_replace(const char *path, char *const *argv, char *const *environment)
{
    child_release();
    execve(path, argv, environment);
    return errno;
}

/*
 * The terminal stopped the whole job, and the shell waits for this process to stop too. Not if the child runs again
 * already. A program that was stopped by kill is continued by the same user, alone.
 */
static void stop_with(int signal)
{
    sigset_t pending;

    if (signal == SIGSTOP || sigpending(&pending) != 0 || sigismember(&pending, SIGCONT))
        return;
    kill(getpid(), SIGSTOP);
}

/*
 * A program may have itself traced by its parent (PTRACE_TRACEME), so that no debugger can trace it. Then each signal
 * stops it, the sampling signal too, and its parent continues it. The kernel's own SIGTRAP after an exec is dropped.
 * False: the child is not traced, or a signal of job control stopped it.
 */
static bool go_on_traced(pid_t pid, int signal)
{
    siginfo_t info;

    if (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU ||
        ptrace(PTRACE_GETSIGINFO, pid, NULL, &info) != 0)
        return false;
    if (signal == SIGTRAP && info.si_code == SI_USER && info.si_pid == pid)
        signal = 0;
    return ptrace(PTRACE_CONT, pid, NULL, (void *)(uintptr_t)signal) == 0;
}

/* Look at the child. False: it goes on. */
static bool look(struct child_end *out, pid_t pid)
{
    struct rusage use;
    int status;
    pid_t got;

    while ((got = wait4(-1, &status, WNOHANG | WUNTRACED, &use)) > 0) {
        if (got != pid)
            continue; /* an orphan of the program: remain_prepare */
        out->peak_bytes = (uint64_t)use.ru_maxrss * 1024;
        out->killed = WIFSIGNALED(status);
        out->status = out->killed ? WTERMSIG(status) : WEXITSTATUS(status);
        if (WIFEXITED(status) || WIFSIGNALED(status))
            return true;
        if (WIFSTOPPED(status) && !go_on_traced(pid, WSTOPSIG(status)))
            stop_with(WSTOPSIG(status));
    }
    return false;
}

int child_wait(struct child_end *out, pid_t pid)
{
    sigset_t set;
    siginfo_t info;

    fill_set(&set);
    while (!look(out, pid)) {
        int signal = sigwaitinfo(&set, &info);
        /* Signals of the terminal go to the whole process group; the child has them already. */
        if (signal > 0 && signal != SIGCHLD && info.si_code != SI_KERNEL)
            kill(pid, signal);
    }
    return out->killed ? 128 + out->status : out->status;
}
