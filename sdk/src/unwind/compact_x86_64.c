/* compact_x86_64.c - encodings of x86-64; see compact.h. Signal-safe.
 *
 *     mode 1   push rbp; mov rbp, rsp          CFA = rbp + 16; up to five registers below rbp
 *     mode 2   sub rsp, size                   CFA = rsp + size; up to six registers right below the return address
 *     mode 3   the same, where the size does not fit: it is in the function's sub instruction
 */
#include "unwind/compact.h"

#define RBP 6
#define RSP 7
#define RA  16

#define MODE_RBP      1
#define MODE_FIXED    2
#define MODE_INDIRECT 3

#define REGISTERS_MAX 6

/* The format's numbers of registers to DWARF's: none, rbx, r12, r13, r14, r15, rbp. */
static const uint8_t numbers[] = {0, 3, 12, 13, 14, 15, RBP};

static void begin_row(struct cfi_row *out, uint32_t base, int64_t offset)
{
    out->ra_column = RA;
    mire__compact_cfa(out, base, offset);
    mire__compact_at(out, RA, -8);
}

static bool row_by_frame_pointer(struct cfi_row *out, uint32_t encoding)
{
    int64_t at = -16 - 8 * (int64_t)(encoding >> 16 & 0xff);

    begin_row(out, RBP, 16);
    mire__compact_at(out, RBP, -16);
    for (uint32_t i = 0; i < 5; i++, at += 8) {
        uint32_t number = encoding >> 3 * i & 7;

        if (number >= 6)
            return false;
        if (number != 0)
            mire__compact_at(out, numbers[number], at);
    }
    return true;
}

/* The saved registers, in order: a permutation of `count` of the six, as a number with mixed radix. */
static bool unpack_registers(uint8_t out[REGISTERS_MAX], uint32_t count, uint32_t permutation)
{
    bool used[REGISTERS_MAX + 1] = {false};
    uint32_t digits[REGISTERS_MAX];

    for (uint32_t i = count; i-- > 0;) {
        uint32_t radix = REGISTERS_MAX - i;

        digits[i] = permutation % radix;
        permutation /= radix;
    }
    if (permutation != 0)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = 0;

        for (uint32_t skip = digits[i] + 1; skip > 0; skip -= !used[number])
            number++;
        used[number] = true;
        out[i] = numbers[number];
    }
    return true;
}

static bool row_by_stack_size(struct cfi_row *out, uint32_t encoding, uint64_t size)
{
    uint32_t count = encoding >> 10 & 7;
    uint8_t saved[REGISTERS_MAX];

    if (count > REGISTERS_MAX || size < 8 + 8ull * count || !unpack_registers(saved, count, encoding & 0x3ff))
        return false;
    begin_row(out, RSP, (int64_t)size);
    for (uint32_t i = 0; i < count; i++)
        mire__compact_at(out, saved[i], -8 - 8 * (int64_t)(count - i));
    return true;
}

bool mire__compact_row_x86_64(struct cfi_row *out, struct peek_cache *cache, const struct compact_function *function)
{
    uint32_t encoding = function->encoding, size = encoding >> 16 & 0xff;

    switch (MIRE_COMPACT_MODE(encoding)) {
    case MODE_RBP:
        return row_by_frame_pointer(out, encoding);
    case MODE_FIXED:
        return row_by_stack_size(out, encoding, 8ull * size);
    case MODE_INDIRECT:
        return mire__peek_cached(&size, cache, function->start + size, sizeof(size)) &&
               row_by_stack_size(out, encoding, size + 8ull * (encoding >> 13 & 7));
    default:
        return false;
    }
}

/* ---- prologues and epilogues ----
 *
 * Neighbours with one encoding share an entry of the table, so where a function begins is unknown: the instructions
 * from pc on decide.
 */

#define AHEAD_BYTES 48

/* Instructions, one after the other. */
struct code {
    const uint8_t *at, *end;
};

/* push or pop: its DWARF number; -1: another instruction. `base`: 0x50 or 0x58. */
static int register_moved(struct code *code, uint8_t base)
{
    static const uint8_t dwarf[] = {0, 2, 1, 3, RSP, RBP, 4, 5};
    const uint8_t *at = code->at;
    bool extended = at + 1 < code->end && at[0] == 0x41;

    at += extended;
    if (at >= code->end || (at[0] & 0xf8) != base)
        return -1;
    code->at = at + 1;
    return extended ? 8 + (at[0] & 7) : dwarf[at[0] & 7];
}

/* `sub rsp, n` (operation 0xec) or `add rsp, n` (0xc4): n; 0: another instruction. */
static int32_t stack_moved(struct code *code, uint8_t operation)
{
    const uint8_t *at = code->at;
    int32_t by;

    if (code->end - at < 4 || at[0] != 0x48 || at[2] != operation)
        return 0;
    if (at[1] == 0x83) {
        code->at += 4;
        return (int8_t)at[3];
    }
    if (at[1] != 0x81 || code->end - at < 7)
        return 0;
    memcpy(&by, at + 3, sizeof(by));
    code->at += 7;
    return by;
}

static bool sets_frame_pointer(const struct code *code)
{
    return code->end - code->at >= 3 && code->at[0] == 0x48 &&
           ((code->at[1] == 0x89 && code->at[2] == 0xe5) || (code->at[1] == 0x8b && code->at[2] == 0xec));
}

/* `push rbp; mov rbp, rsp` is not done yet. */
static bool before_frame_pointer(struct cfi_row *out, struct code code)
{
    bool pushed = sets_frame_pointer(&code);

    if (!pushed && (register_moved(&code, 0x50) != RBP || !sets_frame_pointer(&code)))
        return false;
    begin_row(out, RSP, pushed ? 16 : 8);
    if (pushed)
        mire__compact_at(out, RBP, -16);
    return true;
}

/* Pushes and a `sub rsp` are still to come, which a function without a frame pointer has in its prologue alone. */
static bool before_room(struct cfi_row *out, struct code code)
{
    int64_t missing = 0, size = out->cfa.value;
    bool moves = true;

    while (moves) {
        int reg = register_moved(&code, 0x50);
        int32_t by = reg >= 0 ? 8 : stack_moved(&code, 0xec);

        moves = by > 0;
        missing += moves ? by : 0;
    }
    if (missing == 0 || missing > size - 8)
        return false;
    out->cfa.value = size - missing;
    for (uint32_t reg = 0; reg < RA; reg++) /* not pushed yet: in their registers */
        if (out->rules[reg].kind == CFI_AT_OFFSET && out->rules[reg].value < -out->cfa.value)
            out->rules[reg] = (struct cfi_rule){.kind = CFI_SAME};
    return true;
}

/* `ret`, or a jump. */
static bool leaves(const struct code *code)
{
    if (code->at >= code->end)
        return false;
    return code->at[0] == 0xc3 || code->at[0] == 0xe9 || code->at[0] == 0xeb ||
           (code->end - code->at >= 2 && code->at[0] == 0xff && (code->at[1] & 0x38) == 0x20);
}

/* Is there a pop of the frame pointer, or of any register, right before pc? */
static bool after_pop(struct peek_cache *cache, uint64_t pc, bool any)
{
    uint8_t byte;

    return mire__peek_cached(&byte, cache, pc - 1, 1) && (any ? (byte & 0xf8) == 0x58 : byte == 0x5d);
}

/*
 * The instructions from pc on give the stack back and leave. A jump leaves where the frame was given back before it: a
 * frame pointer was popped, or in a function without one anything was.
 */
static bool in_epilogue(struct cfi_row *out, struct peek_cache *cache, struct code code, uint64_t pc, bool framed)
{
    int64_t popped = stack_moved(&code, 0xc4), frame_pointer_at = -1;

    for (int reg; (reg = register_moved(&code, 0x58)) >= 0; popped += 8) {
        if (reg == RBP)
            frame_pointer_at = popped;
    }
    if (popped < 0 || !leaves(&code))
        return false;
    if (code.at[0] != 0xc3 && !(framed ? frame_pointer_at >= 0 : popped > 0) &&
        (popped > 0 || !after_pop(cache, pc, !framed)))
        return false;
    if (code.at[0] == 0xc3 && framed && frame_pointer_at < 0 && popped > 0)
        return false; /* the frame pointer holds still */
    memset(out->rules, 0, sizeof(out->rules));
    begin_row(out, RSP, popped + 8);
    if (frame_pointer_at >= 0)
        mire__compact_at(out, RBP, frame_pointer_at - popped - 8);
    return true;
}

void mire__compact_edge_x86_64(struct cfi_row *row, struct peek_cache *cache, const struct compact_function *function,
                               uint64_t pc)
{
    bool framed = MIRE_COMPACT_MODE(function->encoding) == MODE_RBP;
    uint8_t bytes[AHEAD_BYTES];
    size_t size = sizeof(bytes);
    struct cfi_row edge = *row;

    while (size > 0 && !mire__peek_cached(bytes, cache, pc, size))
        size--;
    const struct code code = {bytes, bytes + size};
    if (framed)
        memset(edge.rules, 0, sizeof(edge.rules));
    if ((framed ? before_frame_pointer(&edge, code) : before_room(&edge, code)) ||
        in_epilogue(&edge, cache, code, pc, framed))
        *row = edge;
}
