/*
 * each.c - an input of any format: undo its compression, tell its format, cut it into JSON values where it is JSON, and
 * hand each to its decoder.
 */
#include "decode/decode.h"
#include "decode/formats.h"
#include "decode/input.h"

#include "base/id.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define VALUES_MAX (2u << 20) /* of one JSON value: 32 MiB of tape */
#define ARRAYS_MAX 4          /* arrays of reports within each other */

struct reading {
    const struct decode_each *each;
    struct decode_fault *fault;
    struct input input;
    struct arena arena;
    struct json json;
    uint32_t reports;
    size_t base; /* where the input begins, if it is an array within another one */
    int arrays;  /* around it */
};

static enum decode_outcome read_inner(struct reading *r, const struct input_value *value, const struct format *format);

/* ---- what decoders call ---- */

static void set_text(struct decode_fault *fault, const char *format, va_list args)
{
    text_vformat(fault->text, sizeof fault->text, format, args);
}

enum decode_outcome foreign_wrong(struct foreign *foreign, const char *path, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_text(foreign->fault, format, args);
    va_end(args);
    snprintf(foreign->fault->path, sizeof foreign->fault->path, "%s", path);
    foreign->fault->position = foreign->position;
    return MIRE_DECODE_WRONG;
}

enum decode_outcome foreign_malformed(struct foreign *foreign, size_t position, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_text(foreign->fault, format, args);
    va_end(args);
    foreign->fault->position = position;
    return MIRE_DECODE_MALFORMED;
}

/* The same content has the same id, so a second import changes nothing. The time in the id is the report's own. */
static void make_id(char out[MIRE_UUID_TEXT], const struct foreign *foreign, const char *own, uint64_t wall_ms)
{
    struct {
        char format[24], own[128];
        uint64_t number;
        uint8_t content[16];
    } parts;
    struct uuid id;
    memset(&parts, 0, sizeof parts);
    const struct format *format = foreign->format;
    snprintf(parts.format, sizeof parts.format, "%s", format->ids ? format->ids : format->name);
    snprintf(parts.own, sizeof parts.own, "%s", own);
    parts.number = own[0] ? 0 : foreign->reports;
    if (!own[0])
        hash_blake2b(parts.content, sizeof parts.content, foreign->text, foreign->len);
    uuid_derive(&id, wall_ms, &parts, sizeof parts);
    uuid_format(out, &id);
}

enum decode_outcome foreign_report(struct foreign *foreign, struct report *report, const char *own, uint64_t wall_ms)
{
    make_id(report->id, foreign, own, wall_ms < UINT64_C(1) << 48 ? wall_ms : 0);
    foreign->reports++;
    const struct decode_found found = {.format = foreign->format->name, .report = report, .own = own};
    return foreign->each->found(foreign->each->context, &found) ? MIRE_DECODE_STOPPED : MIRE_DECODE_OK;
}

/* ---- JSON values ---- */

static const struct format *format_of(const struct json *json)
{
    for (size_t i = 0; i < format_count; i++)
        if (formats[i].is && formats[i].is(json))
            return &formats[i];
    return NULL;
}

static enum decode_outcome hand_on(struct reading *r, const struct input_value *value)
{
    const struct decode_found found = {.format = MIRE_FORMAT_MIRE, .own = "", .text = value->text, .len = value->len};
    r->reports++;
    return r->each->found(r->each->context, &found) ? MIRE_DECODE_STOPPED : MIRE_DECODE_OK;
}

static enum decode_outcome read_value(struct reading *r, const struct input_value *value, const struct format *format)
{
    const struct json_limits limits = {MIRE_FOREIGN_DEPTH_MAX, VALUES_MAX, true};
    struct json_fault wrong;
    arena_reset(&r->arena);
    enum json_outcome outcome = json_read(&r->json, &wrong, value->text, value->len, &limits);
    if (outcome) {
        snprintf(r->fault->text, sizeof r->fault->text, "%s", wrong.text);
        r->fault->position = r->base + value->position + wrong.at;
        return outcome == MIRE_JSON_NO_MEMORY ? MIRE_DECODE_NO_MEMORY
               : outcome == MIRE_JSON_TOO_BIG ? MIRE_DECODE_TOO_BIG
                                              : MIRE_DECODE_MALFORMED;
    }
    if (json_kind(&r->json, 0) == MIRE_JSON_ARRAY && r->arrays < ARRAYS_MAX)
        return read_inner(r, value, format);
    if (!format)
        format = format_of(&r->json);
    if (format && !format->document)
        return hand_on(r, value);
    r->fault->position = r->base + value->position;
    if (!format) {
        snprintf(r->fault->text, sizeof r->fault->text,
                 "this JSON is of no known format ('mire import --formats' lists them)");
        return MIRE_DECODE_UNKNOWN;
    }
    struct foreign foreign = {.arena = &r->arena,
                              .fault = r->fault,
                              .format = format,
                              .each = r->each,
                              .position = r->base + value->position,
                              .text = value->text,
                              .len = value->len};
    enum decode_outcome read = format->document(&foreign, &r->json);
    r->reports += foreign.reports;
    return read;
}

/* Does the receiver want to go on behind a part that is refused? */
static bool goes_on(struct reading *r, enum decode_outcome outcome)
{
    bool refused = outcome == MIRE_DECODE_MALFORMED || outcome == MIRE_DECODE_WRONG || outcome == MIRE_DECODE_UNKNOWN ||
                   outcome == MIRE_DECODE_TOO_BIG;
    return refused && r->each->refused && r->each->refused(r->each->context, outcome, r->fault) == 0;
}

static enum decode_outcome read_values(struct reading *r, const struct format *format)
{
    struct input_value value;
    bool any = false;
    for (;;) {
        enum decode_outcome outcome = input_value(&value, &r->input, r->fault);
        if (outcome) {
            r->fault->position += r->base;
            return outcome;
        }
        if (!value.text)
            break;
        any = true;
        outcome = read_value(r, &value, format);
        if (outcome && !goes_on(r, outcome))
            return outcome;
        if (outcome == MIRE_DECODE_MALFORMED)
            input_pass(&r->input);
        *r->fault = (struct decode_fault){0};
    }
    if (any)
        return MIRE_DECODE_OK;
    snprintf(r->fault->text, sizeof r->fault->text, "there is no report in it");
    return MIRE_DECODE_MALFORMED;
}

/* ---- other inputs ---- */

static enum decode_outcome read_whole(struct reading *r, const struct format *format)
{
    struct foreign foreign = {.arena = &r->arena, .fault = r->fault, .format = format, .each = r->each, .position = 0};
    enum decode_outcome outcome = MIRE_DECODE_OK;
    if (format->stream)
        outcome = format->stream(&foreign, &r->input.stream);
    else
        outcome = input_rest(&foreign.text, &foreign.len, &r->input, r->fault);
    if (!outcome && format->whole)
        outcome = format->whole(&foreign, foreign.text, foreign.len);
    r->reports += foreign.reports;
    return r->input.stream.failed ? MIRE_DECODE_UNREADABLE : outcome;
}

static const struct format *format_at(const struct input *input)
{
    size_t len;
    const char *head = input_head(&len, input);
    for (size_t i = 0; i < format_count; i++)
        if (formats[i].begins && formats[i].begins(head, len))
            return &formats[i];
    return NULL;
}

static bool is_json(const struct input *input)
{
    size_t len;
    const char *head = input_head(&len, input);
    size_t space = 0;
    while (space < len && strchr(" \t\r\n", head[space]) && head[space])
        space++;
    return space < len && (head[space] == '{' || head[space] == '[');
}

static enum decode_outcome read_input(struct reading *r)
{
    const struct format *format = r->each->format ? format_find(r->each->format) : NULL;
    if (r->each->format && !format) {
        snprintf(r->fault->text, sizeof r->fault->text, "unknown format %.*s", TEXT_CUT(r->each->format, 40));
        return MIRE_DECODE_UNKNOWN;
    }
    enum decode_outcome outcome = input_begin(&r->input, r->fault, r->each);
    if (outcome)
        return outcome;
    if (!format)
        format = format_at(&r->input);
    if (format && (format->whole || format->stream))
        return read_whole(r, format);
    if (format || is_json(&r->input))
        return read_values(r, format);
    snprintf(r->fault->text, sizeof r->fault->text,
             "the format is not known ('mire import --formats' lists those that are)");
    return MIRE_DECODE_UNKNOWN;
}

enum decode_outcome decode_each(struct decode_fault *fault, const struct decode_each *each)
{
    struct reading r = {.each = each, .fault = fault};
    *fault = (struct decode_fault){0};
    arena_init(&r.arena, MIRE_DECODE_ARENA_MAX);
    json_init(&r.json);
    enum decode_outcome outcome = read_input(&r);
    if (outcome == MIRE_DECODE_NO_MEMORY && r.arena.used_bytes > r.arena.limit_bytes / 2) {
        snprintf(fault->text, sizeof fault->text, "too big once it is read");
        outcome = MIRE_DECODE_TOO_BIG;
    }
    input_end(&r.input);
    json_fini(&r.json);
    arena_fini(&r.arena);
    return outcome;
}

/* ---- bytes in memory ---- */

struct in_memory {
    const struct decode_each *each;
    const char *bytes;
    size_t len, at;
};

static long read_memory(void *context, void *out, size_t room)
{
    struct in_memory *m = context;
    size_t len = m->len - m->at < room ? m->len - m->at : room;
    memcpy(out, m->bytes + m->at, len);
    m->at += len;
    return (long)len;
}

static int found_in_memory(void *context, const struct decode_found *found)
{
    const struct in_memory *m = context;
    return m->each->found(m->each->context, found);
}

static int refused_in_memory(void *context, enum decode_outcome outcome, const struct decode_fault *fault)
{
    const struct in_memory *m = context;
    return m->each->refused(m->each->context, outcome, fault);
}

/* An element that is an array itself: a producer's array of reports, in an array of those that were collected. */
static enum decode_outcome read_inner(struct reading *r, const struct input_value *value, const struct format *format)
{
    struct in_memory m = {.each = r->each, .bytes = value->text, .len = value->len};
    const struct decode_each each = {.context = &m,
                                     .read = read_memory,
                                     .found = found_in_memory,
                                     .refused = r->each->refused ? refused_in_memory : NULL};
    struct reading inner = {
        .each = &each, .fault = r->fault, .base = r->base + value->position, .arrays = r->arrays + 1};
    arena_init(&inner.arena, MIRE_DECODE_ARENA_MAX);
    json_init(&inner.json);
    enum decode_outcome outcome = input_begin(&inner.input, r->fault, &each);
    if (!outcome)
        outcome = read_values(&inner, format);
    r->reports += inner.reports;
    input_end(&inner.input);
    json_fini(&inner.json);
    arena_fini(&inner.arena);
    return outcome;
}

enum decode_outcome decode_each_of(struct decode_fault *fault, const struct decode_each *each, const void *bytes,
                                   size_t len)
{
    struct in_memory m = {.each = each, .bytes = bytes, .len = len};
    const struct decode_each all = {.format = each->format,
                                    .encoding = each->encoding,
                                    .plain_max = each->plain_max,
                                    .context = &m,
                                    .read = read_memory,
                                    .found = found_in_memory,
                                    .refused = each->refused ? refused_in_memory : NULL};
    return decode_each(fault, &all);
}

const char *decode_format_of_media(const char *media_type, size_t len)
{
    for (size_t i = 0; i < format_count; i++)
        if (strlen(formats[i].media_type) == len && !strncasecmp(formats[i].media_type, media_type, len))
            return formats[i].name;
    return NULL;
}

const char *decode_format(size_t i, const char **title, const char **media_type)
{
    if (i >= format_count)
        return NULL;
    *title = formats[i].title;
    *media_type = formats[i].media_type;
    return formats[i].name;
}
