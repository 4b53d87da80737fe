/*
 * otlp.c - see otlp.h. Each profile of a message has one type of value. The first profile decides the subject of the report.
 * Profiles of the same resource and of the same nature (memory, or the same time) are added; the others are counted.
 */
#include "decode/otlp.h"
#include "decode/otlp_inside.h"

#include "base/path.h"

#include <stdio.h>
#include <string.h>

static bool read_type(struct otlp *o, struct proto type, uint64_t out[2])
{
    struct proto_field field;
    while (proto_next(&field, &type))
        if (field.number == 1 || field.number == 2)
            out[field.number - 1] = field.value;
    return tables_ended(&o->tables, &type);
}

static bool is_old(struct proto message)
{
    struct proto_field field;
    while (proto_next(&field, &message)) {
        if (field.number == 3)
            return field.wire != PROTO_FIXED64;
        if ((field.number == 4 && field.wire == PROTO_FIXED64) || (field.number == 6 && field.wire == PROTO_BYTES))
            return true;
    }
    return false;
}

static bool add_indices(struct otlp *o, struct otlp_profile *profile, struct proto *message,
                        const struct proto_field *field)
{
    uint64_t index;
    for (size_t at = 0; proto_number(&index, message, field, &at);) {
        uint64_t *row = build_push(&o->build, &profile->locations, sizeof *row, MIRE_OTLP_ROWS_MAX);
        if (!row)
            return tables_refuse(&o->tables, proto_place(message), "too many locations");
        *row = index;
    }
    return tables_ended(&o->tables, message);
}

/* Numbers of the profile; the later version's are one less from the time on. */
static bool read_profile_head(struct otlp *o, struct otlp_profile *out, struct proto message)
{
    struct proto_field field;
    bool good = true;
    *out = (struct otlp_profile){.old = is_old(message), .values = PROFILE_VALUES_INIT};
    while (good && proto_next(&field, &message)) {
        uint32_t number = field.number + (field.number >= 3 && !out->old);
        if (number == 1)
            good = read_type(o, proto_within(&message, &field), out->type);
        else if (number == 3)
            good = add_indices(o, out, &message, &field);
        else if (number == 4)
            out->time_ns = field.value;
        else if (number == 5)
            out->duration_ns = field.value;
        else if (number == 6)
            good = read_type(o, proto_within(&message, &field), out->period_type);
        else if (number == 7)
            out->period = field.value;
    }
    profile_values_add(&out->values, 0, tables_text(&o->tables, out->type[0]), tables_text(&o->tables, out->type[1]));
    return good && tables_ended(&o->tables, &message);
}

/* Frames of a sample: a row of the table of stacks, or a part of the profile's locations. */
static bool read_stack(struct otlp *o, const struct otlp_profile *profile, const uint64_t where[2], size_t place)
{
    const uint64_t *locations = profile->locations.rows;
    struct proto_field field;
    uint64_t index;
    o->tables.depth = 0;
    for (uint64_t i = 0; profile->old && i < where[1]; i++)
        if (where[0] + i >= profile->locations.count || where[0] + i < i)
            return tables_refuse(&o->tables, place, "a sample names locations that are not there");
        else if (!tables_push(&o->tables, locations[where[0] + i] + 1, place))
            return false;
    if (profile->old)
        return true;
    if (where[0] >= o->stacks.count)
        return where[0] == 0 || tables_refuse(&o->tables, place, "a sample names a stack that is not there");
    struct proto stack = ((struct proto *)o->stacks.rows)[where[0]];
    while (proto_next(&field, &stack))
        for (size_t at = 0; field.number == 1 && proto_number(&index, &stack, &field, &at);)
            if (!tables_push(&o->tables, index + 1, place))
                return false;
    return tables_ended(&o->tables, &stack);
}

/* The sum of the values; of instants alone their number. */
static uint64_t sum_values(struct proto *message, const struct proto_field *field, uint64_t sum)
{
    uint64_t value;
    for (size_t at = 0; proto_number(&value, message, field, &at);)
        if (value <= INT64_MAX && __builtin_add_overflow(sum, value, &sum))
            sum = INT64_MAX;
    return sum;
}

static size_t count_instants(const struct proto_field *field)
{
    return field->wire == PROTO_BYTES ? field->len / 8 : 1;
}

static void add_sample(struct otlp *o, const struct otlp_profile *profile, uint64_t value)
{
    const struct profile_values *values = &profile->values;
    uint64_t unit = values->time_unit_ns ? values->time_unit_ns : profile->period;
    struct profile_row row = {.node = build_stack(&o->build, o->tables.stack, o->tables.depth)};
    if (values->live_count == 0)
        row.live.count = value;
    if (values->live_bytes == 0)
        row.live.bytes = value;
    if (values->total_count == 0)
        row.total.count = value;
    if (values->total_bytes == 0)
        row.total.bytes = value;
    if (values->time == 0 && __builtin_mul_overflow(value, unit, &row.ns))
        row.ns = INT64_MAX;
    row.category = profile_values_memory(&o->values) ? "Malloc" : NULL; /* sizes and numbers come apart */
    profile_add(&o->profile, &row);
}

static bool read_sample(struct otlp *o, const struct otlp_profile *profile, struct proto message)
{
    size_t place = proto_place(&message), instants = 0;
    uint64_t where[2] = {0}, value = 0;
    struct proto_field field;
    bool valued = false;
    while (proto_next(&field, &message)) {
        if (field.number == (profile->old ? 3u : 4u)) {
            value = sum_values(&message, &field, value);
            valued = valued || field.wire != PROTO_BYTES || field.len;
        } else if (field.number == (profile->old ? 6u : 5u)) {
            instants += count_instants(&field);
        } else if (field.number == 1 || (profile->old && field.number == 2)) {
            where[field.number - 1] = field.value;
        }
    }
    if (!tables_ended(&o->tables, &message) || !read_stack(o, profile, where, place))
        return false;
    add_sample(o, profile, valued ? value : instants);
    return true;
}

static bool is_of_first(const struct otlp *o, const struct otlp_profile *profile)
{
    bool memory =
        profile_values_memory(&profile->values) || profile->values.live_count == 0 || profile->values.total_count == 0;
    bool time = profile->values.time == 0 && !strcmp(profile->values.time_name, o->values.time_name);
    return profile_values_memory(&o->values) ? memory : time;
}

static void take_values(struct profile_values *all, const struct profile_values *one)
{
    all->live_count = one->live_count == 0 ? 0 : all->live_count;
    all->live_bytes = one->live_bytes == 0 ? 0 : all->live_bytes;
    all->total_count = one->total_count == 0 ? 0 : all->total_count;
    all->total_bytes = one->total_bytes == 0 ? 0 : all->total_bytes;
}

static bool read_profile(struct otlp *o, struct proto message)
{
    struct otlp_profile profile;
    struct proto_field field;
    if (!read_profile_head(o, &profile, message))
        return false;
    bool memory =
        profile_values_memory(&profile.values) || profile.values.live_count == 0 || profile.values.total_count == 0;
    if (!o->begun && (memory || profile.values.time == 0)) {
        o->begun = true;
        o->first = profile;
        o->values = profile.values;
        if (memory &&
            !profile_values_memory(&o->values)) /* numbers come first: bytes follow in a profile of their own */
            o->values.live_bytes = 0;
    }
    if (!o->begun || !is_of_first(o, &profile) || o->resources > 1) {
        o->left_out++;
        return true;
    }
    take_values(&o->values, &profile.values);
    while (proto_next(&field, &message))
        if (field.number == 2 && !read_sample(o, &profile, proto_within(&message, &field)))
            return false;
    return tables_ended(&o->tables, &message);
}

/* Within a resource: its scopes, and the profiles of each. */
static bool read_profiles(struct otlp *o, struct proto message)
{
    struct proto_field field, inner;
    bool good = true;
    while (good && proto_next(&field, &message)) {
        struct proto scope = proto_within(&message, &field);
        if (field.number == 1 && o->resources == 1)
            good = otlp_read_resource(o, scope);
        while (good && field.number == 2 && proto_next(&inner, &scope))
            if (inner.number == 2)
                good = read_profile(o, proto_within(&scope, &inner));
        good = good && (field.number != 2 || tables_ended(&o->tables, &scope));
    }
    return good && tables_ended(&o->tables, &message);
}

static bool read_all(struct otlp *o)
{
    struct proto message = o->message, again = o->message;
    struct proto_field field;
    bool good = true;
    while (good && proto_next(&field, &message))
        if (field.number == 2)
            good = otlp_read_dictionary(o, proto_within(&message, &field));
    if (!good || !tables_ended(&o->tables, &message))
        return false;
    while (good && proto_next(&field, &again)) {
        if (field.number != 1)
            continue;
        o->resources++;
        good = read_profiles(o, proto_within(&again, &field));
    }
    return good && (o->begun || tables_refuse(&o->tables, 0, "it has no profile of memory or time"));
}

/* Where what is held is not told, all that was allocated stands for it. */
static void hold_all(struct otlp *o)
{
    struct profile_row *rows = o->profile.rows.rows;
    profile_values_settle(&o->values, &o->build);
    for (size_t i = 0; i < o->profile.rows.count; i++)
        rows[i].live = rows[i].total;
}

static void end(struct otlp *o)
{
    struct report *report = o->build.report;
    uint64_t period_unit = profile_unit_ns(tables_text(&o->tables, o->first.period_type[1]));
    uint64_t wall_ms = o->first.time_ns / 1000000;
    if (!report->process.path[0])
        report->process.path = tables_program(&o->tables);
    if (!report->process.name[0])
        report->process.name = path_base(report->process.path);
    if (!report->app.name[0])
        report->app.name = report->process.name;
    if (o->left_out)
        build_note(&o->build, "%zu more profiles, of another kind or another resource, are left out", o->left_out);
    if (o->tables.deeper)
        build_note(&o->build, "%zu frames of stacks deeper than %d frames are left out", o->tables.deeper,
                   TABLES_DEPTH_MAX);
    if (profile_values_memory(&o->values)) {
        if (o->values.live_bytes < 0)
            hold_all(o);
        o->profile.has_total = o->values.total_bytes >= 0;
        o->profile.period_bytes = period_unit ? 0 : o->first.period;
        profile_end_memory(&o->profile, wall_ms);
        return;
    }
    report->event.name = o->values.time_name;
    profile_end_time(&o->profile, o->values.time_name, wall_ms, o->first.duration_ns, o->first.period * period_unit);
}

enum decode_outcome otlp_decode(struct report *out, struct arena *arena, struct decode_fault *fault, const char *bytes,
                                size_t len)
{
    struct otlp *o = arena_alloc(arena, sizeof *o);
    if (!o)
        return MIRE_DECODE_NO_MEMORY;
    build_begin(&o->build, out, arena);
    profile_begin(&o->profile, &o->build);
    o->tables.build = &o->build;
    o->tables.by_place = true;
    o->message = proto_of(bytes, len);
    o->values = (struct profile_values)PROFILE_VALUES_INIT;
    if (read_all(o)) {
        end(o);
        return build_end(&o->build) ? MIRE_DECODE_OK : MIRE_DECODE_NO_MEMORY;
    }
    if (o->build.failed)
        return MIRE_DECODE_NO_MEMORY;
    fault->position = o->tables.place;
    snprintf(fault->text, sizeof fault->text, "%s", o->tables.wrong ? o->tables.wrong : "it cannot be read");
    return MIRE_DECODE_MALFORMED;
}
