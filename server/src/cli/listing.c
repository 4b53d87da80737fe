/* listing.c - see listing.h. */
#include "cli/listing.h"

#include "cli/cli.h"
#include "cli/say.h"
#include "cli/table.h"

#include "base/scope.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_text(struct text *out, const struct json *json, uint32_t at)
{
    MIRE_SCOPED(free_memory) char *text = calloc(1, (size_t)json_size(json, at) + 1);

    if (text)
        json_text(text, json, at);
    text_add(out, text ? text : "");
}

static void add_number(struct text *out, const struct json *json, uint32_t at)
{
    int64_t whole;

    if (json_i64(&whole, json, at))
        text_printf(out, "%" PRId64, whole);
    else
        text_printf(out, "%.6g", json_double(json, at));
}

static void add_simple(struct text *out, const struct json *json, uint32_t at)
{
    enum json_kind kind = json_kind(json, at);

    if (kind == MIRE_JSON_STRING)
        add_text(out, json, at);
    else if (kind == MIRE_JSON_UINT || kind == MIRE_JSON_INT || kind == MIRE_JSON_DOUBLE)
        add_number(out, json, at);
    else
        text_add(out, kind == MIRE_JSON_TRUE ? "yes" : kind == MIRE_JSON_FALSE ? "no" : "-");
}

void listing_value(struct text *out, const struct json *json, uint32_t at)
{
    if (json_kind(json, at) != MIRE_JSON_ARRAY) {
        add_simple(out, json, at);
        return;
    }
    for (uint32_t i = 0, one = at + 1; i < json_size(json, at); i++, one = json_next(json, one)) {
        text_add(out, i ? "," : "");
        add_simple(out, json, one);
    }
}

/* The cell of a row; "-": it has no such member. An instant goes without its seconds. */
static void read_cell(struct text *out, const struct json *json, uint32_t row, const struct listing_column *column)
{
    uint32_t at = json_member(json, row, column->member);
    size_t len = strlen(column->member);

    text_fini(out);
    if (at)
        listing_value(out, json, at);
    if (!out->len)
        text_add(out, "-");
    if (len > 1 && !strcmp(column->member + len - 2, "at") && out->len > 16)
        out->bytes[16] = '\0';
}

static void put_cell(struct text *line, const char *text, int width, bool last)
{
    table_cell(line, text, last && (int)table_width(text) < width ? (int)table_width(text) : width);
    text_add(line, last ? "\n" : "  ");
}

int listing_print(const struct json *json, uint32_t list, const struct listing_column *columns, size_t count,
                  const char *none)
{
    MIRE_SCOPED(text_fini) struct text line = {0}, cell = {0};
    int widths[LISTING_COLUMNS_MAX];
    uint32_t rows = list && json_kind(json, list) == MIRE_JSON_ARRAY ? json_size(json, list) : 0;

    if (!rows) {
        say(stdout, "%s\n", none);
        return CLI_DONE;
    }
    for (size_t c = 0; c < count; c++) {
        widths[c] = (int)strlen(columns[c].head);
        for (uint32_t i = 0, at = list + 1; i < rows; i++, at = json_next(json, at)) {
            read_cell(&cell, json, at, &columns[c]);
            int own = cell.bytes ? (int)table_width(cell.bytes) : 0;
            own = columns[c].most && own > columns[c].most ? columns[c].most : own;
            widths[c] = own > widths[c] ? own : widths[c];
        }
    }
    for (size_t c = 0; c < count; c++)
        put_cell(&line, columns[c].head, widths[c], c + 1 == count);
    for (uint32_t i = 0, at = list + 1; i < rows; i++, at = json_next(json, at))
        for (size_t c = 0; c < count; c++) {
            read_cell(&cell, json, at, &columns[c]);
            put_cell(&line, cell.bytes ? cell.bytes : "", widths[c], c + 1 == count);
        }
    if (text_failed(&line))
        return CLI_FAILED;
    fwrite(line.bytes, 1, line.len, stdout);
    return CLI_DONE;
}
