/*
 * sql.c - see sql.h.
 */
#include "rows/sql.h"

#include "base/text.h"

#include <string.h>

static const char *text_of(const char *name, size_t len, const struct sql_hole *holes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(holes[i].name) == len && !memcmp(holes[i].name, name, len))
            return holes[i].text;
    return NULL;
}

/* Append the text up to the next hole or comment, and the hole's replacement. Returns the rest; NULL: a hole has no
 * replacement. */
static const char *fill_next(struct text *out, const char *sql, const struct sql_hole *holes, size_t count)
{
    size_t plain = 0;

    while (sql[plain] && sql[plain] != '{' && strncmp(sql + plain, "--", 2) != 0)
        plain++;
    text_append(out, sql, plain);
    sql += plain;
    if (!*sql)
        return sql;
    if (*sql == '-')
        return sql + strcspn(sql, "\n");

    size_t len = strcspn(sql + 1, "}");
    const char *text = text_of(sql + 1, len, holes, count);
    if (!text || !sql[len + 1])
        return NULL;
    text_add(out, text);
    return sql + len + 2;
}

const char *sql_fill(struct arena *arena, const char *sql, const struct sql_hole *holes, size_t count)
{
    struct text out = {0};
    const char *filled = NULL;
    while (sql && *sql)
        sql = fill_next(&out, sql, holes, count);
    if (sql && !out.failed)
        filled = arena_copy(arena, out.bytes ? out.bytes : "", out.len);
    text_fini(&out);
    return filled;
}
