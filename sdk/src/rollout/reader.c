/*
 * reader.c - see reader.h. The reader is as strict as RFC 8259 for values that it uses. It does not check skipped
 * numbers and texts.
 */
#include "rollout/reader.h"

#include <string.h>

void mire__reader_init(struct reader *reader, const char *text, size_t size)
{
    *reader = (struct reader){.at = text, .end = text + size};
}

static bool fail(struct reader *reader)
{
    reader->failed = true;
    reader->at = reader->end;
    return false;
}

/* The next character after white space, which is not consumed; 0 at the end. */
static char look(struct reader *reader)
{
    while (reader->at < reader->end && memchr(" \t\r\n", *reader->at, 4))
        reader->at++;
    return reader->at < reader->end ? *reader->at : '\0';
}

static bool take(struct reader *reader, char wanted)
{
    if (look(reader) != wanted || reader->failed)
        return fail(reader);
    reader->at++;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

char mire__reader_peek(struct reader *reader)
{
    char c = look(reader);

    if (is_digit(c) || c == '-')
        return '0';
    if (c != '\0' && strchr("{[\"tfn", c))
        return c;
    fail(reader);
    return '\0';
}

bool mire__reader_open(struct reader *reader)
{
    if (reader->depth == MIRE_READER_DEPTH_MAX)
        return fail(reader);
    reader->depth++;
    reader->fresh = true;
    return take(reader, '{');
}

bool mire__reader_member(struct reader *reader, char *name, size_t cap)
{
    if (reader->failed)
        return false;
    if (look(reader) == '}') {
        reader->at++;
        reader->depth--;
        reader->fresh = false;
        return false;
    }
    if (!reader->fresh && !take(reader, ','))
        return false;
    reader->fresh = false;
    mire__reader_text(reader, name, cap);
    return take(reader, ':');
}

uint64_t mire__reader_number(struct reader *reader)
{
    uint64_t value = 0;
    const char *begin;

    look(reader);
    begin = reader->at;
    for (; reader->at < reader->end && is_digit(*reader->at); reader->at++) {
        uint64_t digit = (uint64_t)(*reader->at - '0');
        value = value > (UINT64_MAX - digit) / 10 ? UINT64_MAX : value * 10 + digit;
    }
    if (reader->at == begin || (*begin == '0' && reader->at - begin > 1) ||
        (reader->at < reader->end && strchr(".eE", *reader->at))) {
        fail(reader);
        return 0;
    }
    return value;
}

/* The character behind a backslash, which is consumed. */
static char unescape(struct reader *reader)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *found;
    char c = reader->at < reader->end ? *reader->at++ : '\0';

    if (c == 'u') {
        for (int i = 0; i < 4; i++)
            if (reader->at == reader->end || !strchr("0123456789abcdefABCDEF", *reader->at++))
                fail(reader);
        return '?';
    }
    found = c ? strchr(from, c) : NULL;
    if (!found)
        fail(reader);
    return found ? to[found - from] : '?';
}

void mire__reader_text(struct reader *reader, char *out, size_t cap)
{
    size_t length = 0;

    out[0] = '\0';
    if (!take(reader, '"'))
        return;
    while (reader->at < reader->end && *reader->at != '"') {
        char c = *reader->at++;

        if ((unsigned char)c < 0x20)
            fail(reader);
        else if (c == '\\')
            c = unescape(reader);
        else if ((unsigned char)c >= 0x80)
            c = '?';
        if (length + 1 < cap)
            out[length++] = c;
    }
    out[length] = '\0';
    take(reader, '"');
}

static bool word(struct reader *reader, const char *text)
{
    size_t length = strlen(text);

    if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, text, length) != 0)
        return fail(reader);
    reader->at += length;
    return true;
}

bool mire__reader_bool(struct reader *reader)
{
    if (look(reader) == 't')
        return word(reader, "true");
    word(reader, "false");
    return false;
}

static void skip_number(struct reader *reader)
{
    while (reader->at < reader->end && (is_digit(*reader->at) || memchr("+-.eE", *reader->at, 5)))
        reader->at++;
}

static void skip_scalar(struct reader *reader)
{
    char none[1];

    switch (mire__reader_peek(reader)) {
    case '"':
        mire__reader_text(reader, none, sizeof(none));
        return;
    case '0':
        skip_number(reader);
        return;
    case 'n':
        word(reader, "null");
        return;
    default:
        mire__reader_bool(reader);
    }
}

/* Brackets are only counted: an ignored value need not be valid. */
void mire__reader_skip(struct reader *reader)
{
    uint32_t open = 0;

    do {
        char c = look(reader);

        if (c == '{' || c == '[')
            open++;
        else if ((c == '}' || c == ']') && open > 0)
            open--;
        if (c != '\0' && strchr("{}[]:,", c) && (open > 0 || c == '}' || c == ']'))
            reader->at++;
        else
            skip_scalar(reader);
    } while (open > 0 && !reader->failed);
}

bool mire__reader_end(struct reader *reader)
{
    if (reader->depth > 0 || look(reader) != '\0')
        fail(reader);
    return !reader->failed;
}
