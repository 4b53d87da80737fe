/* cpp.c - see cpp.h. The grammar: Itanium C++ ABI, section 5.1. */
#include "demangle/cpp.h"

#include "demangle/rust.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MANGLED_MAX    8192
#define PLAIN_MAX      16384
#define REFERENCES_MAX 16        /* each at most doubles the expansion */
#define LIMIT_NS       100000000 /* limit of processor time; of ceph-osd's half a million names none takes 1 ms */

struct printing {
    char plain[PLAIN_MAX + 1];
    size_t len;
    sigjmp_buf given_up;
    sigjmp_buf full;
};

static __thread struct printing *limited; /* state of the name with a time limit */

/* libiberty's memory is on the stack while it reads and prints, so siglongjmp may leave it at any point. */
static void print(const char *text, size_t len, void *context)
{
    struct printing *printing = context;
    size_t room = PLAIN_MAX - printing->len, part = len < room ? len : room;

    memcpy(printing->plain + printing->len, text, part);
    printing->len += part;
    if (part < len)
        siglongjmp(printing->full, 1);
}

static void on_limit(int signal)
{
    (void)signal;
    if (limited)
        siglongjmp(limited->given_up, 1);
}

/*
 * Returns true if a name could take long. A pack expansion, "Dp", "sp" or "sZ", is searched through everything it
 * refers to, each time again. All other names end at the output limit. Letters of an identifier may match too.
 */
static bool is_slow(const char *mangled)
{
    bool expands = strstr(mangled, "Dp") || strstr(mangled, "sp") || strstr(mangled, "sZ");
    unsigned references = 0;

    for (const char *at = mangled; expands && (at = strchr(at, 'S')); at++)
        references++;
    return references > REFERENCES_MAX;
}

static bool start_limit(timer_t *timer, uint64_t limit_ns)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMAX};
    const struct itimerspec limit = {.it_value.tv_nsec = (long)limit_ns};
    const struct sigaction action = {.sa_handler = on_limit, .sa_flags = SA_RESTART};
    sigset_t ours;

    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    sigemptyset(&ours);
    sigaddset(&ours, SIGRTMAX);
    if (pthread_sigmask(SIG_UNBLOCK, &ours, NULL) || sigaction(SIGRTMAX, &action, NULL) ||
        timer_create(CLOCK_THREAD_CPUTIME_ID, &event, timer))
        return false;
    if (!timer_settime(*timer, 0, &limit, NULL))
        return true;
    timer_delete(*timer);
    return false;
}

static bool print_all(struct printing *printing, const char *mangled)
{
    printing->len = 0;
    if (sigsetjmp(printing->full, 0) == 0 &&
        !cplus_demangle_v3_callback(mangled, DMGL_PARAMS | DMGL_TYPES, print, printing))
        return false;
    printing->plain[printing->len] = '\0';
    return printing->len > 0;
}

static bool print_in_time(struct printing *printing, const char *mangled, uint64_t *left_ns)
{
    const uint64_t limit_ns = *left_ns < LIMIT_NS ? *left_ns : LIMIT_NS;
    struct itimerspec rest = {0};
    timer_t timer;
    volatile bool printed = false;

#ifdef __SANITIZE_THREAD__ /* its runtime delays signals until the thread makes a call */
    return false;
#endif
    if (!limit_ns || !start_limit(&timer, limit_ns))
        return false;
    if (sigsetjmp(printing->given_up, 1) == 0) {
        limited = printing;
        printed = print_all(printing, mangled);
    }
    limited = NULL;
    (void)timer_gettime(timer, &rest);
    timer_delete(timer);
    *left_ns -= limit_ns - (uint64_t)rest.it_value.tv_nsec;
    return printed;
}

size_t cpp_demangle(char *out, size_t room, const char *name, size_t len, uint64_t *left_ns)
{
    struct printing printing;
    char mangled[MANGLED_MAX + 1];

    if (room == 0 || len > MANGLED_MAX || len < 2 || memcmp(name, "_Z", 2) != 0)
        return 0;
    const size_t suffix = rust_suffix(name, len);
    memcpy(mangled, name, len);
    mangled[len - suffix] = '\0';
    if (!(is_slow(mangled) ? print_in_time(&printing, mangled, left_ns) : print_all(&printing, mangled)))
        return 0;
    (void)rust_clean(printing.plain);
    int whole = snprintf(out, room, "%s%.*s", printing.plain, (int)suffix, name + len - suffix);
    if (whole < 0)
        return 0;
    return (size_t)whole < room ? (size_t)whole : room - 1;
}
