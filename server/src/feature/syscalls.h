/*
 * syscalls.h - the thing that a thread waits for in a system call. Inside feature/ only.
 */
#ifndef MIRE_FEATURE_SYSCALLS_H
#define MIRE_FEATURE_SYSCALLS_H

#include <stdint.h>

enum syscall_kind {
    MIRE_SYSCALL_OTHER, /* none, an unknown one, or a meaningless one */
    MIRE_SYSCALL_FUTEX, /* a lock, or a thing made of one: condition variable, semaphore, join */
    MIRE_SYSCALL_LOCK,  /* a file lock */
    MIRE_SYSCALL_IO,
    MIRE_SYSCALL_SLEEP,
    MIRE_SYSCALL_WAIT, /* for events, signals or processes */
};

/* Kind of a number on an architecture, as the wire names it ("x86_64", "arm64", "arm", "x86"). */
enum syscall_kind syscall_kind(const char *arch, int32_t number);

#endif
