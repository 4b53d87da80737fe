/* export.c - collapsed stacks, speedscope and pprof of a flame graph. */
#include "api/flame/export.h"

#include "base/protobuf.h"
#include "base/scope.h"

#include <math.h>
#include <string.h>

#define DEPTH_MAX 4096

/* Frames from `at` to the outermost one below the root, innermost first. Returns their number. */
static size_t stack_of(uint32_t *out, const struct flame_view *view, uint32_t at)
{
    size_t count = 0;

    for (int32_t i = (int32_t)at; i > 0 && count < DEPTH_MAX; i = view->parent[i])
        out[count++] = (uint32_t)i;
    return count;
}

/* A name within a line of collapsed stacks: no separator of theirs. */
static void add_folded_name(struct text *out, const char *name)
{
    for (; *name; name++)
        text_append(out, *name == ';' ? ":" : *name == '\n' || *name == '\r' ? " " : name, 1);
}

void flame_folded(struct text *out, const struct flame_export *e)
{
    const struct flame_view *view = e->view;
    uint32_t stack[DEPTH_MAX];

    for (uint32_t i = 1; i < view->count; i++) {
        double own = round(view->self[i]);
        if (own < 1)
            continue;
        for (size_t n = stack_of(stack, view, i); n > 0; n--) {
            add_folded_name(out, view->names[view->name[stack[n - 1]]]);
            text_add(out, n > 1 ? ";" : " ");
        }
        text_printf(out, "%.0f\n", own);
    }
}

static void add_json(struct text *out, const char *before, const char *value)
{
    text_add(out, before);
    text_add_json(out, value, strlen(value));
}

/* speedscope's word for a unit. */
static const char *unit_word(const char *unit)
{
    if (!strcmp(unit, "ms"))
        return "milliseconds";
    return strcmp(unit, "bytes") ? "none" : "bytes";
}

/* A frame of speedscope is a row of the graph: equal names are equal frames to it. */
void flame_speedscope(struct text *out, const struct flame_export *e)
{
    const struct flame_view *view = e->view;
    uint32_t stack[DEPTH_MAX];
    const char *comma = "";
    double total = 0;

    add_json(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"mire\",\"name\":",
             e->title);
    text_add(out, ",\"shared\":{\"frames\":[");
    for (uint32_t i = 0; i < view->count; i++) {
        add_json(out, i ? ",{\"name\":" : "{\"name\":", view->names[view->name[i]]);
        if (*view->images[view->image[i]])
            add_json(out, ",\"file\":", view->images[view->image[i]]);
        text_add(out, "}");
    }
    add_json(out, "]},\"profiles\":[{\"type\":\"sampled\",\"name\":", e->title);
    text_printf(out, ",\"unit\":\"%s\",\"startValue\":0,\"samples\":[", unit_word(e->unit));
    for (uint32_t i = 1; i < view->count; i++) {
        if (view->self[i] <= 0)
            continue;
        text_add(out, comma);
        comma = ",";
        for (size_t count = stack_of(stack, view, i), n = count; n > 0; n--)
            text_printf(out, "%s%u", n == count ? "[" : ",", stack[n - 1]);
        text_add(out, "]");
    }
    text_add(out, "],\"weights\":[");
    comma = "";
    for (uint32_t i = 1; i < view->count; i++) {
        if (view->self[i] <= 0)
            continue;
        text_printf(out, "%s%.3f", comma, view->self[i]);
        comma = ",";
        total += view->self[i];
    }
    text_printf(out, "],\"endValue\":%.3f}]}", total);
}

/* --- pprof --- */

enum { PPROF_SAMPLE_TYPE = 1, PPROF_SAMPLE, PPROF_LOCATION = 4, PPROF_FUNCTION, PPROF_STRING };
enum { PPROF_TYPE = 1, PPROF_UNIT };
enum { PPROF_SAMPLE_LOCATION = 1, PPROF_SAMPLE_VALUE };
enum { PPROF_LOCATION_ID = 1, PPROF_LOCATION_LINE = 4 };
enum { PPROF_FUNCTION_ID = 1, PPROF_FUNCTION_NAME, PPROF_FUNCTION_SYSTEM_NAME, PPROF_FUNCTION_FILE };

/* Numbers in the table of strings: "", type, unit, then names, then images. */
enum { STRING_TYPE = 1, STRING_UNIT, STRING_NAMES };

static void add_sample(struct text *out, struct text *message, const struct flame_view *view, uint32_t at)
{
    uint32_t stack[DEPTH_MAX];
    size_t count = stack_of(stack, view, at);

    for (size_t n = 0; n < count; n++)
        protobuf_number(message, PPROF_SAMPLE_LOCATION, stack[n]);
    protobuf_number(message, PPROF_SAMPLE_VALUE, (uint64_t)round(view->self[at]));
    protobuf_message(out, PPROF_SAMPLE, message);
}

/* A row of the graph is a location of a function of its own. */
static void add_location(struct text *out, struct text *message, const struct flame_view *view, uint32_t at)
{
    MIRE_SCOPED(text_fini) struct text line = {0};

    protobuf_number(message, PPROF_LOCATION_ID, at);
    protobuf_number(&line, 1, at);
    protobuf_message(message, PPROF_LOCATION_LINE, &line);
    protobuf_message(out, PPROF_LOCATION, message);
    protobuf_number(message, PPROF_FUNCTION_ID, at);
    protobuf_number(message, PPROF_FUNCTION_NAME, STRING_NAMES + view->name[at]);
    protobuf_number(message, PPROF_FUNCTION_SYSTEM_NAME, STRING_NAMES + view->name[at]);
    protobuf_number(message, PPROF_FUNCTION_FILE, STRING_NAMES + view->name_count + view->image[at]);
    protobuf_message(out, PPROF_FUNCTION, message);
}

static void add_string(struct text *out, const char *string)
{
    protobuf_bytes(out, PPROF_STRING, string, strlen(string));
}

void flame_pprof(struct text *out, const struct flame_export *e)
{
    const struct flame_view *view = e->view;
    MIRE_SCOPED(text_fini) struct text message = {0};
    bool is_time = !strcmp(e->unit, "ms");

    protobuf_number(&message, PPROF_TYPE, STRING_TYPE);
    protobuf_number(&message, PPROF_UNIT, STRING_UNIT);
    protobuf_message(out, PPROF_SAMPLE_TYPE, &message);
    for (uint32_t i = 1; i < view->count; i++)
        if (view->self[i] >= 0.5)
            add_sample(out, &message, view, i);
    for (uint32_t i = 1; i < view->count; i++)
        add_location(out, &message, view, i);
    add_string(out, "");
    add_string(out, is_time ? "time" : "inuse_space");
    add_string(out, is_time ? "milliseconds" : strcmp(e->unit, "bytes") ? "count" : "bytes");
    for (size_t i = 0; i < view->name_count; i++)
        add_string(out, view->names[i]);
    for (size_t i = 0; i < view->image_count; i++)
        add_string(out, view->images[i]);
}
