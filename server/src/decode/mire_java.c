/*
 * mire_java.c - the section "java" of Mire's own format: places in code of Java and Kotlin, in columns of numbers of
 * texts.
 */
#include "decode/mire.h"

struct java {                /* as it stands in the document */
    struct mire_texts texts; /* first: read_texts gets the whole */
    struct bind_column class_name, method, file, line, number;
};

enum bind_outcome mire_read_texts(struct bind *bind, void *out, uint32_t at)
{
    struct mire_texts *texts = out;

    return bind_texts(&texts->all, &texts->count, bind, at, MIRE_WIRE_JAVA_MAX, MIRE_WIRE_TEXT_MAX);
}

enum bind_outcome mire_text_of(const char **out, struct bind *bind, const struct mire_texts *texts,
                               const struct bind_column *column, const char *name, size_t row)
{
    int64_t at = column->known ? (int64_t)column->values[row] : -1;
    if (at >= (int64_t)texts->count)
        return bind_wrong_element(bind, name, row, "there is no such text");
    *out = at < 0 ? "" : texts->all[at];
    return MIRE_BIND_OK;
}

static enum bind_outcome read_row(struct report_java *out, struct bind *bind, const struct java *java, size_t row)
{
    enum bind_outcome outcome =
        mire_text_of(&out->class_name, bind, &java->texts, &java->class_name, MIRE_NAME_CLASS, row);
    if (!outcome)
        outcome = mire_text_of(&out->method, bind, &java->texts, &java->method, MIRE_NAME_METHOD, row);
    if (!outcome)
        outcome = mire_text_of(&out->file, bind, &java->texts, &java->file, MIRE_NAME_FILE, row);
    if (outcome)
        return outcome;
    out->line = java->line.known ? (uint32_t)java->line.values[row] : 0;
    out->number = java->number.known ? (int64_t)java->number.values[row] : -1;
    if (out->number < 0 && !(out->class_name[0] && out->method[0]))
        return bind_wrong_element(bind, out->class_name[0] ? MIRE_NAME_METHOD : MIRE_NAME_CLASS, row,
                                  "must name a text where there is no number");
    return MIRE_BIND_OK;
}

static const char *unequal(const struct java *java)
{
    size_t count = java->class_name.count;
    return java->method.count != count                         ? MIRE_NAME_METHOD
           : java->file.known && java->file.count != count     ? MIRE_NAME_FILE
           : java->line.known && java->line.count != count     ? MIRE_NAME_LINE
           : java->number.known && java->number.count != count ? MIRE_NAME_NUMBER
                                                               : NULL;
}

enum bind_outcome mire_read_java(struct bind *bind, void *out, uint32_t at)
{
    static const struct bind_field fields[] = {
        {REQUIRED(OTHER(MIRE_NAME_TEXTS, mire_read_texts))},
        {REQUIRED(COLUMN(struct java, class_name, MIRE_NAME_CLASS, MIRE_WIRE_JAVA_MAX, -1, MIRE_WIRE_JAVA_MAX - 1))},
        {REQUIRED(COLUMN(struct java, method, MIRE_NAME_METHOD, MIRE_WIRE_JAVA_MAX, -1, MIRE_WIRE_JAVA_MAX - 1))},
        {COLUMN(struct java, file, MIRE_NAME_FILE, MIRE_WIRE_JAVA_MAX, -1, MIRE_WIRE_JAVA_MAX - 1)},
        {COLUMN(struct java, line, MIRE_NAME_LINE, MIRE_WIRE_JAVA_MAX, 0, INT32_MAX)},
        {COLUMN(struct java, number, MIRE_NAME_NUMBER, MIRE_WIRE_JAVA_MAX, -1, INT32_MAX)},
    };
    struct report *report = out;
    struct java java = {0};

    enum bind_outcome outcome = bind_object(bind, &java, at, fields, COUNT(fields));
    if (outcome)
        return outcome;
    const char *wrong = unequal(&java);
    if (wrong)
        return bind_wrong_at(bind, wrong, UNEQUAL);
    size_t count = java.class_name.count;
    struct report_java *rows = arena_array(bind->arena, count, sizeof *rows);
    if (!rows)
        return MIRE_BIND_NO_MEMORY;
    for (size_t i = 0; i < count && !outcome; i++)
        outcome = read_row(&rows[i], bind, &java, i);
    report->java = rows;
    report->java_count = count;
    return outcome;
}
