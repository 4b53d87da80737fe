/*
 * sandbox.c - sets resource limits and a seccomp filter, a list of allowed system calls.
 */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define LIMITED 0
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define LIMITED 0
#endif
#endif
#ifndef LIMITED
#define LIMITED 1
#endif

#if defined __x86_64__
#define ARCH AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCH AUDIT_ARCH_AARCH64
#endif

#define REFUSE(why) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (why))
#define ALLOW(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void limit(int what, rlim_t most)
{
    struct rlimit now;
    if (getrlimit(what, &now) != 0 || now.rlim_max < most)
        return;
    bool warned = what == RLIMIT_CPU && now.rlim_max > most; /* SIGXCPU comes first, as the reason of the end */
    now = (struct rlimit){most, warned ? most + 1 : most};
    (void)setrlimit(what, &now);
}

/* On a kernel without seccomp filters only the limits apply. */
static void filter_calls(void)
{
#ifdef ARCH
    static struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(read),
        ALLOW(write),
        ALLOW(pwrite64),
        ALLOW(lseek),
        ALLOW(fstat),
        ALLOW(newfstatat),
        ALLOW(close),
        ALLOW(mmap),
        ALLOW(munmap),
        ALLOW(mremap),
        ALLOW(mprotect),
        ALLOW(madvise),
        ALLOW(brk),
        ALLOW(futex),
        ALLOW(set_robust_list),
        ALLOW(rseq),
        ALLOW(sched_getaffinity),
        ALLOW(sched_yield),
        ALLOW(sysinfo),
        ALLOW(getrandom),
        ALLOW(rt_sigprocmask),
        ALLOW(rt_sigreturn),
        ALLOW(exit),
        ALLOW(exit_group),
        /* Allow threads, but no processes. The filter cannot read the flags of clone3, so it returns ENOSYS, and libc
         * falls back to clone. */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clone3, 0, 1),
        REFUSE(ENOSYS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clone, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])), /* low half */
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        REFUSE(EPERM),
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
    (void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
#endif
}

void sandbox_enter(void)
{
    limit(RLIMIT_CORE, 0);
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (!LIMITED)
        return;
    limit(RLIMIT_AS, 6ull << 30);
    limit(RLIMIT_CPU, MIRE_SANDBOX_CPU_S);
    limit(RLIMIT_FSIZE, 4ull << 30);
    filter_calls();
}

bool sandbox_is_whole(void)
{
#ifdef ARCH
    return LIMITED;
#else
    return false;
#endif
}
