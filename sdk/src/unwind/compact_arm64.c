/* compact_arm64.c - encodings of 64-bit ARM; see compact.h. Signal-safe.
 *
 *     mode 2   no frame: the return address is in the link register; sp is lowered by a fixed size
 *     mode 4   stp x29, x30; add x29, sp      CFA = x29 + 16
 *     both     pairs of saved registers lie below each other, x19 first: in mode 4 from x29 down, in mode 2 from the CFA
 */
#include "unwind/compact.h"

#define FP 29
#define LR 30
#define SP 31

#define MODE_FRAMELESS 2
#define MODE_FRAME     4
#define PAIRS          9 /* of the encoding's lowest bits: x19/x20 .. x27/x28, then d8/d9 .. d14/d15 */
#define PAIRS_INTEGER  5
#define AHEAD          24 /* instructions that are looked at: of a prologue, or of an epilogue */

bool mire__compact_row_arm64(struct cfi_row *out, const struct compact_function *function)
{
    uint32_t encoding = function->encoding, mode = MIRE_COMPACT_MODE(encoding);
    int64_t at = mode == MODE_FRAME ? -24 : -8;

    out->ra_column = LR;
    if (mode == MODE_FRAME) {
        mire__compact_cfa(out, FP, 16);
        mire__compact_at(out, FP, -16);
        mire__compact_at(out, LR, -8);
    } else if (mode == MODE_FRAMELESS) {
        mire__compact_cfa(out, SP, 16 * (int64_t)(encoding >> 12 & 0xfff));
    } else {
        return false;
    }
    for (uint32_t pair = 0; pair < PAIRS; pair++) {
        if ((encoding >> pair & 1) == 0)
            continue;
        if (pair < PAIRS_INTEGER) {
            mire__compact_at(out, 19 + 2 * pair, at);
            mire__compact_at(out, 20 + 2 * pair, at - 8);
        }
        at -= 16;
    }
    return true;
}

/* ---- prologues and epilogues ----
 *
 * Neighbours with one encoding share an entry of the table, so where a function begins is unknown: the instructions from
 * pc on decide.
 */

/* By how much an instruction moves sp: `add`/`sub sp, sp, #n`, and pairs or registers with write-back. 0: not at all. */
static int64_t stack_moved(uint32_t code)
{
    int64_t n = code >> 10 & 0xfff;

    if ((code & 0xff8003ff) == 0x910003ff) /* add */
        return code >> 22 & 1 ? n << 12 : n;
    if ((code & 0xff8003ff) == 0xd10003ff) /* sub */
        return code >> 22 & 1 ? -(n << 12) : -n;
    if ((code & 0x3a8003e0) == 0x288003e0) { /* stp, ldp with write-back */
        int64_t scale = code >> 26 & 1 ? 4ll << (code >> 30) : 8;

        return ((int64_t)((uint64_t)(code >> 15 & 0x7f) << 57) >> 57) * scale;
    }
    if ((code & 0xff2007e0) == 0xf80007e0) /* str, ldr with write-back */
        return (int64_t)((uint64_t)(code >> 12 & 0x1ff) << 55) >> 55;
    return 0;
}

static bool sets_frame_pointer(uint32_t code)
{
    return (code & 0xffc003ff) == 0x910003fd; /* add x29, sp, #n; `mov` is n = 0 */
}

static bool loads_frame_pointer(uint32_t code)
{
    uint32_t bare = code & ~(0x7fu << 15); /* without the distance */

    return bare == 0xa9407bfd || bare == 0xa8c07bfd; /* ldp x29, x30, [sp, #n]; [sp], #n */
}

/* ldp, or ldr of 64 bits, from the stack without write-back. */
static bool loads_saved(uint32_t code)
{
    return (code & 0x3bc003e0) == 0x294003e0 || (code & 0xfbc003e0) == 0xf94003e0;
}

static bool is_return(uint32_t code)
{
    return code == 0xd65f03c0 || code == 0xd65f0bff || code == 0xd65f0fff; /* ret, retaa, retab */
}

/* b, br. */
static bool jumps(uint32_t code)
{
    return code >> 26 == 5 || (code & 0xfffffc1f) == 0xd61f0000;
}

/* Any other branch, call or trap: the end of a prologue or epilogue. */
static bool goes_elsewhere(uint32_t code)
{
    return (code & 0x1c000000) == 0x14000000;
}

/* stp, or str of 64 bits, to the stack; also to where sp was before the write-back. */
static bool saves(uint32_t code)
{
    return (code & 0x3a4003e0) == 0x280003e0 || (code & 0xfbc003e0) == 0xf90003e0;
}

static bool checks_signature(uint32_t code)
{
    return code == 0xd50323ff || code == 0xd50323bf; /* autibsp, autiasp */
}

/* ---- prologues that the compiler moved into a function of their own (-Oz) ----
 *
 *     mov x6, x30; bl F; mov x30, x6      the return address is in x6 while F lowers sp and saves registers
 */

/* The register that the link register is copied to, or from; LR: it is no such copy. */
static uint32_t copies_link(uint32_t code)
{
    return (code & 0xffffffe0) == 0xaa1e03e0 ? code & 31 : LR;
}

static uint32_t restores_link(uint32_t code)
{
    return (code & 0xffe0ffff) == 0xaa0003fe ? code >> 16 & 31 : LR;
}

static bool calls(uint32_t code)
{
    return code >> 26 == 0x25; /* bl */
}

/* By how much the function called at `at` moves sp. False: it is no part of a prologue. */
static bool moved_by_call(int64_t *out, struct peek_cache *cache, uint64_t at, uint32_t call)
{
    uint64_t target = at + (uint64_t)((int64_t)((uint64_t)(call & 0x3ffffff) << 38) >> 36);
    uint32_t code;

    *out = 0;
    for (uint32_t i = 0; i < AHEAD && mire__peek_cached(&code, cache, target + 4ull * i, sizeof(code)); i++) {
        if (is_return(code))
            return true;
        if (stack_moved(code) > 0 || (stack_moved(code) == 0 && !saves(code)))
            return false;
        *out += stack_moved(code);
    }
    return false;
}

static void row_by_link(struct cfi_row *out, int64_t lowered)
{
    memset(out->rules, 0, sizeof(out->rules));
    mire__compact_cfa(out, SP, lowered);
}

static void row_by_register(struct cfi_row *out, uint32_t reg, int64_t lowered)
{
    row_by_link(out, lowered);
    if (reg != LR)
        out->rules[LR] = (struct cfi_rule){.kind = CFI_REGISTER, .value = reg};
}

/* x29 is not set yet: it will be `add x29, sp, #n`, and the CFA is 16 bytes above. */
static bool before_frame_pointer(struct cfi_row *out, struct peek_cache *cache, uint64_t pc, const uint32_t *code,
                                 size_t count)
{
    int64_t moved = 0, by;

    for (size_t i = 0; i < count; i++) {
        if (sets_frame_pointer(code[i])) {
            row_by_register(out, restores_link(code[0]), moved + (code[i] >> 10 & 0xfff) + 16);
            return true;
        }
        by = stack_moved(code[i]);
        if (calls(code[i]) &&
            (i + 1 == count || restores_link(code[i + 1]) == LR || !moved_by_call(&by, cache, pc + 4 * i, code[i])))
            return false;
        if (goes_elsewhere(code[i]) && !calls(code[i]))
            return false;
        moved += by;
    }
    return false;
}

void mire__compact_call_arm64(struct cfi_row *row, struct peek_cache *cache, uint64_t pc)
{
    uint32_t code[3]; /* the call is the second */

    if (mire__peek_cached(code, cache, (pc & ~(uint64_t)3) - 4, sizeof(code)) && calls(code[1]) &&
        copies_link(code[0]) != LR && restores_link(code[2]) == copies_link(code[0]))
        row_by_register(row, copies_link(code[0]), 0);
}

/* sp is not lowered yet, or not wholly, which a function without a frame does in its prologue alone. */
static bool before_room(struct cfi_row *out, const uint32_t *code, size_t count)
{
    int64_t missing = 0;

    for (size_t i = 0; i < count && (stack_moved(code[i]) < 0 || saves(code[i])); i++)
        missing -= stack_moved(code[i]);
    if (missing <= 0 || missing > out->cfa.value)
        return false;
    row_by_link(out, out->cfa.value - missing);
    return true;
}

/*
 * The instructions from pc on give back what is left of the stack and return, x29 being the caller's already. A jump
 * leaves if the frame was given back right before.
 *   before  the instruction in front of pc
 */
static bool in_epilogue(struct cfi_row *out, uint32_t before, const uint32_t *code, size_t count)
{
    bool given_back = loads_frame_pointer(before) || stack_moved(before) > 0;
    int64_t raised = 0;

    for (size_t i = 0; i < count && !loads_frame_pointer(code[i]); i++) {
        int64_t by = stack_moved(code[i]);

        if (is_return(code[i]) || (given_back && jumps(code[i]))) {
            row_by_link(out, raised);
            return true;
        }
        if (by < 0 || (by == 0 && !loads_saved(code[i]) && !checks_signature(code[i])))
            return false;
        raised += by;
        given_back |= by > 0 || checks_signature(code[i]);
    }
    return false;
}

void mire__compact_edge_arm64(struct cfi_row *row, struct peek_cache *cache, const struct compact_function *function,
                              uint64_t pc)
{
    bool framed = MIRE_COMPACT_MODE(function->encoding) == MODE_FRAME;
    uint32_t code[AHEAD], before = 0;
    size_t count = AHEAD;

    while (count > 0 && !mire__peek_cached(code, cache, pc, count * sizeof(code[0])))
        count--;
    mire__peek_cached(&before, cache, pc - sizeof(before), sizeof(before));
    if (!(framed ? before_frame_pointer(row, cache, pc, code, count) : before_room(row, code, count)))
        in_epilogue(row, before, code, count);
}
