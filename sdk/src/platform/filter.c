/* filter.c - see filter.h. Signal-safe. */
#include "platform/filter.h"

#include "platform/apart.h"
#include "platform/platform.h"
#include "platform/text.h"

#include <linux/audit.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#ifdef __aarch64__
#define ARCH AUDIT_ARCH_AARCH64
#else
#define ARCH AUDIT_ARCH_X86_64
#endif

#define NOT_A_PROGRAM SECCOMP_RET_KILL_PROCESS

_Atomic uint32_t mire__quiet;

bool mire__quiet_holds(void)
{
    return mire__quiet_is() && !mire__apart_is_ours();
}

static _Atomic uint32_t first_count = UINT32_MAX; /* UINT32_MAX: not counted yet */

static uint32_t count_filters(void)
{
    char text[4096];

    if (mire__file_read(text, sizeof(text), "/proc/self/status") <= 0)
        return 0;
    if (text_after(text, "Seccomp_filters:"))
        return (uint32_t)number_after(text, "Seccomp_filters:");
    return number_after(text, "Seccomp:") != 0;
}

uint32_t mire__filter_count(void)
{
    uint32_t count = count_filters(), none = UINT32_MAX;

    atomic_compare_exchange_strong(&first_count, &none, count);
    return count;
}

void mire__filter_know(void)
{
    atomic_store(&first_count, count_filters());
}

void mire__filter_look(void)
{
    uint32_t first = atomic_load(&first_count);

    if (first != UINT32_MAX && !mire__quiet_is() && count_filters() > first)
        atomic_fetch_or(&mire__quiet, MIRE_QUIET_CALLS | MIRE_QUIET_SIGNALS);
}

struct filter_machine {
    uint32_t a, x, memory[BPF_MEMWORDS];
};

static bool load(uint32_t *out, const struct filter_machine *machine, const struct sock_filter *step,
                 const struct seccomp_data *data)
{
    switch (BPF_MODE(step->code)) {
    case BPF_IMM:
        *out = step->k;
        return true;
    case BPF_LEN:
        *out = sizeof(*data);
        return true;
    case BPF_MEM:
        *out = step->k < BPF_MEMWORDS ? machine->memory[step->k] : 0;
        return step->k < BPF_MEMWORDS;
    case BPF_ABS:
        if (step->k % 4 != 0 || step->k > sizeof(*data) - 4)
            return false;
        memcpy(out, (const char *)data + step->k, sizeof(*out));
        return true;
    default:
        return false;
    }
}

static bool compute(struct filter_machine *machine, const struct sock_filter *step)
{
    uint32_t other = BPF_SRC(step->code) == BPF_X ? machine->x : step->k;

    switch (BPF_OP(step->code)) {
    case BPF_ADD:
        machine->a += other;
        return true;
    case BPF_SUB:
        machine->a -= other;
        return true;
    case BPF_MUL:
        machine->a *= other;
        return true;
    case BPF_AND:
        machine->a &= other;
        return true;
    case BPF_OR:
        machine->a |= other;
        return true;
    case BPF_XOR:
        machine->a ^= other;
        return true;
    case BPF_NEG:
        machine->a = -machine->a;
        return true;
    case BPF_LSH:
        machine->a = other < 32 ? machine->a << other : 0;
        return true;
    case BPF_RSH:
        machine->a = other < 32 ? machine->a >> other : 0;
        return true;
    case BPF_DIV:
        machine->a = other ? machine->a / other : 0;
        return other != 0;
    default:
        return false;
    }
}

/* The number of steps to skip; -1: no such jump. */
static long jump(const struct filter_machine *machine, const struct sock_filter *step)
{
    uint32_t other = BPF_SRC(step->code) == BPF_X ? machine->x : step->k;

    switch (BPF_OP(step->code)) {
    case BPF_JA:
        return (long)step->k;
    case BPF_JEQ:
        return machine->a == other ? step->jt : step->jf;
    case BPF_JGT:
        return machine->a > other ? step->jt : step->jf;
    case BPF_JGE:
        return machine->a >= other ? step->jt : step->jf;
    case BPF_JSET:
        return machine->a & other ? step->jt : step->jf;
    default:
        return -1;
    }
}

/* One step that neither jumps nor returns. */
static bool do_step(struct filter_machine *machine, const struct sock_filter *step, const struct seccomp_data *data)
{
    switch (BPF_CLASS(step->code)) {
    case BPF_LD:
        return load(&machine->a, machine, step, data);
    case BPF_LDX:
        return load(&machine->x, machine, step, data);
    case BPF_ST:
    case BPF_STX:
        if (step->k >= BPF_MEMWORDS)
            return false;
        machine->memory[step->k] = BPF_CLASS(step->code) == BPF_ST ? machine->a : machine->x;
        return true;
    case BPF_ALU:
        return compute(machine, step);
    case BPF_MISC:
        if (BPF_MISCOP(step->code) == BPF_TAX)
            machine->x = machine->a;
        else
            machine->a = machine->x;
        return true;
    default:
        return false;
    }
}

uint32_t mire__filter_run(const struct sock_filter *program, size_t count, const struct filter_call *call)
{
    struct seccomp_data data = {.nr = call->number, .arch = ARCH};
    struct filter_machine machine = {0};

    memcpy(data.args, call->args, sizeof(data.args));
    for (size_t at = 0; at < count; at++) {
        const struct sock_filter *step = &program[at];

        if (BPF_CLASS(step->code) == BPF_RET)
            return BPF_RVAL(step->code) == BPF_A ? machine.a : step->k;
        if (BPF_CLASS(step->code) == BPF_JMP) {
            long skipped = jump(&machine, step);

            if (skipped < 0)
                return NOT_A_PROGRAM;
            at += (size_t)skipped; /* only forward, so it ends */
        } else if (!do_step(&machine, step, &data)) {
            return NOT_A_PROGRAM;
        }
    }
    return NOT_A_PROGRAM;
}

/* ---- the library's system calls after its start ---- */

#define EGO (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_VFORK)
#define RW  (PROT_READ | PROT_WRITE)

static const struct filter_call needed[] = {
    {SYS_futex, {0, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG}},
    {SYS_futex, {0, FUTEX_WAKE | FUTEX_PRIVATE_FLAG}},
    {SYS_gettid, {0}},
    {SYS_getpid, {0}},
    {SYS_openat, {(uint64_t)-100}},
    {SYS_openat, {(uint64_t)-100, 0, 01 | 0100 | 0200 | 02000000, 0600}},
    {SYS_read, {3}},
    {SYS_write, {3}},
    {SYS_close, {3}},
    {SYS_getdents64, {3}},
    {SYS_ftruncate, {3}},
    {SYS_fallocate, {3}},
    {SYS_flock, {3}},
    {SYS_fsync, {3}},
    {SYS_fdatasync, {3}},
#ifdef SYS_rename
    {SYS_rename, {0}},
    {SYS_unlink, {0}},
#else
    {SYS_renameat, {0}},
#endif
    {SYS_unlinkat, {3}},
    {SYS_newfstatat, {3}},
    {SYS_fstat, {3}},
    {SYS_mmap, {0, 4096, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, (uint64_t)-1}},
    {SYS_mmap, {0, 4096, RW, MAP_SHARED, 3}},
    {SYS_munmap, {4096, 4096}},
    {SYS_mprotect, {4096, 4096, RW}},
    {SYS_madvise, {4096, 4096, MADV_DONTNEED}},
    {SYS_rt_sigaction, {23}},
    {SYS_rt_sigprocmask, {0}},
    {SYS_rt_sigpending, {0}},
    {SYS_rt_sigreturn, {0}},
    {SYS_tgkill, {1, 1, 23}},
    {SYS_rt_tgsigqueueinfo, {1, 1, 23}},
    {SYS_fcntl, {0, 3}},
    {SYS_clock_gettime, {1}},
    {SYS_exit, {0}},
};

/* A call that is refused with an errno has a replacement. */
static const struct filter_call wanted[] = {
    {SYS_process_vm_readv, {1, 4096, 1, 4096, 1}},
    {SYS_membarrier, {MEMBARRIER_CMD_PRIVATE_EXPEDITED}},
    {SYS_membarrier, {MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED}},
    {SYS_madvise, {4096, 4096, MADV_RANDOM}},
    {SYS_clone, {EGO}},
#ifdef SYS_close_range
    {SYS_close_range, {0, (uint32_t)-1, 2}},
#endif
    {SYS_unshare, {CLONE_FILES}},
    {SYS_getrandom, {0}},
    {SYS_sched_yield, {0}},
    {SYS_clock_nanosleep, {1}},
    {SYS_nanosleep, {0}},
    {SYS_prlimit64, {0}},
    {SYS_pread64, {3}},
    {SYS_lseek, {3}},
    {SYS_mincore, {4096}},
    {SYS_statfs, {0}},
    {SYS_faccessat, {0}},
#ifdef SYS_access
    {SYS_access, {0}},
    {SYS_readlink, {0}},
    {SYS_mkdir, {0}},
    {SYS_stat, {0}},
#endif
    {SYS_timer_create, {2}},
    {SYS_timer_settime, {0}},
    {SYS_timer_delete, {0}},
    {SYS_prctl, {PR_GET_NAME}},
    {SYS_sigaltstack, {0}},
    {SYS_capget, {0}},
    {SYS_setpriority, {0}},
    {SYS_uname, {0}},
};

static bool all_pass(const struct sock_filter *program, size_t count, const struct filter_call *calls,
                     size_t calls_count, bool refusable)
{
    for (size_t i = 0; i < calls_count; i++) {
        uint32_t action = mire__filter_run(program, count, &calls[i]) & SECCOMP_RET_ACTION_FULL;

        if (action != SECCOMP_RET_ALLOW && action != SECCOMP_RET_LOG && !(refusable && action == SECCOMP_RET_ERRNO))
            return false;
    }
    return true;
}

static void judge(struct filter_verdict *out, const struct sock_filter *program, size_t count)
{
    const struct filter_call back = {SYS_rt_sigreturn, {0}};

    out->lets_us = all_pass(program, count, needed, MIRE_COUNT(needed), false) &&
                   all_pass(program, count, wanted, MIRE_COUNT(wanted), true);
    out->returns = all_pass(program, count, &back, 1, false);
}

void mire__filter_judge(struct filter_verdict *out, const void *given)
{
    const size_t most_bytes = BPF_MAXINSNS * sizeof(struct sock_filter);
    struct sock_filter *program = mire__pages_map(most_bytes);
    struct sock_fprog head;

    *out = (struct filter_verdict){.readable = false};
    if (!program)
        return;
    out->readable =
        mire__peek(&head, (uintptr_t)given, sizeof(head)) == sizeof(head) && head.len > 0 && head.len <= BPF_MAXINSNS &&
        mire__peek(program, (uintptr_t)head.filter, head.len * sizeof(*program)) == head.len * sizeof(*program);
    if (out->readable)
        judge(out, program, head.len);
    mire__pages_unmap(program, most_bytes);
}
