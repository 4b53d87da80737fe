/*
 * regex.c - expressions as little machines (Thompson 1968): a set of states moves over the text once.
 *
 *     a(b|c)*     0 CHAR a -> 1    1 SPLIT 2, 6    2 SPLIT 3, 4    3 CHAR b -> 1    4 CHAR c -> 1    6 DONE
 *
 * Read by recursive descent, bounded in depth; each piece's open ends are joined by patching the states' exits.
 */
#include "feature/pattern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 32 /* brackets within brackets */
#define NOWHERE   UINT16_MAX

enum op { OP_SET, OP_SPLIT, OP_BEGIN, OP_END, OP_DONE };

struct state {
    uint8_t op;
    uint16_t next, other; /* other: of a split */
    uint8_t set[32];      /* accepted bytes, one bit each */
};

struct regex {
    uint16_t first, count;
    struct state states[];
};

/* A piece of the machine: its first state, and the chain of open exits. */
struct regex_piece {
    uint16_t first;
    uint16_t open; /* exit: state * 2, + 1 for its second one; an open exit has the number of the next in the chain */
};

struct regex_reader {
    const char *at;
    const char *why;
    struct regex *out;
    int depth;
};

static bool wrong(struct regex_reader *reader, const char *why)
{
    if (!reader->why)
        reader->why = why;
    return false;
}

static uint16_t *exit_of(const struct regex_reader *reader, uint16_t number)
{
    struct state *state = &reader->out->states[number / 2];
    return number & 1 ? &state->other : &state->next;
}

static void join(const struct regex_reader *reader, uint16_t open, uint16_t to)
{
    while (open != NOWHERE) {
        uint16_t *exit = exit_of(reader, open);
        open = *exit;
        *exit = to;
    }
}

static uint16_t chain(const struct regex_reader *reader, uint16_t a, uint16_t b)
{
    uint16_t last = a;
    if (a == NOWHERE)
        return b;
    while (*exit_of(reader, last) != NOWHERE)
        last = *exit_of(reader, last);
    *exit_of(reader, last) = b;
    return a;
}

static bool add(struct regex_piece *out, struct regex_reader *reader, enum op op)
{
    uint16_t number = reader->out->count;
    *out = (struct regex_piece){number, (uint16_t)(number * 2)};
    if (number == MIRE_REGEX_STATES)
        return wrong(reader, "the expression is too long");
    reader->out->states[reader->out->count++] = (struct state){.op = (uint8_t)op, .next = NOWHERE, .other = NOWHERE};
    return true;
}

static void take(struct state *state, unsigned char byte)
{
    state->set[byte / 8] |= (uint8_t)(1u << byte % 8);
}

/* One byte of a list or of the expression itself, with or without \ before it. */
static bool literal(unsigned char *out, struct regex_reader *reader)
{
    if (*reader->at == '\\' && !*++reader->at)
        return wrong(reader, "a character belongs behind the \\");
    *out = (unsigned char)*reader->at++;
    return true;
}

/* [a-z_] after its bracket. */
static bool read_list(struct regex_reader *reader, struct state *state)
{
    bool but = *reader->at == '^';
    const char *begin = reader->at += but;
    while (*reader->at && (*reader->at != ']' || reader->at == begin)) {
        unsigned char from, to;
        if (!literal(&from, reader))
            return false;
        to = from;
        if (reader->at[0] == '-' && reader->at[1] && reader->at[1] != ']') {
            reader->at++;
            if (!literal(&to, reader))
                return false;
        }
        if (to < from)
            return wrong(reader, "a range in [ ] runs backwards");
        for (unsigned byte = from; byte <= to; byte++)
            take(state, (unsigned char)byte);
    }
    if (*reader->at++ != ']')
        return wrong(reader, "a [ has no ]");
    for (size_t i = 0; but && i < sizeof state->set; i++)
        state->set[i] = (uint8_t)~state->set[i];
    return true;
}

static bool read_either(struct regex_piece *out, struct regex_reader *reader);

static bool read_group(struct regex_piece *out, struct regex_reader *reader)
{
    if (++reader->depth > DEPTH_MAX)
        return wrong(reader, "too many brackets within brackets");
    if (!read_either(out, reader))
        return false;
    if (*reader->at++ != ')')
        return wrong(reader, "a ( has no )");
    reader->depth--;
    return true;
}

static bool read_atom(struct regex_piece *out, struct regex_reader *reader)
{
    unsigned char byte;
    char c = *reader->at;
    *out = (struct regex_piece){NOWHERE, NOWHERE};
    if (c == '*' || c == '+' || c == '?')
        return wrong(reader, "there is nothing to repeat");
    if (c == '(') {
        reader->at++;
        return read_group(out, reader);
    }
    if (c == '^' || c == '$') {
        reader->at++;
        return add(out, reader, c == '^' ? OP_BEGIN : OP_END);
    }
    if (!add(out, reader, OP_SET))
        return false;
    struct state *state = &reader->out->states[out->first];
    if (c == '[') {
        reader->at++;
        return read_list(reader, state);
    }
    if (c == '.') {
        reader->at++;
        memset(state->set, 0xff, sizeof state->set);
        return true;
    }
    if (!literal(&byte, reader))
        return false;
    take(state, byte);
    return true;
}

static bool read_repeated(struct regex_piece *out, struct regex_reader *reader)
{
    if (!read_atom(out, reader))
        return false;
    for (; *reader->at == '*' || *reader->at == '+' || *reader->at == '?'; reader->at++) {
        struct regex_piece split, before = *out;
        if (!add(&split, reader, OP_SPLIT))
            return false;
        reader->out->states[split.first].next = before.first;
        uint16_t leave = (uint16_t)(split.first * 2 + 1);
        if (*reader->at == '?') {
            *out = (struct regex_piece){split.first, chain(reader, before.open, leave)};
            continue;
        }
        join(reader, before.open, split.first);
        *out = (struct regex_piece){*reader->at == '+' ? before.first : split.first, leave};
    }
    return true;
}

/* Pieces one after the other; no piece at all is an open exit. */
static bool read_row(struct regex_piece *out, struct regex_reader *reader)
{
    bool any = false;
    while (*reader->at && *reader->at != '|' && *reader->at != ')') {
        struct regex_piece next;
        if (!read_repeated(&next, reader))
            return false;
        if (any)
            join(reader, out->open, next.first);
        *out = (struct regex_piece){any ? out->first : next.first, next.open};
        any = true;
    }
    if (any)
        return true;
    if (!add(out, reader, OP_SPLIT))
        return false;
    return true; /* a split with one exit */
}

static bool read_either(struct regex_piece *out, struct regex_reader *reader)
{
    if (!read_row(out, reader))
        return false;
    while (*reader->at == '|') {
        struct regex_piece split, right, left = *out;
        reader->at++;
        if (!add(&split, reader, OP_SPLIT) || !read_row(&right, reader))
            return false;
        reader->out->states[split.first].next = left.first;
        reader->out->states[split.first].other = right.first;
        *out = (struct regex_piece){split.first, chain(reader, left.open, right.open)};
    }
    return true;
}

int regex_make(struct regex **out, const char **why_out, const char *text)
{
    struct regex_reader reader = {.at = text};
    struct regex_piece all, done;
    struct regex *regex = calloc(1, sizeof *regex + MIRE_REGEX_STATES * sizeof regex->states[0]);
    reader.out = regex;
    if (!regex)
        return -1;
    bool good = read_either(&all, &reader);
    if (good && *reader.at)
        good = wrong(&reader, "a ) has no (");
    if (!good || !add(&done, &reader, OP_DONE)) {
        *why_out = reader.why;
        free(regex);
        return 1;
    }
    join(&reader, all.open, done.first);
    regex->first = all.first;
    *out = realloc(regex, sizeof *regex + regex->count * sizeof regex->states[0]);
    *out = *out ? *out : regex;
    return 0;
}

void regex_free(struct regex *regex)
{
    free(regex);
}

struct states {
    uint16_t list[MIRE_REGEX_STATES];
    size_t count;
    uint32_t in[MIRE_REGEX_STATES]; /* the round that entered it last */
};

/* Enter a state and all states that follow without a byte; true once the end is among them. */
static bool enter(struct states *set, const struct regex *regex, uint16_t number, uint32_t round, const char *text,
                  const char *at)
{
    uint16_t todo[2 * MIRE_REGEX_STATES + 1];
    size_t count = 0;
    todo[count++] = number;
    while (count) {
        number = todo[--count];
        if (number == NOWHERE || set->in[number] == round)
            continue;
        const struct state *state = &regex->states[number];
        set->in[number] = round;
        switch ((enum op)state->op) {
        case OP_DONE:
            return true;
        case OP_SET:
            set->list[set->count++] = number;
            break;
        case OP_SPLIT:
            todo[count++] = state->next;
            todo[count++] = state->other;
            break;
        case OP_BEGIN:
            todo[count++] = at == text ? state->next : NOWHERE;
            break;
        case OP_END:
            todo[count++] = *at ? NOWHERE : state->next;
            break;
        }
    }
    return false;
}

bool regex_match(const struct regex *regex, const char *text)
{
    struct states a, b, *now = &a, *then = &b;
    uint32_t round = 1;
    a.count = b.count = 0;
    memset(a.in, 0, regex->count * sizeof a.in[0]);
    memset(b.in, 0, regex->count * sizeof b.in[0]);
    for (const char *at = text; at < text + MIRE_REGEX_TEXT_MAX; at++, round++) {
        if (enter(now, regex, regex->first, round, text, at))
            return true;
        if (!*at)
            return false;
        unsigned char byte = (unsigned char)*at;
        then->count = 0;
        for (size_t i = 0; i < now->count; i++) {
            const struct state *state = &regex->states[now->list[i]];
            if (state->set[byte / 8] >> byte % 8 & 1 && enter(then, regex, state->next, round + 1, text, at + 1))
                return true;
        }
        struct states *swap = now;
        now = then;
        then = swap;
    }
    return false;
}
