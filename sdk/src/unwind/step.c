/* step.c - see step.h. Signal-safe. */
#include "unwind/step.h"

#include "platform/arch.h"

#include <string.h>

/*
 * Expressions are not understood, but asked: with made-up registers and memory, twice, with numbers so far apart that
 * the answer tells which of them it was made of. That covers those that linkers write for the PLT, which depend on the
 * program counter alone beside the stack pointer, and those that compilers write for realigned stacks.
 */
#define ASK_SP UINT64_C(0x100000000000)
#define ASK_FP UINT64_C(0x200000000000)
#define ASK_AT UINT64_C(0x400000000000) /* what every word of memory holds */
#define ASK_BY UINT64_C(0x010000000000) /* by how much all three differ the second time */
#define NEAR   (INT64_C(1) << 30)

#define GUESS_BYTES 512 /* how far in front of a place its function may begin */

struct asked {
    uint64_t shift;   /* of this asking */
    uint64_t address; /* of the word that was read */
    uint32_t words;   /* how many were */
};

static bool answer_word(void *context, uint64_t *out, uint64_t address)
{
    struct asked *asked = context;

    asked->address = address;
    asked->words++;
    *out = ASK_AT + asked->shift;
    return true;
}

static bool ask(uint64_t *out, struct asked *asked, struct modules *modules, const struct cfi_rule *rule, uint64_t pc,
                uint64_t shift, bool with_cfa)
{
    struct regs regs = {.pc = pc};

    *asked = (struct asked){.shift = shift};
    regs.value[mire__arch.sp] = ASK_SP + shift;
    regs.value[mire__arch.fp] = ASK_FP + shift;
    regs.known = 1ull << mire__arch.sp | 1ull << mire__arch.fp;
    if (mire__arch.link == MIRE_NO_REG) { /* the program counter has a number there */
        regs.value[mire__arch.ra_column] = pc;
        regs.known |= 1ull << mire__arch.ra_column;
    }
    return mire__expression(out, &modules->cache, rule, &regs, with_cfa, 0, answer_word, asked);
}

/* Is `value` near `base`? Then by how much. */
static bool is_near(int32_t *out, uint64_t value, uint64_t base)
{
    int64_t by = (int64_t)(value - base);

    if (by <= -NEAR || by >= NEAR)
        return false;
    *out = (int32_t)by;
    return true;
}

/* Which register an address was made of, and by how much it differs. */
static bool find_base(uint8_t *from_fp, int32_t *offset, uint64_t address, uint64_t shift)
{
    *from_fp = 0;
    if (is_near(offset, address, ASK_SP + shift))
        return true;
    *from_fp = 1;
    return is_near(offset, address, ASK_FP + shift);
}

static bool same_base(const struct rule *rule, uint64_t address, uint64_t shift)
{
    uint8_t from_fp;
    int32_t offset;

    return find_base(&from_fp, &offset, address, shift) && from_fp == rule->from_fp && offset == rule->offset;
}

static void take_cfa_expression(struct rule *out, struct modules *modules, const struct cfi_rule *rule, uint64_t pc)
{
    struct asked first, second;
    uint64_t one, two;
    int32_t again;

    if (!ask(&one, &first, modules, rule, pc, 0, false) || !ask(&two, &second, modules, rule, pc, ASK_BY, false) ||
        first.words != second.words || first.words > 1)
        return;
    if (first.words == 0 && find_base(&out->from_fp, &out->offset, one, 0) && same_base(out, two, ASK_BY))
        out->kind = RULE_CFA;
    else if (first.words == 1 && is_near(&out->add, one, ASK_AT) && is_near(&again, two, ASK_AT + ASK_BY) &&
             again == out->add && find_base(&out->from_fp, &out->offset, first.address, 0) &&
             same_base(out, second.address, ASK_BY))
        out->kind = RULE_CFA_AT;
}

/* The caller's frame pointer at an address that an expression gives: only where that is frame pointer and a number. */
static bool take_fp_expression(struct rule *out, struct modules *modules, const struct cfi_rule *rule, uint64_t pc)
{
    struct asked asked;
    uint64_t one, two;
    int32_t offset, again;

    if (!ask(&one, &asked, modules, rule, pc, 0, true) || asked.words > 0 ||
        !ask(&two, &asked, modules, rule, pc, ASK_BY, true) || !is_near(&offset, one, ASK_FP) ||
        !is_near(&again, two, ASK_FP + ASK_BY) || offset != again || offset != (int16_t)offset)
        return false;
    out->fp_at = (int16_t)offset;
    out->fp = RULE_FP_AT_BASE;
    return true;
}

static void take_fp(struct rule *out, struct modules *modules, const struct cfi_row *row, uint64_t pc)
{
    const struct cfi_rule *rule = &row->rules[mire__arch.fp];

    out->fp = RULE_FP_LOST;
    if (rule->kind == CFI_SAME)
        out->fp = RULE_FP_SAME;
    else if (rule->kind == CFI_AT_OFFSET && rule->value == (int16_t)rule->value) {
        out->fp_at = (int16_t)rule->value;
        out->fp = RULE_FP_AT_CFA;
    } else if (rule->kind == CFI_AT_EXPRESSION)
        take_fp_expression(out, modules, rule, pc);
}

static void take_row(struct rule *out, struct modules *modules, const struct cfi_row *row, uint64_t pc)
{
    const struct cfi_rule *ra = &row->rules[row->ra_column];

    if (ra->kind == CFI_UNDEFINED) {
        out->kind = RULE_END;
        return;
    }
    if (ra->kind == CFI_SAME && row->ra_column == mire__arch.link)
        out->flags |= MIRE_RULE_LINKED;
    else if (ra->kind != CFI_AT_OFFSET || ra->value != (int16_t)ra->value)
        return;
    out->ra_at = (int16_t)ra->value;
    if (row->rules[mire__arch.sp].kind != CFI_SAME)
        return;
    take_fp(out, modules, row, pc);
    if (row->cfa.kind == CFI_IS_EXPRESSION) {
        take_cfa_expression(out, modules, &row->cfa, pc);
        return;
    }
    if ((row->cfa_register != mire__arch.sp && row->cfa_register != mire__arch.fp) || row->cfa.value <= -NEAR ||
        row->cfa.value >= NEAR)
        return;
    out->from_fp = row->cfa_register == mire__arch.fp;
    out->offset = (int32_t)row->cfa.value;
    out->kind = RULE_CFA;
}

static bool is_way_back(struct modules *modules, uint64_t address)
{
    uint8_t code[MIRE_SIGRETURN_BYTES];

    return mire__modules_find(modules, address) && mire__peek_cached(code, &modules->cache, address, sizeof(code)) &&
           mire__arch_is_sigreturn(code);
}

/*
 * Code without a word about it: does it keep frame pointers? It does where a function in front of the place sets one
 * up, as compiled code does that keeps them. Else the way ends there, for a guess would lead astray.
 */
static bool keeps_frames(struct modules *modules, const struct module *module, uint64_t place)
{
    uint8_t code[GUESS_BYTES];
    uint64_t from = place > module->text_start + sizeof(code) ? place - sizeof(code) : module->text_start;

    from = (from + 3) & ~3ull;
    return from < place && mire__peek_cached(code, &modules->cache, from, (size_t)(place - from)) &&
           mire__arch_sets_frame(code, (size_t)(place - from));
}

static void guess(struct rule *out)
{
    *out = (struct rule){.kind = RULE_CFA,
                         .from_fp = 1,
                         .fp = RULE_FP_AT_CFA,
                         .flags = MIRE_RULE_GUESSED,
                         .offset = 16,
                         .ra_at = -8,
                         .fp_at = -16};
}

uint64_t mire__rule_make(struct rule *out, struct modules *modules, uint64_t place, bool exact)
{
    const struct module *module = mire__modules_find(modules, place);
    struct cfi_scratch *scratch = &modules->rows.scratch; /* a thread may have little stack left */
    struct cfi_row *row = &scratch->row;
    bool described;

    *out = (struct rule){.kind = RULE_NONE};
    described = module && mire__cfi_read(row, scratch, &modules->cache, module->eh_frame_hdr, place);
    if (described && row->signal_frame) {
        out->kind = RULE_SIGNAL;
        return 0;
    }
    if (described) {
        take_row(out, modules, row, exact ? place : place + 1);
        return row->function;
    }
    if (is_way_back(modules, exact ? place : place + 1))
        out->kind = RULE_SIGNAL;
    else if (module && keeps_frames(modules, module, place))
        guess(out);
    return 0;
}
