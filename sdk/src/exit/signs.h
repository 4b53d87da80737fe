/*
 * signs.h - the observations about the end of a run, one row each. A sign is present or absent; verdict.c has its
 * weights. The names are those of `exit.for` and `exit.against` in a report; docs/exits.md explains each.
 */
#ifndef MIRE_EXIT_SIGNS_H
#define MIRE_EXIT_SIGNS_H

#include "base/base.h"

/* clang-format off */
#define MIRE_SIGNS(X) \
    /* the program itself */ \
    X(STOPPED, "stopped")                 /* exit(), return from main, mire_stop */ \
    X(EXITED, "exited")                   /* _exit, _Exit or quick_exit was called */ \
    X(EXECUTED, "executed")               /* it became another program by exec */ \
    X(ABORT_CALLED, "abort_called") \
    X(QUIT_ANNOUNCED, "quit_announced")             /* the app said that the user quits, or that the session ends */ \
    X(QUIT_SIGNAL, "quit_signal")         /* SIGTERM, SIGINT or SIGHUP, by default action */ \
    /* the crash marker */ \
    X(CRASHED, "crashed")                 /* it left a file or a mark, and there was no later activity */ \
    X(ABORTED, "aborted")                 /* the same, of a SIGABRT that the process sent itself */ \
    X(ABORT_SENT, "abort_sent")           /* the same, of a SIGABRT from another process */ \
    X(CRASH_SURVIVED, "crash_survived")   /* there was activity a minute after the mark */ \
    X(HANDLERS_REPLACED, "handlers_replaced") /* other code replaced the marker's signal handlers */ \
    /* the parent, who knows the wait status */ \
    X(PARENT_SAW_EXIT, "parent_saw_exit") \
    X(PARENT_SAW_CRASH, "parent_saw_crash") /* SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS */ \
    X(PARENT_SAW_ABORT, "parent_saw_abort") \
    X(PARENT_SAW_QUIT, "parent_saw_quit") /* SIGTERM, SIGINT, SIGHUP, SIGQUIT */ \
    X(PARENT_SAW_KILL, "parent_saw_kill") /* SIGKILL */ \
    X(PARENT_SAW_SIGNAL, "parent_saw_signal") /* any other */ \
    /* the system's own record (mire_options_add_end) */ \
    X(SYSTEM_SAW_CRASH, "system_saw_crash") /* an exception */ \
    X(SYSTEM_SAW_HANG, "system_saw_hang") \
    X(SYSTEM_SAW_LOW_MEMORY, "system_saw_low_memory") \
    X(SYSTEM_SAW_LIMIT, "system_saw_limit") /* the process's own limit of memory */ \
    X(SYSTEM_SAW_USER, "system_saw_user") \
    X(SYSTEM_SAW_UPGRADE, "system_saw_upgrade") \
    X(SYSTEM_SAW_KILL, "system_saw_kill")   /* for another reason */ \
    /* what has changed since */ \
    X(APP_CHANGED, "app_changed")         /* version or build */ \
    X(APP_SAME, "app_same") \
    X(OS_CHANGED, "os_changed") \
    X(BOOT_CHANGED, "boot_changed") \
    X(BOOT_SAME, "boot_same") \
    /* its state at the last look */ \
    X(BACKGROUND, "background") \
    X(JUST_FOREGROUND, "just_foreground") /* in the foreground for less than a second */ \
    X(FOREGROUND, "foreground") \
    X(GROUND_UNKNOWN, "ground_unknown")     /* the app has not set its state */ \
    X(STUCK, "stuck")                     /* a hang was open */ \
    X(NOT_STUCK, "not_stuck") \
    X(DEBUGGER, "debugger")               /* traced by another process */ \
    X(FOUND_LATE, "found_late")           /* ten minutes and more after it was last seen */ \
    /* memory */ \
    X(OOM_COUNTED, "oom_counted")         /* the kernel counts an OOM kill more in the run's cgroup */ \
    X(OOM_COUNTED_ELSEWHERE, "oom_counted_elsewhere") /* in the system, and there is no cgroup */ \
    X(OOM_NOT_COUNTED, "oom_not_counted") \
    X(NEAR_LIMIT, "near_limit")           /* footprint at 85 % of its limit, or more */ \
    X(FAR_FROM_LIMIT, "far_from_limit")   /* below 50 % */ \
    X(PRESSURE, "pressure")               /* tasks stalled for memory in a tenth of the last 10 s or more */ \
    X(GREW, "grew")                       /* by a quarter or more in the last minute it was seen */
/* clang-format on */

#define MIRE_SIGN_NUMBER(sign, name) MIRE_SIGN_##sign,
enum mire__sign { MIRE_SIGNS(MIRE_SIGN_NUMBER) MIRE_SIGN_COUNT };

/* Signs as a set: bit MIRE_SIGN_x. */
#define MIRE_SIGN_BIT(sign) (UINT64_C(1) << MIRE_SIGN_##sign)

/* The name of a sign; static, "" for other numbers. */
const char *mire__sign_name(enum mire__sign sign);

#endif
