/* write_session.c - a session record, as the decoders of ApplicationExitInfo and of MetricKit make it. */
#include "decode/write_inside.h"

#include "wire/limits.h"
#include "wire/plugin.h"

static void write_on(struct json_writer *w, const struct report_session *session)
{
    json_write_open(w, MIRE_NAME_ON, '[');
    for (int plugin = 0; plugin < MIRE_PLUGINS; plugin++)
        if (session->plugins >> plugin & 1)
            json_write_text(w, NULL, mire__plugin_name((enum mire__plugin)plugin));
    json_write_close(w, ']');
}

static void write_class(struct json_writer *w, const char *name, uint64_t count, uint64_t ms)
{
    if (!count)
        return;
    json_write_open(w, name, '{');
    json_write_u64(w, MIRE_NAME_COUNT, count);
    json_write_u64(w, MIRE_NAME_DURATION_MS, ms < MIRE_WIRE_DURATION_MAX ? ms : MIRE_WIRE_DURATION_MAX);
    json_write_close(w, '}');
}

static void write_usage(struct json_writer *w, const struct report_session *session)
{
    json_write_open(w, MIRE_NAME_HANGS, '{');
    write_class(w, "foreground", session->hang_count - session->background_count,
                session->hang_ms - session->background_ms);
    write_class(w, "background", session->background_count, session->background_ms);
    json_write_close(w, '}');
    put_fact(w, MIRE_NAME_CPU_MS, session->cpu_ms);
    put_fact(w, MIRE_NAME_FOOTPRINT_PEAK_BYTES, session->footprint_peak_bytes);
    put_fact(w, MIRE_NAME_LAUNCH_MS, session->launch_ms);
    if (!session->frames_drawn.known)
        return;
    json_write_open(w, MIRE_NAME_FRAMES, '{');
    put_fact(w, MIRE_NAME_DRAWN, session->frames_drawn);
    put_fact(w, MIRE_NAME_DROPPED, session->frames_dropped);
    json_write_close(w, '}');
}

void report_write_session(struct json_writer *w, const struct report_session *session)
{
    json_write_open(w, MIRE_NAME_SESSION, '{');
    put_fact(w, MIRE_NAME_BEGIN_WALL_MS, session->begin_wall_ms);
    json_write_u64(w, MIRE_NAME_DURATION_MS, session->duration_ms.value);
    put_fact(w, MIRE_NAME_FOREGROUND_MS, session->foreground_ms);
    json_write_bool(w, MIRE_NAME_OVER, session->over);
    json_write_bool(w, MIRE_NAME_LOOP, session->loop);
    write_on(w, session);
    write_usage(w, session);
    json_write_open(w, MIRE_NAME_ENDS, '[');
    for (size_t i = 0; i < session->end_count; i++) {
        const struct report_end *end = &session->ends[i];

        json_write_open(w, NULL, '{');
        json_write_text(w, "verdict", end->verdict);
        put_fact(w, "confidence_ppm", end->confidence_ppm);
        put_fact(w, MIRE_NAME_START_WALL_MS, end->start_wall_ms);
        put_fact(w, MIRE_NAME_SEEN_WALL_MS, end->seen_wall_ms);
        json_write_close(w, '}');
    }
    json_write_close(w, ']');
    json_write_close(w, '}');
}
