/* tables.c - see tables.h. */
#include "decode/tables.h"

#include "decode/backtrace.h"
#include "decode/profile.h"

#include <stdlib.h>
#include <string.h>

#define ROWS_MAX (1u << 22) /* of a table; the arena's limit comes first */

struct string {
    const uint8_t *bytes;
    size_t len;
    const char *text; /* NULL: not asked for yet */
};

struct function {
    uint64_t id, name, system_name, file;
};

struct mapping {
    uint64_t id, start, limit, offset, file, build;
    const char *build_id; /* NULL: `build` names it */
    int32_t image;        /* once `known` */
    bool known;
};

struct location {
    uint64_t id, mapping, address;
    struct proto message;  /* for its lines */
    uint32_t first, count; /* of its frames, once `known` */
    int32_t image;
    bool known;
};

bool tables_refuse(struct tables *t, size_t place, const char *what)
{
    if (!t->wrong) {
        t->wrong = what;
        t->place = place;
    }
    return false;
}

bool tables_ended(struct tables *t, const struct proto *message)
{
    return !message->wrong || tables_refuse(t, proto_place(message), message->wrong);
}

/* ---- rows ---- */

const char *tables_text(struct tables *t, uint64_t index)
{
    struct string *strings = t->strings.rows;
    if (index >= t->strings.count)
        return "";
    if (!strings[index].text)
        strings[index].text = build_text(t->build, (const char *)strings[index].bytes, strings[index].len);
    return strings[index].text;
}

bool tables_add_string(struct tables *t, const struct proto_field *field)
{
    struct string *string = build_push(t->build, &t->strings, sizeof *string, ROWS_MAX);
    if (string)
        *string = (struct string){field->bytes, field->wire == PROTO_BYTES ? field->len : 0, NULL};
    return string || tables_refuse(t, 0, "too many texts");
}

/* Fields of numbers into members; NULL: not kept. */
static bool read_numbers(struct tables *t, struct proto *message, uint64_t *const members[], size_t count)
{
    struct proto_field field;
    while (proto_next(&field, message)) {
        size_t number = field.number + (size_t)t->by_place;
        if (number < count && members[number] && field.wire != PROTO_BYTES)
            *members[number] = field.value;
    }
    return tables_ended(t, message);
}

bool tables_add_function(struct tables *t, struct proto message)
{
    struct function *row = build_push(t->build, &t->functions, sizeof *row, ROWS_MAX);
    if (!row)
        return tables_refuse(t, proto_place(&message), "too many functions");
    *row = (struct function){.id = t->functions.count};
    uint64_t *const members[] = {NULL, t->by_place ? NULL : &row->id, &row->name, &row->system_name, &row->file};
    return read_numbers(t, &message, members, sizeof members / sizeof *members);
}

bool tables_add_mapping(struct tables *t, struct proto message)
{
    struct mapping *row = build_push(t->build, &t->mappings, sizeof *row, ROWS_MAX);
    if (!row)
        return tables_refuse(t, proto_place(&message), "too many mappings");
    *row = (struct mapping){.id = t->mappings.count, .image = -1};
    uint64_t *const members[] = {NULL,       t->by_place ? NULL : &row->id,   &row->start, &row->limit, &row->offset,
                                 &row->file, t->by_place ? NULL : &row->build};
    return read_numbers(t, &message, members, sizeof members / sizeof *members);
}

bool tables_add_location(struct tables *t, struct proto message)
{
    struct location *row = build_push(t->build, &t->locations, sizeof *row, ROWS_MAX);
    if (!row)
        return tables_refuse(t, proto_place(&message), "too many locations");
    *row = (struct location){.id = t->locations.count, .message = message, .image = -1};
    uint64_t *const members[] = {NULL, t->by_place ? NULL : &row->id, &row->mapping, &row->address};
    bool good = read_numbers(t, &message, members, sizeof members / sizeof *members);
    row->mapping += t->by_place;
    return good;
}

void tables_set_build_id(struct tables *t, size_t mapping, const char *digits)
{
    if (mapping < t->mappings.count)
        ((struct mapping *)t->mappings.rows)[mapping].build_id = digits;
}

/* All rows begin with their id. */
static int by_id(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void sort(struct build_list *list, size_t size)
{
    const char *rows = list->rows;
    for (size_t i = 1; i < list->count; i++) {
        if (by_id(rows + (i - 1) * size, rows + i * size) <= 0)
            continue;
        qsort(list->rows, list->count, size, by_id);
        return;
    }
}

void tables_sort(struct tables *t)
{
    sort(&t->functions, sizeof(struct function));
    sort(&t->mappings, sizeof(struct mapping));
    sort(&t->locations, sizeof(struct location));
}

/* Ids are mostly 1, 2, 3: then a row is where its id says. */
static void *row_of(const struct build_list *list, uint64_t id, size_t size)
{
    char *rows = list->rows;
    if (id && id <= list->count && *(const uint64_t *)(const void *)(rows + (id - 1) * size) == id)
        return rows + (id - 1) * size;
    return id && list->count ? bsearch(&id, rows, list->count, size, by_id) : NULL;
}

/* ---- frames ---- */

static int32_t image_of(struct tables *t, struct mapping *mapping)
{
    struct report_image image = {.name = ""};
    if (mapping->known)
        return mapping->image;
    const char *build = mapping->build_id ? mapping->build_id : tables_text(t, mapping->build);
    mapping->known = true;
    image.name = tables_text(t, mapping->file);
    image.id_len = backtrace_build_id(image.id, build, strlen(build));
    profile_place(&image, mapping->start, mapping->offset);
    if (mapping->limit > mapping->start)
        image.size = (struct fact){mapping->limit - mapping->start, true};
    if (image.name[0] || image.id_len)
        mapping->image = build_image(t->build, &image);
    return mapping->image;
}

static bool add_frame(struct tables *t, struct location *location, uint32_t frame)
{
    uint32_t *row = frame == UINT32_MAX ? NULL : build_push(t->build, &t->frames, sizeof *row, ROWS_MAX);
    if (row) {
        *row = frame;
        location->count++;
    }
    return row || !t->build->failed || tables_refuse(t, 0, "out of memory");
}

static uint64_t offset_of(const struct tables *t, const struct location *location)
{
    const struct report_image *images = t->build->images.rows;
    return location->address - (location->image >= 0 ? images[location->image].load : 0);
}

/* One call at a location: the first is the innermost of those inlined there. */
static bool add_line(struct tables *t, struct location *location, struct proto message, bool whole)
{
    struct proto_field field;
    uint64_t id = 0, line = 0;
    while (proto_next(&field, &message)) {
        if (field.number == 1)
            id = field.value + t->by_place;
        else if (field.number == 2)
            line = field.value;
    }
    const struct function *function = row_of(&t->functions, id, sizeof *function);
    if (!tables_ended(t, &message))
        return false;
    if (id && !function)
        return tables_refuse(t, proto_place(&message), "a line names a function that is not there");
    struct report_names names = {.function = "", .file = "", .whole = whole};
    if (function) {
        const char *name = tables_text(t, function->name);
        names.function = name[0] ? name : tables_text(t, function->system_name);
        names.file = tables_text(t, function->file);
        names.line = line <= INT32_MAX ? (uint32_t)line : 0;
    }
    return add_frame(t, location,
                     build_named(t->build, location->image, offset_of(t, location), MIRE_FOUND_PC, &names));
}

/* The frames of a location, made when a sample first has it. */
static bool make_frames(struct tables *t, struct location *location)
{
    struct mapping *mapping = row_of(&t->mappings, location->mapping, sizeof *mapping);
    struct proto message = location->message, again = location->message;
    uint32_t lines_at = t->by_place ? 3 : 4;
    struct proto_field field;
    size_t lines = 0;
    if (location->mapping > t->by_place && !mapping)
        return tables_refuse(t, proto_place(&message), "a location names a mapping that is not there");
    location->image = mapping ? image_of(t, mapping) : -1;
    location->first = (uint32_t)t->frames.count;
    location->known = true;
    while (proto_next(&field, &message))
        lines += field.number == lines_at && field.wire == PROTO_BYTES;
    while (proto_next(&field, &again))
        if (field.number == lines_at && field.wire == PROTO_BYTES &&
            !add_line(t, location, proto_within(&again, &field), lines > 1))
            return false;
    return lines ||
           add_frame(t, location, build_address(t->build, location->image, offset_of(t, location), MIRE_FOUND_PC));
}

bool tables_push(struct tables *t, uint64_t id, size_t place)
{
    struct location *location = row_of(&t->locations, id, sizeof *location);
    if (!location)
        return tables_refuse(t, place, "a sample names a location that is not there");
    if (!location->known && !make_frames(t, location))
        return false;
    const uint32_t *frames = (const uint32_t *)t->frames.rows + location->first;
    for (uint32_t i = 0; i < location->count; i++) {
        if (t->depth < TABLES_DEPTH_MAX)
            t->stack[t->depth++] = frames[i];
        else
            t->deeper++;
    }
    return true;
}

const char *tables_program(struct tables *t)
{
    const struct mapping *rows = t->mappings.rows;
    for (size_t i = 0; i < t->mappings.count && i < 2; i++)
        if (tables_text(t, rows[i].file)[0])
            return tables_text(t, rows[i].file);
    return "";
}
