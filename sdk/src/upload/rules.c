/*
 * rules.c - see rules.h. Dates are read by hand: strptime follows the host's locale.
 */
#include "upload/rules.h"

#include "store/store.h"
#include "wire/clock.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DOUBLINGS   31
#define SECONDS_MAX 4000000000ull
#define PATIENCE_MS (24ull * 3600 * 1000) /* longest silence that a server, or a jump of the clock, can cause */

enum upload_verdict mire__upload_verdict(int status)
{
    if (status >= 200 && status < 300)
        return UPLOAD_SENT;
    if (status >= 400 && status < 500 && status != 408 && status != 425 && status != 429)
        return UPLOAD_REFUSED;
    return UPLOAD_LATER;
}

/* Days from 1970-01-01 to a date of the Gregorian calendar; month 1..12. Years are counted from March, so that the leap
 * day is the last day of a year. */
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

/* A year of two digits is at most 50 years ahead (RFC 9110, 5.6.7). */
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

static size_t skip_spaces(const char *text, size_t size, size_t at)
{
    while (at < size && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n'))
        at++;
    return at;
}

/* The position behind `word` if the text has it at `at`, otherwise 0. */
static size_t pass(const char *text, size_t size, size_t at, const char *word)
{
    size_t length = strlen(word);

    return at <= size && size - at >= length && memcmp(text + at, word, length) == 0 ? at + length : 0;
}

bool mire__upload_is_ack(const char *text, size_t size, const char *id)
{
    for (size_t i = 0; !id && i < size; i++)
        if (pass(text, size, i, "\"report_ids\""))
            return true;
    for (size_t i = 0; id && i < size; i++) {
        size_t at = pass(text, size, i, "\"report_id\"");

        if (at && (at = pass(text, size, skip_spaces(text, size, at), ":")) &&
            (at = pass(text, size, skip_spaces(text, size, at), "\"")) && (at = pass(text, size, at, id)) &&
            pass(text, size, at, "\""))
            return true;
    }
    return false;
}

bool mire__upload_asked_ms(uint64_t *wait_ms_out, const char *retry_after, const char *date, uint64_t now_ms)
{
    uint64_t at_ms, then_ms, wait_ms;

    if (!isdigit((unsigned char)*retry_after) && parse_date(&then_ms, date, now_ms))
        now_ms = then_ms;
    if (!mire__upload_parse_retry_after(&at_ms, retry_after, now_ms))
        return false;
    wait_ms = at_ms > now_ms ? at_ms - now_ms : 0;
    *wait_ms_out = wait_ms < PATIENCE_MS ? wait_ms : PATIENCE_MS;
    return true;
}

uint64_t mire__upload_left_ms(uint64_t until_ms, uint64_t said_ms, uint64_t now_ms)
{
    uint64_t most_ms = until_ms > said_ms ? until_ms - said_ms : 0;
    uint64_t left_ms = until_ms > now_ms ? until_ms - now_ms : 0;

    if (most_ms > PATIENCE_MS)
        most_ms = PATIENCE_MS;
    return left_ms < most_ms ? left_ms : most_ms;
}

uint64_t mire__upload_backoff_ms(uint32_t failures, uint32_t first_ms, uint32_t limit_ms, uint32_t random)
{
    uint32_t doublings = failures > 0 ? failures - 1 : 0;
    uint64_t wait = (uint64_t)first_ms << (doublings < DOUBLINGS ? doublings : DOUBLINGS);

    if (wait > limit_ms)
        wait = limit_ms;
    return wait / 2 + (wait - wait / 2) * (uint64_t)random / UINT32_MAX;
}

bool mire__upload_on_metered(uint64_t bytes, uint32_t value)
{
    return bytes <= MIRE_METERED_BYTES || value >= MIRE_VALUE_DEATH;
}

void mire__upload_clock(char *line, size_t cap, uint64_t wall_ms)
{
    snprintf(line, cap, MIRE_CLOCK_HEADER ": %" PRIu64, wall_ms);
}
