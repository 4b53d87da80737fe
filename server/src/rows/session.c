/* session.c - the statements behind session.h. */
#include "rows/session.h"

#include <string.h>

/* A number that is below 0 where the device does not tell it. */
#define PG_KNOWN(value) ((value) >= 0 ? PG_INT8(value) : PG_NULL())

int rows_sessions_store(struct pg_tx *tx, const struct session_row *sessions, size_t count)
{
    MIRE_SCOPED(pg_copy_fini) struct pg_copy copy = {0};

    for (size_t i = 0; i < count; i++) {
        const struct session_row *s = &sessions[i];
        struct uuid id;
        memcpy(id.bytes, s->key.report_id, sizeof id.bytes);
        pg_copy(&copy, PG_INT2(s->key.slot), PG_DAY(s->key.day), PG_UUID(&id), PG_INT4(s->app_id),
                PG_INT8(s->version_id), PG_TIME(s->received_us), PG_TIME(s->occurred_us),
                PG_BYTES(s->install, sizeof s->install), PG_TEXT(s->channel), PG_INT2(s->plugins),
                PG_INT4((int32_t)s->part), PG_BOOL(s->over), PG_INT8(s->duration_ms), PG_KNOWN(s->foreground_ms),
                PG_INT8(s->hangs), PG_INT8(s->hang_ms), PG_INT8(s->sdk_cpu_us), PG_REAL(s->weight), PG_BOOL(s->loop),
                PG_REAL(s->watched_weight), PG_TEXT(s->os), PG_TEXT(s->os_version), PG_TEXT(s->arch), PG_TEXT(s->model),
                PG_TEXT(s->process_name), PG_TEXT(s->device_class), PG_INT4(s->ends), PG_INT4(s->fooms),
                PG_INT4(s->watchdogs), PG_INT4(s->crashes), PG_TEXT(s->country), PG_KNOWN(s->cpu_ms),
                PG_KNOWN(s->footprint_peak_bytes), PG_KNOWN(s->launch_ms), PG_KNOWN(s->frames_drawn),
                PG_KNOWN(s->frames_dropped));
    }
    return pg_copy_end(
        tx,
        "COPY session (slot, day, report_id, app_id, version_id, received_at, occurred_at, install,"
        " channel, plugins, part, over, duration_ms, foreground_ms, hangs, hang_ms, sdk_cpu_us, weight,"
        " loop, watched, os, os_version, arch, model, process_name, device_class, ends, fooms, watchdogs, crashes,"
        " country, cpu_ms, footprint_peak_bytes, launch_ms, frames_drawn, frames_dropped)"
        " FROM STDIN BINARY",
        &copy);
}

/* The key of a counter of sessions, column by column. */
struct session_keys {
    int16_t *slots, *plugins;
    int32_t *days;
    int64_t *versions;
    const char **channels;
};

static bool make_keys(struct session_keys *out, struct arena *arena, size_t count)
{
    *out = (struct session_keys){
        arena_array(arena, count + 1, sizeof(int16_t)), arena_array(arena, count + 1, sizeof(int16_t)),
        arena_array(arena, count + 1, sizeof(int32_t)), arena_array(arena, count + 1, sizeof(int64_t)),
        arena_array(arena, count + 1, sizeof(char *))};
    return out->slots && out->plugins && out->days && out->versions && out->channels;
}

static void fill_key(struct session_keys *out, size_t i, const struct session_row *s)
{
    out->slots[i] = rows_slot(s->app_id, s->version_id);
    out->days[i] = s->occurred_day;
    out->versions[i] = s->version_id;
    out->channels[i] = s->channel;
    out->plugins[i] = s->plugins;
}

/* The amounts of a record, in the order of the columns of session_day from records on. */
enum { SUMS = 13 };

static void fill_sums(double *sums[SUMS], size_t i, const struct session_row *s, int sign)
{
    double w = s->weight, v = s->watched_weight, t = s->time_ms, h = (double)s->hang_ms;
    const double all[SUMS] = {w,
                              w * w,
                              w * t,
                              w * (double)s->sdk_cpu_us,
                              v,
                              v * v,
                              v * t,
                              s->hangs > 0 ? v : 0,
                              v * (double)s->hangs,
                              v * h,
                              v * v * h * h,
                              v * v * h * t,
                              v * v * t * t};
    for (int k = 0; k < SUMS; k++)
        sums[k][i] = sign * all[k];
}

int rows_sessions_add(struct pg_tx *tx, struct arena *arena, const struct session_row *sessions, size_t count, int sign)
{
    double *sums[SUMS];
    struct session_keys c;

    if (!count)
        return 0;
    if (!make_keys(&c, arena, count))
        return MIRE_FAULT_MEMORY;
    for (int k = 0; k < SUMS; k++)
        if (!(sums[k] = arena_array(arena, count, sizeof(double))))
            return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++) {
        fill_key(&c, i, &sessions[i]);
        fill_sums(sums, i, &sessions[i], sign);
    }
    return pg_query(
        NULL, tx,
        "INSERT INTO session_day AS t (slot, day, app_id, version_id, channel, plugins, records, sessions, sessions_sq,"
        " time_ms, sdk_cpu_us, watched, watched_sq, watched_ms, lagging, hangs, hang_ms, hang_hang_sq, hang_time_sq,"
        " time_time_sq)"
        " SELECT slot, day, $1, version_id, channel, plugins, $20 * count(*), sum(a), sum(b), sum(c), sum(d), sum(e), "
        "sum(f),"
        " sum(g), sum(h), sum(i), sum(j), sum(k), sum(l), sum(m)"
        " FROM unnest($2::smallint[], $3::date[], $4::bigint[], $5::text[], $6::smallint[], $7::float8[], $8::float8[],"
        " $9::float8[], $10::float8[], $11::float8[], $12::float8[], $13::float8[], $14::float8[], $15::float8[],"
        " $16::float8[], $17::float8[], $18::float8[], $19::float8[])"
        " u (slot, day, version_id, channel, plugins, a, b, c, d, e, f, g, h, i, j, k, l, m)"
        " GROUP BY slot, day, version_id, channel, plugins ORDER BY slot, day, version_id, channel, plugins"
        " ON CONFLICT (slot, day, app_id, version_id, channel, plugins) DO UPDATE SET"
        " records = t.records + EXCLUDED.records,"
        " sessions = t.sessions + EXCLUDED.sessions, sessions_sq = t.sessions_sq + EXCLUDED.sessions_sq,"
        " time_ms = t.time_ms + EXCLUDED.time_ms, sdk_cpu_us = t.sdk_cpu_us + EXCLUDED.sdk_cpu_us,"
        " watched = t.watched + EXCLUDED.watched, watched_sq = t.watched_sq + EXCLUDED.watched_sq,"
        " watched_ms = t.watched_ms + EXCLUDED.watched_ms, lagging = t.lagging + EXCLUDED.lagging,"
        " hangs = t.hangs + EXCLUDED.hangs, hang_ms = t.hang_ms + EXCLUDED.hang_ms,"
        " hang_hang_sq = t.hang_hang_sq + EXCLUDED.hang_hang_sq, hang_time_sq = t.hang_time_sq + EXCLUDED.hang_time_sq,"
        " time_time_sq = t.time_time_sq + EXCLUDED.time_time_sq",
        PG_INT4(sessions->app_id), PG_INT2S(c.slots, count), PG_DAYS(c.days, count), PG_INT8S(c.versions, count),
        PG_TEXTS(c.channels, count), PG_INT2S(c.plugins, count), PG_REALS(sums[0], count), PG_REALS(sums[1], count),
        PG_REALS(sums[2], count), PG_REALS(sums[3], count), PG_REALS(sums[4], count), PG_REALS(sums[5], count),
        PG_REALS(sums[6], count), PG_REALS(sums[7], count), PG_REALS(sums[8], count), PG_REALS(sums[9], count),
        PG_REALS(sums[10], count), PG_REALS(sums[11], count), PG_REALS(sums[12], count), PG_INT8(sign));
}

int rows_session_ends_add(struct pg_tx *tx, struct arena *arena, const struct rows_session_end *ends, size_t count,
                          int sign)
{
    const char **verdicts = arena_array(arena, count + 1, sizeof *verdicts);
    double *weighted = arena_array(arena, count + 1, sizeof *weighted);
    double *squares = arena_array(arena, count + 1, sizeof *squares);
    struct session_keys c;

    if (!count)
        return 0;
    if (!make_keys(&c, arena, count) || !verdicts || !weighted || !squares)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++) {
        double weight = ends[i].session->weight;
        fill_key(&c, i, ends[i].session);
        verdicts[i] = ends[i].verdict;
        weighted[i] = sign * ends[i].count * weight;
        squares[i] = sign * ends[i].count * weight * weight;
    }
    return pg_query(
        NULL, tx,
        "INSERT INTO session_end_day AS t (slot, day, app_id, version_id, channel, plugins, verdict, ends, ends_sq)"
        " SELECT slot, day, $1, version_id, channel, plugins, verdict, sum(ends), sum(ends_sq)"
        " FROM unnest($2::smallint[], $3::date[], $4::bigint[], $5::text[], $6::smallint[], $7::text[], $8::float8[],"
        " $9::float8[]) u (slot, day, version_id, channel, plugins, verdict, ends, ends_sq)"
        " GROUP BY slot, day, version_id, channel, plugins, verdict"
        " ORDER BY slot, day, version_id, channel, plugins, verdict"
        " ON CONFLICT (slot, day, app_id, version_id, channel, plugins, verdict)"
        " DO UPDATE SET ends = t.ends + EXCLUDED.ends, ends_sq = t.ends_sq + EXCLUDED.ends_sq",
        PG_INT4(ends->session->app_id), PG_INT2S(c.slots, count), PG_DAYS(c.days, count), PG_INT8S(c.versions, count),
        PG_TEXTS(c.channels, count), PG_INT2S(c.plugins, count), PG_TEXTS(verdicts, count), PG_REALS(weighted, count),
        PG_REALS(squares, count));
}
