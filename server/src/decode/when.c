/* when.c - see when.h. Days: Howard Hinnant, "chrono-compatible low-level date algorithms", days_from_civil. */
#include "decode/when.h"
#include "decode/lines.h"

static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    int64_t era = year / 400;
    int64_t of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* `digits` digits and what stands behind them. */
static bool take(int64_t *out, struct line_span *span, size_t digits, char behind, int64_t most)
{
    *out = 0;
    if (span->len < digits + (behind != '\0'))
        return false;
    for (size_t i = 0; i < digits; i++) {
        if (digit_of(span->at[i]) > 9)
            return false;
        *out = *out * 10 + digit_of(span->at[i]);
    }
    if (behind && span->at[digits] != behind)
        return false;
    span_skip(span, digits + (behind != '\0'));
    return *out <= most;
}

/* Milliseconds of the fraction, which is passed over. */
static int64_t take_fraction(struct line_span *span)
{
    int64_t ms = 0;
    if (!span->len || (*span->at != '.' && *span->at != ','))
        return 0;
    span_skip(span, 1);
    for (int64_t unit = 100; span->len && digit_of(*span->at) <= 9; unit /= 10) {
        ms += unit * digit_of(*span->at);
        span_skip(span, 1);
    }
    return ms;
}

/* Minutes east of UTC; false: no zone is told. */
static bool take_zone(int64_t *minutes_out, struct line_span *span)
{
    int64_t hours, minutes;
    *minutes_out = 0;
    span_trim(span);
    if (span_take(span, "Z") || span_take(span, "UTC") || span_take(span, "GMT"))
        return true;
    bool west = span_begins(span, "-");
    if (!span_take(span, "+") && !span_take(span, "-"))
        return false;
    if (!take(&hours, span, 2, '\0', 23))
        return false;
    span_take(span, ":");
    if (!take(&minutes, span, 2, '\0', 59))
        return false;
    *minutes_out = (hours * 60 + minutes) * (west ? -1 : 1);
    return true;
}

bool when_parse(uint64_t *ms_out, bool *zone_out, const char *text, size_t len)
{
    struct line_span span = {text, len};
    int64_t year, month, day, hour, minute, second, zone;
    span_trim(&span);
    if (!take(&year, &span, 4, '-', 9999) || !take(&month, &span, 2, '-', 12) || !take(&day, &span, 2, '\0', 31))
        return false;
    if (!span_take(&span, " ") && !span_take(&span, "T"))
        return false;
    if (!take(&hour, &span, 2, ':', 23) || !take(&minute, &span, 2, ':', 59) || !take(&second, &span, 2, '\0', 60))
        return false;
    int64_t ms = take_fraction(&span);
    *zone_out = take_zone(&zone, &span);
    if (!month || !day)
        return false;
    int64_t minutes = days_of(year, month, day) * 1440 + hour * 60 + minute - zone;
    ms += (minutes * 60 + second) * 1000;
    *ms_out = (uint64_t)ms;
    return ms >= 0;
}
