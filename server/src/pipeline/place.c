/* place.c - version, issue and tree of each report of a batch: one statement a table, and more only for new issues. */
#include "pipeline/batch.h"
#include "pipeline/kinds.h"
#include "pipeline/known.h"

#include "base/fault.h"
#include "rows/derive.h"
#include "rows/idle.h"
#include "rows/tree.h"
#include "rows/triage.h"

#include <stdlib.h>
#include <string.h>

/* Items in an order; those of one issue, or one tree, are neighbours. */
struct order {
    struct item **items;
    size_t count;
};

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_feature(const void *a, const void *b)
{
    const struct item *x = *(const struct item *const *)a, *y = *(const struct item *const *)b;
    int order = memcmp(x->feature.key, y->feature.key, sizeof x->feature.key);
    return order ? order : compare(x->occurred.at_us, y->occurred.at_us);
}

static int by_tree(const void *a, const void *b)
{
    const struct item *x = *(const struct item *const *)a, *y = *(const struct item *const *)b;
    int order = compare(x->issue_id, y->issue_id);
    order = order ? order : compare(x->feature.tree, y->feature.tree);
    return order ? order : compare(x->occurred.at_us, y->occurred.at_us);
}

static int by_version(const void *a, const void *b)
{
    const struct report_app *x = &(*(const struct item *const *)a)->report.app,
                            *y = &(*(const struct item *const *)b)->report.app;
    int order = strcmp(x->version, y->version);
    return order ? order : strcmp(x->build, y->build);
}

/* The first item before `at` of the same version and build; `at` if there is none. */
static size_t first_of_version(const struct batch *batch, size_t at)
{
    const struct report_app *app = &batch->items[at].report.app;
    size_t same = 0;

    while (same < at &&
           (batch_skips(&batch->items[same]) || strcmp(batch->items[same].report.app.version, app->version) != 0 ||
            strcmp(batch->items[same].report.app.build, app->build) != 0))
        same++;
    return same;
}

/* New ones are made in the order of their names, so that two workers wait for each other one way only. */
static int find_versions(struct batch *batch)
{
    const char **versions = arena_array(batch->arena, batch->count + 1, sizeof *versions);
    const char **builds = arena_array(batch->arena, batch->count + 1, sizeof *builds);
    int64_t *ids = arena_array(batch->arena, batch->count + 1, sizeof *ids);
    struct item **firsts = arena_array(batch->arena, batch->count + 1, sizeof(struct item *));
    size_t count = 0;

    if (!versions || !builds || !ids || !firsts)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < batch->count; i++)
        if (!batch_skips(&batch->items[i]) && first_of_version(batch, i) == i)
            firsts[count++] = &batch->items[i];
    if (count)
        qsort(firsts, count, sizeof(struct item *), by_version);
    for (size_t i = 0; i < count; i++) {
        versions[i] = stages_cut(firsts[i], firsts[i]->report.app.version);
        builds[i] = stages_cut(firsts[i], firsts[i]->report.app.build);
        if (!versions[i] || !builds[i])
            return MIRE_FAULT_MEMORY;
    }
    int rc = count ? rows_versions_find(ids, batch->tx, batch->items->claim.app_id, versions, builds, count) : 0;
    for (size_t i = 0; !rc && i < count; i++) {
        firsts[i]->version_id = ids[i];
        rc = ids[i] ? 0 : stages_find_version(firsts[i]);
    }
    for (size_t i = 0; !rc && i < batch->count; i++)
        if (!batch_skips(&batch->items[i]))
            batch->items[i].version_id = batch->items[first_of_version(batch, i)].version_id;
    return rc;
}

/* The index behind the last item that has the feature of the item at `from`. */
static size_t end_of_issue(const struct order *order, size_t from)
{
    size_t to = from + 1;
    while (to < order->count &&
           !memcmp(order->items[to]->feature.key, order->items[from]->feature.key, MIRE_FEATURE_KEY_LEN))
        to++;
    return to;
}

/* Does this event change the row of a known issue? */
static bool is_taken(const struct rows_issue_found *found, const struct item *item)
{
    return found->gone || found->first_seen_us > item->occurred.at_us;
}

/* Put aside the new issues that are more than the app takes in today. */
static int put_aside(struct batch *batch, struct item *const *firsts, const struct rows_issue_found *found,
                     size_t count)
{
    struct item **fresh = arena_array(batch->arena, count + 1, sizeof(struct item *));
    size_t fresh_count = 0;

    if (!fresh)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++)
        if (!found[i].issue_id)
            fresh[fresh_count++] = firsts[i];
    return known_issues(fresh, fresh_count);
}

/*
 * New issues are opened first, because that locks the app's row, which comes before rows of issues in the lock order.
 */
static int place_issues(struct batch *batch, struct item *const *firsts, const struct rows_issue_found *found,
                        size_t count)
{
    const struct cluster_index index = stages_index(batch->tx);
    struct rows_taken *taken = arena_array(batch->arena, count + 1, sizeof *taken);
    size_t taken_count = 0;

    if (!taken)
        return MIRE_FAULT_MEMORY;
    int rc = put_aside(batch, firsts, found, count);
    if (rc)
        return rc;
    for (size_t i = 0; i < count; i++) {
        struct item *item = firsts[i];
        struct issue_row issue;
        item->issue_id = found[i].issue_id;
        if (found[i].issue_id && is_taken(&found[i], item))
            taken[taken_count++] = (struct rows_taken){item->issue_id, item->version_id, item->occurred.at_us};
        if (found[i].issue_id)
            continue;
        stages_issue(&issue, item);
        if (item->aside >> MIRE_KNOWN_ISSUE & 1)
            known_other_issue(&issue);
        rc = cluster_assign(&item->issue_id, &index, &issue);
        if (rc < 0)
            return rc;
    }
    return rows_issues_take(batch->tx, batch->arena, taken, taken_count);
}

static int find_issues(struct batch *batch, struct order *order)
{
    struct pg_bytes *keys = arena_array(batch->arena, order->count + 1, sizeof *keys);
    struct rows_issue_found *found = arena_array(batch->arena, order->count + 1, sizeof *found);
    struct item **firsts = arena_array(batch->arena, order->count + 1, sizeof(struct item *));
    size_t count = 0;
    int rc = 0;

    if (!keys || !found || !firsts)
        return MIRE_FAULT_MEMORY;
    for (size_t at = 0; at < order->count; at = end_of_issue(order, at)) {
        keys[count] = (struct pg_bytes){order->items[at]->feature.key, MIRE_FEATURE_KEY_LEN};
        firsts[count++] = order->items[at];
    }
    if (count)
        rc = rows_issues_find(found, batch->tx, batch->items->claim.app_id, keys, count);
    if (!rc)
        rc = place_issues(batch, firsts, found, count);
    for (size_t at = 0, to; !rc && at < order->count; at = to) {
        to = end_of_issue(order, at);
        for (size_t i = at + 1; i < to; i++) {
            order->items[i]->issue_id = order->items[at]->issue_id;
            order->items[i]->aside |= order->items[at]->aside & 1u << MIRE_KNOWN_ISSUE;
        }
    }
    return rc;
}

static bool same_tree(const struct item *a, const struct item *b)
{
    return a->issue_id == b->issue_id && a->feature.tree == b->feature.tree;
}

/* Keep new trees, up to the limit of an issue, and write earlier first events. `firsts` is ordered by
 * issue. */
static int keep_trees(struct batch *batch, struct item *const *firsts, const struct rows_tree_found *found,
                      size_t count)
{
    struct tree_row *rows = arena_array(batch->arena, count + 1, sizeof *rows);
    size_t kept = 0, added = 0;

    if (!rows)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++) {
        struct item *item = firsts[i];
        added = i && firsts[i - 1]->issue_id == item->issue_id ? added : 0;
        bool is_full = !found[i].kept && found[i].trees + (int64_t)added >= MIRE_TREES_MAX;
        item->tree = is_full ? 0 : item->feature.tree;
        if (is_full || (found[i].kept && found[i].first_seen_us <= item->occurred.at_us))
            continue;
        added += !found[i].kept;
        int rc = stages_tree(&rows[kept++], item);
        if (rc)
            return rc;
    }
    return rows_trees_keep(batch->tx, batch->arena, rows, kept);
}

static int find_trees(struct batch *batch, struct order *order)
{
    int64_t *issues = arena_array(batch->arena, order->count + 1, sizeof *issues);
    int32_t *trees = arena_array(batch->arena, order->count + 1, sizeof *trees);
    struct rows_tree_found *found = arena_array(batch->arena, order->count + 1, sizeof *found);
    struct item **firsts = arena_array(batch->arena, order->count + 1, sizeof(struct item *));
    size_t count = 0;
    int rc = 0;

    if (!issues || !trees || !found || !firsts)
        return MIRE_FAULT_MEMORY;
    if (order->count)
        qsort(order->items, order->count, sizeof(struct item *), by_tree);
    for (size_t i = 0; i < order->count; i++) {
        struct item *item = order->items[i];
        if (item->aside >> MIRE_KNOWN_ISSUE & 1)
            item->feature.tree = 0; /* the trees of all kinds of trouble */
        if (!item->feature.tree || (count && same_tree(firsts[count - 1], item)))
            continue;
        issues[count] = item->issue_id;
        trees[count] = item->feature.tree;
        firsts[count++] = item;
    }
    if (count)
        rc = rows_trees_find(found, batch->tx, batch->items->claim.app_id, issues, trees, count);
    if (!rc)
        rc = keep_trees(batch, firsts, found, count);
    for (size_t i = 0, at = 0; !rc && i < order->count; i++) {
        struct item *item = order->items[i];
        if (!item->feature.tree)
            continue;
        while (!same_tree(firsts[at], item))
            at++;
        item->tree = firsts[at]->tree;
    }
    return rc;
}

/* Reopen resolved and ignored issues if a report's version requires it, in the order of issues. */
static int open_issues(struct batch *batch, const struct order *order)
{
    struct triage_report *seen = arena_array(batch->arena, order->count + 1, sizeof *seen);
    size_t count = 0;

    if (!seen)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < order->count; i++) {
        const struct item *item = order->items[i];
        if (item->aside)
            continue; /* "other" is no later version, and no trouble of one kind */
        seen[count] = (struct triage_report){item->issue_id, item->tree, stages_cut(item, item->report.app.version)};
        if (!seen[count++].version)
            return MIRE_FAULT_MEMORY;
    }
    return rows_triage_seen(batch->tx, batch->arena, batch->items->claim.app_id, seen, count);
}

int batch_place(struct batch *batch)
{
    struct order order = {arena_array(batch->arena, batch->count + 1, sizeof(struct item *)), 0};
    int rc = find_versions(batch);

    if (!order.items)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < batch->count; i++)
        if (!batch_skips(&batch->items[i]) && kind_of(&batch->items[i])->feature)
            order.items[order.count++] = &batch->items[i];
    if (order.count)
        qsort(order.items, order.count, sizeof(struct item *), by_feature);
    if (!rc && order.count)
        rc = rows_idle_share(batch->tx, batch->items->claim.app_id);
    if (!rc)
        rc = find_issues(batch, &order);
    if (!rc)
        rc = find_trees(batch, &order);
    return rc || !order.count ? rc : open_issues(batch, &order);
}
