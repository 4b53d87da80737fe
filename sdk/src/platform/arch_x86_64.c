/* arch_x86_64.c - see arch.h. Signal-safe. */
#include "platform/arch.h"

#include "platform/call_number.h"
#include "platform/platform.h"

#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

const struct arch mire__arch = {
    .reg_count = 17,
    .sp = 7,
    .fp = 6,
    .link = MIRE_NO_REG,
    .ra_column = 16,
    .sigreturn_context = 0, /* the return address before it has been popped */
    .elf_machine = EM_X86_64,
    .reloc_slot = R_X86_64_JUMP_SLOT,
    .reloc_data = R_X86_64_GLOB_DAT,
    .reloc_word = R_X86_64_64,
};

void mire__arch_as_regs(struct regs *out, const void *ucontext)
{
    static const uint8_t from[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
                                   REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    const ucontext_t *context = ucontext;

    for (size_t i = 0; i < MIRE_COUNT(from); i++)
        out->value[i] = (uint64_t)context->uc_mcontext.gregs[from[i]];
    out->pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    out->known = (1u << MIRE_COUNT(from)) - 1;
}

/*
 * Calls that fail with EINTR after a handler, without effect: they can be repeated. close is not among them, because
 * its descriptor is gone. Calls that end in this way for some files and devices only are among them (FUSE, sockets with
 * a timeout, terminals).
 */
static bool may_begin_again(int number)
{
    static const uint16_t calls[] = {
        /* sleeps and looks */
        SYS_nanosleep, SYS_clock_nanosleep, SYS_pause, SYS_poll, SYS_ppoll, SYS_select, SYS_pselect6, SYS_epoll_wait,
        SYS_epoll_pwait, SYS_epoll_pwait2, SYS_futex, SYS_futex_waitv, SYS_io_getevents, SYS_io_pgetevents,
        SYS_io_uring_enter, SYS_rt_sigsuspend, SYS_rt_sigtimedwait, SYS_wait4, SYS_waitid,
        /* sockets with a timeout */
        SYS_accept, SYS_accept4, SYS_connect, SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg, SYS_sendto, SYS_sendmsg,
        SYS_sendmmsg, SYS_read, SYS_readv, SYS_write, SYS_writev, SYS_sendfile, SYS_splice,
        /* messages and semaphores */
        SYS_msgrcv, SYS_msgsnd, SYS_semop, SYS_semtimedop, SYS_mq_timedreceive, SYS_mq_timedsend,
        /* files */
        SYS_fcntl, SYS_flock, SYS_ioctl, SYS_open, SYS_openat, SYS_fsync, SYS_fdatasync, SYS_getrandom};

    for (size_t i = 0; i < MIRE_COUNT(calls); i++) {
        if (calls[i] == number)
            return true;
    }
    return false;
}

int mire__arch_as_wait_cut(const void *ucontext)
{
    const greg_t *regs = ((const ucontext_t *)ucontext)->uc_mcontext.gregs;
    int number;

    if (regs[REG_RAX] != -EINTR)
        return -1;
    number = mire__call_number(ucontext);
    return number >= 0 && may_begin_again(number) ? number : -1;
}

void mire__arch_as_wait_again(void *ucontext, int number)
{
    greg_t *regs = ((ucontext_t *)ucontext)->uc_mcontext.gregs;

    regs[REG_RAX] = number;
    regs[REG_RIP] -= 2; /* back before the instruction `syscall` */
}

void mire__arch_as_regs_asleep(struct regs *out, const struct thread_state *state)
{
    static const uint8_t carries[] = {5, 4, 1, 10, 8, 9}; /* rdi rsi rdx r10 r8 r9 */

    *out = (struct regs){.pc = state->pc, .known = 1u << 7};
    out->value[7] = state->sp;
    for (size_t i = 0; state->syscall >= 0 && i < MIRE_COUNT(carries); i++) {
        out->value[carries[i]] = state->args[i];
        out->known |= 1u << carries[i];
    }
}

/*
 * Leaf 0x80000007: the time stamp counter is invariant. The question takes some 20 us in a virtual machine. A process
 * may have forbidden itself to read the counter.
 */
bool mire__arch_has_counter(bool steady)
{
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    int may = PR_TSC_ENABLE;

    if (!steady && (!__get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) || !(edx & 1u << 8)))
        return false;
    return syscall(SYS_prctl, PR_GET_TSC, &may, 0, 0, 0) != 0 || may == PR_TSC_ENABLE;
}

uint64_t mire__arch_as_counter(void)
{
    return __builtin_ia32_rdtsc();
}

/*
 * Without unwind information, and after a byte without any: debuggers and unwinders recognise it by its instructions.
 */
__asm__(".pushsection .text\n"
        ".balign 16\n"
        "nop\n"
        ".type mire__way_back, @function\n"
        "mire__way_back:\n"
        "mov $15, %rax\n"
        "syscall\n"
        ".size mire__way_back, . - mire__way_back\n"
        ".popsection\n");
void mire__way_back(void) __attribute__((visibility("hidden")));
void (*const mire__arch_sigreturn)(void) = mire__way_back;

bool mire__arch_is_sigreturn(const uint8_t code[MIRE_SIGRETURN_BYTES])
{
    static const uint8_t way_back[MIRE_SIGRETURN_BYTES] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};

    return memcmp(code, way_back, sizeof(way_back)) == 0; /* mov $15, %rax; syscall */
}

uint64_t mire__arch_as_thread_pointer(void)
{
    uint64_t self;

    __asm__("mov %%fs:0, %0" : "=r"(self));
    return self;
}

/* The child is a copy of the caller except for rax. The child pushes below all that the caller still needs. */
__asm__(".text\n"
        ".globl mire__arch_as_ego\n"
        ".hidden mire__arch_as_ego\n"
        ".type mire__arch_as_ego, @function\n"
        "mire__arch_as_ego:\n"
        "    .cfi_startproc\n"
        "    push %rbx\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    .cfi_rel_offset %rbx, 0\n"
        "    push %r12\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    .cfi_rel_offset %r12, 0\n"
        "    sub $8, %rsp\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    mov %rdi, %rbx\n"
        "    mov %rsi, %r12\n"
        "    mov %rdx, %rdi\n"
        "    xor %esi, %esi\n"
        "    xor %edx, %edx\n"
        "    xor %r10d, %r10d\n"
        "    xor %r8d, %r8d\n"
        "    mov $56, %eax\n" /* clone */
        "    syscall\n"
        "    test %rax, %rax\n"
        "    jz 1f\n"
        "    add $8, %rsp\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    pop %r12\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    .cfi_restore %r12\n"
        "    pop %rbx\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    .cfi_restore %rbx\n"
        "    ret\n"
        "    .cfi_adjust_cfa_offset 24\n"
        "1:  mov %r12, %rdi\n"
        "    call *%rbx\n"
        "    xor %edi, %edi\n"
        "    mov $60, %eax\n" /* exit, of this thread */
        "    syscall\n"
        "    hlt\n"
        "    .cfi_endproc\n"
        ".size mire__arch_as_ego, . - mire__arch_as_ego\n");
