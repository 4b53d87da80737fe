/* rates_part.c - see rates_part.h. */
#include "api/apps/rates_part.h"

#include "model/rate.h"

#define MS_PER_HOUR 3600000.0

static void put_rate(struct json_writer *w, const char *key, struct rate rate, double scale)
{
    if (!rate.known) {
        json_write_null(w, key);
        return;
    }
    json_write_open(w, key, '{');
    json_write_real(w, "value", rate.value * scale);
    json_write_real(w, "low", rate.low * scale);
    json_write_real(w, "high", rate.high * scale);
    json_write_close(w, '}');
}

/* Shares are in percent: to three decimals they tell one in 100,000. */
void part_rates(struct json_writer *w, const struct session_sums *s)
{
    json_write_i64(w, "records", s->records);
    json_write_real(w, "sessions", s->sessions);
    json_write_real(w, "hours", s->time_ms / MS_PER_HOUR);
    json_write_real(w, "ends", s->ends);
    put_rate(w, "lag_percent", rate_share(s->lagging, s->watched, s->watched_sq), 100);
    put_rate(w, "hang_s_per_hour",
             rate_ratio(s->hang_ms, s->watched_ms, s->hang_hang_sq, s->hang_time_sq, s->time_time_sq), 3600);
    put_rate(w, "foom_percent", rate_share(s->foom, s->ends, s->ends_sq), 100);
    put_rate(w, "watchdog_percent", rate_share(s->watchdog, s->ends, s->ends_sq), 100);
    put_rate(w, "crash_percent", rate_share(s->crash, s->ends, s->ends_sq), 100);
    if (s->time_ms > 0)
        json_write_real(w, "sdk_cpu_percent", s->sdk_cpu_us / 10 / s->time_ms);
    else
        json_write_null(w, "sdk_cpu_percent");
}

/*
 * The share of user days that are in a group, of those that are in the group `of`. Days of one installation belong
 * together: as many are independent as there are installations.
 */
static struct rate share_of_days(const struct session_all *all, enum session_group group, enum session_group of)
{
    double days = all->group_days[of], devices = distinct_count(&all->devices[of]);

    return devices > 0 ? rate_share(all->group_days[group], days, days * days / devices) : (struct rate){0};
}

void part_users(struct json_writer *w, const struct cell_sums *sums)
{
    const struct session_all *all = sums ? sums->sessions : NULL;

    if (!all || !(all->user_days > 0)) {
        json_write_null(w, "users");
        return;
    }
    json_write_open(w, "users", '{');
    json_write_real(w, "devices", distinct_count(&sums->devices) * sums->weight / (double)sums->reports);
    json_write_real(w, "days", all->user_days);
    json_write_real(w, "sessions_per_day", sums->weight / all->user_days);
    put_rate(w, "lag_percent", share_of_days(all, MIRE_GROUP_LAGGING, MIRE_GROUP_WATCHED), 100);
    put_rate(w, "foom_percent", share_of_days(all, MIRE_GROUP_FOOM, MIRE_GROUP_ENDED), 100);
    put_rate(w, "watchdog_percent", share_of_days(all, MIRE_GROUP_WATCHDOG, MIRE_GROUP_ENDED), 100);
    put_rate(w, "crash_percent", share_of_days(all, MIRE_GROUP_CRASH, MIRE_GROUP_ENDED), 100);
    json_write_close(w, '}');
}

static void put_spread(struct json_writer *w, const char *key, const struct sketch *spread, double scale)
{
    static const unsigned percents[] = {50, 90, 95, 99};
    static const char *const names[] = {"p50", "p90", "p95", "p99"};
    uint64_t sessions = 0;

    for (size_t i = 0; i < spread->count; i++)
        sessions += spread->bins[i].weight;
    if (!sessions) {
        json_write_null(w, key);
        return;
    }
    json_write_open(w, key, '{');
    json_write_real(w, "sessions", (double)sessions);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        json_write_real(w, names[i], (double)sketch_quantile(spread, sessions, percents[i]) * scale);
    json_write_close(w, '}');
}

void part_spreads(struct json_writer *w, const struct cell_sums *sums)
{
    const struct sketch *spreads = sums && sums->sessions ? sums->sessions->spreads : NULL;

    if (!spreads) {
        json_write_null(w, "spreads");
        return;
    }
    json_write_open(w, "spreads", '{');
    put_spread(w, "footprint_peak_bytes", &spreads[MIRE_SPREAD_FOOTPRINT], 1);
    put_spread(w, "launch_ms", &spreads[MIRE_SPREAD_LAUNCH], 1);
    put_spread(w, "cpu_percent", &spreads[MIRE_SPREAD_CPU], 0.01);
    put_spread(w, "dropped_percent", &spreads[MIRE_SPREAD_DROPPED], 0.01);
    json_write_close(w, '}');
}

void part_session_sums(struct session_sums *out, const struct cell_sums *sums)
{
    const double *of = sums->sessions->sums;

    *out = (struct session_sums){.records = (int64_t)sums->reports,
                                 .sessions = sums->weight,
                                 .sessions_sq = of[MIRE_SESSION_SESSIONS_SQ],
                                 .time_ms = of[MIRE_SESSION_TIME_MS],
                                 .sdk_cpu_us = of[MIRE_SESSION_SDK_CPU_US],
                                 .watched = of[MIRE_SESSION_WATCHED],
                                 .watched_sq = of[MIRE_SESSION_WATCHED_SQ],
                                 .watched_ms = of[MIRE_SESSION_WATCHED_MS],
                                 .lagging = of[MIRE_SESSION_LAGGING],
                                 .hangs = of[MIRE_SESSION_HANGS],
                                 .hang_ms = of[MIRE_SESSION_HANG_MS],
                                 .hang_hang_sq = of[MIRE_SESSION_HANG_HANG_SQ],
                                 .hang_time_sq = of[MIRE_SESSION_HANG_TIME_SQ],
                                 .time_time_sq = of[MIRE_SESSION_TIME_TIME_SQ],
                                 .ends = of[MIRE_SESSION_ENDS],
                                 .ends_sq = of[MIRE_SESSION_ENDS_SQ],
                                 .foom = of[MIRE_SESSION_FOOM],
                                 .watchdog = of[MIRE_SESSION_WATCHDOG],
                                 .crash = of[MIRE_SESSION_CRASH]};
}
