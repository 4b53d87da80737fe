/* unwind.c - see unwind.h. */
#include "capture/unwind.h"

#include "capture/fold.h"
#include "platform/platform.h"

#include <string.h>

#define HUNT_BYTES        8192         /* how far above the stack pointer a lost frame pointer is looked for */
#define FRAME_BYTES_MAX   (8ull << 20) /* a frame pointer points no further than a default stack is large */
#define SIGNAL_FRAMES_MAX 64           /* only these may lead inwards: a broken stack must not be walked in a circle */

enum outcome { STEP_OK, STEP_END, STEP_NONE, STEP_LOST_FP };

/* A piece of the stack beyond the copy: a deep stack is read from it frame by frame. */
struct window {
    uint64_t address;
    size_t size;
    uint8_t bytes[MIRE_WALK_WINDOW_BYTES];
};

struct walk {
    const struct snapshot *snapshot;
    struct window *window;
    struct modules *modules;
    struct regs regs;
    uint8_t found; /* how the frame now in `regs` was come to */
    bool exact;    /* regs.pc is where the thread stands, not where a call returns to */
    bool loose; /* the stack pointer is only a lower bound: the frame pointer says no more where calls push nothing */
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
static bool read_beyond(struct window *window, uint64_t *out, uint64_t address)
{
    if (word_in(out, window->address, window->bytes, window->size, address))
        return true;
    window->address = address;
    window->size = mire__peek(window->bytes, window->address, sizeof(window->bytes));
    return word_in(out, window->address, window->bytes, window->size, address);
}

static bool read_word(void *context, uint64_t *out, uint64_t address)
{
    const struct walk *walk = context;
    const struct snapshot *snapshot = walk->snapshot;
    uint64_t end = snapshot->stack_address + snapshot->stack_size;

    if (word_in(out, snapshot->stack_address, snapshot->stack, snapshot->stack_size, address))
        return true;
    if (address >= end && address - end < FRAME_BYTES_MAX)
        return read_beyond(walk->window, out, address);
    return mire__peek(out, address, 8) == 8;
}

static bool word_at(const struct walk *walk, uint64_t *out, uint64_t address)
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

/* The value a rule gives a register of the caller. False: it is lost. */
static bool apply_rule(uint64_t *out, const struct walk *walk, const struct cfi_row *row, uint32_t reg, uint64_t cfa)
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

static bool find_cfa(uint64_t *out, const struct walk *walk, const struct cfi_row *row)
{
    if (row->cfa.kind == CFI_IS_EXPRESSION)
        return mire__expression(out, &walk->modules->cache, &row->cfa, &walk->regs, false, 0, read_word,
                                (void *)(uintptr_t)walk);
    if (!known(&walk->regs, row->cfa_register) || (walk->loose && row->cfa_register == mire__arch.sp))
        return false;
    *out = walk->regs.value[row->cfa_register] + (uint64_t)row->cfa.value;
    return true;
}

static enum outcome step_by_row(struct walk *walk, const struct cfi_row *row)
{
    struct regs next = {0};
    uint64_t cfa, ra;
    bool leaf = row->rules[row->ra_column].kind == CFI_SAME;
    /* Where nothing is pushed the stack pointer is the caller's: in a leaf, and in vfork, which pops its return
     * address. */
    bool bare = leaf || (walk->exact && row->rules[row->ra_column].kind == CFI_REGISTER);

    if (!find_cfa(&cfa, walk, row))
        return row->cfa_register == mire__arch.fp && !known(&walk->regs, mire__arch.fp) ? STEP_LOST_FP : STEP_NONE;
    if (row->rules[row->ra_column].kind == CFI_UNDEFINED)
        return STEP_END;
    if (leaf && (!walk->exact || row->ra_column != mire__arch.link))
        return STEP_NONE; /* a caller's link register has been overwritten by its call */
    if (!apply_rule(&ra, walk, row, row->ra_column, cfa))
        return STEP_NONE;
    for (uint32_t reg = 0; reg < mire__arch.reg_count; reg++) {
        uint64_t value;

        if (apply_rule(&value, walk, row, reg, cfa))
            set(&next, reg, value);
    }
    if (row->rules[mire__arch.sp].kind == CFI_SAME)
        set(&next, mire__arch.sp, cfa);
    if (!row->signal_frame && next.value[mire__arch.sp] <= walk->regs.value[mire__arch.sp] &&
        !(bare && next.value[mire__arch.sp] == walk->regs.value[mire__arch.sp]))
        return STEP_NONE;
    next.pc = row->signal_frame ? ra : mire__arch_bare(ra);
    walk->regs = next;
    walk->found = row->signal_frame ? MIRE_FOUND_SIGNAL : leaf ? MIRE_FOUND_LR : MIRE_FOUND_CFI;
    walk->exact = row->signal_frame;
    walk->loose = false;
    return next.pc == 0 ? STEP_END : STEP_OK;
}

/* Does control come back to `address` from a call? To the function at `function`, if that can be told: sure. */
static bool returns_from_call(bool *sure_out, struct walk *walk, uint64_t address, uint64_t function)
{
    uint8_t code[MIRE_CALL_BYTES];
    uint64_t target;

    if (!mire__modules_find(walk->modules, address) ||
        !mire__peek_cached(code, &walk->modules->cache, address - sizeof(code), sizeof(code)) ||
        !mire__arch_call_before(&target, address, code))
        return false;
    *sure_out = function != 0 && target == function;
    return true;
}

/*
 * The frame pointer of a function that keeps one, when its value was lost further in: a thread that sleeps in the
 * kernel shows its stack pointer only. Somewhere above lies the pair (caller's frame pointer, return address).
 */
static bool hunt_frame_pointer(struct walk *walk, uint64_t function)
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

static enum outcome step_by_frame_pointer(struct walk *walk)
{
    uint64_t fp, sp, saved, ra;

    if (!known(&walk->regs, mire__arch.fp) || !known(&walk->regs, mire__arch.sp))
        return STEP_NONE;
    fp = walk->regs.value[mire__arch.fp];
    sp = walk->regs.value[mire__arch.sp];
    if (fp == 0 && !walk->exact)
        return STEP_END;
    if (fp % 8 != 0 || fp < sp || fp - sp > FRAME_BYTES_MAX || !word_at(walk, &saved, fp) ||
        !word_at(walk, &ra, fp + 8))
        return STEP_NONE;
    ra = mire__arch_bare(ra);
    if (ra == 0)
        return STEP_END;
    walk->regs.known = 0;
    set(&walk->regs, mire__arch.sp, fp + 16);
    set(&walk->regs, mire__arch.fp, saved);
    walk->regs.pc = ra;
    walk->found = MIRE_FOUND_FP;
    walk->exact = false;
    walk->loose = mire__arch.link != MIRE_NO_REG;
    return STEP_OK;
}

/* A call to an address without code: what the call pushed is all there is of the frame. */
static enum outcome step_over_wild_call(struct walk *walk)
{
    uint64_t sp = walk->regs.value[mire__arch.sp], ra;
    bool sure;

    if (mire__arch.link != MIRE_NO_REG || !word_at(walk, &ra, sp) || !returns_from_call(&sure, walk, ra, 0))
        return STEP_NONE;
    set(&walk->regs, mire__arch.sp, sp + 8);
    walk->regs.pc = ra;
    walk->found = MIRE_FOUND_CFI;
    walk->exact = false;
    return STEP_OK;
}

/* Does a signal handler return to this place? */
static bool is_sigreturn(struct walk *walk, uint64_t address)
{
    uint8_t code[MIRE_SIGRETURN_BYTES];

    return mire__modules_find(walk->modules, address) &&
           mire__peek_cached(code, &walk->modules->cache, address, sizeof(code)) && mire__arch_is_sigreturn(code);
}

/* Through a way back from a signal handler that nothing describes, to what was interrupted. */
static enum outcome step_by_sigreturn(struct walk *walk)
{
    uint64_t context[MIRE_UCONTEXT_BYTES / 8];
    uint64_t at = walk->regs.value[mire__arch.sp] + mire__arch.sigreturn_context;

    if (!known(&walk->regs, mire__arch.sp) || walk->loose || !is_sigreturn(walk, walk->regs.pc))
        return STEP_NONE;
    for (size_t i = 0; i < MIRE_COUNT(context); i++) {
        if (!word_at(walk, &context[i], at + 8 * i))
            return STEP_NONE;
    }
    mire__arch_as_regs(&walk->regs, context);
    walk->found = MIRE_FOUND_SIGNAL;
    walk->exact = true;
    return STEP_OK;
}

/*
 * Look the frame up; NULL where it is not described. For one that called, by its call; but the kernel's signal frame is
 * returned to at its beginning.
 */
static const struct cfi_row *look_up(uint64_t *place, struct walk *walk, const struct module **module)
{
    struct modules *modules = walk->modules;
    const struct cfi_row *row = NULL;

    if (mire__arch.link ==
        MIRE_NO_REG) /* the column of the return address is then the program counter to expressions */
        set(&walk->regs, mire__arch.ra_column, walk->regs.pc);
    *place = walk->regs.pc - (walk->exact ? 0 : 1);
    *module = mire__modules_find(modules, *place);
    if (*module)
        row = mire__cfi_find(&modules->rows, &modules->cache, (*module)->eh_frame_hdr, *place);
    if (row ? row->signal_frame : is_sigreturn(walk, walk->regs.pc)) {
        *place = walk->regs.pc;
        *module = mire__modules_find(modules, *place);
    }
    return row;
}

static enum outcome step(struct walk *walk, const struct cfi_row *row, const struct module *module)
{
    enum outcome outcome = row ? step_by_row(walk, row) : STEP_NONE;

    if (outcome == STEP_LOST_FP)
        outcome = hunt_frame_pointer(walk, row->function) ? step_by_row(walk, row) : STEP_NONE;
    if (outcome == STEP_NONE && !row)
        outcome = step_by_sigreturn(walk);
    if (outcome == STEP_OK || outcome == STEP_END)
        return outcome;
    if (!module && walk->exact) {
        outcome = step_over_wild_call(walk);
        if (outcome == STEP_OK)
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

/* The stack that is used up to the frame now in `regs`. */
static void stretch(size_t *used_bytes, const struct walk *walk)
{
    uint64_t used = walk->regs.value[mire__arch.sp] - walk->snapshot->stack_address;

    if (known(&walk->regs, mire__arch.sp) && used <= MIRE_STACK_COPY_BYTES && used > *used_bytes)
        *used_bytes = (size_t)used;
}

/* Where the stack ends inwards; 0 where that is lost. */
static uint64_t sp_of(const struct walk *walk)
{
    return known(&walk->regs, mire__arch.sp) ? walk->regs.value[mire__arch.sp] : 0;
}

/* Frames of the script, as they go between the others. */
struct between {
    const struct script_place *next;
    uint32_t left;
};

/* Those up to the end of an evaluation. */
static void add_evaluation(struct fold *fold, struct between *script)
{
    bool last = false;

    for (; script->left > 0 && !last; script->next++, script->left--) {
        last = script->next->mark != 0;
        mire__fold_add(fold, &(struct fold_frame){script->next->pc, script->next->into, MIRE_FOUND_SCRIPT});
    }
}

/* Is the end of the innermost evaluation that is left in this part of the stack: in the frame that lies there? */
static bool evaluates(const struct between *script, uint64_t from, uint64_t until)
{
    for (uint32_t i = 0; i < script->left; i++)
        if (script->next[i].mark)
            return script->next[i].mark >= from && script->next[i].mark < until;
    return false;
}

/* From frame to frame, until there is none further out. Returns the flags that hold. */
static uint8_t walk_out(struct fold *fold, size_t *used_bytes, struct walk *walk)
{
    struct between script = {walk->snapshot->script, walk->snapshot->script_count};
    uint32_t signal_frames = 0;
    uint8_t flags = MIRE_SAMPLE_BROKEN;

    for (uint32_t frames = 0; frames < MIRE_WALK_FRAMES_MAX; frames++) {
        const struct module *module;
        uint64_t place;
        const struct cfi_row *row = look_up(&place, walk, &module);
        uint64_t sp = sp_of(walk);
        struct fold_frame frame = {place, row ? bytes_into(row->function, place) : 0, walk->found};
        enum outcome outcome;

        if (!module && !walk->exact) /* no code there: the walk has gone astray */
            break;
        signal_frames += walk->found == MIRE_FOUND_SIGNAL;
        outcome = step(walk, row, module);
        stretch(used_bytes, walk);
        if (outcome == STEP_OK && evaluates(&script, sp, sp_of(walk)))
            add_evaluation(fold, &script);
        mire__fold_add(fold, &frame);
        if (outcome == STEP_END)
            flags = 0;
        if (outcome != STEP_OK || signal_frames > SIGNAL_FRAMES_MAX)
            break;
    }
    while (script.left > 0) /* of evaluations whose frames were not come to */
        add_evaluation(fold, &script);
    return flags;
}

size_t mire__unwind(struct sample *out, const struct snapshot *snapshot, struct modules *modules)
{
    struct window window;
    struct walk walk = {
        .snapshot = snapshot, .window = &window, .modules = modules, .regs = snapshot->regs, .exact = true};
    struct fold fold;
    size_t used_bytes = 0;

    window.address = window.size = 0;
    fold.unfolded = snapshot->unfolded;
    fold.count = fold.lost = fold.folded = 0;
    out->flags |= walk_out(&fold, &used_bytes, &walk);
    mire__fold_end(out, &fold);
    return used_bytes;
}
