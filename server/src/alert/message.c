/* message.c - see message.h. */
#include "alert/message.h"

#include "base/fault.h"
#include "rows/alert.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DAY_S  86400
#define HOUR_S 3600
#define US     1000000ll
#define SHOWN  14 /* days of the page that a message leads to */

struct number {
    char text[48];
};

/* "11,300": whole, in threes. */
static struct number whole(double value)
{
    struct number out;
    char plain[32];
    size_t len = (size_t)snprintf(plain, sizeof plain, "%.0f", fmin(value, 1e15)), at = 0;

    for (size_t i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0 && plain[i - 1] != '-')
            out.text[at++] = ',';
        out.text[at++] = plain[i];
    }
    out.text[at] = '\0';
    return out;
}

/* Digits that the interval supports: its width has two of them. */
static int digits_of(double low, double high)
{
    double width = high - low;
    int digits = width > 0 ? (int)ceil(1 - log10(width)) : 2;

    if (digits < 0)
        return 0;
    return digits > 4 ? 4 : digits;
}

static struct number real(double value, int digits)
{
    struct number out;

    if (digits == 0)
        return whole(value);
    snprintf(out.text, sizeof out.text, "%.*f", digits, value);
    return out;
}

static struct number plain(double value)
{
    struct number out;

    snprintf(out.text, sizeof out.text, "%.6g", value);
    return out;
}

static const struct {
    const char *of; /* "Sessions with a hang" */
    const char *unit;
} measures[ALERT_MEASURES] = {
    [ALERT_LAG] = {"Sessions with a hang", " %"},          [ALERT_HANG_TIME] = {"Hang time per hour", " s"},
    [ALERT_FOOM] = {"Runs ended by lack of memory", " %"}, [ALERT_KILLED] = {"Runs killed while hung", " %"},
    [ALERT_CRASH] = {"Runs ended by a crash", " %"},
};

static const char *rate_text(struct arena *arena, const struct alert_rule *rule, const struct alert_point *p)
{
    int digits = digits_of(p->rate.low, p->rate.high);
    const char *unit = measures[rule->measure].unit;
    const char *of = *p->subject ? arena_printf(arena, " of %s", p->subject) : "";
    const char *bound = rule->against_week ? arena_printf(arena, "%s times the %s%s of the seven days before",
                                                          plain(rule->bound).text, real(p->usual, digits).text, unit)
                                           : arena_printf(arena, "%s%s", plain(rule->bound).text, unit);

    if (!of || !bound)
        return NULL;
    return arena_printf(arena, "%s%s: %s%s (%s to %s), bound %s.", measures[rule->measure].of, of,
                        real(p->rate.value, digits).text, unit, real(p->rate.low, digits).text,
                        real(p->rate.high, digits).text, bound);
}

const char *alert_verdict_text(struct arena *arena, const struct alert_rule *rule, const struct alert_point *point)
{
    const struct rate *r = &point->rate;
    const char *title = point->title ? point->title : point->subject;
    int hours = rule->window_s / HOUR_S;

    switch (rule->kind) {
    case ALERT_RATE:
        return rate_text(arena, rule, point);
    case ALERT_NEW:
        return arena_printf(arena, "New issue %s: on %s devices (%s to %s), bound %s.", title, whole(r->value).text,
                            whole(r->low).text, whole(r->high).text, whole(rule->bound).text);
    case ALERT_GROWTH:
        return arena_printf(arena,
                            "%s: %.1f times as often as usual at this time (%.1f to %.1f), bound %s; window %d h.",
                            title, r->value, r->low, r->high, plain(rule->bound).text, hours);
    case ALERT_MISSING:
        return arena_printf(arena, "Reports that blame an address, because symbols are missing: %.1f %%, bound %s %%.",
                            r->value, plain(rule->bound).text);
    case ALERT_SILENCE:
        return arena_printf(arena, "Reports of the last %d h: %.0f %% of the usual %s, bound %s %%.", hours, r->value,
                            whole(point->usual).text, plain(rule->bound).text);
    case ALERT_QUOTA:
        return arena_printf(arena, "The budget of %s of the day: %.0f %% used, bound %s %%.", title, r->value,
                            plain(rule->bound).text);
    case ALERT_REGRESSED:
        return arena_printf(arena, "Came back: %s.", title);
    case ALERT_GUARD:
    case ALERT_KINDS:
        break;
    }
    return arena_printf(arena, "The guard of a ramp tripped: %s.", title);
}

/* Escape the characters that a query may not have, because an app chooses its versions' names. */
static const char *escaped(struct arena *arena, const char *text)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    size_t room = 3 * strlen(text) + 1, len = 0;
    char *out = arena_alloc(arena, room);

    for (; out && *text; text++)
        len += (size_t)snprintf(out + len, room - len, strchr(safe, *text) ? "%c" : "%%%02X", (unsigned char)*text);
    return out;
}

static const char *range_text(struct arena *arena, int64_t now_us)
{
    time_t to = (time_t)(now_us / US / DAY_S * DAY_S + DAY_S), from = to - (time_t)SHOWN * DAY_S;
    struct tm a, b;
    char text[64];

    gmtime_r(&from, &a);
    gmtime_r(&to, &b);
    snprintf(text, sizeof text, "%04d-%02d-%02dT00Z..%04d-%02d-%02dT00Z", a.tm_year + 1900, a.tm_mon + 1, a.tm_mday,
             b.tm_year + 1900, b.tm_mon + 1, b.tm_mday);
    return arena_strdup(arena, text);
}

const char *alert_page_path(struct arena *arena, const struct alert_rule *rule, const struct alert_point *point,
                            const char *slug, int64_t now_us)
{
    const char *range = range_text(arena, now_us);
    const char *version = *point->subject ? escaped(arena, point->subject) : "";
    bool memory = point->title && point->title[0] == 'M';

    if (!range || !version)
        return NULL;
    switch (rule->kind) {
    case ALERT_RATE:
        return arena_printf(arena, "/%s?t=%s%s%s", slug, range, *version ? "&v=" : "", version);
    case ALERT_NEW:
    case ALERT_GROWTH:
    case ALERT_REGRESSED:
        return arena_printf(arena, "/%s/%s/%c-%s?t=%s", slug, memory ? "memory" : "issues", memory ? 'M' : 'I',
                            point->subject, range);
    case ALERT_GUARD:
        return arena_printf(arena, "/%s/alerts", slug);
    case ALERT_QUOTA:
        return arena_printf(arena, "/%s/settings/reports", slug);
    case ALERT_MISSING:
        return arena_printf(arena, "/%s/symbols?t=%s", slug, range);
    default:
        return arena_printf(arena, "/%s?t=%s", slug, range);
    }
}

int alert_text_of(struct alert_text *out, struct arena *arena, const struct alert_row *alert, const char *rule,
                  enum alert_kind kind, const char *slug, const char *occasion)
{
    static const struct {
        const char *occasion, *before;
    } words[] = {{"fired", ""}, {"again", "Still: "}, {"escalated", "Nobody acknowledged: "}, {"over", "Over: "}};
    const char *before = "";

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i].occasion, occasion))
            before = words[i].before;
    *out = (struct alert_text){.occasion = occasion,
                               .app = slug,
                               .rule = rule,
                               .kind = alert_kind_name(kind),
                               .alert = alert->alert,
                               .subject = alert->subject,
                               .title = arena_printf(arena, "%s: %s%s", slug, before, rule),
                               .verdict = alert->verdict,
                               .spark = alert->spark,
                               .value = alert->value,
                               .low = alert->low,
                               .high = alert->high,
                               .bound = alert->bound};
    return out->title ? 0 : MIRE_FAULT_MEMORY;
}

/* --- acknowledging by a link --- */

static void sign(char out[MIRE_BASE64_TEXT(MIRE_SHA256)], const uint8_t key[32], const char *text, size_t len)
{
    uint8_t mac[MIRE_SHA256];

    hash_hmac_sha256(mac, key, 32, text, len);
    base64_format(out, mac, sizeof mac, MIRE_BASE64_URL);
}

void alert_ack_token(char out[MIRE_ACK_TOKEN], const uint8_t key[32], int64_t alert, int64_t channel, int64_t expires_s)
{
    char mac[MIRE_BASE64_TEXT(MIRE_SHA256)];
    size_t len = (size_t)snprintf(out, MIRE_ACK_TOKEN, "%" PRId64 ".%" PRId64 ".%" PRId64, alert, channel, expires_s);

    sign(mac, key, out, len);
    snprintf(out + len, MIRE_ACK_TOKEN - len, ".%s", mac);
}

bool alert_ack_read(int64_t *alert, int64_t *channel, int64_t *expires_s, const char *token)
{
    int end = 0;

    return strlen(token) < MIRE_ACK_TOKEN &&
           sscanf(token, "%" SCNd64 ".%" SCNd64 ".%" SCNd64 ".%n", alert, channel, expires_s, &end) == 3 && end &&
           *alert > 0;
}

bool alert_ack_is_good(const char *token, const uint8_t key[32], int64_t now_s)
{
    char right[MIRE_ACK_TOKEN];
    int64_t alert, channel, expires_s;

    if (!alert_ack_read(&alert, &channel, &expires_s, token) || expires_s < now_s)
        return false;
    alert_ack_token(right, key, alert, channel, expires_s);
    return strlen(token) == strlen(right) && secret_equals(token, right, strlen(right));
}
