/*
 * mire_script.c - the section "script" of Mire's own format: frames of scripts, in columns of numbers of texts.
 */
#include "decode/mire.h"

struct script {              /* as it stands in the document */
    struct mire_texts texts; /* first: mire_read_texts gets the whole */
    struct bind_column function, file, line;
};

static enum bind_outcome read_row(struct report_script *out, struct bind *bind, const struct script *script, size_t row)
{
    enum bind_outcome outcome =
        mire_text_of(&out->function, bind, &script->texts, &script->function, MIRE_NAME_FUNCTION, row);
    if (!outcome)
        outcome = mire_text_of(&out->file, bind, &script->texts, &script->file, MIRE_NAME_FILE, row);
    if (!outcome && !out->function[0])
        return bind_wrong_element(bind, MIRE_NAME_FUNCTION, row, "must name a text that is not empty");
    out->line = script->line.known ? (uint32_t)script->line.values[row] : 0;
    return outcome;
}

enum bind_outcome mire_read_script(struct bind *bind, void *out, uint32_t at)
{
    static const struct bind_field fields[] = {
        {REQUIRED(OTHER(MIRE_NAME_TEXTS, mire_read_texts))},
        {REQUIRED(
            COLUMN(struct script, function, MIRE_NAME_FUNCTION, MIRE_WIRE_SCRIPT_MAX, 0, MIRE_WIRE_SCRIPT_MAX - 1))},
        {COLUMN(struct script, file, MIRE_NAME_FILE, MIRE_WIRE_SCRIPT_MAX, -1, MIRE_WIRE_SCRIPT_MAX - 1)},
        {COLUMN(struct script, line, MIRE_NAME_LINE, MIRE_WIRE_SCRIPT_MAX, 0, INT32_MAX)},
    };
    struct report *report = out;
    struct script script = {0};

    enum bind_outcome outcome = bind_object(bind, &script, at, fields, COUNT(fields));
    if (outcome)
        return outcome;
    size_t count = script.function.count;
    if (script.file.known && script.file.count != count)
        return bind_wrong_at(bind, MIRE_NAME_FILE, UNEQUAL);
    if (script.line.known && script.line.count != count)
        return bind_wrong_at(bind, MIRE_NAME_LINE, UNEQUAL);
    struct report_script *rows = arena_array(bind->arena, count, sizeof *rows);
    if (!rows)
        return MIRE_BIND_NO_MEMORY;
    for (size_t i = 0; i < count && !outcome; i++)
        outcome = read_row(&rows[i], bind, &script, i);
    report->scripts = rows;
    report->script_count = count;
    return outcome;
}
