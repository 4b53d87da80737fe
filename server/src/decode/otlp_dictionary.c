/*
 * otlp_dictionary.c - the attributes and the dictionary of a message of profiles.
 */
#include "decode/otlp_inside.h"

#include "decode/anr.h"

#include <stdio.h>
#include <string.h>

enum { DICT_MAPPING = 1, DICT_LOCATION, DICT_FUNCTION, DICT_LINK, DICT_STRING, DICT_ATTRIBUTE, DICT_STACK };

/* ---- attributes ---- */

static const char *bytes_of(struct otlp *o, const struct proto_field *field)
{
    return field->wire == PROTO_BYTES ? build_text(&o->build, (const char *)field->bytes, field->len) : "";
}

/* Texts and whole numbers; other values are "". */
static const char *read_value(struct otlp *o, struct proto message)
{
    struct proto_field field;
    const char *text = "";
    char number[24];
    while (proto_next(&field, &message)) {
        if (field.number == 1)
            text = bytes_of(o, &field);
        if (field.number == 3) {
            int len = snprintf(number, sizeof number, "%lld", (long long)field.value);
            text = build_text(&o->build, number, (size_t)len);
        }
    }
    tables_ended(&o->tables, &message);
    return text;
}

/* KeyValue, and KeyValueAndUnit, whose key is a text of the table. */
static struct otlp_attribute read_attribute(struct otlp *o, struct proto message)
{
    struct otlp_attribute attribute = {"", ""};
    struct proto_field field;
    while (proto_next(&field, &message)) {
        if (field.number == 1)
            attribute.key = field.wire == PROTO_BYTES ? bytes_of(o, &field) : tables_text(&o->tables, field.value);
        else if (field.number == 2)
            attribute.text = read_value(o, proto_within(&message, &field));
    }
    tables_ended(&o->tables, &message);
    return attribute;
}

static void take_resource(struct otlp *o, const struct otlp_attribute *attribute)
{
    struct report *report = o->build.report;
    struct line_span text = {attribute->text, strlen(attribute->text)};
    const struct {
        const char *key, **member;
    } members[] = {
        {"service.name", &report->app.name},
        {"service.version", &report->app.version},
        {"process.executable.name", &report->process.name},
        {"process.executable.path", &report->process.path},
        {"os.type", &report->device.os},
        {"os.version", &report->device.os_version},
        {"device.model.identifier", &report->device.model},
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (!strcmp(members[i].key, attribute->key))
            *members[i].member = attribute->text;
    if (!strcmp(attribute->key, "host.arch"))
        report->device.arch = !strcmp(attribute->text, "amd64") ? "x86_64"
                              : anr_arch(attribute->text)[0]    ? anr_arch(attribute->text)
                                                                : attribute->text;
    uint64_t pid;
    if (!strcmp(attribute->key, "process.pid") && span_number(&pid, &text, 10) && pid <= UINT32_MAX)
        report->process.pid = pid;
}

bool otlp_read_resource(struct otlp *o, struct proto message)
{
    struct proto_field field;
    while (proto_next(&field, &message)) {
        if (field.number != 1)
            continue;
        struct otlp_attribute attribute = read_attribute(o, proto_within(&message, &field));
        take_resource(o, &attribute);
    }
    return tables_ended(&o->tables, &message) && !o->tables.wrong;
}

/* ---- the dictionary ---- */

static bool add_stack(struct otlp *o, struct proto message)
{
    struct proto *row = build_push(&o->build, &o->stacks, sizeof *row, MIRE_OTLP_ROWS_MAX);
    if (row)
        *row = message;
    return row || tables_refuse(&o->tables, proto_place(&message), "too many stacks");
}

static bool add_attribute(struct otlp *o, struct proto message)
{
    struct otlp_attribute *row = build_push(&o->build, &o->attributes, sizeof *row, MIRE_OTLP_ROWS_MAX);
    if (!row)
        return tables_refuse(&o->tables, proto_place(&message), "too many attributes");
    *row = read_attribute(o, message);
    return !o->tables.wrong;
}

/* The texts first: attributes name them. */
static bool read_strings(struct otlp *o, struct proto message)
{
    struct proto_field field;
    while (proto_next(&field, &message))
        if (field.number == DICT_STRING && !tables_add_string(&o->tables, &field))
            return false;
    return tables_ended(&o->tables, &message);
}

/* Build ids are attributes of mappings. */
static bool add_mapping(struct otlp *o, struct proto message)
{
    struct proto again = message;
    struct proto_field field;
    uint64_t index;
    if (!tables_add_mapping(&o->tables, message))
        return false;
    while (proto_next(&field, &again))
        for (size_t at = 0; field.number == 5 && proto_number(&index, &again, &field, &at);) {
            const struct otlp_attribute *attributes = o->attributes.rows;
            if (index < o->attributes.count && !strcmp(attributes[index].key, "process.executable.build_id.gnu"))
                tables_set_build_id(&o->tables, o->tables.mappings.count - 1, attributes[index].text);
        }
    return tables_ended(&o->tables, &again);
}

bool otlp_read_dictionary(struct otlp *o, struct proto message)
{
    struct proto again = message;
    struct proto_field field;
    bool good = read_strings(o, message);
    while (good && proto_next(&field, &message))
        if (field.number == DICT_ATTRIBUTE)
            good = add_attribute(o, proto_within(&message, &field));
    while (good && proto_next(&field, &again)) {
        struct proto inner = proto_within(&again, &field);
        if (field.number == DICT_MAPPING)
            good = add_mapping(o, inner);
        else if (field.number == DICT_LOCATION)
            good = tables_add_location(&o->tables, inner);
        else if (field.number == DICT_FUNCTION)
            good = tables_add_function(&o->tables, inner);
        else if (field.number == DICT_STACK)
            good = add_stack(o, inner);
    }
    return good;
}
