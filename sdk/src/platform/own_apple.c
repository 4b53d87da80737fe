/*
 * own_apple.c - on Apple's systems the library has the app's C library and descriptors (own.h, apart.h), signals are not
 * needed for samples, and no timer runs on the process's CPU clock.
 */
#include "platform/apart.h"
#include "platform/file.h"
#include "platform/own.h"
#include "platform/platform.h"
#include "platform/signal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct own_calls mire__own = {malloc, realloc, free, opendir, readdir, closedir, qsort, pthread_create};

bool mire__own_is_sanitized(void)
{
    return false;
}

/* ---- one descriptor table ---- */

void mire__apart_open(void)
{
}

void mire__apart_begin(void)
{
}

bool mire__apart_is_ours(void)
{
    return false;
}

void mire__apart_set_ours(bool ours)
{
    (void)ours;
}

bool mire__apart_is(void)
{
    return false;
}

void mire__apart_run(void (*work)(void *context), void *context)
{
    work(context);
}

/* ---- timers and signals ---- */

bool mire__cpu_timer_open(struct cpu_timer *timer, uint32_t tid, int signal, void *value)
{
    (void)tid;
    (void)signal;
    (void)value;
    *timer = (struct cpu_timer){.open = false};
    return false;
}

void mire__cpu_timer_arm(const struct cpu_timer *timer, uint64_t after_ns)
{
    (void)timer;
    (void)after_ns;
}

void mire__cpu_timer_close(struct cpu_timer *timer)
{
    (void)timer;
}

void mire__signal_as_block(const sigset_t *set)
{
    pthread_sigmask(SIG_BLOCK, set, NULL);
}

/* The kernel refuses alternate stacks that are too small for its own frame, so no handler has to leave one. */
void mire__signal_own(uintptr_t handler)
{
    (void)handler;
}

int mire__signal_stack_flag(void)
{
    return SA_ONSTACK;
}

void mire__signal_as_give_stack(void *stack, size_t size_bytes)
{
    stack_t now, ours = {.ss_sp = stack, .ss_size = size_bytes};

    if (sigaltstack(NULL, &now) == 0 && (now.ss_flags & SS_DISABLE))
        sigaltstack(&ours, NULL);
}

bool mire__file_as_create(const char *path)
{
    int saved = errno, fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd >= 0)
        close(fd);
    errno = saved;
    return fd >= 0;
}

void mire__file_as_remove(const char *path)
{
    int saved = errno;

    unlink(path);
    errno = saved;
}
