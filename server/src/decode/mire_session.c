/*
 * mire_session.c - the section "session" of a session record: schema/wire/session.schema.json.
 */
#include "decode/mire.h"

#include "wire/plugin.h"

#include <string.h>

#define ON_MAX   64
#define ENDS_MAX 64

/* Plugins by name; one that is not known here is passed over. */
static enum bind_outcome read_on(struct bind *bind, void *out, uint32_t at)
{
    struct report_session *session = out;
    enum bind_outcome outcome = bind_is_array(bind, at, ON_MAX);
    uint32_t element = at + 1;

    for (uint32_t i = 0; !outcome && i < json_size(bind->json, at); i++, element = json_next(bind->json, element)) {
        const char *name;
        bind_enter(bind, NULL, i);
        outcome = bind_text(&name, bind, element, MIRE_WIRE_TEXT_MAX);
        if (outcome)
            return outcome;
        for (int plugin = 0; plugin < MIRE_PLUGINS; plugin++)
            if (strcmp(name, mire__plugin_name(plugin)) == 0)
                session->plugins |= 1u << plugin;
        bind_leave(bind);
    }

    return outcome;
}

static enum bind_outcome read_class(struct bind *bind, void *rows, size_t i, const char *name, uint32_t at)
{
    struct hangs {
        uint64_t count, duration_ms;
    } hangs = {0};
    static const struct bind_field fields[] = {
        {REQUIRED(WHOLE(struct hangs, count, MIRE_NAME_COUNT, MIRE_BIND_U64, 0, UINT32_MAX))},
        {REQUIRED(WHOLE(struct hangs, duration_ms, MIRE_NAME_DURATION_MS, MIRE_BIND_U64, 0, MIRE_WIRE_DURATION_MAX))},
    };
    struct report_session *session = rows;
    enum bind_outcome outcome = bind_object(bind, &hangs, at, fields, COUNT(fields));

    (void)i;
    if (outcome)
        return outcome;
    session->hang_count += hangs.count;
    session->hang_ms += hangs.duration_ms;
    if (strcmp(name, "background") == 0) {
        session->background_count = hangs.count;
        session->background_ms = hangs.duration_ms;
    }

    return MIRE_BIND_OK;
}

static enum bind_outcome read_hangs(struct bind *bind, void *out, uint32_t at)
{
    size_t count;
    enum bind_outcome outcome = mire_is_map(bind, at);

    return outcome ? outcome : mire_read_map(&count, bind, at, out, read_class);
}

static enum bind_outcome read_turns(struct bind *bind, void *out, uint32_t at)
{
    struct report_session *session = out;
    struct report buckets = {.bucket_count = 0};
    enum bind_outcome outcome = mire_read_buckets(bind, &buckets, at);

    session->turns = buckets.buckets;
    session->turn_count = buckets.bucket_count;
    return outcome;
}

static enum bind_outcome read_ends(struct bind *bind, void *out, uint32_t at)
{
    static const struct bind_field fields[] = {
        {REQUIRED(TEXT(struct report_end, verdict, "verdict"))},
        {COUNTED(struct report_end, confidence_ppm, "confidence_ppm")},
        {FACT(struct report_end, start_wall_ms, MIRE_NAME_START_WALL_MS)},
        {FACT(struct report_end, seen_wall_ms, MIRE_NAME_SEEN_WALL_MS)},
    };
    struct report_session *session = out;
    enum bind_outcome outcome = bind_is_array(bind, at, ENDS_MAX);
    uint32_t element = at + 1;

    if (outcome)
        return outcome;
    struct report_end *ends = arena_array(bind->arena, json_size(bind->json, at) + 1, sizeof *ends);
    if (!ends)
        return MIRE_BIND_NO_MEMORY;
    for (uint32_t i = 0; i < json_size(bind->json, at); i++, element = json_next(bind->json, element)) {
        bind_enter(bind, NULL, i);
        outcome = bind_object(bind, &ends[i], element, fields, COUNT(fields));
        if (outcome)
            return outcome;
        if (ends[i].confidence_ppm.value > MIRE_WIRE_PPM_MAX)
            return bind_wrong_at(bind, "confidence_ppm", "must be at most 1000000");
        bind_leave(bind);
    }

    session->ends = ends;
    session->end_count = json_size(bind->json, at);
    return MIRE_BIND_OK;
}

static enum bind_outcome read_frames(struct bind *bind, void *out, uint32_t at)
{
    static const struct bind_field fields[] = {
        {REQUIRED(COUNTED(struct report_session, frames_drawn, MIRE_NAME_DRAWN))},
        {REQUIRED(COUNTED(struct report_session, frames_dropped, MIRE_NAME_DROPPED))},
    };
    return bind_object(bind, out, at, fields, COUNT(fields));
}

#define DURATION(member, key) WHOLE(struct report_session, member, key, MIRE_BIND_FACT, 0, MIRE_WIRE_DURATION_MAX)

enum bind_outcome mire_read_session(struct bind *bind, void *report, uint32_t at)
{
    static const struct bind_field fields[] = {
        {FACT(struct report_session, begin_wall_ms, MIRE_NAME_BEGIN_WALL_MS)},
        {REQUIRED(DURATION(duration_ms, MIRE_NAME_DURATION_MS))},
        {DURATION(foreground_ms, MIRE_NAME_FOREGROUND_MS)},
        {COUNTED(struct report_session, part, MIRE_NAME_PART)},
        {FLAG(struct report_session, over, MIRE_NAME_OVER)},
        {FLAG(struct report_session, loop, MIRE_NAME_LOOP)},
        {REQUIRED(OTHER(MIRE_NAME_ON, read_on))},
        {OTHER(MIRE_NAME_HANGS, read_hangs)},
        {OTHER(MIRE_NAME_TURNS, read_turns)},
        {OTHER(MIRE_NAME_ENDS, read_ends)},
        {FACT(struct report_session, sdk_cpu_us, MIRE_NAME_SDK_CPU_US)},
        {FACT(struct report_session, cpu_ms, MIRE_NAME_CPU_MS)},
        {FACT(struct report_session, footprint_peak_bytes, MIRE_NAME_FOOTPRINT_PEAK_BYTES)},
        {DURATION(launch_ms, MIRE_NAME_LAUNCH_MS)},
        {OTHER(MIRE_NAME_FRAMES, read_frames)},
    };
    struct report_session *session = &((struct report *)report)->session;

    session->over = session->loop = true;
    return bind_object(bind, session, at, fields, COUNT(fields));
}
