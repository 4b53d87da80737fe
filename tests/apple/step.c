/*
 * step.c - the unwinder on Mach-O images; see tests/apple/README.md.
 *
 *     apple_step table FILE     every function and its encoding, "address encoding" a line
 *     apple_step run FILE N     runs the image's `run(N)` one instruction at a time. At each, the walked stack must equal
 *                               the calls that were followed. Prints "steps depth wrong"
 */
#include "apple/macho.h"
#include "unwind/compact.h"
#include "unwind/unwind.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define DEPTH_MAX 64
#define SHOWN     5

static struct modules modules;
static struct macho image;

static struct compact_info info_of(void)
{
    const struct compact_info info = {.image = (uint64_t)(uintptr_t)image.base,
                                      .unwind_info = image.unwind_info.address,
                                      .eh_frame = image.eh_frame.address,
                                      .unwind_info_bytes = (uint32_t)image.unwind_info.size,
                                      .eh_frame_bytes = (uint32_t)image.eh_frame.size};
    return info;
}

static void *resolve(void *context, const char *name)
{
    (void)context;
    (void)name;
    return (void *)(uintptr_t)abort;
}

static int print_table(void)
{
    const struct compact_info info = info_of();
    struct compact_function function;

    for (uint64_t at = image.text.address; at < image.text.address + image.text.size;) {
        if (!mire__compact_find(&function, &modules.cache, &info, at)) {
            at++;
            continue;
        }
        printf("%llx %x\n", (unsigned long long)(function.start - info.image), function.encoding);
        at = function.end;
    }
    return 0;
}

#ifdef __x86_64__
#define TRAP_FLAG 0x100

static struct {
    uint64_t returns[DEPTH_MAX]; /* where the calls that were followed return to, outermost first */
    uint32_t depth, deepest;
    uint64_t pc, sp; /* before this instruction */
    uint64_t steps, wrong;
    uint64_t walked[DEPTH_MAX + 1];
    uint32_t walked_count;
} stepping;

static void note_frame(void *context, const struct unwound *frame)
{
    (void)context;
    if (stepping.walked_count <= DEPTH_MAX)
        stepping.walked[stepping.walked_count++] = frame->pc;
}

static bool inside(uint64_t pc)
{
    return pc >= image.text.address && pc < image.text.address + image.text.size;
}

/* Follow the instruction that has just run: was it a call or a return? */
static void follow(uint64_t pc, uint64_t sp)
{
    uint64_t word = *(const uint64_t *)(uintptr_t)sp;

    if (sp == stepping.sp - 8 && word > stepping.pc && word - stepping.pc < 8 && pc != word) {
        if (stepping.depth < DEPTH_MAX)
            stepping.returns[stepping.depth++] = word;
    } else if (stepping.depth > 0 && pc == stepping.returns[stepping.depth - 1] && sp == stepping.sp + 8) {
        stepping.depth--;
    }
    if (stepping.depth > stepping.deepest)
        stepping.deepest = stepping.depth;
    stepping.pc = pc;
    stepping.sp = sp;
}

static void complain(uint64_t pc)
{
    if (stepping.wrong++ >= SHOWN)
        return;
    fprintf(stderr, "at %s+%llx, %u calls deep:", macho_name(&image, pc),
            (unsigned long long)(pc - (uint64_t)(uintptr_t)image.base), stepping.depth);
    for (uint32_t i = 0; i < stepping.walked_count; i++)
        fprintf(stderr, " %llx", (unsigned long long)(stepping.walked[i] - (uint64_t)(uintptr_t)image.base));
    fprintf(stderr, "\n");
}

static void check(const ucontext_t *context)
{
    struct regs regs;
    struct stack_copy copy = {.regs = &regs};

    mire__arch_as_regs(&regs, context);
    copy.address = (stepping.sp - 128) & ~7ull;
    copy.bytes = (const uint8_t *)(uintptr_t)copy.address;
    copy.size = 32768;
    stepping.walked_count = 0;
    mire__unwind_copy(&copy, &modules, note_frame, NULL);
    stepping.steps++;
    bool right = stepping.walked_count > stepping.depth && stepping.walked[0] == regs.pc;
    for (uint32_t i = 0; right && i < stepping.depth; i++)
        right = stepping.walked[i + 1] == stepping.returns[stepping.depth - 1 - i] - 1;
    if (!right)
        complain(regs.pc);
}

static void on_trap(int signal, siginfo_t *info, void *context)
{
    const ucontext_t *at = context;
    uint64_t pc = (uint64_t)at->uc_mcontext.gregs[REG_RIP];

    (void)signal;
    (void)info;
    follow(pc, (uint64_t)at->uc_mcontext.gregs[REG_RSP]);
    if (inside(pc) && stepping.depth > 0)
        check(at);
}

static void set_trap(bool on)
{
    if (on)
        __asm__ volatile("pushfq; orq %0, (%%rsp); popfq" ::"i"(TRAP_FLAG) : "cc", "memory");
    else
        __asm__ volatile("pushfq; andq %0, (%%rsp); popfq" ::"i"(~TRAP_FLAG) : "cc", "memory");
}

/* The program's own code, in which the walk ends. */
static void add_module(uint64_t start, uint64_t end, const struct compact_info *info)
{
    struct module module = {.start = start, .end = end, .text_start = start, .text_end = end, .is_image = true};
    uint32_t at = modules.count++;

    if (info) {
        module.unwind_info = info->unwind_info;
        module.unwind_info_bytes = info->unwind_info_bytes;
        module.eh_frame = info->eh_frame;
        module.eh_frame_bytes = info->eh_frame_bytes;
    }
    for (; at > 0 && modules.list[at - 1].start > start; at--)
        modules.list[at] = modules.list[at - 1];
    modules.list[at] = module;
}

extern const char __executable_start[], etext[];

static int run(unsigned long rounds)
{
    unsigned long (*entry)(unsigned long) = (unsigned long (*)(unsigned long))macho_find(&image, "_run");
    const struct compact_info info = info_of();
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    volatile unsigned long sum;
    volatile char above[64 * 1024]; /* the copy of a stack reaches so far out */

    if (!entry)
        return 1;
    add_module(info.image, info.image + image.vm_size, &info);
    add_module((uintptr_t)__executable_start, (uintptr_t)etext, NULL);
    sigaction(SIGTRAP, &action, NULL);
    above[0] = (char)rounds;
    rounds += above[0] == 0;
    set_trap(true);
    sum = entry(rounds);
    set_trap(false);
    printf("%llu %u %llu\n", (unsigned long long)stepping.steps, stepping.deepest, (unsigned long long)stepping.wrong);
    return sum == 0;
}
#else
static int run(unsigned long rounds)
{
    (void)rounds;
    return 77;
}
#endif

int main(int count, char **arguments)
{
    bool runs = count == 4 && strcmp(arguments[1], "run") == 0;

    if (!runs && !(count == 3 && strcmp(arguments[1], "table") == 0)) {
        fprintf(stderr, "usage: apple_step table FILE | run FILE ROUNDS\n");
        return 2;
    }
    if (!macho_read(&image, arguments[2], 0))
        return 1;
    if (!macho_load(&image, resolve, NULL))
        return 1;
    return runs ? run(strtoul(arguments[3], NULL, 10)) : print_table();
}
