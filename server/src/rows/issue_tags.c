/* issue_tags.c - the kept tags of an issue: a facet for each name. */
#include "rows/issue.h"
#include "rows/rows.h"

#include "base/fault.h"

#include <stdlib.h>
#include <string.h>

static bool is_tag(const struct cell_value *value)
{
    return value->facet >= MIRE_FACET_TAGS;
}

/* The tag that a value is of: "name=value", or of MIRE_CELL_OTHERS any other in its place. NULL: nobody knows. */
static const char *tag_of(const struct cell *cell, const struct cell_value *value)
{
    if (strcmp(value->text, MIRE_CELL_OTHERS) != 0)
        return strchr(value->text, '=') ? value->text : NULL;
    for (size_t i = 0; i < cell->value_count; i++)
        if (cell->values[i].facet == value->facet && strchr(cell->values[i].text, '='))
            return cell->values[i].text;
    return NULL;
}

static int by_name_and_key(const void *a, const void *b)
{
    const struct value_row *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->key, y->key);
}

/* The values of a cell, each once: settings may have moved a name to another place meanwhile. 0, or MIRE_FAULT_MEMORY. */
static int collect(struct value_row **out, size_t *count_out, struct arena *arena, const struct cell *cell)
{
    struct value_row *rows = arena_array(arena, cell->value_count + 1, sizeof *rows);
    size_t count = 0, kept = 0;

    *out = rows;
    *count_out = 0;
    for (size_t i = 0; rows && i < cell->value_count; i++) {
        const struct cell_value *value = &cell->values[i];
        const char *tag = is_tag(value) ? tag_of(cell, value) : NULL;
        if (!tag)
            continue;
        int len = (int)strcspn(tag, "=");
        rows[count] = (struct value_row){.name = arena_printf(arena, MIRE_TAG_FACET "%.*s", len, tag),
                                         .key = tag == value->text ? tag + len + 1 : value->text,
                                         .here = (int64_t)value->sums.reports};
        if (!rows[count++].name)
            return MIRE_FAULT_MEMORY;
    }
    if (!rows)
        return MIRE_FAULT_MEMORY;
    if (count)
        qsort(rows, count, sizeof *rows, by_name_and_key);
    for (size_t i = 0; i < count; i++) {
        if (kept && !by_name_and_key(&rows[kept - 1], &rows[i]))
            rows[kept - 1].here += rows[i].here;
        else
            rows[kept++] = rows[i];
    }
    *count_out = kept;
    return 0;
}

static int most_first(const void *a, const void *b)
{
    const struct value_row *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    if (order || x->here == y->here)
        return order ? order : strcmp(x->key, y->key);
    return x->here > y->here ? -1 : 1;
}

/* Reports with any value of a name. */
static int64_t total_of(const struct value_row *rows, size_t count, const char *name)
{
    int64_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += strcmp(rows[i].name, name) ? 0 : rows[i].here;
    return total;
}

int rows_tag_values(struct value_row **out, size_t *count_out, struct arena *arena, const struct event_totals *totals,
                    const struct event_totals *of_app)
{
    struct value_row *rows, *all;
    size_t count, all_count, kept = 0, of_name = 0;
    int rc = collect(&rows, &count, arena, &totals->cell);

    rc = rc ? rc : collect(&all, &all_count, arena, &of_app->cell);
    *count_out = 0;
    if (rc)
        return rc;
    for (size_t i = 0; i < count; i++) {
        const struct value_row *same =
            all_count ? bsearch(&rows[i], all, all_count, sizeof *all, by_name_and_key) : NULL;
        rows[i].all = same ? same->here : 0;
        rows[i].here_total = total_of(rows, count, rows[i].name);
        rows[i].all_total = total_of(all, all_count, rows[i].name);
    }
    if (count)
        qsort(rows, count, sizeof *rows, most_first);
    for (size_t i = 0; i < count; i++) {
        of_name = kept && !strcmp(rows[kept - 1].name, rows[i].name) ? of_name + 1 : 0;
        if (of_name < MIRE_VALUES_MAX)
            rows[kept++] = rows[i];
    }
    *out = rows;
    *count_out = kept;
    return 0;
}
