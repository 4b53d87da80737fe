/*
 * due.c - see due.h.
 */
#include "core/due.h"

enum { BY_FOOTPRINT, BY_PRESSURE };

#define NEAR_LIMIT_PARTS 20u /* near the limit: less than this part of it is left */

static bool is_pressed(const struct trail_row *row, const struct capture_settings *settings)
{
    uint32_t limit_ppm = settings->pressure_ppm;

    if (limit_ppm == 0)
        return false;
    return row->pressure_ppm >= limit_ppm ||
           (row->limit_bytes > 0 && row->used_bytes >= row->limit_bytes - row->limit_bytes / NEAR_LIMIT_PARTS);
}

static uint64_t threshold_bytes(const struct capture_settings *settings)
{
    return (uint64_t)settings->footprint_kib << 10;
}

static bool is_beyond(const struct trail_row *row, const struct capture_settings *settings)
{
    return settings->footprint_kib > 0 && row->footprint_bytes >= threshold_bytes(settings);
}

/* Limits the number of reports. */
static bool may(struct due *due, int trouble, uint64_t now_ns)
{
    uint64_t last_ns = due->trouble_ns[trouble];

    if (due->trouble_count >= MIRE_DUE_RUN_MAX || (last_ns != 0 && now_ns - last_ns < MIRE_DUE_REST_NS))
        return false;
    due->trouble_ns[trouble] = now_ns;
    due->trouble_count++;
    return true;
}

/* Has the footprint grown by a quarter since the last report? */
static bool has_grown(const struct due *due, const struct trail_row *row)
{
    return row->footprint_bytes >= due->footprint_bytes + due->footprint_bytes / 4;
}

static bool baseline_is_due(struct due *due, uint64_t now_ns, const struct capture_settings *settings)
{
    uint64_t first_ns = settings->baseline_ms * MIRE_NS_PER_MS;

    if (first_ns == 0)
        return false;
    if (due->wait_ns == 0) {
        due->wait_ns = first_ns;
        due->baseline_ns = due->start_ns;
    }
    if (now_ns - due->baseline_ns < due->wait_ns)
        return false;
    due->baseline_ns = now_ns;
    due->wait_ns *= 2;
    return true;
}

static enum memory_due decide(struct due *due, const struct trail_row *row, uint64_t now_ns,
                              const struct capture_settings *settings)
{
    bool pressed = is_pressed(row, settings), beyond = is_beyond(row, settings);

    if (pressed && may(due, BY_PRESSURE, now_ns))
        return MIRE_DUE_PRESSURE;
    if (beyond && has_grown(due, row) && may(due, BY_FOOTPRINT, now_ns)) {
        due->footprint_bytes = row->footprint_bytes;
        return MIRE_DUE_FOOTPRINT;
    }
    if (!pressed && !beyond && baseline_is_due(due, now_ns, settings))
        return MIRE_DUE_BASELINE;
    if (settings->snapshot_ms > 0 && now_ns - due->snapshot_ns >= settings->snapshot_ms * MIRE_NS_PER_MS)
        return MIRE_DUE_SNAPSHOT;
    return MIRE_DUE_NOTHING;
}

enum memory_due mire__due(struct due *due, const struct trail_row *row, uint64_t now_ns,
                          const struct capture_settings *settings)
{
    enum memory_due what;

    if (due->snapshot_ns == 0)
        due->snapshot_ns = due->start_ns;
    what = decide(due, row, now_ns, settings);
    if (what != MIRE_DUE_NOTHING)
        due->snapshot_ns = now_ns;
    return what;
}

void mire__due_reported(struct due *due, uint64_t now_ns)
{
    due->snapshot_ns = now_ns;
}

const char *mire__due_trigger(enum memory_due what)
{
    static const char *const names[] = {
        [MIRE_DUE_BASELINE] = "baseline", [MIRE_DUE_FOOTPRINT] = "footprint", [MIRE_DUE_PRESSURE] = "pressure"};

    return (size_t)what < MIRE_COUNT(names) ? names[what] : NULL;
}
