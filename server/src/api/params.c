/* params.c - readers of single parameters. */
#include "api/params.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HOUR_S 3600

static int digits(int64_t *out, const char **text, int least, int most)
{
    const char *p = *text;
    int64_t value = 0;
    int count = 0;

    while (count < most && isdigit((unsigned char)*p)) {
        value = value * 10 + (*p++ - '0');
        count++;
    }
    if (count < least)
        return -1;
    *text = p;
    *out = value;
    return 0;
}

int integer_parse(int64_t *out, const char *text, int64_t low, int64_t high)
{
    const char *p = text;
    int64_t value;

    if (digits(&value, &p, 1, 18) != 0 || *p || value < low || value > high)
        return -1;
    *out = value;
    return 0;
}

static int days_of_month(int64_t year, int64_t month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && leap);
}

/* Reads the rest of a clock: "T14Z", "T14:30Z", "T14:30:05Z". */
static int clock_parse(struct tm *tm, const char **text)
{
    int64_t part[3] = {0};
    const char *p = *text;

    if (*p++ != 'T' || digits(&part[0], &p, 2, 2) != 0)
        return -1;
    for (int i = 1; i < 3 && *p == ':'; i++) {
        p++;
        if (digits(&part[i], &p, 2, 2) != 0)
            return -1;
    }

    if (*p++ != 'Z' || part[0] > 23 || part[1] > 59 || part[2] > 59)
        return -1;
    tm->tm_hour = (int)part[0];
    tm->tm_min = (int)part[1];
    tm->tm_sec = (int)part[2];
    *text = p;
    return 0;
}

static int instant_parse(int64_t *out, const char **text)
{
    int64_t year, month, day;
    struct tm tm = {0};
    const char *p = *text;

    if (digits(&year, &p, 4, 4) != 0 || *p++ != '-' || digits(&month, &p, 2, 2) != 0 || *p++ != '-' ||
        digits(&day, &p, 2, 2) != 0)
        return -1;
    if (year < 1970 || month < 1 || month > 12 || day < 1 || day > days_of_month(year, month))
        return -1;
    if (*p == 'T' && clock_parse(&tm, &p) != 0)
        return -1;
    tm.tm_year = (int)year - 1900;
    tm.tm_mon = (int)month - 1;
    tm.tm_mday = (int)day;
    *out = (int64_t)timegm(&tm);
    *text = p;
    return 0;
}

int time_parse(int64_t *out_us, const char *text)
{
    int64_t seconds;

    if (instant_parse(&seconds, &text) != 0 || *text)
        return -1;
    *out_us = seconds * 1000000;
    return 0;
}

/* 0: an unknown unit. */
static int64_t seconds_of_unit(char unit)
{
    switch (unit) {
    case 'm':
        return 60;
    case 'h':
        return HOUR_S;
    case 'd':
        return 24 * HOUR_S;
    default:
        return 0;
    }
}

static int back_parse(int64_t *from_s, const char *text, int64_t now_s)
{
    int64_t count;
    const char *p = text;

    if (digits(&count, &p, 1, 7) != 0 || count == 0)
        return -1;
    int64_t unit_s = seconds_of_unit(*p);
    if (unit_s == 0 || p[1])
        return -1;
    *from_s = now_s - count * unit_s;
    return 0;
}

int span_parse(struct span *out, const char *text, int64_t now_s)
{
    int64_t from_s, to_s = now_s;

    if (strstr(text, "..")) {
        const char *p = text;
        if (instant_parse(&from_s, &p) != 0 || strncmp(p, "..", 2) != 0)
            return -1;
        p += 2;
        if (instant_parse(&to_s, &p) != 0 || *p)
            return -1;
    } else if (back_parse(&from_s, text, now_s) != 0) {
        return -1;
    }
    if (to_s <= from_s || to_s - from_s > (int64_t)MIRE_SPAN_DAYS_MAX * 24 * HOUR_S)
        return -1;
    out->from_s = from_s - (from_s % HOUR_S + HOUR_S) % HOUR_S;
    out->to_s = (to_s + HOUR_S - 1) / HOUR_S * HOUR_S;
    return 0;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int hash_parse(uint64_t *out, const char *text)
{
    uint64_t value = 0;

    for (int i = 0; i < 16; i++) {
        int digit = hex_value(text[i]);
        if (digit < 0)
            return -1;
        value = value << 4 | (uint64_t)digit;
    }
    if (text[16])
        return -1;
    *out = value;
    return 0;
}

int issue_parse(int64_t *out, const char *text)
{
    if (strncmp(text, "I-", 2) != 0 && strncmp(text, "M-", 2) != 0)
        return -1;
    return integer_parse(out, text + 2, 0, INT64_MAX);
}

bool text_is_uuid(const char *text)
{
    for (int i = 0; i < 36; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? text[i] != '-' : hex_value(text[i]) < 0)
            return false;
    }
    return text[36] == '\0';
}

/* A cursor is QUERY.FROM.TO.KEY.RANK, rank in hex: it may be any text. */

char *cursor_format(struct arena *arena, const struct page_cursor *c)
{
    size_t len = strlen(c->rank);
    char *rank = arena_alloc(arena, 2 * len + 1);

    if (!rank)
        return NULL;
    for (size_t i = 0; i < len; i++)
        snprintf(rank + 2 * i, 3, "%02x", (unsigned char)c->rank[i]);
    return arena_printf(arena, "%016" PRIx64 ".%" PRId64 ".%" PRId64 ".%s.%s", c->query, c->span.from_s, c->span.to_s,
                        c->key, rank);
}

static char *rank_parse(struct arena *arena, const char *hex)
{
    size_t len = strlen(hex);
    char *rank = len % 2 ? NULL : arena_alloc(arena, len / 2 + 1);

    for (size_t i = 0; rank && i < len / 2; i++) {
        int high = hex_value(hex[2 * i]), low = hex_value(hex[2 * i + 1]);
        if (high < 0 || low < 0 || (high == 0 && low == 0))
            return NULL;
        rank[i] = (char)(high << 4 | low);
    }

    return rank;
}

int cursor_parse(struct page_cursor *out, struct arena *arena, const char *text, uint64_t query)
{
    struct page_cursor c = {0};
    char *copy = arena_strdup(arena, text);
    char *part[5] = {0};

    for (int i = 0; i < 5 && copy; i++)
        part[i] = strsep(&copy, ".");
    if (!part[4] || copy || hash_parse(&c.query, part[0]) != 0 || c.query != query)
        return -1;
    if (integer_parse(&c.span.from_s, part[1], 0, INT64_MAX) != 0 ||
        integer_parse(&c.span.to_s, part[2], 0, INT64_MAX) != 0)
        return -1;
    if (c.span.from_s % HOUR_S || c.span.to_s % HOUR_S || c.span.to_s <= c.span.from_s ||
        c.span.to_s - c.span.from_s > (int64_t)(MIRE_SPAN_DAYS_MAX + 1) * 24 * HOUR_S)
        return -1;
    for (const char *p = part[3]; *p; p++)
        if (hex_value(*p) < 0 && *p != '-')
            return -1;
    c.key = part[3];
    c.rank = rank_parse(arena, part[4]);
    if (!c.rank)
        return -1;
    *out = c;
    return 0;
}
