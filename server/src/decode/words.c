/*
 * words.c - times, amounts and names, as other programs write them.
 */
#include "decode/apple.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Days since 1970-01-01 of a day of the Gregorian calendar. Source: H. Hinnant, chrono-compatible date algorithms. */
static int64_t days_of(int64_t year, unsigned month, unsigned day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    unsigned of_era = (unsigned)(year - era * 400);
    unsigned of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return era * 146097 + (int64_t)(of_era * 365 + of_era / 4 - of_era / 100 + of_year) - 719468;
}

/* `digits` digits at *p, after `before` if that is not 0; -1: they are not there. */
static int take_digits(const char **p, int digits, char before)
{
    const char *at = *p;
    int value = 0;
    if (before && *at++ != before)
        return -1;
    for (int i = 0; i < digits; i++, at++) {
        if (*at < '0' || *at > '9')
            return -1;
        value = value * 10 + (*at - '0');
    }
    *p = at;
    return value;
}

/* ".123456" to milliseconds. */
static int take_fraction(const char **p)
{
    int value = 0, scale = 100;
    if (**p != '.' && **p != ',')
        return 0;
    for ((*p)++; **p >= '0' && **p <= '9'; (*p)++, scale /= 10)
        value += (**p - '0') * scale;
    return value;
}

/* "+0000", "-05:00", " +0000", "Z" or nothing: minutes east. */
static int take_zone(const char *p)
{
    while (*p == ' ')
        p++;
    if (*p != '+' && *p != '-')
        return 0;
    int sign = *p++ == '-' ? -1 : 1;
    int hours = take_digits(&p, 2, 0);
    int minutes = take_digits(&p, 2, *p == ':' ? ':' : 0);
    if (hours < 0)
        return 0;
    return sign * (hours * 60 + (minutes < 0 ? 0 : minutes));
}

struct fact read_time(const char *text)
{
    const char *p = text;
    int year = take_digits(&p, 4, 0), month = take_digits(&p, 2, '-'), day = take_digits(&p, 2, '-');
    if (year < 1970 || month < 1 || month > 12 || day < 1 || day > 31)
        return (struct fact){0};
    int64_t ms = days_of(year, (unsigned)month, (unsigned)day) * 86400000;
    if (*p == 'T' || *p == ' ') {
        p++;
        int hour = take_digits(&p, 2, 0), minute = take_digits(&p, 2, ':'), second = take_digits(&p, 2, ':');
        if (hour < 0 || minute < 0)
            return (struct fact){0};
        ms += (hour * 3600 + minute * 60 + (second < 0 ? 0 : second)) * (int64_t)1000;
        ms += take_fraction(&p);
        ms -= take_zone(p) * (int64_t)60000;
    }
    return ms < 0 ? (struct fact){0} : (struct fact){(uint64_t)ms, true};
}

/* The factor of a unit, to milliseconds or bytes; 0: no unit that is known. */
static double factor_of(const char *unit)
{
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"sec", 1000},  {"s", 1000},   {"ms", 1},        {"min", 60000}, {"m", 60000},       {"hour", 3600000},
                 {"h", 3600000}, {"us", 0.001}, {"ns", 1e-6},     {"byte", 1},    {"b", 1},           {"kb", 1000},
                 {"kib", 1024},  {"mb", 1e6},   {"mib", 1048576}, {"gb", 1e9},    {"gib", 1073741824}};
    char word[16];
    size_t len = 0;
    while (*unit == ' ' || *unit == '\xc2' || *unit == '\xa0')
        unit++;
    while (isalpha((unsigned char)*unit) && len < sizeof word - 1)
        word[len++] = (char)tolower((unsigned char)*unit++);
    word[len] = '\0';
    if (len > 2 && word[len - 1] == 's')
        word[len - 1] = '\0'; /* secs, bytes, mins */
    if (!word[0])
        return 1;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(word, units[i].name))
            return units[i].factor;
    return 0;
}

/* Does a comma, point or space at p part thousands? */
static bool parts_thousands(const char *p)
{
    return isdigit((unsigned char)p[1]) && isdigit((unsigned char)p[2]) && isdigit((unsigned char)p[3]) &&
           !isdigit((unsigned char)p[4]);
}

struct fact read_amount(const char *text)
{
    const char *p = text;
    double value = 0, scale = 0;
    while (*p == ' ')
        p++;
    if (!isdigit((unsigned char)*p))
        return (struct fact){0};
    for (; isdigit((unsigned char)*p) || *p == ',' || *p == '.'; p++) {
        if (*p == ',' && parts_thousands(p) && scale == 0)
            continue;
        if (!isdigit((unsigned char)*p)) {
            if (scale != 0)
                return (struct fact){0};
            scale = 1;
        } else if (scale == 0) {
            value = value * 10 + (*p - '0');
        } else {
            scale /= 10;
            value += scale * (*p - '0');
        }
    }
    double amount = value * factor_of(p) + 0.5;
    return factor_of(p) > 0 && amount < 1.8e19 ? (struct fact){(uint64_t)amount, true} : (struct fact){0};
}

static const char *in_small_letters(struct build *b, const char *name)
{
    char word[64];
    size_t len = 0;
    for (; name[len] && len < sizeof word - 1; len++)
        word[len] = (char)tolower((unsigned char)name[len]);
    return build_text(b, word, len);
}

const char *os_word(struct build *b, const char *name)
{
    static const char *const words[][2] = {{"iphone os", "ios"},   {"ipados", "ios"},    {"ipad os", "ios"},
                                           {"mac os x", "macos"},  {"os x", "macos"},    {"mac os", "macos"},
                                           {"apple tvos", "tvos"}, {"xros", "visionos"}, {"darwin", "macos"}};
    const char *small = in_small_letters(b, name);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(small, words[i][0]))
            return words[i][1];
    return small;
}

const char *arch_word(struct build *b, const char *name)
{
    static const char *const words[][2] = {{"arm64", "aarch64"},  {"arm64e", "aarch64"}, {"arm64-v8a", "aarch64"},
                                           {"arm-64", "aarch64"}, {"x86-64", "x86_64"},  {"amd64", "x86_64"},
                                           {"x86_64h", "x86_64"}, {"i386", "x86"},       {"i686", "x86"},
                                           {"armv7", "arm"},      {"armv7s", "arm"},     {"armv7k", "arm"},
                                           {"armeabi-v7a", "arm"}};
    const char *small = in_small_letters(b, name);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(small, words[i][0]))
            return words[i][1];
    return small;
}

const char *memory_class(struct build *b, struct fact memory_bytes)
{
    uint64_t gib = UINT64_C(1) << 30;
    if (!memory_bytes.known || !memory_bytes.value)
        return "";
    if (memory_bytes.value < gib * 3 / 4)
        return "512mb";
    return build_printf(b, "%" PRIu64 "gb", (memory_bytes.value + gib / 2) / gib);
}
