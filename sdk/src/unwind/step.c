/* step.c - see step.h. Signal-safe. */
#include "unwind/step.h"

#include "platform/arch.h"
#include "unwind/row.h"

#include <string.h>

/*
 * Expressions are not translated, but probed: they are evaluated twice with made-up registers and memory. The two sets
 * of numbers lie so far apart that a result shows which number it was made of. This covers the expressions of linkers
 * for the PLT, which depend on pc and stack pointer alone, and those of compilers for realigned stacks.
 */
#define PROBE_SP UINT64_C(0x100000000000)
#define PROBE_FP UINT64_C(0x200000000000)
#define PROBE_AT UINT64_C(0x400000000000) /* the value of every word of memory */
#define PROBE_BY UINT64_C(0x010000000000) /* added to all three the second time */
#define NEAR     (INT64_C(1) << 30)

#define GUESS_BYTES 512 /* how far before a pc its function may begin */

struct probe {
    uint64_t shift;   /* added to the made-up numbers of this evaluation */
    uint64_t address; /* of the last word that was read */
    uint32_t words;   /* words read */
};

static bool answer_word(void *context, uint64_t *out, uint64_t address)
{
    struct probe *probe = context;

    probe->address = address;
    probe->words++;
    *out = PROBE_AT + probe->shift;
    return true;
}

static bool evaluate(uint64_t *out, struct probe *probe, struct modules *modules, const struct cfi_rule *rule,
                     uint64_t pc, uint64_t shift, bool with_cfa)
{
    struct regs regs = {.pc = pc};

    *probe = (struct probe){.shift = shift};
    regs.value[mire__arch.sp] = PROBE_SP + shift;
    regs.value[mire__arch.fp] = PROBE_FP + shift;
    regs.known = 1ull << mire__arch.sp | 1ull << mire__arch.fp;
    if (mire__arch.link == MIRE_NO_REG) { /* the program counter has a number there */
        regs.value[mire__arch.ra_column] = pc;
        regs.known |= 1ull << mire__arch.ra_column;
    }
    return mire__expression(out, &modules->cache, rule, &regs, with_cfa, 0, answer_word, probe);
}

/* Is `value` near `base`? *out is the distance. */
static bool is_near(int32_t *out, uint64_t value, uint64_t base)
{
    int64_t by = (int64_t)(value - base);

    if (by <= -NEAR || by >= NEAR)
        return false;
    *out = (int32_t)by;
    return true;
}

/* The register that an address was made of, and the distance from it. */
static bool find_base(uint8_t *from_fp, int32_t *offset, uint64_t address, uint64_t shift)
{
    *from_fp = 0;
    if (is_near(offset, address, PROBE_SP + shift))
        return true;
    *from_fp = 1;
    return is_near(offset, address, PROBE_FP + shift);
}

static bool same_base(const struct step *rule, uint64_t address, uint64_t shift)
{
    uint8_t from_fp;
    int32_t offset;

    return find_base(&from_fp, &offset, address, shift) && from_fp == rule->from_fp && offset == rule->offset;
}

static void compile_cfa_expression(struct step *out, struct modules *modules, const struct cfi_rule *rule, uint64_t pc)
{
    struct probe first, second;
    uint64_t one, two;
    int32_t again;

    if (!evaluate(&one, &first, modules, rule, pc, 0, false) ||
        !evaluate(&two, &second, modules, rule, pc, PROBE_BY, false) || first.words != second.words || first.words > 1)
        return;
    if (first.words == 0 && find_base(&out->from_fp, &out->offset, one, 0) && same_base(out, two, PROBE_BY))
        out->kind = STEP_CFA;
    else if (first.words == 1 && is_near(&out->add, one, PROBE_AT) && is_near(&again, two, PROBE_AT + PROBE_BY) &&
             again == out->add && find_base(&out->from_fp, &out->offset, first.address, 0) &&
             same_base(out, second.address, PROBE_BY))
        out->kind = STEP_CFA_AT;
}

/* The caller's frame pointer lies where an expression says: only frame pointer + number can be compiled. */
static bool compile_fp_expression(struct step *out, struct modules *modules, const struct cfi_rule *rule, uint64_t pc)
{
    struct probe probe;
    uint64_t one, two;
    int32_t offset, again;

    if (!evaluate(&one, &probe, modules, rule, pc, 0, true) || probe.words > 0 ||
        !evaluate(&two, &probe, modules, rule, pc, PROBE_BY, true) || !is_near(&offset, one, PROBE_FP) ||
        !is_near(&again, two, PROBE_FP + PROBE_BY) || offset != again || offset != (int16_t)offset)
        return false;
    out->fp_at = (int16_t)offset;
    out->fp = STEP_FP_AT_BASE;
    return true;
}

static void compile_fp(struct step *out, struct modules *modules, const struct cfi_row *row, uint64_t pc)
{
    const struct cfi_rule *rule = &row->rules[mire__arch.fp];

    out->fp = STEP_FP_LOST;
    if (rule->kind == CFI_SAME)
        out->fp = STEP_FP_SAME;
    else if (rule->kind == CFI_AT_OFFSET && rule->value == (int16_t)rule->value) {
        out->fp_at = (int16_t)rule->value;
        out->fp = STEP_FP_AT_CFA;
    } else if (rule->kind == CFI_AT_EXPRESSION)
        compile_fp_expression(out, modules, rule, pc);
}

static void compile_row(struct step *out, struct modules *modules, const struct cfi_row *row, uint64_t pc)
{
    const struct cfi_rule *ra = &row->rules[row->ra_column];

    if (ra->kind == CFI_UNDEFINED) {
        out->kind = STEP_END;
        return;
    }
    if (ra->kind == CFI_SAME && row->ra_column == mire__arch.link)
        out->flags |= MIRE_STEP_LINKED;
    else if (ra->kind != CFI_AT_OFFSET || ra->value != (int16_t)ra->value)
        return;
    out->ra_at = (int16_t)ra->value;
    if (row->rules[mire__arch.sp].kind != CFI_SAME)
        return;
    compile_fp(out, modules, row, pc);
    if (row->cfa.kind == CFI_IS_EXPRESSION) {
        compile_cfa_expression(out, modules, &row->cfa, pc);
        return;
    }
    if ((row->cfa_register != mire__arch.sp && row->cfa_register != mire__arch.fp) || row->cfa.value <= -NEAR ||
        row->cfa.value >= NEAR)
        return;
    out->from_fp = row->cfa_register == mire__arch.fp;
    out->offset = (int32_t)row->cfa.value;
    out->kind = STEP_CFA;
}

bool mire__step_is_sigreturn(struct modules *modules, uint64_t pc)
{
    uint8_t code[MIRE_SIGRETURN_BYTES];

    return mire__modules_find(modules, pc) && mire__peek_cached(code, &modules->cache, pc, sizeof(code)) &&
           mire__arch_is_sigreturn(code);
}

bool mire__step_signal_regs(struct regs *out, uint64_t sp, mire__step_read_fn *read, void *context)
{
    uint64_t words[MIRE_UCONTEXT_BYTES / 8];

    for (size_t i = 0; i < MIRE_COUNT(words); i++) {
        if (!read(context, &words[i], sp + mire__arch.sigreturn_context + 8 * i))
            return false;
    }
    mire__arch_as_regs(out, words);
    return true;
}

bool mire__step_is_return(uint64_t *target, struct modules *modules, uint64_t address)
{
    uint8_t code[MIRE_CALL_BYTES];

    return mire__modules_find(modules, address - 1) &&
           mire__peek_cached(code, &modules->cache, address - sizeof(code), sizeof(code)) &&
           mire__arch_call_before(target, address, code);
}

/*
 * In code without call frame information, a frame pointer is used only if the bytes before `pc` contain a prologue that
 * sets it up. Otherwise the walk ends, because a guess would lead it astray.
 */
static bool keeps_frames(struct modules *modules, const struct module *module, uint64_t pc)
{
    uint8_t code[GUESS_BYTES];
    uint64_t from = pc > module->text_start + sizeof(code) ? pc - sizeof(code) : module->text_start;

    from = (from + 3) & ~3ull;
    return from < pc && mire__peek_cached(code, &modules->cache, from, (size_t)(pc - from)) &&
           mire__arch_sets_frame(code, (size_t)(pc - from));
}

static void guess(struct step *out)
{
    *out = (struct step){.kind = STEP_CFA,
                         .from_fp = 1,
                         .fp = STEP_FP_AT_CFA,
                         .flags = MIRE_STEP_GUESSED,
                         .offset = 16,
                         .ra_at = -8,
                         .fp_at = -16};
}

uint64_t mire__step_make(struct step *out, struct modules *modules, uint64_t pc, bool exact)
{
    const struct module *module = mire__modules_find(modules, pc);
    struct cfi_scratch *scratch = &modules->rows.scratch; /* the thread may have little stack left */
    struct cfi_row *row = &scratch->row;
    bool described;

    *out = (struct step){.kind = STEP_NONE};
    described = module && mire__row_read(row, scratch, modules, module, pc, exact);
    if (described && row->signal_frame) {
        out->kind = STEP_SIGNAL;
        return 0;
    }
    if (described) {
        compile_row(out, modules, row, exact ? pc : pc + 1);
        return row->function;
    }
    if (mire__step_is_sigreturn(modules, exact ? pc : pc + 1))
        out->kind = STEP_SIGNAL;
    else if (module && keeps_frames(modules, module, pc))
        guess(out);
    return 0;
}
