/*
 * value.c - what stands on the tape, asked for.
 */
#include "json/json.h"

#include <math.h>
#include <string.h>

#define ESCAPED (1ull << 63)
#define EXACT   0x1p53 /* up to here a double tells whole numbers apart */

static const char *string_text(const struct json *json, uint32_t at)
{
    return json->text + (json->slots[at].bits & ~ESCAPED);
}

static uint32_t hex4(const char *p)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        value = value << 4 | (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return value;
}

static size_t put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* The character of the \u escape at *p (at the backslash), with its partner if it is half a pair. Half a pair alone,
 * which only tolerant reading lets through, reads as U+FFFD. */
static uint32_t unicode_escape(const char **p, const char *end)
{
    uint32_t c = hex4(*p + 2);
    *p += 6;
    if (c < 0xd800 || c > 0xdfff)
        return c;
    bool pair = c < 0xdc00 && end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u';
    uint32_t low = pair ? hex4(*p + 2) : 0; /* reading has made sure that digits follow */
    if (low < 0xdc00 || low > 0xdfff)
        return 0xfffd;
    *p += 6;
    return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
}

size_t json_text(char *out, const struct json *json, uint32_t string)
{
    const char *p = string_text(json, string);
    size_t len = json_size(json, string);

    if (!(json->slots[string].bits & ESCAPED)) {
        memcpy(out, p, len);
        return len;
    }
    const char *end = p + len;
    char *o = out;
    while (p < end) {
        if (*p != '\\') {
            *o++ = *p++;
        } else if (p[1] == 'u') {
            o += put_utf8(o, unicode_escape(&p, end));
        } else {
            static const char from[] = "\"\\/bfnrt";
            static const char to[] = "\"\\/\b\f\n\r\t";
            *o++ = to[strchr(from, p[1]) - from];
            p += 2;
        }
    }

    return (size_t)(o - out);
}

bool json_is(const struct json *json, uint32_t string, const char *text)
{
    size_t len = json_size(json, string);
    size_t want = strlen(text);
    if (!(json->slots[string].bits & ESCAPED))
        return len == want && !memcmp(string_text(json, string), text, len);
    char plain[MIRE_JSON_NAME_MAX * 6]; /* an escape takes at most six bytes for one */
    if (len > sizeof plain)
        return false;
    return json_text(plain, json, string) == want && !memcmp(plain, text, want);
}

uint32_t json_member(const struct json *json, uint32_t object, const char *name)
{
    uint32_t found = 0;
    uint32_t end = json_next(json, object);
    for (uint32_t at = object + 1; at < end; at = json_next(json, at + 1))
        if (json_is(json, at, name))
            found = at + 1;
    return found;
}

bool json_u64(uint64_t *out, const struct json *json, uint32_t at)
{
    const struct json_slot *slot = &json->slots[at];

    if (json_kind(json, at) == MIRE_JSON_UINT) {
        *out = slot->bits;
        return true;
    }
    double value = json_double(json, at);
    if (json_kind(json, at) != MIRE_JSON_DOUBLE || !(value >= 0 && value <= EXACT) || value != floor(value))
        return false;
    *out = (uint64_t)value;
    return true;
}

bool json_i64(int64_t *out, const struct json *json, uint32_t at)
{
    const struct json_slot *slot = &json->slots[at];

    enum json_kind kind = json_kind(json, at);
    if (kind == MIRE_JSON_INT || (kind == MIRE_JSON_UINT && slot->bits <= INT64_MAX)) {
        *out = (int64_t)slot->bits;
        return true;
    }
    double value = json_double(json, at);
    if (kind != MIRE_JSON_DOUBLE || !(value >= -EXACT && value <= EXACT) || value != floor(value))
        return false;
    *out = (int64_t)value;
    return true;
}

double json_double(const struct json *json, uint32_t at)
{
    const struct json_slot *slot = &json->slots[at];
    double value;

    switch (json_kind(json, at)) {
    case MIRE_JSON_UINT:
        return (double)slot->bits;
    case MIRE_JSON_INT:
        return (double)(int64_t)slot->bits;
    case MIRE_JSON_DOUBLE:
        memcpy(&value, &slot->bits, sizeof value);
        return value;
    default:
        return NAN;
    }
}
