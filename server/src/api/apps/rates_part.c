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
