/* snapshot.c - see snapshot.h. Signal-safe. */
#include "unwind/snapshot.h"

#include "platform/platform.h"
#include "unwind/row.h"
#include "unwind/step.h"

#include <string.h>

#define HUNT_BYTES        8192 /* a lost frame pointer, or return address, is looked for so far above the stack pointer */
#define FRAME_BYTES_MAX   (8ull << 20) /* a frame is no larger: the size of a default stack */
#define SIGNAL_FRAMES_MAX 64           /* they may lead inwards: a broken stack must not be walked in a circle */

enum outcome { WENT_ON, ENDED, BROKEN, LOST_FP };

/* A piece of the stack beyond the copy, which a deep stack is read from. */
struct copy_window {
    uint64_t address;
    size_t size;
    uint8_t bytes[MIRE_WALK_WINDOW_BYTES];
};

struct unwinding {
    const struct stack_copy *copy;
    struct copy_window *window;
    struct modules *modules;
    struct regs regs;
    uint8_t found; /* how the frame now in `regs` was found: enum unwound_by */
    bool exact;    /* regs.pc is an interrupted instruction, not a return address */
    bool loose;    /* the stack pointer is a lower bound: where calls push nothing, a frame pointer gives only that */
};

static bool word_in(uint64_t *out, uint64_t begin, const uint8_t *bytes, size_t size, uint64_t address)
{
    uint64_t at = address - begin;

    if (address < begin || at >= size || size - at < 8)
        return false;
    memcpy(out, bytes + at, 8);
    return true;
}

/* A word beyond the copy, as it is now. */
static bool read_beyond(struct copy_window *window, uint64_t *out, uint64_t address)
{
    if (word_in(out, window->address, window->bytes, window->size, address))
        return true;
    window->address = address;
    window->size = mire__peek(window->bytes, window->address, sizeof(window->bytes));
    return word_in(out, window->address, window->bytes, window->size, address);
}

static bool read_word(void *context, uint64_t *out, uint64_t address)
{
    const struct unwinding *walk = context;
    const struct stack_copy *copy = walk->copy;
    uint64_t end = copy->address + copy->size;

    if (word_in(out, copy->address, copy->bytes, copy->size, address))
        return true;
    if (address >= end && address - end < FRAME_BYTES_MAX)
        return read_beyond(walk->window, out, address);
    return mire__peek(out, address, 8) == 8;
}

static bool word_at(const struct unwinding *walk, uint64_t *out, uint64_t address)
{
    return read_word((void *)(uintptr_t)walk, out, address);
}

static bool known(const struct regs *regs, uint32_t reg)
{
    return reg < MIRE_REGS_MAX && (regs->known >> reg & 1);
}

static void set(struct regs *regs, uint32_t reg, uint64_t value)
{
    regs->value[reg] = value;
    regs->known |= 1ull << reg;
}

/* The value that a rule gives a register of the caller. False: it is lost. */
static bool apply_rule(uint64_t *out, const struct unwinding *walk, const struct cfi_row *row, uint32_t reg,
                       uint64_t cfa)
{
    const struct cfi_rule *rule = &row->rules[reg];
    void *context = (void *)(uintptr_t)walk;
    uint64_t address;

    switch (rule->kind) {
    case CFI_SAME:
        *out = walk->regs.value[reg];
        return known(&walk->regs, reg);
    case CFI_AT_OFFSET:
        return word_at(walk, out, cfa + (uint64_t)rule->value);
    case CFI_IS_OFFSET:
        *out = cfa + (uint64_t)rule->value;
        return true;
    case CFI_REGISTER:
        *out = known(&walk->regs, (uint32_t)rule->value) ? walk->regs.value[rule->value] : 0;
        return known(&walk->regs, (uint32_t)rule->value);
    case CFI_AT_EXPRESSION:
        return mire__expression(&address, &walk->modules->cache, rule, &walk->regs, true, cfa, read_word, context) &&
               word_at(walk, out, address);
    case CFI_IS_EXPRESSION:
        return mire__expression(out, &walk->modules->cache, rule, &walk->regs, true, cfa, read_word, context);
    default:
        return false;
    }
}

static bool find_cfa(uint64_t *out, const struct unwinding *walk, const struct cfi_row *row)
{
    if (row->cfa.kind == CFI_IS_EXPRESSION)
        return mire__expression(out, &walk->modules->cache, &row->cfa, &walk->regs, false, 0, read_word,
                                (void *)(uintptr_t)walk);
    if (!known(&walk->regs, row->cfa_register) || (walk->loose && row->cfa_register == mire__arch.sp))
        return false;
    *out = walk->regs.value[row->cfa_register] + (uint64_t)row->cfa.value;
    return true;
}

static enum outcome step_by_row(struct unwinding *walk, const struct cfi_row *row)
{
    struct regs next = {0};
    uint64_t cfa, ra;
    const struct cfi_rule *link = &row->rules[row->ra_column];
    bool leaf = link->kind == CFI_SAME;
    /* In a leaf, in vfork, which pops its return address, and in a prologue's call, the stack pointer is the caller's. */
    bool bare = leaf || link->kind == CFI_REGISTER;

    if (!find_cfa(&cfa, walk, row))
        return row->cfa_register == mire__arch.fp && !known(&walk->regs, mire__arch.fp) ? LOST_FP : BROKEN;
    if (link->kind == CFI_UNDEFINED)
        return ENDED;
    if (leaf && (!walk->exact || row->ra_column != mire__arch.link))
        return BROKEN; /* a caller's link register has been overwritten by its call */
    if (!apply_rule(&ra, walk, row, row->ra_column, cfa))
        return BROKEN;
    for (uint32_t reg = 0; reg < mire__arch.reg_count; reg++) {
        uint64_t value;

        if (apply_rule(&value, walk, row, reg, cfa))
            set(&next, reg, value);
    }
    if (row->rules[mire__arch.sp].kind == CFI_SAME)
        set(&next, mire__arch.sp, cfa);
    if (link->kind == CFI_REGISTER)
        next.known &= ~(UINT64_C(1) << link->value); /* one return address is one frame's */
    if (!row->signal_frame && next.value[mire__arch.sp] <= walk->regs.value[mire__arch.sp] &&
        !(bare && next.value[mire__arch.sp] == walk->regs.value[mire__arch.sp]))
        return BROKEN;
    next.pc = row->signal_frame ? ra : mire__arch_bare(ra);
    walk->regs = next;
    walk->found = leaf ? UNWOUND_LINK : UNWOUND_CFI;
    if (row->signal_frame)
        walk->found = UNWOUND_SIGNAL;
    walk->exact = row->signal_frame;
    walk->loose = false;
    return next.pc == 0 ? ENDED : WENT_ON;
}

/* Is there a call right before `address`? sure_out: to the function at `function` */
static bool returns_from_call(bool *sure_out, struct unwinding *walk, uint64_t address, uint64_t function)
{
    uint64_t target;

    if (!mire__step_is_return(&target, walk->modules, address))
        return false;
    *sure_out = function != 0 && target == function;
    return true;
}

/*
 * Search for the frame pointer of a function that keeps one, after its value was lost further in: of a thread that
 * sleeps in the kernel only the stack pointer is known. The pair (caller's frame pointer, return address) lies above
 * it.
 */
static bool hunt_frame_pointer(struct unwinding *walk, uint64_t function)
{
    uint64_t sp = walk->regs.value[mire__arch.sp], likely = 0;

    for (uint64_t at = (sp + 15) & ~15ull; at < sp + HUNT_BYTES; at += 16) {
        uint64_t saved, ra;
        bool sure = false;

        if (!word_at(walk, &saved, at) || !word_at(walk, &ra, at + 8))
            break;
        if (!returns_from_call(&sure, walk, ra, function))
            continue;
        if (sure) {
            set(&walk->regs, mire__arch.fp, at);
            return true;
        }
        if (likely == 0 && (saved <= 1 || (saved > at && saved - at < FRAME_BYTES_MAX)))
            likely = at;
    }
    if (likely)
        set(&walk->regs, mire__arch.fp, likely);
    return likely != 0;
}

static enum outcome step_by_frame_pointer(struct unwinding *walk)
{
    uint64_t fp, sp, saved, ra;

    if (!known(&walk->regs, mire__arch.fp) || !known(&walk->regs, mire__arch.sp))
        return BROKEN;
    fp = walk->regs.value[mire__arch.fp];
    sp = walk->regs.value[mire__arch.sp];
    if (fp == 0 && !walk->exact)
        return ENDED;
    if (fp % 8 != 0 || fp < sp || fp - sp > FRAME_BYTES_MAX || !word_at(walk, &saved, fp) ||
        !word_at(walk, &ra, fp + 8))
        return BROKEN;
    ra = mire__arch_bare(ra);
    if (ra == 0)
        return ENDED;
    walk->regs.known = 0;
    set(&walk->regs, mire__arch.sp, fp + 16);
    set(&walk->regs, mire__arch.fp, saved);
    walk->regs.pc = ra;
    walk->found = UNWOUND_FP;
    walk->exact = false;
    walk->loose = mire__arch.link != MIRE_NO_REG;
    return WENT_ON;
}

/* Out by a return address that a call has pushed to `at`. False: there is none. */
static bool return_by(struct unwinding *walk, uint64_t at)
{
    uint64_t ra;
    bool sure;

    if (!word_at(walk, &ra, at) || !returns_from_call(&sure, walk, ra, 0))
        return false;
    set(&walk->regs, mire__arch.sp, at + 8);
    walk->regs.pc = ra;
    walk->exact = false;
    return true;
}

/* Does the frame pointer lead to a return address? */
static bool keeps_frame_pointer(struct unwinding *walk)
{
    uint64_t fp = walk->regs.value[mire__arch.fp], sp = walk->regs.value[mire__arch.sp], ra;
    bool sure;

    return known(&walk->regs, mire__arch.fp) && fp % 8 == 0 && fp >= sp && fp - sp <= FRAME_BYTES_MAX &&
           word_at(walk, &ra, fp + 8) && (ra == 0 || returns_from_call(&sure, walk, ra, 0));
}

/*
 * Out of code of which nothing is known: made at run time, or an address without code. Where the thread stands in it and
 * it has pushed nothing, the return address is on top of the stack, and the registers are the caller's. Otherwise code
 * that keeps no frame pointer has the return address above what it pushed, and the nearest one is taken.
 */
static enum outcome step_out_of_unknown(struct unwinding *walk)
{
    uint64_t sp = walk->regs.value[mire__arch.sp];

    if (mire__arch.link != MIRE_NO_REG || !known(&walk->regs, mire__arch.sp))
        return BROKEN;
    walk->found = UNWOUND_CFI;
    if (walk->exact && return_by(walk, sp))
        return WENT_ON;
    if (keeps_frame_pointer(walk))
        return BROKEN;
    for (uint64_t at = sp; at < sp + HUNT_BYTES; at += 8) {
        if (!return_by(walk, at))
            continue;
        walk->regs.known = 1ull << mire__arch.sp;
        return WENT_ON;
    }
    return BROKEN;
}

/* Through a return from a signal handler without call frame information, to the interrupted code. */
static enum outcome step_by_sigreturn(struct unwinding *walk)
{
    if (!known(&walk->regs, mire__arch.sp) || walk->loose || !mire__step_is_sigreturn(walk->modules, walk->regs.pc))
        return BROKEN;
    if (!mire__step_signal_regs(&walk->regs, walk->regs.value[mire__arch.sp], read_word, walk))
        return BROKEN;
    walk->found = UNWOUND_SIGNAL;
    walk->exact = true;
    return WENT_ON;
}

/*
 * The row of the frame; NULL if nothing describes it. A frame that made a call is looked up by the call; but the
 * kernel's signal frame is returned to at its first instruction.
 */
static const struct cfi_row *look_up(uint64_t *place, struct unwinding *walk, const struct module **module)
{
    struct modules *modules = walk->modules;
    const struct cfi_row *row = NULL;

    if (mire__arch.link == MIRE_NO_REG) /* expressions then find the pc in the column of the return address */
        set(&walk->regs, mire__arch.ra_column, walk->regs.pc);
    *place = walk->regs.pc - (walk->exact ? 0 : 1);
    *module = mire__modules_find(modules, *place);
    if (*module)
        row = mire__row_find(modules, *module, *place, walk->exact);
    if (row ? row->signal_frame : mire__step_is_sigreturn(modules, walk->regs.pc)) {
        *place = walk->regs.pc;
        *module = mire__modules_find(modules, *place);
    }
    return row;
}

static enum outcome step(struct unwinding *walk, const struct cfi_row *row, const struct module *module)
{
    enum outcome outcome = row ? step_by_row(walk, row) : BROKEN;

    if (outcome == LOST_FP)
        outcome = hunt_frame_pointer(walk, row->function) ? step_by_row(walk, row) : BROKEN;
    if (outcome == BROKEN && !row)
        outcome = step_by_sigreturn(walk);
    if (outcome == WENT_ON || outcome == ENDED)
        return outcome;
    if (!row && (!module || !module->is_image)) {
        outcome = step_out_of_unknown(walk);
        if (outcome == WENT_ON)
            return outcome;
    }
    if (!known(&walk->regs, mire__arch.fp) && !row)
        hunt_frame_pointer(walk, 0);
    return step_by_frame_pointer(walk);
}

static uint32_t bytes_into(uint64_t function, uint64_t place)
{
    return place >= function && place - function <= UINT32_MAX ? (uint32_t)(place - function) : 0;
}

/* The stack pointer; 0 where it is lost. */
static uint64_t sp_of(const struct unwinding *walk)
{
    return known(&walk->regs, mire__arch.sp) ? walk->regs.value[mire__arch.sp] : 0;
}

bool mire__unwind_copy(const struct stack_copy *copy, struct modules *modules, mire__unwound_fn *visit, void *context)
{
    struct copy_window window;
    struct unwinding state = {
        .copy = copy, .window = &window, .modules = modules, .regs = *copy->regs, .found = UNWOUND_PC, .exact = true};
    struct unwinding *walk = &state;
    uint32_t signal_frames = 0;

    window.address = window.size = 0;
    for (uint32_t frames = 0; frames < MIRE_WALK_FRAMES_MAX; frames++) {
        const struct module *module;
        uint64_t place;
        const struct cfi_row *row = look_up(&place, walk, &module);
        struct unwound frame = {.pc = place,
                                .into = row && row->function ? bytes_into(row->function, place) : 0,
                                .by = walk->found,
                                .sp = sp_of(walk)};
        enum outcome outcome;

        if (!module && !walk->exact) /* no code there: the walk has gone astray */
            return false;
        signal_frames += walk->found == UNWOUND_SIGNAL;
        outcome = step(walk, row, module);
        frame.has_caller = outcome == WENT_ON;
        frame.caller_sp = sp_of(walk);
        visit(context, &frame);
        if (outcome != WENT_ON || signal_frames > SIGNAL_FRAMES_MAX)
            return outcome == ENDED;
    }
    return false;
}
