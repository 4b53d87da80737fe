/* expression.c - DWARF expressions, as call frame information uses them (DWARF 5, section 2.5). See cfi.h. Signal-safe.
 */
#include "unwind/cfi.h"

#define STACK_MAX 32  /* values; PLT and signal frames use 4 */
#define STEPS_MAX 256 /* operations, so that a branch backwards ends */

struct evaluation {
    struct cursor code;
    uint64_t begin;
    uint64_t stack[STACK_MAX];
    uint32_t depth;
    const struct regs *regs;
    mire__word_fn *word;
    void *context;
};

static void push(struct evaluation *e, uint64_t value)
{
    if (e->depth == STACK_MAX)
        e->code.bad = true;
    else
        e->stack[e->depth++] = value;
}

static uint64_t pop(struct evaluation *e)
{
    if (e->depth == 0) {
        e->code.bad = true;
        return 0;
    }
    return e->stack[--e->depth];
}

static void push_register(struct evaluation *e, uint64_t reg, int64_t offset)
{
    if (reg >= MIRE_REGS_MAX || (e->regs->known >> reg & 1) == 0)
        e->code.bad = true;
    else
        push(e, e->regs->value[reg] + (uint64_t)offset);
}

static void push_memory(struct evaluation *e, uint64_t size)
{
    uint64_t value = 0;

    if (size == 0 || size > 8 || !e->word(e->context, &value, pop(e)))
        e->code.bad = true;
    else
        push(e, size == 8 ? value : value & ((1ull << 8 * size) - 1));
}

/* Constants: DW_OP_addr, const1u .. consts. */
static void push_constant(struct evaluation *e, uint8_t op)
{
    switch (op) {
    case 0x03:
    case 0x0e:
    case 0x0f:
        push(e, mire__cursor_fixed(&e->code, 8));
        break;
    case 0x08:
        push(e, mire__cursor_fixed(&e->code, 1));
        break;
    case 0x09:
        push(e, (uint64_t)(int64_t)(int8_t)mire__cursor_fixed(&e->code, 1));
        break;
    case 0x0a:
        push(e, mire__cursor_fixed(&e->code, 2));
        break;
    case 0x0b:
        push(e, (uint64_t)(int64_t)(int16_t)mire__cursor_fixed(&e->code, 2));
        break;
    case 0x0c:
        push(e, mire__cursor_fixed(&e->code, 4));
        break;
    case 0x0d:
        push(e, (uint64_t)(int64_t)(int32_t)mire__cursor_fixed(&e->code, 4));
        break;
    case 0x10:
        push(e, mire__cursor_uleb(&e->code));
        break;
    default: /* 0x11 */
        push(e, (uint64_t)mire__cursor_sleb(&e->code));
    }
}

static void arrange(struct evaluation *e, uint8_t op)
{
    uint32_t back = op == 0x14 ? 1 : 0; /* over; dup */
    uint64_t top, second, third;

    switch (op) {
    case 0x13: /* drop */
        pop(e);
        break;
    case 0x15: /* pick */
        back = (uint32_t)mire__cursor_fixed(&e->code, 1);
        /* fall through */
    case 0x12:
    case 0x14:
        if (back >= e->depth)
            e->code.bad = true;
        else
            push(e, e->stack[e->depth - 1 - back]);
        break;
    case 0x16: /* swap */
        top = pop(e);
        second = pop(e);
        push(e, top);
        push(e, second);
        break;
    default: /* 0x17 rot */
        top = pop(e);
        second = pop(e);
        third = pop(e);
        push(e, top);
        push(e, third);
        push(e, second);
    }
}

/* Operations on the two top values. */
static void combine(struct evaluation *e, uint8_t op)
{
    uint64_t b = pop(e), a = pop(e);
    int64_t sa = (int64_t)a, sb = (int64_t)b;

    switch (op) {
    case 0x1a:
        push(e, a & b);
        break;
    case 0x1b:
        if (sb == 0 || (sb == -1 && sa == INT64_MIN))
            e->code.bad = true;
        else
            push(e, (uint64_t)(sa / sb));
        break;
    case 0x1c:
        push(e, a - b);
        break;
    case 0x1d:
        if (b == 0)
            e->code.bad = true;
        else
            push(e, a % b);
        break;
    case 0x1e:
        push(e, a * b);
        break;
    case 0x21:
        push(e, a | b);
        break;
    case 0x22:
        push(e, a + b);
        break;
    case 0x24:
        push(e, b < 64 ? a << b : 0);
        break;
    case 0x25:
        push(e, b < 64 ? a >> b : 0);
        break;
    case 0x26:
        push(e, (uint64_t)(sa >> (b < 64 ? b : 63)));
        break;
    case 0x27:
        push(e, a ^ b);
        break;
    case 0x29:
        push(e, sa == sb);
        break;
    case 0x2a:
        push(e, sa >= sb);
        break;
    case 0x2b:
        push(e, sa > sb);
        break;
    case 0x2c:
        push(e, sa <= sb);
        break;
    case 0x2d:
        push(e, sa < sb);
        break;
    case 0x2e:
        push(e, sa != sb);
        break;
    default:
        e->code.bad = true;
    }
}

static void jump(struct evaluation *e, bool taken)
{
    int16_t distance = (int16_t)mire__cursor_fixed(&e->code, 2);
    uint64_t to = e->code.at + (uint64_t)(int64_t)distance;

    if (!taken)
        return;
    if (to < e->begin || to > e->code.end)
        e->code.bad = true;
    else
        e->code.at = to;
}

static void step(struct evaluation *e, uint8_t op)
{
    if (op >= 0x30 && op <= 0x4f)
        push(e, op - 0x30u); /* lit0..31 */
    else if (op >= 0x70 && op <= 0x8f)
        push_register(e, op - 0x70u, mire__cursor_sleb(&e->code)); /* breg0..31 */
    else if (op == 0x03 || (op >= 0x08 && op <= 0x11))
        push_constant(e, op);
    else if (op >= 0x12 && op <= 0x17)
        arrange(e, op);
    else if (op == 0x06)
        push_memory(e, 8); /* deref */
    else if (op == 0x94)
        push_memory(e, mire__cursor_fixed(&e->code, 1)); /* deref_size */
    else if (op == 0x1f)
        push(e, 0 - pop(e)); /* neg */
    else if (op == 0x20)
        push(e, ~pop(e)); /* not */
    else if (op == 0x23)
        push(e, pop(e) + mire__cursor_uleb(&e->code)); /* plus_uconst */
    else if (op == 0x2f)
        jump(e, true); /* skip */
    else if (op == 0x28)
        jump(e, pop(e) != 0); /* bra */
    else if (op == 0x92) {    /* bregx */
        uint64_t reg = mire__cursor_uleb(&e->code);

        push_register(e, reg, mire__cursor_sleb(&e->code));
    } else if (op != 0x96) /* nop */
        combine(e, op);
}

bool mire__expression(uint64_t *out, struct peek_cache *cache, const struct cfi_rule *rule, const struct regs *regs,
                      bool with_push, uint64_t push_first, mire__word_fn *word, void *context)
{
    uint64_t begin = (uint64_t)rule->value;
    struct evaluation e = {.code = {cache, begin, begin + rule->size, false},
                           .begin = begin,
                           .regs = regs,
                           .word = word,
                           .context = context};
    int steps = 0;

    if (with_push)
        push(&e, push_first);
    while (!e.code.bad && e.code.at < e.code.end) {
        if (++steps > STEPS_MAX)
            return false;
        step(&e, (uint8_t)mire__cursor_fixed(&e.code, 1));
    }
    *out = pop(&e);
    return !e.code.bad;
}
