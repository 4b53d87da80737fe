/*
 * klog.h - stacks out of a kernel's log: of a task that hung, of a processor that stalled, of memory that leaked.
 *
 *     INFO: task a:1 blocked ...        <- kind HUNG
 *      Call Trace:                      <- a stack begins
 *      __schedule+0x8e8/0x2070          frames, innermost first, with their module if there is one
 *      ? find_held_lock+0x35/0x1d0      left over in memory: not a frame
 *
 * What took a stack from inside an interrupt stands in it by name, or, where only a headline says so, is added as the
 * function that prints the headline: "NMI backtrace for cpu 1" is nmi_cpu_backtrace.
 */
#ifndef MIRE_BENCH_KLOG_H
#define MIRE_BENCH_KLOG_H

#include <stdbool.h>
#include <stddef.h>

enum { KLOG_FRAMES = 256, KLOG_STACKS = 16, KLOG_NAME = 96, KLOG_TITLES = 16 };

struct klog_stack {
    char frames[KLOG_FRAMES][KLOG_NAME];
    size_t count;
};

struct klog {
    char titles[KLOG_TITLES][KLOG_NAME]; /* functions that TITLE and ALT name as guilty, the first of TITLE */
    size_t title_count;
    char type[KLOG_NAME];
    bool corrupted;
    struct klog_stack stacks[KLOG_STACKS]; /* in order; the rest of a long log is not read */
    size_t stack_count;
};

/* Read a log of syzkaller's test data. False: it cannot be read. */
bool klog_read(struct klog *out, const char *path);

#endif
