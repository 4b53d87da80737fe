/* cfi.c - see cfi.h. Signal-safe. */
#include "unwind/cfi.h"

#include <string.h>

#define FDE_BYTES_MAX    0x8000 /* one function's instructions; the biggest seen in Debian's libraries is some 3 KB */
#define AUGMENTATION_MAX 8

/* A pointer in one of the encodings DW_EH_PE_*. Indirect ones (only personality routines are) stay unread. */
static uint64_t read_pointer(struct cursor *cursor, uint8_t encoding)
{
    uint64_t here = cursor->at, value = 0;

    if (encoding == 0xff)
        return 0;
    switch (encoding & 0x0f) {
    case 0x00:
    case 0x04:
    case 0x0c:
        value = mire__cursor_fixed(cursor, 8);
        break;
    case 0x01:
        value = mire__cursor_uleb(cursor);
        break;
    case 0x02:
        value = mire__cursor_fixed(cursor, 2);
        break;
    case 0x03:
        value = mire__cursor_fixed(cursor, 4);
        break;
    case 0x09:
        value = (uint64_t)mire__cursor_sleb(cursor);
        break;
    case 0x0a:
        value = (uint64_t)(int64_t)(int16_t)mire__cursor_fixed(cursor, 2);
        break;
    case 0x0b:
        value = (uint64_t)(int64_t)(int32_t)mire__cursor_fixed(cursor, 4);
        break;
    default:
        cursor->bad = true;
    }
    if ((encoding & 0x70) == 0x10)
        value += here;
    else if ((encoding & 0x70) != 0)
        cursor->bad = true;
    return value;
}

/* A common information entry: the shared part of many functions. */
struct cie {
    uint64_t code_factor;
    int64_t data_factor;
    uint32_t ra_column;
    uint8_t encoding;
    bool signal_frame, sized;
    struct cursor instructions;
};

static bool read_augmentation(struct cie *out, struct cursor *cursor, const char *letters)
{
    uint64_t end;

    out->sized = letters[0] == 'z';
    if (!out->sized)
        return letters[0] == '\0';
    end = mire__cursor_uleb(cursor);
    end += cursor->at;
    for (const char *letter = letters + 1; *letter; letter++) {
        if (*letter == 'R')
            out->encoding = (uint8_t)mire__cursor_fixed(cursor, 1);
        else if (*letter == 'P')
            read_pointer(cursor, (uint8_t)mire__cursor_fixed(cursor, 1) & 0x7f);
        else if (*letter == 'L')
            mire__cursor_fixed(cursor, 1);
        else if (*letter == 'S')
            out->signal_frame = true;
        else if (*letter != 'B')
            break; /* unknown, but its bytes are counted */
    }
    cursor->at = end;
    return true;
}

static bool read_cie(struct cie *out, struct peek_cache *cache, uint64_t address)
{
    struct cursor cursor = {cache, address, address + 4, false};
    uint64_t size = mire__cursor_fixed(&cursor, 4);
    char letters[AUGMENTATION_MAX + 1] = {0};
    uint8_t version;

    memset(out, 0, sizeof(*out));
    if (cursor.bad || size < 8 || size > FDE_BYTES_MAX)
        return false;
    cursor.end = cursor.at + size;
    if (mire__cursor_fixed(&cursor, 4) != 0)
        return false;
    version = (uint8_t)mire__cursor_fixed(&cursor, 1);
    if (version != 1 && version != 3)
        return false;
    for (size_t i = 0; (letters[i] = (char)mire__cursor_fixed(&cursor, 1)) != '\0'; i++) {
        if (i + 1 == AUGMENTATION_MAX)
            return false;
    }
    out->code_factor = mire__cursor_uleb(&cursor);
    out->data_factor = mire__cursor_sleb(&cursor);
    out->ra_column = (uint32_t)(version == 1 ? mire__cursor_fixed(&cursor, 1) : mire__cursor_uleb(&cursor));
    if (!read_augmentation(out, &cursor, letters) || out->ra_column >= MIRE_REGS_MAX)
        return false;
    out->instructions = cursor;
    return !cursor.bad;
}

static void set_rule(struct cfi_row *row, uint64_t reg, enum cfi_rule_kind kind, int64_t value)
{
    if (reg < MIRE_REGS_MAX) /* others are vector registers: of no use here */
        row->rules[reg] = (struct cfi_rule){.kind = (uint8_t)kind, .value = value};
}

static void set_expression(struct cursor *cursor, struct cfi_rule *rule, enum cfi_rule_kind kind)
{
    uint64_t size = mire__cursor_uleb(cursor);

    if (size > FDE_BYTES_MAX || cursor->at + size > cursor->end) {
        cursor->bad = true;
        return;
    }
    if (rule)
        *rule = (struct cfi_rule){.kind = (uint8_t)kind, .size = (uint32_t)size, .value = (int64_t)cursor->at};
    cursor->at += size;
}

struct machine {
    struct cfi_row *row;
    struct cfi_scratch *scratch;
    uint32_t remembered_count;
    const struct cie *cie;
    uint64_t location, target;
};

/* A factored offset; wraps where someone wrote nonsense. */
static int64_t scaled(uint64_t number, const struct machine *machine)
{
    return (int64_t)(number * (uint64_t)machine->cie->data_factor);
}

static void restore_rule(struct machine *machine, uint64_t reg)
{
    if (reg < MIRE_REGS_MAX)
        machine->row->rules[reg] = machine->scratch->initial.rules[reg];
}

/* The instructions DW_CFA_def_cfa*, and the remembered rows. False if it is none of them. */
static bool run_cfa(struct machine *machine, struct cursor *cursor, uint8_t op)
{
    struct cfi_row *row = machine->row;

    switch (op) {
    case 0x0a: /* remember_state */
        if (machine->remembered_count == MIRE_CFI_REMEMBER_MAX)
            cursor->bad = true;
        else
            machine->scratch->remembered[machine->remembered_count++] = *row;
        return true;
    case 0x0b: /* restore_state */
        if (machine->remembered_count == 0)
            cursor->bad = true;
        else
            *row = machine->scratch->remembered[--machine->remembered_count];
        return true;
    case 0x0c: /* def_cfa */
    case 0x12: /* def_cfa_sf */
        row->cfa_register = (uint32_t)mire__cursor_uleb(cursor);
        row->cfa = (struct cfi_rule){.kind = CFI_REGISTER};
        row->cfa.value =
            op == 0x0c ? (int64_t)mire__cursor_uleb(cursor) : scaled((uint64_t)mire__cursor_sleb(cursor), machine);
        return true;
    case 0x0d: /* def_cfa_register */
        row->cfa_register = (uint32_t)mire__cursor_uleb(cursor);
        return true;
    case 0x0e: /* def_cfa_offset */
        row->cfa.value = (int64_t)mire__cursor_uleb(cursor);
        return true;
    case 0x13: /* def_cfa_offset_sf */
        row->cfa.value = scaled((uint64_t)mire__cursor_sleb(cursor), machine);
        return true;
    case 0x0f: /* def_cfa_expression */
        set_expression(cursor, &row->cfa, CFI_IS_EXPRESSION);
        return true;
    default:
        return false;
    }
}

/* Rules of single registers. False if it is none of them. */
static bool run_rule(struct machine *machine, struct cursor *cursor, uint8_t op)
{
    uint64_t reg;

    if (op == 0x2d || op == 0x00) /* AARCH64_negate_ra_state: return addresses are stripped anyhow; nop */
        return true;
    if (op == 0x2e) { /* GNU_args_size */
        mire__cursor_uleb(cursor);
        return true;
    }
    reg = mire__cursor_uleb(cursor);
    switch (op) {
    case 0x05: /* offset_extended */
        set_rule(machine->row, reg, CFI_AT_OFFSET, scaled(mire__cursor_uleb(cursor), machine));
        return true;
    case 0x06: /* restore_extended */
        restore_rule(machine, reg);
        return true;
    case 0x07: /* undefined */
        set_rule(machine->row, reg, CFI_UNDEFINED, 0);
        return true;
    case 0x08: /* same_value */
        set_rule(machine->row, reg, CFI_SAME, 0);
        return true;
    case 0x09: /* register */
        set_rule(machine->row, reg, CFI_REGISTER, (int64_t)mire__cursor_uleb(cursor));
        return true;
    case 0x10: /* expression */
    case 0x16: /* val_expression */
        set_expression(cursor, reg < MIRE_REGS_MAX ? &machine->row->rules[reg] : NULL,
                       op == 0x10 ? CFI_AT_EXPRESSION : CFI_IS_EXPRESSION);
        return true;
    case 0x11: /* offset_extended_sf */
        set_rule(machine->row, reg, CFI_AT_OFFSET, scaled((uint64_t)mire__cursor_sleb(cursor), machine));
        return true;
    case 0x14: /* val_offset */
        set_rule(machine->row, reg, CFI_IS_OFFSET, scaled(mire__cursor_uleb(cursor), machine));
        return true;
    case 0x15: /* val_offset_sf */
        set_rule(machine->row, reg, CFI_IS_OFFSET, scaled((uint64_t)mire__cursor_sleb(cursor), machine));
        return true;
    case 0x2f: /* GNU_negative_offset_extended */
        set_rule(machine->row, reg, CFI_AT_OFFSET, scaled(0 - mire__cursor_uleb(cursor), machine));
        return true;
    default:
        return false;
    }
}

/* Moves of the location. False if it is none of them. */
static bool run_advance(struct machine *machine, struct cursor *cursor, uint8_t op)
{
    if (op == 0x01) /* set_loc */
        machine->location = read_pointer(cursor, machine->cie->encoding);
    else if (op >= 0x02 && op <= 0x04) /* advance_loc1, 2, 4 */
        machine->location += mire__cursor_fixed(cursor, (size_t)1 << (op - 2)) * machine->cie->code_factor;
    else
        return false;
    return true;
}

/*
 * Run the instructions that nearly all of them are where calls pass arguments on the stack, advance_loc and
 * def_cfa_offset, where they lie in the page; up to any other.
 */
static void run_moves(struct machine *machine, struct cursor *cursor)
{
    const uint8_t *held = mire__peek_held(cursor->cache, cursor->at, 1), *at = held;
    uint64_t left = cursor->end - cursor->at, here = MIRE_PEEK_PAGE_BYTES - cursor->at % MIRE_PEEK_PAGE_BYTES;

    if (!held)
        return;
    left = left < here ? left : here;
    while (left >= 2 && machine->location <= machine->target) {
        uint64_t bytes = 1;

        if (*at >> 6 == 1) {
            machine->location += (*at & 0x3f) * machine->cie->code_factor;
        } else if (*at == 0x0e && at[1] < 0x80) {
            machine->row->cfa.value = at[1];
            bytes = 2;
        } else {
            break;
        }
        at += bytes;
        left -= bytes;
    }
    cursor->at += (uint64_t)(at - held);
}

/* Run instructions up to the target's row. */
static bool run(struct machine *machine, struct cursor cursor)
{
    while (!cursor.bad && cursor.at < cursor.end && machine->location <= machine->target) {
        uint8_t op, low;

        run_moves(machine, &cursor);
        if (machine->location > machine->target || cursor.at == cursor.end)
            break;
        op = (uint8_t)mire__cursor_fixed(&cursor, 1), low = op & 0x3f;
        if (op >> 6 == 1)
            machine->location += low * machine->cie->code_factor;
        else if (op >> 6 == 2)
            set_rule(machine->row, low, CFI_AT_OFFSET, scaled(mire__cursor_uleb(&cursor), machine));
        else if (op >> 6 == 3)
            restore_rule(machine, low);
        else if (!run_advance(machine, &cursor, op) && !run_cfa(machine, &cursor, op) &&
                 !run_rule(machine, &cursor, op))
            return false;
    }
    return !cursor.bad;
}

/* Binary search in .eh_frame_hdr: the description of the last function that begins at or before pc; 0 if none. */
static uint64_t find_fde(struct peek_cache *cache, uint64_t header, uint64_t pc)
{
    struct cursor cursor = {cache, header, header + 32, false};
    uint64_t count, table, low = 0, high;
    int32_t entry[2];

    if (mire__cursor_fixed(&cursor, 1) != 1)
        return 0;

    uint8_t pointer_encoding = (uint8_t)mire__cursor_fixed(&cursor, 1);
    uint8_t count_encoding = (uint8_t)mire__cursor_fixed(&cursor, 1);

    if (mire__cursor_fixed(&cursor, 1) != 0x3b) /* pairs of 4 bytes, relative to the header, as linkers write them */
        return 0;
    read_pointer(&cursor, pointer_encoding);
    count = read_pointer(&cursor, count_encoding);
    table = cursor.at;
    if (cursor.bad || count == 0 || count > 1u << 28)
        return 0;
    for (high = count; low < high;) {
        uint64_t middle = (low + high) / 2;

        if (!mire__peek_cached(entry, cache, table + middle * 8, 4))
            return 0;
        if (header + (uint64_t)(int64_t)entry[0] <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || !mire__peek_cached(entry, cache, table + (low - 1) * 8, 8))
        return 0;
    return header + (uint64_t)(int64_t)entry[1];
}

bool mire__cfi_read_at(struct cfi_row *out, struct cfi_scratch *scratch, struct peek_cache *cache, uint64_t fde,
                       uint64_t pc)
{
    struct machine machine = {.row = out, .scratch = scratch, .target = pc};
    uint64_t size, field, range;
    struct cursor cursor = {cache, fde, fde + 4, false};
    struct cie cie;

    size = fde ? mire__cursor_fixed(&cursor, 4) : 0;
    if (cursor.bad || size < 8 || size > FDE_BYTES_MAX)
        return false;
    cursor.end = cursor.at + size;
    field = cursor.at;
    field -= mire__cursor_fixed(&cursor, 4);
    if (cursor.bad || !read_cie(&cie, cache, field))
        return false;
    memset(out, 0, sizeof(*out));
    out->function = read_pointer(&cursor, cie.encoding);
    range = read_pointer(&cursor, cie.encoding & 0x0f);
    if (cursor.bad || pc < out->function || pc - out->function >= range)
        return false;
    if (cie.sized) {
        uint64_t skipped = mire__cursor_uleb(&cursor);

        cursor.at += skipped;
    }
    out->ra_column = cie.ra_column;
    out->signal_frame = cie.signal_frame;
    machine.cie = &cie;
    memset(&scratch->initial, 0, sizeof(scratch->initial)); /* for the CIE's own instructions */
    if (!run(&machine, cie.instructions))
        return false;
    scratch->initial = *out;
    machine.location = out->function;
    return run(&machine, cursor);
}

bool mire__cfi_read(struct cfi_row *out, struct cfi_scratch *scratch, struct peek_cache *cache, uint64_t header,
                    uint64_t pc)
{
    return mire__cfi_read_at(out, scratch, cache, header ? find_fde(cache, header, pc) : 0, pc);
}

const struct cfi_row *mire__cfi_find(struct cfi_cache *rows, struct peek_cache *cache, uint64_t header, uint64_t pc)
{
    size_t slot = (size_t)(pc * 0x9e3779b97f4a7c15ull >> 32) % MIRE_CFI_ROWS;

    if (rows->pc[slot] != pc) {
        rows->described[slot] = mire__cfi_read(&rows->rows[slot], &rows->scratch, cache, header, pc);
        rows->pc[slot] = pc;
    }
    return rows->described[slot] ? &rows->rows[slot] : NULL;
}
