/*
 * leave.h - hooks of the calls by which a process ends its program without exit(): _exit and similar calls, exec, and
 * abort. quick_exit runs the program's own handlers first, so that a handler of the library, the last one, stands for it.
 *
 * Each hook `mire__hook_NAME` records the call (mire__gate_as_leave) and makes it. So a hang that the program itself
 * ended is distinguished from one that ended in a kill. In a forked or vforked child the hooks record nothing. Like the calls,
 * the hooks are signal-safe and may run in vfork children.
 */
#ifndef MIRE_GATE_LEAVE_H
#define MIRE_GATE_LEAVE_H

#include "base/base.h"

#include <stdarg.h>

/* clang-format off */
#define MIRE_EXITS(X) X(_exit) X(_Exit)

/*   X(name, parameters, arguments) */
#define MIRE_EXECS(X) \
    X(execve, (const char *path, char *const argv[], char *const environment[]), (path, argv, environment)) \
    X(execv, (const char *path, char *const argv[]), (path, argv)) \
    X(execvp, (const char *file, char *const argv[]), (file, argv)) \
    X(execvpe, (const char *file, char *const argv[], char *const environment[]), (file, argv, environment)) \
    X(fexecve, (int fd, char *const argv[], char *const environment[]), (fd, argv, environment)) \
    X(execveat, (int dir, const char *path, char *const argv[], char *const environment[], int flags), \
      (dir, path, argv, environment, flags))

/*   X(name, the one that takes an array) */
#define MIRE_EXEC_LISTS(X) X(execl, execv) X(execlp, execvp) X(execle, execve)

#define MIRE_EXIT_DECLARE(name) void mire__hook_##name(int status);
#define MIRE_EXEC_DECLARE(name, parameters, arguments) int mire__hook_##name parameters;
#define MIRE_EXEC_LIST_DECLARE(name, with_array) int mire__hook_##name(const char *path, const char *first, ...);
MIRE_EXITS(MIRE_EXIT_DECLARE)
MIRE_EXECS(MIRE_EXEC_DECLARE)
MIRE_EXEC_LISTS(MIRE_EXEC_LIST_DECLARE)
/* clang-format on */
void mire__hook_abort(void);

/* The handler of quick_exit: at_quick_exit gets it before the program's own. */
void mire__gate_as_leave_quickly(void);

/* The calls with a list of arguments: `name` is the call, `rest` follows `first`. */
enum mire__exec_list { MIRE_LIST_execl, MIRE_LIST_execlp, MIRE_LIST_execle };
int mire__leave_by_list(enum mire__exec_list name, const char *path, const char *first, va_list rest);

/* Defines `function` as such a call. */
/* clang-format off */
#define MIRE_DEFINE_BY_LIST(function, name)                          \
    int function(const char *path, const char *first, ...)           \
    {                                                                \
        va_list rest;                                                \
        int answer;                                                  \
                                                                     \
        va_start(rest, first);                                       \
        answer = mire__leave_by_list(MIRE_LIST_##name, path, first, rest); \
        va_end(rest);                                                \
        return answer;                                               \
    }
/* clang-format on */

#endif
