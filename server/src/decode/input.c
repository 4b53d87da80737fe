/*
 * input.c - a buffer, and a scanner that finds where a JSON value ends.
 */
#include "decode/input_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAYERS_MAX 3

/* ---- the buffer ---- */

/* Read on into the buffer: bytes got, 0 at the end, below zero an outcome's number, negated. */
static long fill(struct input *input)
{
    if (input->over)
        return 0;
    if (input->begin && input->end == input->room) {
        memmove(input->bytes, input->bytes + input->begin, input->end - input->begin);
        input->end -= input->begin;
        input->begin = 0;
    }
    if (input->end == input->room) {
        size_t room = input->room ? input->room * 2 : 64u << 10;
        if (room > MIRE_FOREIGN_VALUE_MAX + 1)
            room = MIRE_FOREIGN_VALUE_MAX + 1;
        if (room == input->room)
            return -MIRE_DECODE_TOO_BIG;
        char *bytes = realloc(input->bytes, room + 1);
        if (!bytes)
            return -MIRE_DECODE_UNREADABLE;
        input->bytes = bytes;
        input->room = room;
    }
    long len = layers_read(input, input->bytes + input->end, input->room - input->end);
    if (len < 0)
        return input->broken ? -MIRE_DECODE_MALFORMED : -MIRE_DECODE_UNREADABLE;
    input->over = len == 0;
    input->end += (size_t)len;
    input->plain += (uint64_t)len;
    return input->plain_max && input->plain > input->plain_max ? -MIRE_DECODE_TOO_BIG : len;
}

static enum decode_outcome outcome_of(const struct input *input, struct decode_fault *fault, long rc)
{
    if (rc == -MIRE_DECODE_TOO_BIG && input->plain_max && input->plain > input->plain_max)
        snprintf(fault->text, sizeof fault->text, "more than %llu bytes once decompressed",
                 (unsigned long long)input->plain_max);
    else if (rc == -MIRE_DECODE_TOO_BIG)
        snprintf(fault->text, sizeof fault->text, "more than %u bytes in one piece", MIRE_FOREIGN_VALUE_MAX);
    else if (rc == -MIRE_DECODE_UNREADABLE)
        snprintf(fault->text, sizeof fault->text, "the input could not be read on");
    return (enum decode_outcome) - rc;
}

static enum decode_outcome fill_head(struct input *input)
{
    while (input->end - input->begin < MIRE_FOREIGN_HEAD) {
        long len = fill(input);
        if (len < 0)
            return outcome_of(input, input->fault, len);
        if (!len)
            break;
    }
    return MIRE_DECODE_OK;
}

static bool is_plain(char c)
{
    return c > ' ' && c < 0x7f;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Text of UTF-16 without a mark: of its first two characters, each beside a zero byte, one is plain and the other too,
 * or blank. */
static const char *utf16_without_mark(const char *head, size_t len)
{
    for (size_t low = 0; len >= 4 && low < 2; low++)
        if (!head[1 - low] && !head[3 - low] &&
            (is_plain(head[low]) ? is_plain(head[2 + low]) || is_blank(head[2 + low])
                                 : is_blank(head[low]) && is_plain(head[2 + low])))
            return low ? MIRE_UTF16_BIG : MIRE_UTF16_LITTLE;
    return NULL;
}

/* The compression of the bytes in the buffer, or their text's encoding. The first one may be one that no bytes tell. */
static const char *encoding_at(const struct input *input, const struct decode_each *each, int layers)
{
    const char *given = layers ? NULL : each->encoding;
    if (given && (!strcmp(given, "deflate") || !strcmp(given, "br")))
        return given;
    const char *head = input->bytes + input->begin;
    if (input->end - input->begin >= 2 && (!memcmp(head, "\xff\xfe", 2) || !memcmp(head, "\xfe\xff", 2)))
        return head[0] == '\xff' ? MIRE_UTF16_LITTLE : MIRE_UTF16_BIG;
    const char *unmarked = utf16_without_mark(head, input->end - input->begin);
    return unmarked ? unmarked : decode_encoding_of(head, input->end - input->begin);
}

static long read_stream(struct foreign_stream *stream, void *out, size_t room)
{
    struct input *input = (struct input *)(void *)((char *)stream - offsetof(struct input, stream));
    long len;
    if (input->begin < input->end) {
        size_t there = input->end - input->begin;
        len = (long)(there < room ? there : room);
        memcpy(out, input->bytes + input->begin, (size_t)len);
        input->begin += (size_t)len;
    } else {
        len = input->over ? 0 : layers_read(input, out, room);
        input->over |= len == 0;
    }
    stream->at += len > 0 ? (uint64_t)len : 0;
    stream->failed |= len < 0 && !input->broken;
    return len;
}

/* Editors put a mark of UTF-8 in front. */
static void skip_mark(struct input *input)
{
    if (input->end - input->begin >= 3 && !memcmp(input->bytes + input->begin, "\xef\xbb\xbf", 3)) {
        input->begin += 3;
        input->position = 3;
    }
}

enum decode_outcome input_begin(struct input *input, struct decode_fault *fault, const struct decode_each *each)
{
    *input = (struct input){.read = each->read,
                            .context = each->context,
                            .fault = fault,
                            .stream = {.read = read_stream},
                            .plain_max = each->plain_max};
    for (int layers = 0;; layers++) {
        enum decode_outcome outcome = fill_head(input);
        if (outcome)
            return outcome;
        const char *encoding = encoding_at(input, each, layers);
        if (!strcmp(encoding, "identity")) {
            skip_mark(input);
            return MIRE_DECODE_OK;
        }
        if (layers == LAYERS_MAX) {
            snprintf(fault->text, sizeof fault->text, "compressed more than %d times", LAYERS_MAX);
            return MIRE_DECODE_TOO_BIG;
        }
        if (!layers_add(input, encoding))
            return MIRE_DECODE_NO_MEMORY;
    }
}

void input_end(struct input *input)
{
    layers_end(input);
    free(input->bytes);
    input->bytes = NULL;
}

const char *input_head(size_t *len_out, const struct input *input)
{
    *len_out = input->end - input->begin;
    return input->bytes + input->begin;
}

enum decode_outcome input_rest(const char **out, size_t *len_out, struct input *input, struct decode_fault *fault)
{
    long len;
    while ((len = fill(input)) > 0)
        if (input->end - input->begin > MIRE_FOREIGN_VALUE_MAX)
            return outcome_of(input, fault, -MIRE_DECODE_TOO_BIG);
    if (len < 0)
        return outcome_of(input, fault, len);
    if (!input->bytes && !(input->bytes = calloc(1, 1)))
        return MIRE_DECODE_NO_MEMORY;
    input->bytes[input->end] = '\0';
    *out = input->bytes + input->begin;
    *len_out = input->end - input->begin;
    return MIRE_DECODE_OK;
}

/* ---- JSON values ---- */

static enum decode_outcome misplaced(const struct input *input, struct decode_fault *fault, const char *text)
{
    fault->position = input->position;
    snprintf(fault->text, sizeof fault->text, "%s", text);
    return MIRE_DECODE_MALFORMED;
}

/* Drop bytes from the front of the buffer. */
static void drop(struct input *input, size_t len)
{
    input->begin += len;
    input->position += len;
}

/* The next byte that is no space, -1 at the end, below that an outcome, negated and less 1. Zeros between documents fill a
 * mapped file up to its end. */
static int peek(struct input *input)
{
    for (;;) {
        while (input->begin < input->end) {
            char c = input->bytes[input->begin];
            if (c != ' ' && c != '\n' && c != '\t' && c != '\r' && (c || input->in_array))
                return (unsigned char)c;
            drop(input, 1);
        }
        long len = fill(input);
        if (len <= 0)
            return len ? (int)len - 1 : -1;
    }
}

/* How a value is scanned: brackets that are open, and whether a string is. */
struct scan {
    size_t depth;
    bool string, escaped, word;
};

/* Is the value over behind this byte? Of a bare word the byte is not part of it: *without is set. */
static bool scan_byte(struct scan *scan, bool *without, char c)
{
    if (scan->string) {
        if (scan->escaped)
            scan->escaped = false;
        else if (c == '\\')
            scan->escaped = true;
        else if (c == '"')
            scan->string = false;
        return !scan->string && !scan->depth;
    }
    if (scan->word && (c == ',' || c == ']' || c == '}' || (unsigned char)c <= ' ')) {
        *without = true;
        return true;
    }
    if (c == '"') {
        scan->string = true;
    } else if (c == '{' || c == '[') {
        scan->depth++;
    } else if (c == '}' || c == ']') {
        scan->depth -= scan->depth > 0;
        return !scan->depth;
    } else if (!scan->depth) {
        scan->word = true;
    }
    return false;
}

/* Bytes at the front that change nothing: of a string up to its next quote or backslash, otherwise up to a bracket or
 * quote. */
static size_t scan_skip(const struct scan *scan, const char *bytes, size_t len)
{
    static const bool matters[256] = {['"'] = true, ['{'] = true, ['}'] = true, ['['] = true, [']'] = true};
    size_t at = 0;
    if (scan->string && !scan->escaped) {
        const char *quote = memchr(bytes, '"', len);
        size_t until = quote ? (size_t)(quote - bytes) : len;
        const char *backslash = memchr(bytes, '\\', until);
        return backslash ? (size_t)(backslash - bytes) : until;
    }
    while (scan->depth && !scan->string && at < len && !matters[(unsigned char)bytes[at]])
        at++;
    return at;
}

/* The value at the front of the buffer, whole. A value that the input ends in is given as far as it goes. */
static enum decode_outcome take_value(struct input_value *out, struct input *input, struct decode_fault *fault)
{
    struct scan scan = {0};
    size_t at = 0;
    for (;;) {
        for (; input->begin + at < input->end; at++) {
            bool without = false;
            at += scan_skip(&scan, input->bytes + input->begin + at, input->end - input->begin - at);
            if (input->begin + at == input->end)
                break;
            if (scan_byte(&scan, &without, input->bytes[input->begin + at])) {
                at += !without;
                goto over;
            }
        }
        if (at > MIRE_FOREIGN_VALUE_MAX)
            return outcome_of(input, fault, -MIRE_DECODE_TOO_BIG);
        long len = fill(input);
        if (len < 0)
            return outcome_of(input, fault, len);
        if (!len)
            break;
    }
over:
    *out = (struct input_value){input->bytes + input->begin, at, input->position};
    drop(input, at);
    return MIRE_DECODE_OK;
}

static enum decode_outcome end_of_input(struct input_value *out, const struct input *input, struct decode_fault *fault,
                                        int c)
{
    *out = (struct input_value){0};
    if (c < -1)
        return outcome_of(input, fault, c + 1);
    if (input->in_array)
        return misplaced(input, fault, "the text ends here, too early");
    return MIRE_DECODE_OK;
}

/* Into and out of the arrays that values are elements of; *c: the next byte. */
static enum decode_outcome step(struct input *input, struct decode_fault *fault, int *c)
{
    while (*c == '[' || *c == ']' || *c == ',') {
        if (*c == '[' && input->in_array && input->separated)
            break; /* an element that is an array itself */
        if (*c == '[' ? input->in_array : !input->in_array)
            return misplaced(input, fault, *c == '[' ? "a comma or ] belongs here" : "a value belongs here");
        if (*c != '[' && input->separated)
            return misplaced(input, fault, "a value belongs here");
        input->in_array = *c != ']';
        drop(input, 1);
        char before = (char)*c;
        *c = peek(input);
        input->separated = before == ',' || (before == '[' && *c != ']');
    }
    if (input->in_array && *c >= 0 && !input->separated)
        return misplaced(input, fault, "a comma or ] belongs here");
    return MIRE_DECODE_OK;
}

enum decode_outcome input_value(struct input_value *out, struct input *input, struct decode_fault *fault)
{
    int c = peek(input);
    enum decode_outcome outcome = step(input, fault, &c);
    if (outcome)
        return outcome;
    if (c < 0)
        return end_of_input(out, input, fault, c);
    input->separated = false;
    return take_value(out, input, fault);
}

void input_pass(struct input *input)
{
    int c;
    while (!input->in_array && (c = peek(input)) >= 0 && c != '{' && c != '[')
        drop(input, 1);
}
