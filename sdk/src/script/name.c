/* name.c - function, file and line of copied frames, read from their code objects. Signal-safe. */
#include "script/script.h"

#include "platform/platform.h"

#include <string.h>

#define CODE_BYTES      208 /* of a code object: bytes that are read */
#define OBJECT_TYPE     8
#define OBJECT_SIZE     16
#define BYTES_DATA      32 /* of a bytes object */
#define TEXT_LENGTH     16
#define TEXT_STATE      32
#define STATE_KIND      0x1c /* bytes a character, times 4 */
#define STATE_COMPACT   0x20 /* the characters follow the head */
#define STATE_ASCII     0x40
#define LINES_BYTES     512u        /* of a line table, read at a time */
#define LINES_BYTES_MAX (1u << 20)  /* of a line table; enough for a function of 100,000 lines */
#define CODE_UNITS_MAX  (16u << 20) /* instructions of a function */

static uint64_t word_at(const uint8_t *bytes, size_t at)
{
    uint64_t word;

    memcpy(&word, bytes + at, sizeof(word));
    return word;
}

static bool peek(void *out, uint64_t address, size_t size)
{
    return address >= 4096 && address < MIRE_SCRIPT_ADDRESS_MAX && mire__peek(out, address, size) == size;
}

/* ---- texts ---- */

/* Add a character in UTF-8. False: no room. */
static bool put(char *out, size_t cap, size_t *at, uint32_t c)
{
    static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0}; /* by size */
    size_t size = 1;

    if (c == 0 || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        c = '?';
    while (size < 4 && c >= 1u << (size == 1 ? 7 : 5 * size + 1))
        size++;
    if (*at + size >= cap)
        return false;
    for (size_t i = size; i-- > 1; c >>= 6)
        out[*at + i] = (char)(0x80 | (c & 0x3f));
    out[*at] = (char)(lead[size] | c);
    *at += size;
    return true;
}

/* Read a str object; a long one is cut. False: the address has none. */
static bool read_text(char *out, size_t cap, const struct script *script, uint64_t address)
{
    uint8_t head[40], bytes[MIRE_SCRIPT_FILE_BYTES];
    uint32_t state, kind;
    uint64_t length;
    size_t size, at = 0;

    if (!peek(head, address, sizeof(head)))
        return false;
    memcpy(&state, head + TEXT_STATE, sizeof(state));
    kind = (state & STATE_KIND) >> 2;
    length = word_at(head, TEXT_LENGTH);
    if (!(state & STATE_COMPACT) || (kind != 1 && kind != 2 && kind != 4) || length > INT32_MAX)
        return false;
    length = length < cap ? length : cap;
    size = (size_t)length * kind < sizeof(bytes) ? (size_t)length * kind : sizeof(bytes);
    if (size &&
        !peek(bytes, address + (state & STATE_ASCII ? script->layout->text_ascii : script->layout->text_other), size))
        return false;
    for (size_t i = 0; i + kind <= size; i += kind) {
        uint32_t c = bytes[i];

        if (kind > 1)
            c |= (uint32_t)bytes[i + 1] << 8;
        if (kind > 2)
            c |= (uint32_t)bytes[i + 2] << 16 | (uint32_t)bytes[i + 3] << 24;
        if (!put(out, cap, &at, c))
            break;
    }
    out[at] = '\0';
    return true;
}

/* ---- lines: the table of PEP 626 as 3.11 writes it (Objects/locations.md) ---- */

struct lines {
    uint64_t at, end; /* address of the next byte, and behind the last one */
    uint32_t have, next;
    bool bad;
    uint8_t bytes[LINES_BYTES];
};

static uint32_t next_byte(struct lines *lines)
{
    if (lines->next == lines->have) {
        uint64_t left = lines->end - lines->at;

        lines->have = (uint32_t)(left < LINES_BYTES ? left : LINES_BYTES);
        lines->next = 0;
        if (lines->have == 0 || !peek(lines->bytes, lines->at, lines->have)) {
            lines->have = 0;
            lines->bad = true;
            return 0;
        }
        lines->at += lines->have;
    }
    return lines->bytes[lines->next++];
}

static uint32_t next_number(struct lines *lines)
{
    uint32_t value = 0, byte, shift = 0;

    do {
        byte = next_byte(lines);
        if (shift < 32)
            value |= (byte & 63) << shift;
        shift += 6;
    } while (byte & 64 && !lines->bad);
    return value;
}

static int32_t next_signed(struct lines *lines)
{
    uint32_t value = next_number(lines);

    return value & 1 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
}

/* The next entry of the table: its code units and their line, 0 for none. */
static uint32_t next_entry(int32_t *line_out, int32_t *line, struct lines *lines)
{
    uint32_t first = next_byte(lines), kind = first >> 3 & 15;

    lines->bad |= (first & 0x80) == 0;
    if (kind >= 13 && kind < 15)
        *line += next_signed(lines);
    else if (kind >= 10 && kind < 13)
        *line += (int32_t)kind - 10;
    if (kind == 14)
        for (int i = 0; i < 3; i++)
            next_number(lines);
    else if (kind < 13)
        for (int i = kind < 10 ? 1 : 2; i > 0; i--)
            next_byte(lines);
    *line_out = kind == 15 ? 0 : *line;
    return (first & 7) + 1;
}

/* The line of a code unit; without an entry the first line of the function. */
static uint32_t find_line(uint64_t table, uint64_t unit, uint32_t first_line)
{
    struct lines lines = {0};
    int32_t line = (int32_t)first_line, found = 0;
    uint8_t head[BYTES_DATA];
    uint64_t size;

    if (!peek(head, table, sizeof(head)))
        return first_line;
    size = word_at(head, OBJECT_SIZE);
    lines.at = table + BYTES_DATA;
    lines.end = lines.at + (size < LINES_BYTES_MAX ? size : 0);
    for (uint64_t units = 0; !lines.bad && units <= unit;)
        units += next_entry(&found, &line, &lines);
    return !lines.bad && found > 0 && found <= (int32_t)MIRE_SCRIPT_LINE_MAX ? (uint32_t)found : first_line;
}

/* ---- frames ---- */

/* Read a code object. False: the address has none, or the instruction is outside it. */
static bool read_code(uint64_t words[MIRE_SCRIPT_CODE_WORDS], uint64_t *unit_out, const struct script *script,
                      const struct script_frame *frame)
{
    const struct script_layout *layout = script->layout;
    uint64_t begin = frame->code + layout->code_begin, units;
    uint8_t code[CODE_BYTES];
    uint32_t first_line;

    if (frame->code % 8 != 0 || !peek(code, frame->code, sizeof(code)) ||
        word_at(code, OBJECT_TYPE) != script->code_type)
        return false;
    units = word_at(code, OBJECT_SIZE);
    memcpy(&first_line, code + layout->code_first_line, sizeof(first_line));
    if (units > CODE_UNITS_MAX || frame->at + 2 < begin || frame->at > begin + 2 * units)
        return false;
    *unit_out = frame->at < begin ? 0 : (frame->at - begin) / 2; /* before the first instruction: just called */
    words[0] = units;
    words[1] = first_line;
    words[2] = word_at(code, layout->code_file);
    words[3] = word_at(code, layout->code_name);
    words[4] = word_at(code, layout->code_lines);
    words[5] = script->code_type;
    return true;
}

enum naming { NAMING_OK, NAMING_GONE, NAMING_FULL };

static enum naming name_anew(struct script_known *known, const struct script *script, struct blackbox *box,
                             uint64_t unit)
{
    char name[MIRE_SCRIPT_NAME_BYTES], file[MIRE_SCRIPT_FILE_BYTES];
    int number;

    if (!read_text(name, sizeof(name), script, known->words[3]) || !name[0] ||
        !read_text(file, sizeof(file), script, known->words[2]))
        return NAMING_GONE;
    number = mire__blackbox_add_script(box, MIRE_LANGUAGE_PYTHON, name, file);
    if (number < 0)
        return NAMING_FULL;
    known->into = find_line(known->words[4], unit, (uint32_t)known->words[1] & MIRE_SCRIPT_LINE_MAX);
    known->pc = MIRE_SCRIPT_PC(number, known->into);
    known->epoch = box->scripts.epoch;
    return NAMING_OK;
}

/* Set the frame from the cache, if its code object is unchanged. */
static enum naming know(struct script_known *known, const struct script *script, struct blackbox *box,
                        const struct script_frame *frame)
{
    uint64_t words[MIRE_SCRIPT_CODE_WORDS], unit;

    if (!read_code(words, &unit, script, frame))
        return NAMING_GONE;
    if (known->code == frame->code && known->at == frame->at && known->epoch == box->scripts.epoch &&
        memcmp(known->words, words, sizeof(words)) == 0)
        return NAMING_OK;
    known->code = frame->code;
    known->at = frame->at;
    memcpy(known->words, words, sizeof(words));
    return name_anew(known, script, box, unit);
}

static enum naming name_frame(struct script *script, struct blackbox *box, const struct script_frame *frame)
{
    uint64_t hash = (frame->code ^ frame->at << 20) * 0x9e3779b97f4a7c15u;
    struct script_known *known = &script->known[hash >> 55];
    enum naming naming = NAMING_OK;

    if (known->round != script->round || known->code != frame->code || known->at != frame->at)
        naming = know(known, script, box, frame);
    if (naming != NAMING_OK) {
        known->code = 0;
        return naming;
    }
    known->round = script->round;
    script->places[script->place_count++] =
        (struct script_place){.pc = known->pc, .mark = frame->mark, .into = known->into};
    return NAMING_OK;
}

bool mire__script_name(struct script *script, struct blackbox *box)
{
    struct script_chain *chain = &script->chain;
    uint32_t half = MIRE_SCRIPT_FRAMES_MAX / 2;

    script->place_count = 0;
    script->round++;
    for (uint32_t number = 0; box && number < chain->found; number++) {
        enum naming naming;

        if (number == half && chain->found > MIRE_SCRIPT_FRAMES_MAX)
            number = chain->found - half;
        naming = name_frame(script, box, mire__script_frame(chain, number));
        if (naming == NAMING_OK)
            continue;
        script->place_count = 0;
        return naming != NAMING_GONE;
    }
    return true;
}
