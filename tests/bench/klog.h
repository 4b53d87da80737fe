/*
 * klog.h - reads stacks from a kernel's log: of a hung task, a stalled processor, or leaked memory.
 *
 *     INFO: task a:1 blocked ...        <- kind HUNG
 *      Call Trace:                      <- a stack begins
 *      __schedule+0x8e8/0x2070          frames, innermost first, with their module if there is one
 *      ? find_held_lock+0x35/0x1d0      left over in memory: not a frame
 *
 * A stack taken inside an interrupt contains the function that took it. If only a headline says so, the function that
 * prints the headline is added: nmi_cpu_backtrace for "NMI backtrace for cpu 1".
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
    char titles[KLOG_TITLES][KLOG_NAME]; /* guilty functions by TITLE and ALT; TITLE's first */
    size_t title_count;
    char type[KLOG_NAME];
    bool corrupted;
    struct klog_stack stacks[KLOG_STACKS]; /* in order; later stacks of a long log are ignored */
    size_t stack_count;
};

/* Read a log of syzkaller's test data. Returns false if it cannot be read. */
bool klog_read(struct klog *out, const char *path);

#endif
