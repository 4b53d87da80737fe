/* alert.c - see alert.h. */
#include "model/alert.h"
#include "model/change.h"

#include <math.h>
#include <string.h>

#define Z           1.959964 /* 95 % of the normal distribution, both sides */
#define HOUR_S      3600
#define DAY_S       86400
#define US          1000000
#define SPARK_STEPS 8

static const struct {
    const char *name;
    bool is_below; /* the condition holds below the bound */
    struct alert_limits limits;
} kinds[ALERT_KINDS] = {
    [ALERT_RATE] = {"rate", false, {0.001, 1e6, DAY_S, DAY_S, DAY_S}},
    [ALERT_NEW] = {"new", false, {1, 1e9, DAY_S, 30 * DAY_S, 7 * DAY_S}},
    [ALERT_GROWTH] = {"growth", false, {1.1, 1e6, HOUR_S, DAY_S, HOUR_S}},
    [ALERT_MISSING] = {"missing", false, {0.1, 100, DAY_S, DAY_S, DAY_S}},
    [ALERT_SILENCE] = {"silence", true, {0.1, 90, HOUR_S, DAY_S, HOUR_S}},
    [ALERT_GUARD] = {"guard", false, {0, 1, 0, 0, 0}},
    [ALERT_REGRESSED] = {"regressed", false, {0, 1, 0, 0, 0}},
    [ALERT_QUOTA] = {"quota", false, {1, 1e6, DAY_S, DAY_S, DAY_S}},
};

static const char *const measures[ALERT_MEASURES] = {"lag", "hang_time", "foom", "killed", "crash"};

bool alert_is_fact(enum alert_kind kind)
{
    return kind == ALERT_GUARD || kind == ALERT_REGRESSED;
}

const char *alert_kind_name(enum alert_kind kind)
{
    return kinds[kind].name;
}

enum alert_kind alert_kind_parse(const char *name)
{
    int kind = 0;
    while (kind < ALERT_KINDS && strcmp(kinds[kind].name, name) != 0)
        kind++;
    return (enum alert_kind)kind;
}

const char *alert_measure_name(enum alert_measure measure)
{
    return measures[measure];
}

enum alert_measure alert_measure_parse(const char *name)
{
    int measure = 0;
    while (measure < ALERT_MEASURES && strcmp(measures[measure], name) != 0)
        measure++;
    return (enum alert_measure)measure;
}

const struct alert_limits *alert_limits(enum alert_kind kind)
{
    return &kinds[kind].limits;
}

enum alert_verdict alert_judge(enum alert_kind kind, const struct alert_point *point)
{
    const struct rate *rate = &point->rate;

    if (!rate->known || (!alert_is_fact(kind) && !(point->bound > 0)))
        return ALERT_UNKNOWN;

    bool is_below = kinds[kind].is_below;
    bool holds = is_below ? rate->high < point->bound : rate->low > point->bound;
    bool is_clear = is_below ? rate->low >= point->bound : rate->high <= point->bound;

    if (holds)
        return ALERT_HOLDS;
    return is_clear ? ALERT_CLEAR : ALERT_UNKNOWN;
}

/* The message that a firing alert sends now. */
static unsigned notify(struct alert_state *state, const struct alert_rule *rule, int64_t now_us)
{
    bool acked = state->acked_us != 0;
    unsigned due = 0;

    if (!state->notified_us) {
        due |= acked ? 0 : ALERT_NOTIFY_FIRED;
    } else if (!acked && rule->repeat_s && now_us - state->notified_us >= (int64_t)rule->repeat_s * US) {
        due |= ALERT_NOTIFY_AGAIN;
    }
    if (!acked && rule->escalate_s && !state->escalated_us &&
        now_us - state->fired_us >= (int64_t)rule->escalate_s * US)
        due |= ALERT_NOTIFY_ESCALATED;
    if (due & (ALERT_NOTIFY_FIRED | ALERT_NOTIFY_AGAIN))
        state->notified_us = now_us;
    if (due & ALERT_NOTIFY_ESCALATED)
        state->escalated_us = now_us;
    return due;
}

unsigned alert_step(struct alert_state *state, const struct alert_rule *rule, enum alert_verdict verdict, bool is_mute,
                    int64_t now_us)
{
    if (state->over_us)
        return 0;
    if (!state->began_us) {
        if (verdict != ALERT_HOLDS)
            return 0;
        state->began_us = now_us;
    }
    if (verdict == ALERT_CLEAR) {
        state->over_us = now_us;
        return state->notified_us || state->escalated_us ? ALERT_NOTIFY_OVER : 0;
    }
    if (!state->fired_us) {
        if (now_us - state->began_us < (int64_t)rule->hold_s * US)
            return 0;
        state->fired_us = now_us;
    }
    return is_mute ? 0 : notify(state, rule, now_us);
}

bool alert_is_quiet(const struct alert_rule *rule, int minute)
{
    if (rule->quiet_from < 0 || rule->quiet_from == rule->quiet_to)
        return false;
    if (rule->quiet_from < rule->quiet_to)
        return minute >= rule->quiet_from && minute < rule->quiet_to;
    return minute >= rule->quiet_from || minute < rule->quiet_to;
}

size_t alert_replay(bool *fired, enum alert_kind kind, const struct alert_point *points, size_t count)
{
    bool holds = false;
    size_t times = 0;

    for (size_t i = 0; i < count; i++) {
        enum alert_verdict verdict = alert_judge(kind, &points[i]);
        fired[i] = !holds && verdict == ALERT_HOLDS;
        times += fired[i];
        holds = verdict == ALERT_HOLDS || (holds && verdict == ALERT_UNKNOWN);
    }
    return times;
}

/* Quantile of the gamma distribution of shape `n`: by halving, from the Poisson sum, or the normal beyond its reach. */
static double gamma_quantile(double n, double share)
{
    double low = 0, high = n + 10 * sqrt(n + 1) + 10;

    for (int step = 0; step < 60; step++) {
        double mid = (low + high) / 2, term = exp(-mid), sum = 0;
        for (int k = 0; k < (int)n; k++) { /* P(X < n) of a Poisson count with mean mid */
            sum += term;
            term *= mid / (k + 1);
        }
        if (1 - sum < share)
            low = mid;
        else
            high = mid;
    }
    return (low + high) / 2;
}

struct rate alert_count(double count)
{
    struct rate rate = {.known = true, .value = count};

    if (count < 100) {
        rate.low = count >= 1 ? gamma_quantile(floor(count), 0.025) : 0;
        rate.high = gamma_quantile(floor(count) + 1, 0.975);
    } else { /* the square root of a Poisson count has the variance 1/4 */
        rate.low = pow(sqrt(count) - Z / 2, 2);
        rate.high = pow(sqrt(count + 1) + Z / 2, 2);
    }
    return rate;
}

struct rate alert_devices(double sum, double variance, double seen)
{
    double wide = Z * sqrt(fmax(variance, 0));

    return (struct rate){.known = true, .value = sum, .low = fmax(sum - wide, seen), .high = sum + wide};
}

struct rate alert_growth(double now, double before, double times)
{
    struct rate_change change = {.before = {.hits = before, .hits_sq = before, .sessions = times},
                                 .after = {.hits = now, .hits_sq = now, .sessions = 1}};

    if (!(now + before > 0))
        return (struct rate){0};
    change_compare(&change);
    return (struct rate){.known = true,
                         .value = isfinite(change.ratio) ? change.ratio : now * times,
                         .low = change.low,
                         .high = isfinite(change.high) ? change.high : 1e9};
}

void alert_spark(char out[MIRE_SPARK_BYTES], const double *values, size_t count)
{
    double most = 0;
    char *at = out;

    if (count > MIRE_SPARK_PARTS) {
        values += count - MIRE_SPARK_PARTS;
        count = MIRE_SPARK_PARTS;
    }
    for (size_t i = 0; i < count; i++)
        most = fmax(most, values[i]);
    for (size_t i = 0; i < count; i++) {
        int step = most > 0 ? (int)(values[i] / most * (SPARK_STEPS - 1) + 0.5) : 0;
        if (values[i] < 0) {
            *at++ = ' ';
            continue;
        }
        *at++ = (char)0xe2;
        *at++ = (char)0x96;
        *at++ = (char)(0x81 + step);
    }
    *at = '\0';
}
