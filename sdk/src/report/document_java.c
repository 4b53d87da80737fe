/*
 * document_java.c - the section "java": a row a frame, with texts of its own in three: class, method and file.
 */
#include "report/document.h"

#include "base/alloc.h"

#include <string.h>

enum { TEXT_CLASS, TEXT_METHOD, TEXT_FILE, TEXTS };

/* "package.Class.method" ends with the method; the server refuses a row without a class or a method. */
static void write_name(struct wire *wire, const char *name)
{
    const char *dot = strrchr(name, '.');

    if (!dot || dot == name || !dot[1]) {
        mire__wire_text(wire, NULL, name[0] ? name : "?", SIZE_MAX);
        mire__wire_text(wire, NULL, "?", SIZE_MAX);
        return;
    }
    mire__wire_text(wire, NULL, name, (size_t)(dot - name));
    mire__wire_text(wire, NULL, dot + 1, SIZE_MAX);
}

static void write_column(struct wire *wire, const char *key, int32_t *column, const struct script_rows *rows,
                         int32_t text)
{
    for (uint32_t i = 0; i < rows->java_count; i++)
        column[i] = text == TEXT_FILE && !rows->java[i].file[0] ? -1 : (int32_t)i * TEXTS + text;
    mire__wire_i32_column(wire, key, column, rows->java_count);
}

void mire__document_java(struct wire *wire, const struct script_rows *rows)
{
    int32_t *column = rows->java_count ? mire__calloc(rows->java_count, sizeof(*column)) : NULL;

    if (!column)
        return;
    mire__wire_object(wire, MIRE_NAME_JAVA);
    mire__wire_array(wire, MIRE_NAME_TEXTS);
    for (uint32_t i = 0; i < rows->java_count; i++) {
        write_name(wire, rows->java[i].name);
        mire__wire_text(wire, NULL, rows->java[i].file, SIZE_MAX);
    }
    mire__wire_end(wire);
    write_column(wire, MIRE_NAME_CLASS, column, rows, TEXT_CLASS);
    write_column(wire, MIRE_NAME_METHOD, column, rows, TEXT_METHOD);
    write_column(wire, MIRE_NAME_FILE, column, rows, TEXT_FILE);
    for (uint32_t i = 0; i < rows->java_count; i++)
        column[i] = (int32_t)rows->java[i].line;
    mire__wire_i32_column(wire, MIRE_NAME_LINE, column, rows->java_count);
    mire__wire_end(wire);
    mire__free(column);
}
