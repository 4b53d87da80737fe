/* arch_x86_64_number.c - which system call an x86-64 thread has just come out of. Signal-safe.
 *
 * The kernel does not keep the number for a handler. The code before the instruction has it, or the register that the
 * code copied it from, because a system call changes rax, rcx and r11 only.
 *
 *     b8 ca 00 00 00    mov $202, %eax     found
 *     48 8b 74 24 08    mov 8(%rsp), %rsi  walked over: it is known how long it is, and that it leaves rax alone
 *     0f 05             syscall
 */
#include "platform/call_number.h"

#include "platform/platform.h"

#include <string.h>
#include <ucontext.h>

#define CODE_BYTES  48 /* examined bytes before the instruction */
#define LOST        (-1)
#define NO_REGISTER (-1)

/* libc's syscall(): the code before its `syscall`. */
static const uint8_t wrapper[] = {0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, 0x48, 0x89, 0xd6, 0x48, 0x89, 0xca,
                                  0x4d, 0x89, 0xc2, 0x4d, 0x89, 0xc8, 0x4c, 0x8b, 0x4c, 0x24, 0x08};

/* Size of an operand: the ModRM byte, and its extensions. */
static size_t operand_bytes(const uint8_t *at)
{
    uint8_t mod = at[0] >> 6, rm = at[0] & 7;
    size_t bytes = 1;

    if (mod == 3)
        return bytes;
    if (rm == 4) {
        bytes++;
        if (mod == 0 && (at[1] & 7) == 5)
            return bytes + 4;
    }
    if (mod == 1)
        return bytes + 1;
    return bytes + (mod == 2 || (mod == 0 && rm == 5) ? 4 : 0);
}

struct instruction {
    size_t bytes; /* 0: none of the instructions that prepare a call */
    int changes;  /* the register that it writes; NO_REGISTER: none, or memory */
};

/* After 0f: conditional and widening moves write a register; moves of vectors none that a number lies in. */
static struct instruction decode_two(const uint8_t *code, const uint8_t *at, int reg_high)
{
    size_t bytes = (size_t)(at + 1 - code) + operand_bytes(at + 1);
    int reg = (at[1] >> 3 & 7) | reg_high;

    if ((*at & 0xf0) == 0x40 || (*at & 0xf6) == 0xb6)
        return (struct instruction){bytes, reg};
    switch (*at) {
    case 0x10: /* movups, movaps, movdqa, movq, their stores; a long nop */
    case 0x11:
    case 0x16:
    case 0x17:
    case 0x1f:
    case 0x28:
    case 0x29:
    case 0x6f:
    case 0x7f:
    case 0xd6:
    case 0xef:
        return (struct instruction){bytes, NO_REGISTER};
    default:
        return (struct instruction){0, NO_REGISTER};
    }
}

/* Decode one of the moves and sums that compilers put before a call. Reads at most 15 bytes. */
static struct instruction decode(const uint8_t *code)
{
    const uint8_t *at = code;
    uint8_t rex, op;
    int reg, rm;

    while (at - code < 2 && (*at == 0x66 || *at == 0xf3 || *at == 0xf2 || *at == 0x64)) /* 64: relative to fs */
        at++;
    rex = (*at & 0xf0) == 0x40 ? *at++ : 0;
    op = *at++;
    if ((op & 0xf8) == 0xb8) /* mov $n, register */
        return (struct instruction){(size_t)(at - code) + (rex & 8 ? 8 : 4), (op & 7) | (rex & 1) << 3};
    if ((op & 0xf8) == 0x50) /* push */
        return (struct instruction){(size_t)(at - code), NO_REGISTER};
    if (op == 0x68 || op == 0x6a)
        return (struct instruction){(size_t)(at - code) + (op == 0x68 ? 4 : 1), NO_REGISTER};
    if (op == 0x0f)
        return decode_two(code, at, (rex & 4) << 1);
    reg = (at[0] >> 3 & 7) | (rex & 4) << 1;
    rm = at[0] >> 6 == 3 ? (at[0] & 7) | (rex & 1) << 3 : NO_REGISTER;
    switch (op) {
    case 0x8b: /* mov, lea, movslq, xor, add, or, cmp: the register is written or none */
    case 0x8d:
    case 0x63:
    case 0x33:
    case 0x03:
    case 0x0b:
    case 0x3b:
        return (struct instruction){(size_t)(at - code) + operand_bytes(at), reg};
    case 0x89: /* mov, xor, and, add, or, sub, cmp, test, shift by one: the operand is */
    case 0x31:
    case 0x21:
    case 0x01:
    case 0x09:
    case 0x29:
    case 0x39:
    case 0x85:
    case 0xd1:
        return (struct instruction){(size_t)(at - code) + operand_bytes(at), rm};
    case 0x80: /* with a byte's number */
    case 0x83:
    case 0xc1:
        return (struct instruction){(size_t)(at - code) + operand_bytes(at) + 1, rm};
    case 0x81: /* with a number */
    case 0xc7:
        return (struct instruction){(size_t)(at - code) + operand_bytes(at) + 4, rm};
    default:
        return (struct instruction){0, NO_REGISTER};
    }
}

/* Do whole instructions lead from `at` to `end`, and leave the register alone? */
static bool leads_to(const uint8_t *at, const uint8_t *end, int target)
{
    while (at < end) {
        struct instruction one = decode(at);

        if (one.bytes == 0 || one.changes == target)
            return false;
        at += one.bytes;
    }
    return at == end;
}

/* Does a call preserve the register, one of 0..15? */
static bool is_kept(int reg, uint32_t kept)
{
    return kept >> reg & 1;
}

/* The number that the instruction at `at` puts into the register; LOST if it does not. */
static int number_by(const uint8_t *at, size_t *bytes, int target, const uint64_t values[16], uint32_t kept)
{
    struct instruction one = decode(at);
    uint8_t rex = (*at & 0xf0) == 0x40 ? *at : 0;
    const uint8_t *op = at + (rex != 0);
    int32_t number;
    int from;

    *bytes = one.bytes;
    if (one.bytes == 0 || one.changes != target)
        return LOST;
    if (*op == 0xc7) {
        memcpy(&number, op + 2, sizeof(number));
        return number;
    }
    if (rex & 8)
        return LOST;
    if ((*op & 0xf8) == 0xb8) {
        memcpy(&number, op + 1, sizeof(number));
        return number;
    }
    if (op[1] >> 6 != 3)
        return LOST;
    if (*op == 0x31 || *op == 0x33)
        return (op[1] >> 3 & 7) == (op[1] & 7) && rex == 0 ? 0 : LOST;
    if (*op == 0x89)
        from = (op[1] >> 3 & 7) | (rex & 4) << 1;
    else if (*op == 0x8b)
        from = (op[1] & 7) | (rex & 1) << 3;
    else
        return LOST;
    return is_kept(from, kept) ? (int)(uint32_t)values[from] : LOST;
}

/* The last instruction in front of `end` that sets the register says the number. */
static int search(const uint8_t *code, const uint8_t *end, int target, const uint64_t values[16], uint32_t kept)
{
    for (const uint8_t *at = end - 2; at >= code; at--) {
        size_t bytes;
        int number = number_by(at, &bytes, target, values, kept);

        if (number >= 0 && leads_to(at + bytes, end, target))
            return number;
    }
    return LOST;
}

/* Registers by their numbers in instructions. */
static void read_registers(uint64_t out[16], const greg_t *regs)
{
    static const uint8_t from[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                   REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

    for (size_t i = 0; i < MIRE_COUNT(from); i++)
        out[i] = (uint64_t)regs[from[i]];
}

/* In libc's syscall(): its caller put the number into edi, and called. */
static int number_of_caller(const uint64_t values[16])
{
    const uint32_t kept = 1u << 3 | 1u << 5 | 0xf000; /* rbx, rbp, r12..r15 */
    uint8_t code[CODE_BYTES + 16];
    uint64_t back;
    size_t call = 0;

    if (mire__peek(&back, values[4], sizeof(back)) != sizeof(back) ||
        mire__peek(code, back - CODE_BYTES, CODE_BYTES) != CODE_BYTES)
        return LOST;
    memset(code + CODE_BYTES, 0x90, 16);
    if (code[CODE_BYTES - 5] == 0xe8)
        call = 5;
    else if (code[CODE_BYTES - 6] == 0xff && code[CODE_BYTES - 5] == 0x15)
        call = 6;
    return call ? search(code, code + CODE_BYTES - call, 7, values, kept) : LOST;
}

int mire__call_number(const void *ucontext)
{
    const greg_t *regs = ((const ucontext_t *)ucontext)->uc_mcontext.gregs;
    const uint32_t kept = 0xffff & ~(1u << 0 | 1u << 1 | 1u << 11); /* all but rax, rcx, r11 */
    uint8_t code[CODE_BYTES + 16];
    uint64_t values[16];
    const uint8_t *end = code + CODE_BYTES - 2;

    if (mire__peek(code, (uint64_t)regs[REG_RIP] - CODE_BYTES, CODE_BYTES) != CODE_BYTES || end[0] != 0x0f ||
        end[1] != 0x05)
        return LOST;
    memset(code + CODE_BYTES, 0x90, 16);
    read_registers(values, regs);
    if (memcmp(end - sizeof(wrapper), wrapper, sizeof(wrapper)) == 0)
        return number_of_caller(values);
    return search(code, end, 0, values, kept);
}
