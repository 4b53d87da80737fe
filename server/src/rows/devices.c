/*
 * devices.c - which devices an app's issues were seen on, from the index event_by_issue alone.
 *
 * PostgreSQL hands over the identifiers issue by issue; model/devices.c tells them apart. That takes a third of the
 * time of count(DISTINCT) and gives features, groups and totals at once.
 */

#include "rows/devices.h"
#include "rows/view_sql.h"

#define SHARE_STEPS 8 /* at least 1/256 of the devices is looked at */

/* clang-format off */
/* $6 $7 kind, $8 $9 state, $10 words, $11 issues, $12 the first identifier that is left out, $13 their keys. Trees are told apart (%5$s)
 * only where some were split off: the index has none. */
static const char devices_sql[] =
    "WITH h AS (SELECT issue_id, %5$s AS tree, string_agg(install, '') AS installs, min(received_at) AS oldest,"
    "   max(received_at) AS newest FROM event WHERE " EVENT_IN_VIEW "%3$s%4$s GROUP BY 1%7$s),"
    " c AS (SELECT " SHOWN_ID("h") " AS issue_id, string_agg(installs, '') AS installs, min(oldest) AS oldest,"
    "   max(newest) AS newest FROM h" SHOWN_JOIN("h") " GROUP BY 1)"
    " SELECT c.issue_id, c.installs, c.oldest, c.newest, " GROUP_KEY("%1$s", "%2$s")
    " FROM c JOIN issue i USING (issue_id)" WHOLES
    " WHERE " IS_WANTED("i.category", "$6", "$7") " AND " IS_WANTED(STATE, "$8", "$9") " AND " HAS_WORDS("$10") "%6$s";
/* clang-format on */

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

int read_devices(struct kept *out, struct pg_tx *tx, struct arena *arena, const struct view *view, enum read_group by,
                 const int64_t *issues, size_t issue_count, int64_t reports)
{
    struct pg_rows *rows MIRE_SCOPED(pg_rows_free) = NULL;
    int halvings = share_halvings(reports);
    const unsigned char bound = (unsigned char)(0x100 >> halvings);
    struct issue_keys keys = {0};
    bool split;
    int rc = read_splits(&split, tx, view->app);
    if (!rc && issue_count)
        rc = read_keys(&keys, tx, arena, issues, issue_count);
    if (rc)
        return rc;
    const char *sql =
        arena_printf(arena, devices_sql, GROUP_TITLE(by), GROUP_IMAGE(by),
                     issue_count ? " AND issue_id = ANY ($13::bigint[])" : "", halvings ? " AND install < $12" : "",
                     TREE_IF(split), issue_count ? " AND c.issue_id = ANY ($11::bigint[])" : "", BY_TREE_IF(split));
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
