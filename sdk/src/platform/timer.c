/* timer.c - a timer on the process's CPU clock. Signal-safe: system calls without libc's wrappers. */
#include "platform/platform.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

bool mire__cpu_timer_open(struct cpu_timer *timer, uint32_t tid, int signal, void *value)
{
    struct sigevent event;
    int saved = errno;

    memset(&event, 0, sizeof(event));
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = signal;
    event.sigev_value.sival_ptr = value;
    event.sigev_notify_thread_id = (int)tid;
    timer->open = syscall(SYS_timer_create, CLOCK_PROCESS_CPUTIME_ID, &event, &timer->id) == 0;
    errno = saved;
    return timer->open;
}

void mire__cpu_timer_arm(const struct cpu_timer *timer, uint64_t after_ns)
{
    const struct itimerspec after = {
        .it_value = {(time_t)(after_ns / MIRE_NS_PER_S), (long)(after_ns % MIRE_NS_PER_S)}};
    int saved = errno;

    if (timer->open)
        syscall(SYS_timer_settime, timer->id, 0, &after, NULL);
    errno = saved;
}

void mire__cpu_timer_close(struct cpu_timer *timer)
{
    int saved = errno;

    if (timer->open)
        syscall(SYS_timer_delete, timer->id);
    timer->open = false;
    errno = saved;
}
