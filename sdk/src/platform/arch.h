/*
 * arch.h - the processor: its registers by their DWARF numbers, and its relocations. Signal-safe. One file per
 * processor implements it: arch_x86_64.c, arch_aarch64.c, with code_x86_64.c and code_aarch64.c for the parts that are
 * the same on every system; arch_apple.c has Apple's.
 */
#ifndef MIRE_PLATFORM_ARCH_H
#define MIRE_PLATFORM_ARCH_H

#include "base/base.h"

#define MIRE_REGS_MAX 33 /* aarch64: x0..x30, sp, and a column to spare */
#define MIRE_NO_REG   255

struct arch {
    uint8_t reg_count;
    uint8_t sp, fp;             /* DWARF numbers */
    uint8_t link;               /* holds the return address of a leaf; MIRE_NO_REG where calls push it */
    uint8_t ra_column;          /* where call frame information usually puts the return address */
    uint16_t sigreturn_context; /* bytes above the stack pointer */
    uint16_t elf_machine;
    uint32_t reloc_slot; /* relocation of a PLT's slot, of a GOT's entry, and of a pointer in data */
    uint32_t reloc_data;
    uint32_t reloc_word;
};
extern const struct arch mire__arch;

/* Registers of one frame. A register without its bit in `known` was lost in unwinding. */
struct regs {
    uint64_t pc;
    uint64_t known;
    uint64_t value[MIRE_REGS_MAX];
};

/* The registers a signal handler's third argument holds. */
void mire__arch_as_regs(struct regs *out, const void *ucontext);

/* Apple's systems: those that thread_get_state gave, of this processor's 64-bit state. */
void mire__arch_as_regs_of_state(struct regs *out, const void *state);

/*
 * Has the signal cut a wait short? There are calls that return EINTR after a handler ran, whatever SA_RESTART says
 * (signal(7) lists them): sleeps, poll, select and similar calls, timed futexes, sockets with a timeout, System V IPC.
 *   ucontext  a signal handler's third argument
 * Returns the number of the system call; -1 if it was none of those, or cannot be begun again: where the number is not
 * in the code in front of the call, nor in a register (musl's waits, and glibc's since 2.41), as x86-64 forgets it; and
 * all but sleeps for a while on 64-bit ARM, which forgets the first argument.
 */
int mire__arch_as_wait_cut(const void *ucontext);

/*
 * Make the kernel restart a call when the handler returns. A call with an absolute timeout ends at the right time, and
 * so does a call for which the kernel writes down the rest (select, pselect, ppoll). Any other call waits its whole
 * timeout again.
 */
void mire__arch_as_wait_again(void *ucontext, int number);

/*
 * Is this the way back from a signal handler, the call of sigreturn? Some libraries and emulators do not describe
 * theirs.
 *   code  the MIRE_SIGRETURN_BYTES bytes at the handler's return address
 * The context of the interrupted code then lies on the stack: mire__arch_as_regs reads the first MIRE_UCONTEXT_BYTES
 * bytes from mire__arch.sigreturn_context above the stack pointer on.
 */
#define MIRE_SIGRETURN_BYTES 9
#define MIRE_UCONTEXT_BYTES  512
bool mire__arch_is_sigreturn(const uint8_t code[MIRE_SIGRETURN_BYTES]);

/* The return of a handler, for an action that goes to the kernel directly; NULL if the kernel has its own. */
extern void (*const mire__arch_sigreturn)(void);

/* A return address without the signature some processors put into its upper bits. Asked for each frame of a stack. */
static inline uint64_t mire__arch_bare(uint64_t address)
{
#ifdef __aarch64__
    /* xpaclri: the processor knows which bits are the signature's. Without signatures it does nothing. */
    register uint64_t bare __asm__("x30") = address;

    __asm__("hint #7" : "+r"(bare));
    return bare & 0x0000ffffffffffffull;
#else
    return address;
#endif
}

/*
 * Does the code set up a frame pointer within these bytes, as at the begin of a function? `code` is a multiple of 4.
 */
bool mire__arch_sets_frame(const uint8_t *code, size_t size);

/*
 * Make a thread of the kernel's that runs `work` on the caller's stack, below its frame, with the caller's thread-local
 * storage, and ends.
 *   flags  of clone(2); CLONE_VFORK is among them, so the caller sleeps until it has ended
 * Returns its number, or an error's, negated. errno stays.
 */
long mire__arch_as_ego(void (*work)(void *context), void *context, unsigned long flags);

/* An address in the calling thread's own memory, as an identifier. */
uint64_t mire__arch_as_thread_pointer(void);

/*
 * A counter of the processor with a constant rate, readable in user mode.
 *   steady  it is known to
 */
bool mire__arch_has_counter(bool steady);
uint64_t mire__arch_as_counter(void);

/*
 * Where the call before `return_address` goes, judged by the instruction's bytes.
 *   code       the MIRE_CALL_BYTES bytes in front of return_address
 *   target_out where it goes; 0 where it is known at run time only
 * Returns false if there is no call there.
 */
#define MIRE_CALL_BYTES 8
bool mire__arch_call_before(uint64_t *target_out, uint64_t return_address, const uint8_t code[MIRE_CALL_BYTES]);

#endif
