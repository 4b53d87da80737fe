/* arch_apple.c - the registers as Apple's systems tell them; see arch.h. Signal-safe. */
#include "platform/arch.h"

#include "platform/platform.h"

#include <mach/mach_time.h>
#include <pthread.h>
#include <string.h>
#include <sys/ucontext.h>

#ifdef __aarch64__
const struct arch mire__arch = {.reg_count = 32, .sp = 31, .fp = 29, .link = 30, .ra_column = 30};

static void take_regs(struct regs *out, const _STRUCT_ARM_THREAD_STATE64 *state)
{
    for (size_t i = 0; i < 29; i++)
        out->value[i] = state->__x[i];
    out->value[29] = (uint64_t)__darwin_arm_thread_state64_get_fp(*state);
    out->value[30] = (uint64_t)__darwin_arm_thread_state64_get_lr(*state);
    out->value[31] = (uint64_t)__darwin_arm_thread_state64_get_sp(*state);
    out->pc = (uint64_t)__darwin_arm_thread_state64_get_pc(*state);
    out->known = 0xffffffffu;
}
#else
const struct arch mire__arch = {.reg_count = 17, .sp = 7, .fp = 6, .link = MIRE_NO_REG, .ra_column = 16};

static void take_regs(struct regs *out, const _STRUCT_X86_THREAD_STATE64 *state)
{
    const uint64_t values[] = {state->__rax, state->__rdx, state->__rcx, state->__rbx, state->__rsi, state->__rdi,
                               state->__rbp, state->__rsp, state->__r8,  state->__r9,  state->__r10, state->__r11,
                               state->__r12, state->__r13, state->__r14, state->__r15};

    memcpy(out->value, values, sizeof(values));
    out->pc = state->__rip;
    out->known = (1u << MIRE_COUNT(values)) - 1;
}
#endif

void mire__arch_as_regs_of_state(struct regs *out, const void *state)
{
    take_regs(out, state);
}

/* The signal frame of these systems is described by its own unwind information. */
void mire__arch_as_regs(struct regs *out, const void *ucontext)
{
    take_regs(out, &((const ucontext_t *)ucontext)->uc_mcontext->__ss);
}

bool mire__arch_is_sigreturn(const uint8_t code[MIRE_SIGRETURN_BYTES])
{
    (void)code;
    return false;
}

uint64_t mire__arch_as_thread_pointer(void)
{
    return (uint64_t)(uintptr_t)pthread_self();
}

/* mach_absolute_time, which mire__now_ns reads, costs the same. */
bool mire__arch_has_counter(bool steady)
{
    (void)steady;
    return false;
}

uint64_t mire__arch_as_counter(void)
{
    return mach_absolute_time();
}
