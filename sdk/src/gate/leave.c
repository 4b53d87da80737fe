/* leave.c - hooks of the calls that end the program. Signal-safe, and fit for vfork children. */
#include "gate/leave.h"

#include "gate/gate.h"
#include "gate/hooks.h"

#include <alloca.h>
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

/* clang-format off */
#define DEFINE_EXIT(name)                                              \
    void mire__hook_##name(int status)                                 \
    {                                                                  \
        void (*real)(int) = (void (*)(int))mire__hook_real(MIRE_HOOK_##name); \
                                                                       \
        mire__gate_as_leave(MIRE_LEFT_EXIT);                           \
        if (real)                                                      \
            real(status);                                              \
        for (;;)                                                       \
            syscall(SYS_exit_group, status);                           \
    }
MIRE_EXITS(DEFINE_EXIT)

#define DEFINE_EXEC(name, parameters, arguments)                       \
    int mire__hook_##name parameters                                   \
    {                                                                  \
        int(*real) parameters = (int(*) parameters)mire__hook_real(MIRE_HOOK_##name); \
        int answer;                                                    \
                                                                       \
        if (!real) {                                                   \
            errno = ENOSYS;                                            \
            return -1;                                                 \
        }                                                              \
        mire__gate_as_leave(MIRE_LEFT_EXEC);                           \
        answer = real arguments;                                       \
        mire__gate_as_stay();                                          \
        return answer;                                                 \
    }
MIRE_EXECS(DEFINE_EXEC)
/* clang-format on */

void mire__hook_abort(void)
{
    void (*real)(void) = (void (*)(void))mire__hook_real(MIRE_HOOK_abort);

    mire__gate_as_leave(MIRE_LEFT_ABORT);
    if (real)
        real();
    for (;;)
        syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGABRT);
}

void mire__gate_as_leave_quickly(void)
{
    mire__gate_as_leave(MIRE_LEFT_EXIT);
}

/* The list is copied to the stack, as the C library does: its length is the caller's, and the heap is not safe. */
int mire__leave_by_list(enum mire__exec_list name, const char *path, const char *first, va_list rest)
{
    size_t count = 0;
    va_list again;
    char **argv;

    va_copy(again, rest);
    for (const char *word = first; word; word = va_arg(again, const char *))
        count++;
    va_end(again);
    argv = alloca((count + 1) * sizeof(*argv));
    argv[0] = (char *)(uintptr_t)first;
    for (size_t i = 1; i <= count; i++)
        argv[i] = va_arg(rest, char *);
    if (name == MIRE_LIST_execlp)
        return mire__hook_execvp(path, argv);
    if (name == MIRE_LIST_execl)
        return mire__hook_execv(path, argv);
    return mire__hook_execve(path, argv, va_arg(rest, char **));
}

/* clang-format off */
#define DEFINE_EXEC_LIST(name, with_array) MIRE_DEFINE_BY_LIST(mire__hook_##name, name)
MIRE_EXEC_LISTS(DEFINE_EXEC_LIST)
/* clang-format on */
