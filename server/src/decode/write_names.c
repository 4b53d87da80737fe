/*
 * write_names.c - the sections "script" and "java", and which row of "script" has the name of each frame.
 */
#include "decode/write_inside.h"

#include "wire/limits.h"

#include <stdlib.h>
#include <string.h>

/* The texts of rows are numbered as they are written; one that is the same as in the row before has its number. */
struct text_writer {
    struct json_writer *w;
    const char *last;
    int64_t count, last_at;
};

static int64_t write_some(struct text_writer *texts, const char *text)
{
    if (!text[0])
        return -1;
    if (texts->last && !strcmp(texts->last, text))
        return texts->last_at;
    json_write_text(texts->w, NULL, text);
    texts->last = text;
    return texts->last_at = texts->count++;
}

static void write_column(struct json_writer *w, const char *key, const int64_t *numbers, size_t count)
{
    json_write_open(w, key, '[');
    for (size_t i = 0; i < count; i++)
        json_write_i64(w, NULL, numbers[i]);
    json_write_close(w, ']');
}

static size_t place_of(const struct write_names *names, const char *function, uint32_t line)
{
    uint64_t hash = ((uint64_t)(uintptr_t)function + line) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(hash >> 40) & (names->room - 1);
}

static int64_t find_name(const struct write_names *names, const struct report *report, const struct report_names *named)
{
    for (size_t at = place_of(names, named->function, named->line); names->table[at];
         at = (at + 1) & (names->room - 1)) {
        const struct report_script *row = &report->scripts[names->table[at] - 1];
        if (row->function == named->function && row->file == named->file && row->line == named->line)
            return names->table[at] - 1;
    }
    return -1;
}

static void enter_rows(struct write_names *names, const struct report *report)
{
    for (size_t i = 0; i < report->script_count; i++) {
        size_t at = place_of(names, report->scripts[i].function, report->scripts[i].line);
        while (names->table[at])
            at = (at + 1) & (names->room - 1);
        names->table[at] = (uint32_t)i + 1;
    }
}

bool write_names_find(struct write_names *names, const struct report *report)
{
    *names = (struct write_names){.room = 16, .count = report->script_count};
    while (names->room < report->script_count * 2)
        names->room *= 2;
    names->row_of = calloc(report->frame_count + 1, sizeof *names->row_of);
    names->extra = calloc(report->frame_count + 1, sizeof(const struct report_frame *));
    names->table = calloc(names->room, sizeof *names->table);
    if (!names->row_of || !names->extra || !names->table)
        return false;
    enter_rows(names, report);
    for (size_t i = 0; i < report->frame_count; i++) {
        const struct report_names *named = report->frames[i].names;
        names->row_of[i] = named ? find_name(names, report, named) : -1;
        if (!named || names->row_of[i] >= 0 || names->count == MIRE_WIRE_SCRIPT_MAX)
            continue;
        names->extra[names->extra_count++] = &report->frames[i];
        names->row_of[i] = (int64_t)names->count++;
    }
    return true;
}

void write_names_free(struct write_names *names)
{
    free(names->row_of);
    free(names->extra);
    free(names->table);
}

struct script_columns {
    struct text_writer functions,
        files; /* each with its own last text: a file is written once for a row of its functions */
    int64_t *function, *file, *line;
    size_t count;
};

static void write_script_row(struct script_columns *c, const char *function, const char *file, uint32_t line)
{
    c->function[c->count] = write_some(&c->functions, function);
    c->files.count = c->functions.count;
    c->file[c->count] = write_some(&c->files, file);
    c->functions.count = c->files.count;
    c->line[c->count++] = line;
}

void write_scripts(struct json_writer *w, const struct report *report, const struct write_names *names)
{
    size_t count = names->count;
    int64_t *numbers = count ? calloc(count, 3 * sizeof *numbers) : NULL;
    if (!count || !numbers) {
        w->failed |= count != 0;
        return;
    }
    struct script_columns c = {{.w = w}, {.w = w}, numbers, numbers + count, numbers + 2 * count, 0};
    json_write_open(w, MIRE_NAME_SCRIPT, '{');
    json_write_open(w, MIRE_NAME_TEXTS, '[');
    for (size_t i = 0; i < report->script_count; i++)
        write_script_row(&c, report->scripts[i].function, report->scripts[i].file, report->scripts[i].line);
    for (size_t i = 0; i < names->extra_count; i++)
        write_script_row(&c, names->extra[i]->names->function, names->extra[i]->names->file,
                         names->extra[i]->names->line);
    json_write_close(w, ']');
    write_column(w, MIRE_NAME_FUNCTION, c.function, count);
    write_column(w, MIRE_NAME_FILE, c.file, count);
    write_column(w, MIRE_NAME_LINE, c.line, count);
    json_write_close(w, '}');
    free(numbers);
}

void write_java(struct json_writer *w, const struct report *report)
{
    size_t count = report->java_count;
    int64_t *numbers = count ? calloc(count, 5 * sizeof *numbers) : NULL;
    if (!count || !numbers) {
        w->failed |= count != 0;
        return;
    }
    int64_t *column[5];
    struct text_writer texts = {.w = w};
    for (size_t k = 0; k < 5; k++)
        column[k] = numbers + k * count;
    json_write_open(w, MIRE_NAME_JAVA, '{');
    json_write_open(w, MIRE_NAME_TEXTS, '[');
    for (size_t i = 0; i < count; i++) {
        const struct report_java *row = &report->java[i];
        column[0][i] = write_some(&texts, row->class_name);
        column[1][i] = write_some(&texts, row->method);
        column[2][i] = write_some(&texts, row->file);
        column[3][i] = row->line;
        column[4][i] = row->number;
    }
    json_write_close(w, ']');
    write_column(w, MIRE_NAME_CLASS, column[0], count);
    write_column(w, MIRE_NAME_METHOD, column[1], count);
    write_column(w, MIRE_NAME_FILE, column[2], count);
    write_column(w, MIRE_NAME_LINE, column[3], count);
    write_column(w, MIRE_NAME_NUMBER, column[4], count);
    json_write_close(w, '}');
    free(numbers);
}

void write_names_of_frames(struct json_writer *w, const struct report *report, const struct write_names *names)
{
    bool named = false, whole = false;
    for (size_t i = 0; i < report->frame_count; i++) {
        named |= names->row_of[i] >= 0;
        whole |= names->row_of[i] >= 0 && report->frames[i].names->whole;
    }
    if (named)
        write_column(w, MIRE_NAME_NAME, names->row_of, report->frame_count);
    if (!whole)
        return;
    json_write_open(w, MIRE_NAME_WHOLE, '[');
    for (size_t i = 0; i < report->frame_count; i++)
        json_write_u64(w, NULL, report->frames[i].names && report->frames[i].names->whole);
    json_write_close(w, ']');
}
