/*
 * pprof.c - profile.proto (github.com/google/pprof, proto/profile.proto). Its fields may come in any order, so the bytes
 * are read twice: first the tables, then the samples.
 */
#include "decode/pprof.h"

#include "base/path.h"
#include "decode/tables.h"

#include <stdio.h>
#include <string.h>

#define TYPES_MAX 64

enum { PROFILE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING, PROFILE_LOCATION, PROFILE_FUNCTION, PROFILE_STRING };
enum { PROFILE_TIME = 9, PROFILE_DURATION, PROFILE_PERIOD_TYPE, PROFILE_PERIOD };

struct pprof {
    struct build build;
    struct profile_sums profile;
    struct proto message;
    struct tables tables;
    struct profile_values values;
    uint64_t types[TYPES_MAX][2];
    size_t type_count;
    uint64_t time_ns, duration_ns, period, period_unit;
};

/* ---- tables ---- */

static bool read_type(struct pprof *p, struct proto type, uint64_t out[2])
{
    struct proto_field field;
    while (proto_next(&field, &type))
        if (field.number == 1 || field.number == 2)
            out[field.number - 1] = field.value;
    return tables_ended(&p->tables, &type);
}

static bool read_table(struct pprof *p, const struct proto_field *field)
{
    struct proto inner = proto_within(&p->message, field);
    uint64_t period_type[2] = {0};
    switch (field->number) {
    case PROFILE_TYPE:
        if (p->type_count == TYPES_MAX)
            return tables_refuse(&p->tables, proto_place(&inner), "there are more than 64 types of values");
        return read_type(p, inner, p->types[p->type_count++]);
    case PROFILE_MAPPING:
        return tables_add_mapping(&p->tables, inner);
    case PROFILE_LOCATION:
        return tables_add_location(&p->tables, inner);
    case PROFILE_FUNCTION:
        return tables_add_function(&p->tables, inner);
    case PROFILE_STRING:
        return tables_add_string(&p->tables, field);
    case PROFILE_TIME:
        p->time_ns = field->value;
        return true;
    case PROFILE_DURATION:
        p->duration_ns = field->value;
        return true;
    case PROFILE_PERIOD_TYPE:
        if (!read_type(p, inner, period_type))
            return false;
        p->period_unit = period_type[1];
        return true;
    case PROFILE_PERIOD:
        p->period = field->value;
        return true;
    default:
        return true;
    }
}

/* ---- samples ---- */

struct sample {
    uint64_t values[TYPES_MAX];
    size_t value_count;
    const char *category;
    uint64_t block_bytes;
};

static bool read_stack(struct pprof *p, struct proto *message, const struct proto_field *field)
{
    uint64_t id;
    for (size_t at = 0; proto_number(&id, message, field, &at);)
        if (!tables_push(&p->tables, id, proto_place(message)))
            return false;
    return tables_ended(&p->tables, message);
}

static bool read_label(struct pprof *p, struct sample *sample, struct proto message)
{
    struct proto_field field;
    uint64_t members[4] = {0};
    while (proto_next(&field, &message))
        if (field.number >= 1 && field.number <= 4)
            members[field.number - 1] = field.value;
    const char *key = tables_text(&p->tables, members[0]);
    if (!strcmp(key, "bytes") && members[2] <= INT64_MAX)
        sample->block_bytes = members[2];
    if (!strcmp(key, "category"))
        sample->category = tables_text(&p->tables, members[1]);
    return tables_ended(&p->tables, &message);
}

/* A negative value (of a difference of two profiles) counts as none. */
static uint64_t value_at(const struct sample *sample, int index)
{
    return index >= 0 && (size_t)index < sample->value_count && sample->values[index] <= INT64_MAX
               ? sample->values[index]
               : 0;
}

static void add_sample(struct pprof *p, const struct sample *sample)
{
    const struct profile_values *values = &p->values;
    uint64_t unit = values->time_unit_ns ? values->time_unit_ns : p->period;
    uint64_t time = value_at(sample, values->time), ns;
    if (__builtin_mul_overflow(time, unit, &ns))
        ns = INT64_MAX;
    const struct profile_row row = {
        .node = build_stack(&p->build, p->tables.stack, p->tables.depth),
        .category = sample->category && sample->category[0] ? sample->category : NULL,
        .block_bytes = sample->block_bytes,
        .live = {value_at(sample, values->live_count), value_at(sample, values->live_bytes)},
        .total = {value_at(sample, values->total_count), value_at(sample, values->total_bytes)},
        .ns = ns};
    profile_add(&p->profile, &row);
}

static bool read_sample(struct pprof *p, struct proto message)
{
    struct sample sample = {.category = NULL};
    p->tables.depth = 0;
    struct proto_field field;
    uint64_t value;
    while (proto_next(&field, &message)) {
        if (field.number == 1 && !read_stack(p, &message, &field))
            return false;
        for (size_t at = 0; field.number == 2 && proto_number(&value, &message, &field, &at);)
            if (sample.value_count < TYPES_MAX)
                sample.values[sample.value_count++] = value;
        if (field.number == 3 && !read_label(p, &sample, proto_within(&message, &field)))
            return false;
    }
    if (!tables_ended(&p->tables, &message))
        return false;
    if (sample.value_count != p->type_count)
        return tables_refuse(&p->tables, proto_place(&message), "a sample has not as many values as there are types");
    add_sample(p, &sample);
    return true;
}

/* ---- the whole ---- */

static bool read_tables(struct pprof *p)
{
    struct proto message = p->message;
    struct proto_field field;
    while (proto_next(&field, &message))
        if (!read_table(p, &field))
            return false;
    if (!tables_ended(&p->tables, &message))
        return false;
    if (!p->type_count)
        return tables_refuse(&p->tables, 0, "this profile names no type of values");
    if (!p->tables.strings.count || tables_text(&p->tables, 0)[0])
        return tables_refuse(&p->tables, 0, "the table of texts must begin with the empty one");
    tables_sort(&p->tables);
    for (size_t i = 0; i < p->type_count; i++)
        profile_values_add(&p->values, (int)i, tables_text(&p->tables, p->types[i][0]),
                           tables_text(&p->tables, p->types[i][1]));
    profile_values_settle(&p->values, &p->build);
    if (!profile_values_memory(&p->values) && p->values.time < 0)
        return tables_refuse(&p->tables, 0, "its values are neither memory nor time");
    return true;
}

static bool read_samples(struct pprof *p)
{
    struct proto message = p->message;
    struct proto_field field;
    while (proto_next(&field, &message))
        if (field.number == PROFILE_SAMPLE && !read_sample(p, proto_within(&message, &field)))
            return false;
    return true;
}

static void end(struct pprof *p)
{
    struct report *report = p->build.report;
    const char *program = tables_program(&p->tables);
    bool periodic = profile_unit_ns(tables_text(&p->tables, p->period_unit)) != 0;
    if (p->tables.deeper)
        build_note(&p->build, "%zu frames of stacks deeper than %d frames are left out", p->tables.deeper,
                   TABLES_DEPTH_MAX);
    report->process.path = program;
    report->process.name = report->app.name = path_base(program);
    if (profile_values_memory(&p->values)) {
        p->profile.has_total = p->values.total_bytes >= 0;
        p->profile.period_bytes = p->period <= INT64_MAX && !periodic ? p->period : 0;
        profile_end_memory(&p->profile, p->time_ns / 1000000);
    } else {
        report->event.name = p->values.time_name;
        profile_end_time(&p->profile, p->values.time_name, p->time_ns / 1000000, p->duration_ns,
                         periodic ? p->period * profile_unit_ns(tables_text(&p->tables, p->period_unit)) : 0);
    }
}

enum decode_outcome pprof_decode(struct report *out, struct arena *arena, struct decode_fault *fault, const char *bytes,
                                 size_t len)
{
    struct pprof *p = arena_alloc(arena, sizeof *p);
    if (!p)
        return MIRE_DECODE_NO_MEMORY;
    build_begin(&p->build, out, arena);
    profile_begin(&p->profile, &p->build);
    p->tables.build = &p->build;
    p->message = proto_of(bytes, len);
    p->values = (struct profile_values)PROFILE_VALUES_INIT;
    if (read_tables(p) && read_samples(p)) {
        end(p);
        return build_end(&p->build) ? MIRE_DECODE_OK : MIRE_DECODE_NO_MEMORY;
    }
    if (p->build.failed)
        return MIRE_DECODE_NO_MEMORY;
    fault->position = p->tables.place;
    snprintf(fault->text, sizeof fault->text, "%s", p->tables.wrong);
    return MIRE_DECODE_MALFORMED;
}
