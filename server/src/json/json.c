/*
 * json.c - the reader: a loop over values with a stack of open containers.
 *
 * Every read of *p is preceded by a comparison with the end of the text; the text needs no terminator. Strings are
 * checked as UTF-8 on the way, their escapes for form only: they are undone when somebody asks (value.c).
 */
#include "json/json.h"
#include "json/number.h"
#include "json/scan.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM    1024 /* values; more of a longer text, */
#define BYTES_A_VALUE 8    /* of which a value takes so many */

struct json_reader {
    struct json *json;
    const char *p;
    const char *end;
    struct json_fault *fault;
    struct json_limits limits;
    uint32_t depth;
    uint32_t open[MIRE_JSON_DEPTH_MAX]; /* places of the containers we are in */
};

static enum json_outcome fail(struct json_reader *r, enum json_outcome outcome, const char *at, const char *text)
{
    r->fault->at = (size_t)(at - r->json->text);
    r->fault->text = text;
    return outcome;
}

static enum json_outcome malformed(struct json_reader *r, const char *text)
{
    return fail(r, MIRE_JSON_MALFORMED, r->p, r->p < r->end ? text : "the text ends here, too early");
}

static inline void skip_space(struct json_reader *r)
{
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\n' || *r->p == '\t' || *r->p == '\r'))
        r->p++;
}

static enum json_outcome grow(struct json_reader *r)
{
    struct json *json = r->json;

    if (json->count >= r->limits.values_max)
        return fail(r, MIRE_JSON_TOO_BIG, r->p, "too many values");
    size_t least = (size_t)(r->end - json->text) / BYTES_A_VALUE;
    uint32_t room = json->room ? json->room * 2 : FIRST_ROOM;
    if (!json->room && least > room)
        room = least < r->limits.values_max ? (uint32_t)least : r->limits.values_max;
    if (room > r->limits.values_max)
        room = r->limits.values_max;
    struct json_slot *slots = realloc(json->slots, (size_t)room * sizeof *slots);
    if (!slots)
        return fail(r, MIRE_JSON_NO_MEMORY, r->p, "out of memory");
    json->slots = slots;
    json->room = room;
    return MIRE_JSON_OK;
}

static inline enum json_outcome push(struct json_reader *r, enum json_kind kind, uint32_t size, uint64_t bits)
{
    struct json *json = r->json;

    if (json->count >= json->room || json->count >= r->limits.values_max) {
        enum json_outcome outcome = grow(r);
        if (outcome)
            return outcome;
    }
    struct json_slot *slot = &json->slots[json->count++];
    slot->head = (uint32_t)kind << 28 | json->count;
    slot->size = size;
    slot->bits = bits;
    return MIRE_JSON_OK;
}

/* Bytes of the well-formed UTF-8 sequence at p, 0 if it is none (Unicode 15, table 3-7). */
static int utf8_length(const char *p, const char *end)
{
    const unsigned char *u = (const unsigned char *)p;
    size_t left = (size_t)(end - p);
#define TAIL(i) ((u[i] & 0xc0) == 0x80)
    if (u[0] < 0x80)
        return 1;
    if (u[0] >= 0xc2 && u[0] <= 0xdf)
        return left >= 2 && TAIL(1) ? 2 : 0;
    if (u[0] >= 0xe0 && u[0] <= 0xef) {
        if (left < 3 || !TAIL(1) || !TAIL(2))
            return 0;
        return (u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] > 0x9f) ? 0 : 3;
    }
    if (u[0] >= 0xf0 && u[0] <= 0xf4) {
        if (left < 4 || !TAIL(1) || !TAIL(2) || !TAIL(3))
            return 0;
        return (u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] > 0x8f) ? 0 : 4;
    }
#undef TAIL
    return 0;
}

/* How many hex digits stand at p. */
static size_t hex_span(const char *p, const char *end)
{
    const char *begin = p;
    while (p < end && *p && strchr("0123456789abcdefABCDEF", *p))
        p++;
    return (size_t)(p - begin);
}

/* The four hex digits at p, -1 if they are not that. */
static int hex4(const char *p, const char *end)
{
    int value = 0;

    for (int i = 0; i < 4; i++, p++) {
        if (p >= end)
            return -1;
        if (*p >= '0' && *p <= '9')
            value = value << 4 | (*p - '0');
        else if ((*p | 0x20) >= 'a' && (*p | 0x20) <= 'f')
            value = value << 4 | ((*p | 0x20) - 'a' + 10);
        else
            return -1;
    }

    return value;
}

/* \uXXXX at r->p, with its partner if it is the first half of a pair. A half alone stands for no character. */
static enum json_outcome skip_unicode(struct json_reader *r)
{
    int high = hex4(r->p + 2, r->end);
    if (high < 0) {
        r->p += 2;
        r->p += hex_span(r->p, r->end);
        return malformed(r, "four hex digits belong here");
    }
    if (high < 0xd800 || high > 0xdfff) {
        r->p += 6;
        return MIRE_JSON_OK;
    }
    bool pair = high < 0xdc00 && r->end - r->p >= 12 && r->p[6] == '\\' && r->p[7] == 'u';
    int low = pair ? hex4(r->p + 8, r->end) : -1;
    bool half = low < 0xdc00 || low > 0xdfff;
    if (half && !r->limits.tolerant)
        return malformed(r, "half a surrogate pair");
    r->p += half ? 6 : 12;
    return MIRE_JSON_OK;
}

static enum json_outcome skip_escape(struct json_reader *r)
{
    if (r->end - r->p < 2) {
        r->p = r->end;
        return malformed(r, "");
    }
    if (r->p[1] == 'u')
        return skip_unicode(r);
    if (!r->p[1] || !strchr("\"\\/bfnrt", r->p[1])) {
        r->p++;
        return malformed(r, "no such escape");
    }
    r->p += 2;
    return MIRE_JSON_OK;
}

static enum json_outcome read_string(struct json_reader *r)
{
    const char *begin = ++r->p;
    bool escaped = false;

    for (;;) {
        r->p = json_scan(r->p, r->end);
        if (r->p >= r->end)
            return malformed(r, "");
        if (*r->p == '"')
            break;
        if (*r->p == '\\') {
            escaped = true;
            enum json_outcome outcome = skip_escape(r);
            if (outcome)
                return outcome;
        } else if ((unsigned char)*r->p < 0x20 && !r->limits.tolerant) {
            return malformed(r, "a control character must be escaped");
        } else {
            int n = utf8_length(r->p, r->end);
            if (!n && !r->limits.tolerant)
                return malformed(r, "not UTF-8");
            r->p += n ? n : 1;
        }
    }

    size_t len = (size_t)(r->p - begin);
    if (len > MIRE_JSON_TEXT_MAX)
        return fail(r, MIRE_JSON_TOO_BIG, begin, "string too long");
    r->p++;
    return push(r, MIRE_JSON_STRING, (uint32_t)len, (uint64_t)(begin - r->json->text) | (uint64_t)escaped << 63);
}

static enum json_outcome read_number(struct json_reader *r)
{
    struct json_number number;
    const char *text = json_number_read(&number, &r->p, r->end, r->limits.tolerant);
    if (text)
        return malformed(r, text);
    return push(r, number.kind, 0, number.bits);
}

static enum json_outcome read_word(struct json_reader *r, const char *word, size_t len, enum json_kind kind)
{
    for (size_t i = 0; i < len; i++, r->p++)
        if (r->p >= r->end || *r->p != word[i])
            return malformed(r, "neither true, false nor null");
    return push(r, kind, 0, 0);
}

/* A member's name and its colon. */
static enum json_outcome read_name(struct json_reader *r)
{
    skip_space(r);
    if (r->p >= r->end || *r->p != '"')
        return malformed(r, "a member's name belongs here");
    enum json_outcome outcome = read_string(r);
    if (outcome)
        return outcome;
    skip_space(r);
    if (r->p >= r->end || *r->p != ':')
        return malformed(r, "a colon belongs here");
    r->p++;
    return MIRE_JSON_OK;
}

static void close_container(struct json_reader *r)
{
    struct json *json = r->json;
    struct json_slot *slot = &json->slots[r->open[--r->depth]];
    slot->head = (slot->head & 0xf0000000u) | json->count;
}

/* Open a container. *done: it is empty and already closed. */
static enum json_outcome open_container(struct json_reader *r, bool *done)
{
    bool object = *r->p == '{';

    if (r->depth >= r->limits.depth_max)
        return fail(r, MIRE_JSON_TOO_BIG, r->p, "too deep");
    enum json_outcome outcome = push(r, object ? MIRE_JSON_OBJECT : MIRE_JSON_ARRAY, 0, 0);
    if (outcome)
        return outcome;
    r->open[r->depth++] = r->json->count - 1;
    r->p++;
    skip_space(r);
    *done = r->p < r->end && *r->p == (object ? '}' : ']');
    if (*done) {
        r->p++;
        close_container(r);
        return MIRE_JSON_OK;
    }

    return object ? read_name(r) : MIRE_JSON_OK;
}

/* One scalar, or the beginning of a container (*done is then false unless it is empty). */
static inline enum json_outcome begin_value(struct json_reader *r, bool *done)
{
    skip_space(r);
    *done = true;
    if (r->p >= r->end)
        return malformed(r, "");
    switch (*r->p) {
    case '"':
        return read_string(r);
    case '{':
    case '[':
        return open_container(r, done);
    case 't':
        return read_word(r, "true", 4, MIRE_JSON_TRUE);
    case 'f':
        return read_word(r, "false", 5, MIRE_JSON_FALSE);
    case 'n':
        return read_word(r, "null", 4, MIRE_JSON_NULL);
    default:
        if (*r->p == '-' || (*r->p >= '0' && *r->p <= '9') || (*r->p == '(' && r->limits.tolerant))
            return read_number(r);
        return malformed(r, "a value belongs here");
    }
}

/* After a value: on to the next one, closing what ends here. *more: there is a next one. */
static inline enum json_outcome after_value(struct json_reader *r, bool *more)
{
    while (r->depth) {
        struct json_slot *slot = &r->json->slots[r->open[r->depth - 1]];
        bool object = slot->head >> 28 == MIRE_JSON_OBJECT;
        slot->size++;
        skip_space(r);
        if (r->p >= r->end)
            return malformed(r, "");
        if (*r->p == ',') {
            r->p++;
            *more = true;
            return object ? read_name(r) : MIRE_JSON_OK;
        }
        if (*r->p != (object ? '}' : ']'))
            return malformed(r, object ? "a comma or } belongs here" : "a comma or ] belongs here");
        r->p++;
        close_container(r);
    }

    *more = false;
    skip_space(r);
    return r->p == r->end ? MIRE_JSON_OK : malformed(r, "nothing belongs behind the document");
}

void json_init(struct json *json)
{
    memset(json, 0, sizeof *json);
}

void json_fini(struct json *json)
{
    free(json->slots);
    json_init(json);
}

enum json_outcome json_read(struct json *json, struct json_fault *fault, const char *text, size_t len,
                            const struct json_limits *limits)
{
    struct json_reader r = {.json = json, .p = text, .end = text + len, .fault = fault, .limits = *limits};

    if (r.limits.depth_max > MIRE_JSON_DEPTH_MAX)
        r.limits.depth_max = MIRE_JSON_DEPTH_MAX;
    if (r.limits.values_max > MIRE_JSON_VALUES_MAX)
        r.limits.values_max = MIRE_JSON_VALUES_MAX;
    json->text = text;
    json->count = 0;
    enum json_outcome outcome;
    bool done;
    bool more = true;
    do {
        outcome = begin_value(&r, &done);
        if (!outcome && done)
            outcome = after_value(&r, &more);
    } while (!outcome && more);
    if (outcome)
        json->count = 0;
    return outcome;
}
