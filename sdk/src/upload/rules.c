/*
 * rules.c - see rules.h. Dates are read by hand: strptime follows the host's locale.
 */
#include "upload/rules.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define FIRST_MS    2000u
#define DOUBLINGS   9 /* 2 s * 2^9 is above the limit */
#define LIMIT_MS    (15u * 60 * 1000)
#define SECONDS_MAX 4000000000ull

enum upload_verdict mire__upload_verdict(int status)
{
    if (status >= 200 && status < 300)
        return UPLOAD_SENT;
    if (status >= 400 && status < 500 && status != 408 && status != 425 && status != 429)
        return UPLOAD_REFUSED;
    return UPLOAD_LATER;
}

/* Days from 1970-01-01 to a date of the Gregorian calendar; month 1..12. Years begin in March here, so that the leap
 * day is the last of its year. */
static int64_t days_of(int64_t year, int month, int day)
{
    int64_t y = month > 2 ? year : year - 1;
    int64_t month_from_march = (month + 9) % 12;

    return y * 365 + y / 4 - y / 100 + y / 400 + (month_from_march * 153 + 2) / 5 + day - 1 - 719468;
}

static int month_of(const char *name)
{
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

    for (int i = 0; i < 12; i++)
        if (strncmp(names + 3 * i, name, 3) == 0)
            return i + 1;
    return 0;
}

/* A year of two digits is the one not more than 50 years ahead. */
static int64_t full_year(int64_t two_digits, uint64_t now_ms)
{
    int64_t now_year = 1970 + (int64_t)(now_ms / 31556952000u);
    int64_t year = now_year / 100 * 100 + two_digits;

    if (year > now_year + 50)
        year -= 100;
    else if (year <= now_year - 50)
        year += 100;
    return year;
}

static bool parse_date(uint64_t *at_ms_out, const char *text, uint64_t now_ms)
{
    char month_name[4] = "";
    int day, year, hour, minute, second, month, end = 0;
    int64_t wide_year;

    if ((sscanf(text, "%*3[A-Za-z], %2d %3[A-Za-z] %4d %2d:%2d:%2d GMT%n", &day, month_name, &year, &hour, &minute,
                &second, &end) == 6 ||
         sscanf(text, "%*3[A-Za-z] %3[A-Za-z] %2d %2d:%2d:%2d %4d%n", month_name, &day, &hour, &minute, &second, &year,
                &end) == 6) &&
        end)
        wide_year = year;
    else if (sscanf(text, "%*9[A-Za-z], %2d-%3[A-Za-z]-%2d %2d:%2d:%2d GMT%n", &day, month_name, &year, &hour, &minute,
                    &second, &end) == 6 &&
             end)
        wide_year = full_year(year, now_ms);
    else
        return false;
    month = month_of(month_name);
    if (text[end] || month == 0 || day < 1 || day > 31 || wide_year < 1970 || wide_year > 9999)
        return false;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
        return false;
    *at_ms_out = (uint64_t)(((days_of(wide_year, month, day) * 24 + hour) * 60 + minute) * 60 + second) * 1000;
    return true;
}

bool mire__upload_parse_retry_after(uint64_t *at_ms_out, const char *text, uint64_t now_ms)
{
    uint64_t seconds = 0;
    const char *at = text;

    if (!isdigit((unsigned char)*at))
        return parse_date(at_ms_out, text, now_ms);
    for (; isdigit((unsigned char)*at); at++)
        if (seconds < SECONDS_MAX)
            seconds = seconds * 10 + (uint64_t)(*at - '0');
    if (*at)
        return false;
    *at_ms_out = now_ms + seconds * 1000;
    return true;
}

uint64_t mire__upload_backoff_ms(uint32_t failures, uint32_t random)
{
    uint32_t doublings = failures > 0 ? failures - 1 : 0;
    uint64_t wait = (uint64_t)FIRST_MS << (doublings < DOUBLINGS ? doublings : DOUBLINGS);

    if (wait > LIMIT_MS)
        wait = LIMIT_MS;
    return wait / 2 + (wait / 2) * (uint64_t)random / UINT32_MAX;
}
