/*
 * devices.c - which devices an app's issues were seen on, from the index event_by_issue alone.
 *
 * PostgreSQL returns the identifiers issue by issue; model/devices.c counts the distinct ones. That takes a third of
 * the time of count(DISTINCT), and gives features, groups and totals in one pass.
 */

#include "rows/devices.h"
#include "rows/sql.h"
#include "rows/view_sql.h"

#define SHARE_STEPS 8 /* at least 1/256 of the devices is looked at */

/*
 * Identifiers are random, so those below a bound are a fair share of the devices. Halve the share until at most
 * MIRE_DEVICES_EXACT reports are left. Returns the number of halvings.
 */
static int share_halvings(int64_t reports)
{
    int halvings = 0;
    while (halvings < SHARE_STEPS && reports >> halvings > MIRE_DEVICES_EXACT)
        halvings++;
    return halvings;
}

static int lists_fill(struct device_list *lists, struct kept *out, struct arena *arena, const struct pg_rows *rows)
{
    for (size_t i = 0; i < pg_row_count(rows); i++) {
        struct pg_bytes installs = pg_bytes(rows, i, 1);
        int64_t oldest_us = pg_time(rows, i, 2), newest_us = pg_time(rows, i, 3);
        lists[i] = (struct device_list){.issue = pg_int(rows, i, 0),
                                        .installs = installs.bytes,
                                        .count = installs.len / MIRE_INSTALL_LEN,
                                        .group = arena_strdup(arena, pg_text(rows, i, 4))};
        if (!lists[i].group)
            return MIRE_FAULT_MEMORY;
        out->oldest_us = i == 0 || oldest_us < out->oldest_us ? oldest_us : out->oldest_us;
        out->newest_us = newest_us > out->newest_us ? newest_us : out->newest_us;
    }
    return 0;
}

int rows_devices_read(struct kept *out, struct pg_tx *tx, struct arena *arena, const struct view *view,
                      enum rows_group by, const int64_t *issues, size_t issue_count, int64_t reports)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    int halvings = share_halvings(reports);
    const unsigned char bound = (unsigned char)(0x100 >> halvings);
    struct issue_keys keys = {0};
    bool split;

    int rc = rows_splits_read(&split, tx, view->app);
    if (!rc && issue_count)
        rc = rows_keys_read(&keys, tx, arena, issues, issue_count);
    if (rc)
        return rc;
    const struct sql_hole holes[] = {
        {"event_in_view", EVENT_IN_VIEW},
        {"of_keys", issue_count ? " AND issue_id = ANY ($13::bigint[])" : ""},
        {"of_issues", issue_count ? " AND c.issue_id = ANY ($11::bigint[])" : ""},
        {"of_share", halvings ? " AND install < $12" : ""},
        {"shown_id", SHOWN_ID("h")},
        {"shown_join", SHOWN_JOIN("h")},
        {"tree", TREE_IF(split)},
        {"by_tree", BY_TREE_IF(split)},
        {"key", GROUP_KEY(by)},
        {"wholes", WHOLES},
        {"kind_wanted", IS_WANTED("i.category", "$6", "$7")},
        {"state_wanted", IS_WANTED(STATE, "$8", "$9")},
        {"has_words", HAS_WORDS("$10")},
    };
    const char *sql = sql_fill(arena, sql_devices, holes, sizeof holes / sizeof *holes);
    *out = (struct kept){0};
    if (!sql)
        return MIRE_FAULT_MEMORY;
    rc = pg_query(&rows, tx, sql, VIEW_PARAMS(view), FILTER_PARAMS(&view->kind), FILTER_PARAMS(&view->state),
                  PG_TEXTS(view->words, view->word_count), PG_INT8S(issues, issue_count), PG_BYTES(&bound, 1),
                  PG_INT8S(keys.issues, keys.count));
    if (rc != 0)
        return rc;
    struct device_list *lists = arena_array(arena, pg_row_count(rows) + 1, sizeof *lists);
    rc = lists ? lists_fill(lists, out, arena, rows) : MIRE_FAULT_MEMORY;
    return rc ? rc : devices_count(&out->devices, arena, lists, pg_row_count(rows), 1 << halvings);
}
