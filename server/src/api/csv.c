/* csv.c - see csv.h. */
#include "api/csv.h"

#include "base/fault.h"
#include "base/scope.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 96
#define NAME_ROOM   128
#define DEPTH_MAX   4

struct csv {
    struct text *out;
    const struct json *json;
    char (*columns)[NAME_ROOM];
    size_t count;
    bool writes; /* a row, in `cells`; otherwise columns are collected */
    uint32_t cells[COLUMNS_MAX];
};

void csv_cell(struct text *out, const char *text, const char *end)
{
    text_add(out, *text && strchr("=+-@\t\r", *text) ? "\"'" : "\"");
    for (; *text; text++)
        text_append(out, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    text_add(out, "\"");
    text_add(out, end);
}

static void take_member(struct csv *csv, const char *name, uint32_t at)
{
    size_t i = 0;

    while (i < csv->count && strcmp(csv->columns[i], name) != 0)
        i++;
    if (i == csv->count) {
        if (csv->writes || i == COLUMNS_MAX)
            return;
        snprintf(csv->columns[csv->count++], NAME_ROOM, "%s", name);
    }
    csv->cells[i] = at;
}

/* The members of an object, and of objects in it; `prefix` ends with a point. */
static void take_object(struct csv *csv, uint32_t object, const char *prefix, int depth)
{
    const struct json *json = csv->json;
    uint32_t name = object + 1;
    char path[NAME_ROOM];

    for (uint32_t i = 0; i < json_size(json, object); i++) {
        uint32_t value = json_next(json, name);
        size_t len = strlen(prefix), size = json_size(json, name);
        enum json_kind kind = json_kind(json, value);
        if (len + size + 2 < sizeof path) {
            memcpy(path, prefix, len);
            len += json_text(path + len, json, name);
            path[len] = '\0';
            if (kind == MIRE_JSON_OBJECT && depth < DEPTH_MAX) {
                memcpy(path + len, ".", 2);
                take_object(csv, value, path, depth + 1);
            } else if (kind != MIRE_JSON_OBJECT && kind != MIRE_JSON_ARRAY && kind != MIRE_JSON_NULL) {
                take_member(csv, path, value);
            }
        }
        name = json_next(json, value);
    }
}

static void put_value(struct csv *csv, uint32_t at, const char *end)
{
    uint64_t whole;
    int64_t below;
    enum json_kind kind = at ? json_kind(csv->json, at) : MIRE_JSON_NULL;

    if (kind == MIRE_JSON_STRING) {
        char *text MIRE_SCOPED(free_memory) = calloc(1, json_size(csv->json, at) + 1);
        if (text)
            json_text(text, csv->json, at);
        csv_cell(csv->out, text ? text : "", end);
        return;
    }
    if (kind == MIRE_JSON_TRUE || kind == MIRE_JSON_FALSE)
        text_add(csv->out, kind == MIRE_JSON_TRUE ? "true" : "false");
    else if (kind != MIRE_JSON_NULL && json_u64(&whole, csv->json, at))
        text_printf(csv->out, "%" PRIu64, whole);
    else if (kind != MIRE_JSON_NULL && json_i64(&below, csv->json, at))
        text_printf(csv->out, "%" PRId64, below);
    else if (kind == MIRE_JSON_DOUBLE)
        text_printf(csv->out, "%.15g", json_double(csv->json, at));
    text_add(csv->out, end);
}

/* An object as a row, its members named behind `prefix`; with the members of `outer`, 0: none. */
static void take_row(struct csv *csv, uint32_t object, uint32_t outer, const char *prefix)
{
    memset(csv->cells, 0, sizeof csv->cells);
    if (outer)
        take_object(csv, outer, "", 0);
    take_object(csv, object, prefix, 0);
    for (size_t i = 0; csv->writes && i < csv->count; i++)
        put_value(csv, csv->cells[i], i + 1 == csv->count ? "\r\n" : ",");
}

/* Each object of the list at `path` below an object; `outer` as take_row's. */
static void each_row(struct csv *csv, uint32_t object, uint32_t outer, const char *path)
{
    char name[NAME_ROOM], prefix[NAME_ROOM + 1] = "";
    size_t len = strcspn(path, ".:");

    snprintf(name, sizeof name, "%.*s", (int)len, path);
    uint32_t list = json_member(csv->json, object, name), at = list + 1;
    if (!list || json_kind(csv->json, list) != MIRE_JSON_ARRAY)
        return;
    if (outer)
        snprintf(prefix, sizeof prefix, "%s.", name);
    for (uint32_t i = 0; i < json_size(csv->json, list); i++, at = json_next(csv->json, at)) {
        if (json_kind(csv->json, at) != MIRE_JSON_OBJECT)
            continue;
        if (path[len])
            each_row(csv, at, path[len] == ':' ? at : 0, path + len + 1);
        else
            take_row(csv, at, outer, prefix);
    }
}

int csv_table(struct text *out, const char *json_bytes, size_t len, const char *path)
{
    const struct json_limits limits = MIRE_JSON_LIMITS;
    char(*columns)[NAME_ROOM] MIRE_SCOPED(free_memory) = calloc(COLUMNS_MAX, sizeof *columns);
    struct json_fault fault;
    struct json json;
    int rc = columns ? 0 : MIRE_FAULT_MEMORY;

    json_init(&json);
    if (!rc && json_read(&json, &fault, json_bytes, len, &limits) != MIRE_JSON_OK)
        rc = MIRE_FAULT_BROKEN;
    if (!rc) {
        struct csv csv = {.out = out, .json = &json, .columns = columns};
        each_row(&csv, 0, 0, path);
        for (size_t i = 0; i < csv.count; i++)
            csv_cell(out, columns[i], i + 1 == csv.count ? "\r\n" : ",");
        csv.writes = true;
        each_row(&csv, 0, 0, path);
    }
    json_fini(&json);
    return rc || !text_failed(out) ? rc : MIRE_FAULT_MEMORY;
}
