/*
 * step.c - the unwinder on Mach-O images; see tests/apple/README.md.
 *
 *     apple_step table FILE     every function and its encoding, "address encoding" a line
 *     apple_step run FILE N     runs the image's `run(N)` one instruction at a time. At each, the walked stack must equal
 *                               the calls that were followed. Prints "steps depth wrong"
 *     apple_step pack FILE N    the same of the LZ4 library's functions that pack and unpack N bytes
 *
 * On x86-64 the processor stops after each instruction by its trap flag. On ARM every instruction is a breakpoint but the
 * one that runs next.
 */
#include "apple/macho.h"
#include "unwind/compact.h"
#include "unwind/unwind.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <ucontext.h>

#define DEPTH_MAX 64
#define SHOWN     5
#define BELOW     128 /* bytes below the stack pointer that a function without calls may use */
#define ABOVE     (64u << 10)

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

/* It changes no register: compilers count on that. */
extern const char stack_probe[];
__asm__(".text\n.globl stack_probe\nstack_probe: ret");

static void *resolve(void *context, const char *name)
{
    static uintptr_t guard = 42;
    static const struct {
        const char *name;
        void *address;
    } names[] = {{"_memcpy", (void *)memcpy},    {"_memmove", (void *)memmove},
                 {"_memset", (void *)memset},    {"_bzero", (void *)bzero},
                 {"___bzero", (void *)bzero},    {"_malloc", (void *)malloc},
                 {"_calloc", (void *)calloc},    {"_free", (void *)free},
                 {"___stack_chk_guard", &guard}, {"___chkstk_darwin", (void *)(uintptr_t)stack_probe}};

    (void)context;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i].name) == 0)
            return names[i].address;
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

static void push(uint64_t address)
{
    if (stepping.depth < DEPTH_MAX)
        stepping.returns[stepping.depth++] = address;
    if (stepping.depth > stepping.deepest)
        stepping.deepest = stepping.depth;
}

static void pop_at(uint64_t pc)
{
    if (stepping.depth > 0 && pc == stepping.returns[stepping.depth - 1])
        stepping.depth--;
}

static void complain(uint64_t pc)
{
    if (stepping.wrong++ >= SHOWN)
        return;
    fprintf(stderr, "at %s+%llx, %u calls deep:", macho_name(&image, pc),
            (unsigned long long)(pc - (uint64_t)(uintptr_t)image.base), stepping.depth);
    for (uint32_t i = 0; i < stepping.walked_count; i++)
        fprintf(stderr, " %llx", (unsigned long long)(stepping.walked[i] - (uint64_t)(uintptr_t)image.base));
    fprintf(stderr, "; followed:");
    for (uint32_t i = stepping.depth; i-- > 0;)
        fprintf(stderr, " %llx", (unsigned long long)(stepping.returns[i] - (uint64_t)(uintptr_t)image.base));
    fprintf(stderr, "\n");
}

static void check(const ucontext_t *context)
{
    struct regs regs;
    struct stack_copy copy = {.regs = &regs};

    mire__arch_as_regs(&regs, context);
    copy.address = (stepping.sp - BELOW) & ~7ull;
    copy.bytes = (const uint8_t *)(uintptr_t)copy.address;
    copy.size = ABOVE / 2;
    stepping.walked_count = 0;
    mire__unwind_copy(&copy, &modules, note_frame, NULL);
    stepping.steps++;
    bool right = stepping.walked_count > stepping.depth && stepping.walked[0] == regs.pc;
    for (uint32_t i = 0; right && i < stepping.depth; i++)
        right = stepping.walked[i + 1] == stepping.returns[stepping.depth - 1 - i] - 1;
    if (!right)
        complain(regs.pc);
}

/* ---- one instruction at a time ---- */

#ifdef __x86_64__
#define TRAP_FLAG 0x100

/* Follow the instruction that has just run: was it a call or a return? */
static void on_trap(int signal, siginfo_t *info, void *context)
{
    const ucontext_t *at = context;
    uint64_t pc = (uint64_t)at->uc_mcontext.gregs[REG_RIP], sp = (uint64_t)at->uc_mcontext.gregs[REG_RSP];
    uint64_t word = *(const uint64_t *)(uintptr_t)sp;

    (void)signal;
    (void)info;
    if (sp == stepping.sp - 8 && word > stepping.pc && word - stepping.pc < 8 && pc != word)
        push(word);
    else if (sp == stepping.sp + 8)
        pop_at(pc);
    stepping.pc = pc;
    stepping.sp = sp;
    if (inside(pc) && stepping.depth > 0)
        check(at);
}

static void step_on(void)
{
    __asm__ volatile("pushfq; orq %0, (%%rsp); popfq" ::"i"(TRAP_FLAG) : "cc", "memory");
}

static void step_off(void)
{
    __asm__ volatile("pushfq; andq %0, (%%rsp); popfq" ::"i"(~TRAP_FLAG) : "cc", "memory");
}
#else
#define BREAKPOINT 0xd4200000u /* brk #0 */

static uint32_t *text, *original; /* the image's instructions, now and as they were */

static void put(uint64_t pc, uint32_t code)
{
    uint32_t *at = &text[(pc - image.text.address) / sizeof(*text)];

    *at = code;
    __builtin___clear_cache((char *)at, (char *)(at + 1));
}

static uint32_t original_at(uint64_t pc)
{
    return original[(pc - image.text.address) / sizeof(*original)];
}

/* bl, blr: the call returns behind it. */
static bool calls(uint32_t code)
{
    return code >> 26 == 0x25 || (code & 0xfffffc1f) == 0xd63f0000;
}

/* ret; or b, br to a function outside of the image, which has returned already. */
static bool returns(uint32_t code)
{
    return (code & 0xfffffc1f) == 0xd65f0000 || code >> 26 == 5 || (code & 0xfffffc1f) == 0xd61f0000;
}

/* `pc` is a breakpoint: the instruction before it has run, and that at pc is next. */
static void on_trap(int signal, siginfo_t *info, void *context)
{
    const ucontext_t *at = context;
    uint64_t pc = at->uc_mcontext.pc;

    (void)signal;
    (void)info;
    if (!inside(pc))
        abort();
    if (stepping.pc == 0) {
        push(at->uc_mcontext.regs[30]);
    } else {
        uint32_t code = original_at(stepping.pc);

        put(stepping.pc, BREAKPOINT);
        if (calls(code) && pc != stepping.pc + 4) /* a function outside of the image has returned already */
            push(stepping.pc + 4);
        else if (returns(code))
            pop_at(pc);
    }
    stepping.pc = pc;
    stepping.sp = at->uc_mcontext.sp;
    check(at);
    put(pc, original_at(pc));
}

static void step_on(void)
{
    stepping.pc = 0;
    stepping.depth = 0;
    text = (uint32_t *)(uintptr_t)image.text.address;
    if (!original && (original = malloc(image.text.size)))
        memcpy(original, text, image.text.size);
    for (uint64_t at = 0; at < image.text.size;
         at += MIRE_PEEK_PAGE_BYTES / 2) /* the unwinder sees the code as it was */
        mire__peek_cached(&(uint32_t){0}, &modules.cache, image.text.address + at, sizeof(uint32_t));
    for (size_t i = 0; i < image.text.size / sizeof(*text); i++)
        text[i] = BREAKPOINT;
    __builtin___clear_cache((char *)text, (char *)text + image.text.size);
}

static void step_off(void)
{
    memcpy(text, original, image.text.size);
    __builtin___clear_cache((char *)text, (char *)text + image.text.size);
}
#endif

/* ---- runs ---- */

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

/* Code for Apple's systems may use bytes below the stack pointer, where Linux puts a handler's frame on ARM. */
static void begin_run(void)
{
    static char stack[ABOVE];
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};
    const struct compact_info info = info_of();
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    add_module(info.image, info.image + image.vm_size, &info);
    add_module((uintptr_t)__executable_start, (uintptr_t)etext, NULL);
    sigaltstack(&other, NULL);
    sigaction(SIGTRAP, &action, NULL);
}

static int end_run(bool worked)
{
    printf("%llu %u %llu\n", (unsigned long long)stepping.steps, stepping.deepest, (unsigned long long)stepping.wrong);
    return worked ? 0 : 1;
}

static int run(unsigned long rounds)
{
    unsigned long (*entry)(unsigned long) = (unsigned long (*)(unsigned long))macho_find(&image, "_run");
    volatile unsigned long sum;
    volatile char above[ABOVE]; /* the copy of a stack reaches so far out */

    if (!entry)
        return 1;
    begin_run();
    above[0] = (char)rounds;
    rounds += above[0] == 0;
    step_on();
    sum = entry(rounds);
    step_off();
    return end_run(sum != 0);
}

typedef int lz4_fn(const char *from, char *to, int size, int room);

static int pack(unsigned long size)
{
    lz4_fn *compress = (lz4_fn *)macho_find(&image, "_LZ4_compress_default"),
           *decompress = (lz4_fn *)macho_find(&image, "_LZ4_decompress_safe");
    volatile char above[ABOVE];
    char *plain = calloc(4, size), *packed = plain + size, *back = packed + 2 * size;
    int packed_size, back_size;

    if (!compress || !decompress || !plain)
        return 1;
    for (unsigned long i = 0; i < size; i++)
        plain[i] = (char)(i * i >> 9);
    above[0] = plain[0];
    begin_run();
    step_on();
    packed_size = compress(plain, packed, (int)size, (int)(2 * size));
    step_off();
    step_on();
    back_size = decompress(packed, back, packed_size, (int)size);
    step_off();
    return end_run(above[0] == plain[0] && back_size == (int)size && memcmp(plain, back, size) == 0);
}

int main(int count, char **arguments)
{
    bool runs = count == 4 && (strcmp(arguments[1], "run") == 0 || strcmp(arguments[1], "pack") == 0);

    if (!runs && !(count == 3 && strcmp(arguments[1], "table") == 0)) {
        fprintf(stderr, "usage: apple_step table FILE | run FILE ROUNDS | pack FILE BYTES\n");
        return 2;
    }
    if (!macho_read(&image, arguments[2], 0))
        return 1;
    if (!macho_load(&image, resolve, NULL))
        return 1;
    if (!runs)
        return print_table();
    return (arguments[1][0] == 'p' ? pack : run)(strtoul(arguments[3], NULL, 10));
}
