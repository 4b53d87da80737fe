/* arch_aarch64.c - see arch.h. Signal-safe. */
#include "platform/arch.h"

#include "platform/platform.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>

#define SVC 0xd4000001u /* svc #0: a system call */

const struct arch mire__arch = {
    .reg_count = 32,
    .sp = 31,
    .fp = 29,
    .link = 30,
    .ra_column = 30,
    .sigreturn_context = 128, /* a siginfo_t lies below */
    .elf_machine = EM_AARCH64,
    .reloc_slot = R_AARCH64_JUMP_SLOT,
    .reloc_data = R_AARCH64_GLOB_DAT,
    .reloc_word = R_AARCH64_ABS64,
};

void mire__arch_as_regs(struct regs *out, const void *ucontext)
{
    const ucontext_t *context = ucontext;

    for (size_t i = 0; i < 31; i++)
        out->value[i] = context->uc_mcontext.regs[i];
    out->value[31] = context->uc_mcontext.sp;
    out->pc = context->uc_mcontext.pc;
    out->known = 0xffffffffu;
}

/* A sleep for a while is the same by any clock but the processor's. One until a point in time may be by any clock. */
int mire__arch_as_wait_cut(const void *ucontext)
{
    const mcontext_t *context = &((const ucontext_t *)ucontext)->uc_mcontext;
    uint32_t word;

    if (context->regs[0] != (uint64_t)-EINTR || context->regs[8] != SYS_clock_nanosleep || context->regs[1] != 0)
        return -1;
    if (mire__peek(&word, context->pc - sizeof(word), sizeof(word)) != sizeof(word) || word != SVC)
        return -1;
    return SYS_clock_nanosleep;
}

void mire__arch_as_wait_again(void *ucontext, int number)
{
    mcontext_t *context = &((ucontext_t *)ucontext)->uc_mcontext;

    context->regs[0] = CLOCK_MONOTONIC;
    context->regs[8] = (uint64_t)number;
    context->pc -= 4;
}

void mire__arch_as_regs_asleep(struct regs *out, const struct thread_state *state)
{
    *out = (struct regs){.pc = state->pc, .known = 1u << 31};
    out->value[31] = state->sp;
    for (size_t i = 0; state->syscall >= 0 && i < MIRE_COUNT(state->args); i++) {
        out->value[i] = state->args[i];
        out->known |= 1u << i;
    }
}

void (*const mire__arch_sigreturn)(void) = NULL; /* in the vDSO */

bool mire__arch_is_sigreturn(const uint8_t code[MIRE_SIGRETURN_BYTES])
{
    static const uint8_t way_back[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};

    return memcmp(code, way_back, sizeof(way_back)) == 0; /* mov x8, #139; svc #0 */
}

/* User code may read the virtual counter; for a processor with a wrong counter the kernel emulates the instruction. */
bool mire__arch_has_counter(bool steady)
{
    (void)steady;
    return true;
}

uint64_t mire__arch_as_counter(void)
{
    uint64_t now;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
    return now;
}

uint64_t mire__arch_as_thread_pointer(void)
{
    uint64_t self;

    __asm__("mrs %0, tpidr_el0" : "=r"(self));
    return self;
}

/* The child is a copy of the caller except for x0. The child stores below all that the caller still needs. */
__asm__(".text\n"
        ".globl mire__arch_as_ego\n"
        ".hidden mire__arch_as_ego\n"
        ".type mire__arch_as_ego, %function\n"
        "mire__arch_as_ego:\n"
        "    .cfi_startproc\n"
        "    hint #25\n" /* paciasp */
        "    .cfi_negate_ra_state\n"
        "    stp x29, x30, [sp, #-32]!\n"
        "    .cfi_adjust_cfa_offset 32\n"
        "    .cfi_rel_offset x29, 0\n"
        "    .cfi_rel_offset x30, 8\n"
        "    stp x19, x20, [sp, #16]\n"
        "    .cfi_rel_offset x19, 16\n"
        "    .cfi_rel_offset x20, 24\n"
        "    mov x29, sp\n"
        "    mov x19, x0\n"
        "    mov x20, x1\n"
        "    mov x0, x2\n"
        "    mov x1, xzr\n"
        "    mov x2, xzr\n"
        "    mov x3, xzr\n"
        "    mov x4, xzr\n"
        "    mov x8, #220\n" /* clone */
        "    svc #0\n"
        "    cbz x0, 1f\n"
        "    ldp x19, x20, [sp, #16]\n"
        "    ldp x29, x30, [sp], #32\n"
        "    .cfi_remember_state\n"
        "    .cfi_adjust_cfa_offset -32\n"
        "    .cfi_restore x19\n"
        "    .cfi_restore x20\n"
        "    .cfi_restore x29\n"
        "    .cfi_restore x30\n"
        "    hint #29\n" /* autiasp */
        "    .cfi_negate_ra_state\n"
        "    ret\n"
        "    .cfi_restore_state\n"
        "1:  mov x0, x20\n"
        "    blr x19\n"
        "    mov x0, xzr\n"
        "    mov x8, #93\n" /* exit, of this thread */
        "    svc #0\n"
        "    brk #0\n"
        "    .cfi_endproc\n"
        ".size mire__arch_as_ego, . - mire__arch_as_ego\n");
