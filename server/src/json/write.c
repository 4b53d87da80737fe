/*
 * write.c - appends to one block of memory that doubles.
 */
#include "json/write.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned char *json_write_room(struct json_writer *w, size_t len)
{
    if (!w->failed && len > w->room - w->len) {
        size_t room = (w->room + len) * 2;
        char *text = realloc(w->text, room);
        w->failed = !text;
        if (text) {
            w->text = text;
            w->room = room;
        }
    }
    return w->failed ? NULL : (unsigned char *)w->text + w->len;
}

static void put(struct json_writer *w, const char *bytes, size_t len)
{
    unsigned char *at = json_write_room(w, len);
    if (!at)
        return;
    memcpy(at, bytes, len);
    w->len += len;
}

static void before_value(struct json_writer *w, const char *key)
{
    if (w->comma)
        put(w, ",", 1);
    if (key) {
        put(w, "\"", 1);
        put(w, key, strlen(key));
        put(w, "\":", 2);
    }
    w->comma = true;
}

void json_write_begin(struct json_writer *w)
{
    *w = (struct json_writer){.room = 4096};
    w->text = malloc(w->room);
    w->failed = !w->text;
}

void json_write_open(struct json_writer *w, const char *key, char bracket)
{
    before_value(w, key);
    put(w, &bracket, 1);
    w->comma = false;
}

void json_write_close(struct json_writer *w, char bracket)
{
    put(w, &bracket, 1);
    w->comma = true;
}

void json_write_text(struct json_writer *w, const char *key, const char *text)
{
    before_value(w, key);
    put(w, "\"", 1);
    for (const char *p = text; *p; p++) {
        const char *plain = p;
        while ((unsigned char)*p >= 0x20 && *p != '"' && *p != '\\')
            p++;
        put(w, plain, (size_t)(p - plain));
        if (!*p)
            break;
        char escape[8];
        int len = *p == '"' || *p == '\\' ? snprintf(escape, sizeof escape, "\\%c", *p)
                                          : snprintf(escape, sizeof escape, "\\u%04x", (unsigned char)*p);
        put(w, escape, (size_t)len);
    }
    put(w, "\"", 1);
}

#define DIGITS_MAX 20 /* of a number of 64 bits */

/* Put a number without printf: a document of stacks has thousands of them. The comma before an element is put
 * together with the number. */
static void put_number(struct json_writer *w, const char *key, uint64_t value, bool is_negative)
{
    char digits[DIGITS_MAX + 2];
    size_t at = sizeof digits;

    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    if (is_negative)
        digits[--at] = '-';
    if (key)
        before_value(w, key);
    else if (w->comma)
        digits[--at] = ',';
    w->comma = true;
    put(w, digits + at, sizeof digits - at);
}

void json_write_u64(struct json_writer *w, const char *key, uint64_t value)
{
    put_number(w, key, value, false);
}

void json_write_i64(struct json_writer *w, const char *key, int64_t value)
{
    put_number(w, key, value < 0 ? -(uint64_t)value : (uint64_t)value, value < 0);
}

void json_write_bool(struct json_writer *w, const char *key, bool value)
{
    before_value(w, key);
    put(w, value ? "true" : "false", value ? 4 : 5);
}

/* snprintf is slow for the many numbers of a flame graph, and most of them are whole. */
static size_t real_format(char digits[40], double value)
{
    int64_t milli = (int64_t)(value * 1000 + (value < 0 ? -0.5 : 0.5));
    size_t len =
        (size_t)snprintf(digits, 40, "%s%" PRId64, milli < 0 ? "-" : "", milli < 0 ? -(milli / 1000) : milli / 1000);
    int rest = (int)(milli % 1000 < 0 ? -(milli % 1000) : milli % 1000);

    if (rest == 0)
        return len;
    len += (size_t)snprintf(digits + len, 40 - len, ".%03d", rest);
    while (digits[len - 1] == '0')
        len--;
    return len;
}

void json_write_real(struct json_writer *w, const char *key, double value)
{
    char digits[40];
    bool exact = value > -9e12 && value < 9e12; /* a double still tells thousandths apart; false for NaN */
    size_t len = exact ? real_format(digits, value) : (size_t)snprintf(digits, sizeof digits, "%.17g", value);

    before_value(w, key);
    if (!exact && !(value > -1e308 && value < 1e308))
        put(w, "0", 1);
    else
        put(w, digits, len);
}

void json_write_null(struct json_writer *w, const char *key)
{
    before_value(w, key);
    put(w, "null", 4);
}

void json_write_raw(struct json_writer *w, const char *key, const char *json)
{
    before_value(w, key);
    put(w, json, strlen(json));
}
