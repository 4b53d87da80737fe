/*
 * interpose_confine.c - the calls by which a program confines itself with seccomp, which the loader finds here first,
 * because the library is preloaded. Before the filter is in place, the library's threads end, or make no more system
 * calls on the program's threads (core/core.h).
 *
 * All other calls pass through by a jump, without a frame. Declared here alone: the C library's declarations have
 * `...`, with which a call cannot be a jump. A call with fewer arguments leaves the other registers unchanged.
 */
#include "core/core.h"
#include "gate/gate.h"
#include "platform/apart.h"
#include "platform/filter.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/syscall.h>

typedef long number_t;
typedef number_t syscall_fn(number_t number, number_t a, number_t b, number_t c, number_t d, number_t e, number_t f);
typedef int prctl_fn(int option, number_t a, number_t b, number_t c, number_t d);

static _Atomic(syscall_fn *) real_syscall __attribute__((used));
static _Atomic(prctl_fn *) real_prctl;

/* The request of a call. */
struct confining {
    bool asked;
    bool strict;
    bool everybody;
    const void *filter;
};

/* Before the call: stop the watch if necessary. */
static enum mire__confined begin(const struct confining *call)
{
    /* In strict mode the processor's counter is out of reach, too, and with it the time. */
    struct filter_verdict verdict = {.readable = true, .lets_us = false, .returns = false};

    if (mire__quiet_is()) {
        if (call->everybody)
            mire__core_confine_again();
        return MIRE_CONFINED_NOT;
    }
    if (!call->strict)
        mire__filter_judge(&verdict, call->filter);
    if (!verdict.readable || verdict.lets_us)
        return MIRE_CONFINED_NOT;
    return mire__core_confine(call->everybody, verdict.returns);
}

static void know_filter(void *context)
{
    (void)context;
    mire__filter_know();
}

static void end(enum mire__confined how, bool failed)
{
    int saved = errno;

    if (how != MIRE_CONFINED_NOT && failed)
        mire__core_confine_undo(how);
    if (how == MIRE_CONFINED_NOT && !failed && !mire__quiet_is())
        mire__apart_run(know_filter, NULL);
    errno = saved;
}

static struct confining of_syscall(number_t number, number_t a, number_t b, number_t c)
{
    if (number == SYS_seccomp)
        return (struct confining){.asked = a == SECCOMP_SET_MODE_STRICT || a == SECCOMP_SET_MODE_FILTER,
                                  .strict = a == SECCOMP_SET_MODE_STRICT,
                                  .everybody = a == SECCOMP_SET_MODE_FILTER && b & SECCOMP_FILTER_FLAG_TSYNC,
                                  .filter = (const void *)c};
    return (struct confining){.asked = number == SYS_prctl && a == PR_SET_SECCOMP &&
                                       (b == SECCOMP_MODE_STRICT || b == SECCOMP_MODE_FILTER),
                              .strict = b == SECCOMP_MODE_STRICT,
                              .filter = (const void *)c};
}

static __attribute__((noinline)) number_t confine(syscall_fn *real, const struct confining *call,
                                                  const number_t args[7])
{
    bool ours = mire__gate_as_ours_begin();
    enum mire__confined how = begin(call);
    number_t answer = real(args[0], args[1], args[2], args[3], args[4], args[5], args[6]);

    end(how, answer < 0);
    mire__gate_as_ours_end(ours);
    return answer;
}

static __attribute__((noinline)) number_t look_at(syscall_fn *real, number_t number, number_t a, number_t b, number_t c,
                                                  number_t d, number_t e, number_t f)
{
    const number_t args[7] = {number, a, b, c, d, e, f};
    const struct confining call = of_syscall(number, a, b, c);

    return call.asked ? confine(real, &call, args) : real(number, a, b, c, d, e, f);
}

/* All other checks: before the constructor below has run, the function itself. */
number_t mire__syscall_slow(number_t number, number_t a, number_t b, number_t c, number_t d, number_t e, number_t f);
number_t mire__syscall_slow(number_t number, number_t a, number_t b, number_t c, number_t d, number_t e, number_t f)
{
    syscall_fn *real = atomic_load_explicit(&real_syscall, memory_order_relaxed);

    if (!real)
        real = (syscall_fn *)dlsym(RTLD_NEXT, "syscall");
    return look_at(real, number, a, b, c, d, e, f);
}

#ifdef __x86_64__
/* The seventh argument lies in the caller's frame; a caller with fewer arguments has other data there. It is not
 * touched. */
_Static_assert(SYS_seccomp == 317 && SYS_prctl == 157, "numbers below");
__asm__(".text\n"
        ".globl syscall\n"
        ".type syscall, @function\n"
        "syscall:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    mov real_syscall(%rip), %rax\n"
        "    test %rax, %rax\n"
        "    jz mire__syscall_slow\n"
        "    cmp $317, %rdi\n"
        "    je mire__syscall_slow\n"
        "    cmp $157, %rdi\n"
        "    je mire__syscall_slow\n"
        "    jmp *%rax\n"
        "    .cfi_endproc\n"
        ".size syscall, . - syscall\n");
#else
__attribute__((visibility("default"))) number_t syscall(number_t number, number_t a, number_t b, number_t c, number_t d,
                                                        number_t e, number_t f);
number_t syscall(number_t number, number_t a, number_t b, number_t c, number_t d, number_t e, number_t f)
{
    syscall_fn *real = atomic_load_explicit(&real_syscall, memory_order_relaxed);

    if (__builtin_expect(!real || number == SYS_seccomp || number == SYS_prctl, 0))
        return mire__syscall_slow(number, a, b, c, d, e, f);
    return real(number, a, b, c, d, e, f);
}
#endif

static __attribute__((noinline)) int confine_by_prctl(prctl_fn *real, const struct confining *call, number_t mode,
                                                      number_t filter, number_t c, number_t d)
{
    bool ours = mire__gate_as_ours_begin();
    enum mire__confined how = begin(call);
    int answer = real(PR_SET_SECCOMP, mode, filter, c, d);

    end(how, answer < 0);
    mire__gate_as_ours_end(ours);
    return answer;
}

__attribute__((visibility("default"))) int prctl(int option, number_t a, number_t b, number_t c, number_t d);
int prctl(int option, number_t a, number_t b, number_t c, number_t d)
{
    prctl_fn *real = atomic_load_explicit(&real_prctl, memory_order_relaxed);

    if (!real)
        real = (prctl_fn *)dlsym(RTLD_NEXT, "prctl");
    if (option == PR_SET_SECCOMP) {
        const struct confining call = of_syscall(SYS_prctl, option, a, b);

        if (call.asked)
            return confine_by_prctl(real, &call, a, b, c, d);
    }
    return real(option, a, b, c, d);
}

/* Before any of the program's code runs, and before our own calls come by here in a signal handler. */
__attribute__((constructor(101))) static void find_real(void)
{
    atomic_store(&real_syscall, (syscall_fn *)dlsym(RTLD_NEXT, "syscall"));
    atomic_store(&real_prctl, (prctl_fn *)dlsym(RTLD_NEXT, "prctl"));
}
