/* facet_hits.c - the statement behind facet_hits.h. */
#include "rows/facet_hits.h"

#include "base/fault.h"
#include "rows/sql.h"
#include "rows/view_sql.h"

#include <stdlib.h>
#include <string.h>

int facet_hits_order(const void *a, const void *b)
{
    const struct facet_hits *x = a, *y = b;

    if (x->issue != y->issue)
        return x->issue < y->issue ? -1 : 1;
    if (x->facet != y->facet)
        return x->facet < y->facet ? -1 : 1;
    return strcmp(x->value, y->value);
}

/* GROUPING() of one of so many columns has a zero at its place, counted from the left. */
static enum explain_facet facet_of(int64_t grouping, int columns)
{
    int place = 0;

    while (place < columns - 1 && grouping & (1 << (columns - 1 - place)))
        place++;
    return (enum explain_facet)place;
}

#define EACH_TAG(of) of(1) of(2) of(3) of(4) of(5) of(6) of(7) of(8)
#define OF_EVENTS(n) ", max(coalesce(tags[" #n "], '')) AS tag" #n
#define OF_TAGS(n)   ", max(tag" #n ") AS tag" #n
#define TAG_NAME(n)  ", tag" #n
#define TAG_SET(n)   ", (named, tag" #n ")"
_Static_assert(MIRE_TAGS_KEPT == 8, "the columns of tags are not as many");

static int keeps_tags(bool *out, struct pg_tx *tx, int32_t app)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    int rc = pg_query(&rows, tx, "SELECT EXISTS (SELECT FROM app WHERE app_id = $1 AND kept_tags <> '')", PG_INT4(app));

    *out = !rc && pg_bool(rows, 0, 0);
    return rc;
}

int rows_facet_hits_read(struct facet_hits **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                         const struct view *view, int64_t of, const int64_t *issues, size_t issue_count)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    struct issue_keys keys = {0};
    bool split, tags;
    int rc = of ? rows_keys_read(&keys, tx, arena, &of, 1) : 0;

    if (!rc)
        rc = rows_splits_read(&split, tx, view->app);
    if (!rc)
        rc = keeps_tags(&tags, tx, view->app);
    if (rc)
        return rc;
    /* One issue's events come from its index in order; of a list of them PostgreSQL would sort all. */
    const char *of_issue = !of               ? " AND $9::bigint[] IS NOT NULL"
                           : keys.count == 1 ? " AND issue_id = ($9::bigint[])[1]"
                                             : " AND issue_id = ANY ($9::bigint[])";
    const char *sql =
        SQL_FILL(arena, sql_facet_hits, {"event_in_view", EVENT_IN_VIEW}, {"of_issue", of_issue},
                 {"tree", TREE_IF(split)}, {"by_tree", BY_TREE_IF(split)}, {"shown_id", SHOWN_ID("found")},
                 {"shown_join", SHOWN_JOIN("found")}, {"kind_wanted", IS_WANTED("i.category", "$6", "$7")},
                 {"named_wanted", of ? "named <> 0" : "true"}, {"tags_of_events", tags ? EACH_TAG(OF_EVENTS) : ""},
                 {"tags", tags ? EACH_TAG(OF_TAGS) : ""}, {"tag_names", tags ? EACH_TAG(TAG_NAME) : ""},
                 {"tag_sets", tags ? EACH_TAG(TAG_SET) : ""}, {"tags_read", tags ? ", tags" : ""});
    if (!sql)
        return MIRE_FAULT_MEMORY;
    rc = pg_query(&rows, tx, sql, VIEW_PARAMS(view), FILTER_PARAMS(&view->kind),
                  PG_INT8S(of ? &of : issues, of ? 1 : issue_count), PG_INT8S(keys.issues, keys.count),
                  PG_INT8(MIRE_FACET_HITS_EVENTS));
    if (rc)
        return rc;
    *count = pg_row_count(rows);
    *out = arena_array(arena, *count + 1, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++) {
        (*out)[i] = (struct facet_hits){.issue = pg_int(rows, i, 0),
                                        .facet = facet_of(pg_int(rows, i, 1), tags ? EXPLAIN_FACETS : EXPLAIN_TAGS),
                                        .value = arena_strdup(arena, pg_text(rows, i, 2)),
                                        .hits = {pg_real(rows, i, 3), pg_real(rows, i, 4)},
                                        .reports = pg_int(rows, i, 5)};
        if (!(*out)[i].value)
            return MIRE_FAULT_MEMORY;
    }
    if (*out)
        qsort(*out, *count, sizeof **out, facet_hits_order);
    return *out ? 0 : MIRE_FAULT_MEMORY;
}
