/* place.c - where the reports of a batch belong: one question a table, and single statements for what is new. */
#include "pipeline/batch.h"
#include "pipeline/kinds.h"

#include "base/fault.h"
#include "rows/derive.h"
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

/* Versions are few: one statement for each that is in the batch. */
static int find_versions(struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct item *item = &batch->items[i];
        const struct report_app *app = &item->report.app;
        size_t same = 0;
        if (item->failed)
            continue;
        while (same < i &&
               (batch->items[same].failed || strcmp(batch->items[same].report.app.version, app->version) != 0 ||
                strcmp(batch->items[same].report.app.build, app->build) != 0))
            same++;
        int rc = same == i ? stages_find_version(item) : 0;
        if (rc)
            return rc;
        item->version_id = batch->items[same].version_id;
    }

    return 0;
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

/* The issue of an item that is the first of its feature in the batch. */
static int find_issue(struct item *item, const struct rows_issue_found *found)
{
    const struct cluster_index index = stages_index(item->tx);
    struct issue_row issue;

    item->issue_id = found->issue_id;
    if (!found->issue_id) {
        stages_issue(&issue, item);
        int rc = cluster_assign(&item->issue_id, &index, &issue);
        return rc < 0 ? rc : 0;
    }
    if (!found->gone && found->first_seen_us <= item->occurred.at_us)
        return 0;
    return rows_issue_take(item->tx, item->issue_id, item->occurred.at_us, item->version_id);
}

/* Those that have to be opened first: that locks the app's row, which goes before rows of issues. */
static int find_issues(struct batch *batch, struct order *order)
{
    struct pg_bytes *keys = arena_array(batch->arena, order->count + 1, sizeof *keys);
    struct rows_issue_found *found = arena_array(batch->arena, order->count + 1, sizeof *found);
    size_t *firsts = arena_array(batch->arena, order->count + 1, sizeof *firsts), count = 0;
    int rc = 0;

    if (!keys || !found || !firsts)
        return MIRE_FAULT_MEMORY;
    for (size_t at = 0; at < order->count; at = end_of_issue(order, at)) {
        keys[count] = (struct pg_bytes){order->items[at]->feature.key, MIRE_FEATURE_KEY_LEN};
        firsts[count++] = at;
    }
    if (count)
        rc = rows_issues_find(found, batch->tx, batch->items->claim.app_id, keys, count);
    for (int known = 0; known < 2; known++)
        for (size_t i = 0; !rc && i < count; i++)
            if ((found[i].issue_id != 0) == known)
                rc = find_issue(order->items[firsts[i]], &found[i]);
    for (size_t i = 0; !rc && i < count; i++)
        for (size_t at = firsts[i] + 1; at < end_of_issue(order, firsts[i]); at++)
            order->items[at]->issue_id = order->items[firsts[i]]->issue_id;
    return rc;
}

static bool same_tree(const struct item *a, const struct item *b)
{
    return a->issue_id == b->issue_id && a->feature.tree == b->feature.tree;
}

/* The tree of an item that is the first of it in the batch. */
static int keep_tree(struct item *item, const struct rows_tree_found *found)
{
    bool is_old = found->kept && found->first_seen_us <= item->occurred.at_us;
    bool is_full = !found->kept && found->trees >= MIRE_TREES_MAX;

    item->tree = is_old ? item->feature.tree : 0;
    return is_old || is_full ? 0 : stages_keep_tree(item);
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
        if (!item->feature.tree || (count && same_tree(firsts[count - 1], item)))
            continue;
        issues[count] = item->issue_id;
        trees[count] = item->feature.tree;
        firsts[count++] = item;
    }
    if (count)
        rc = rows_trees_find(found, batch->tx, batch->items->claim.app_id, issues, trees, count);
    for (size_t i = 0; !rc && i < count; i++)
        rc = keep_tree(firsts[i], &found[i]);
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

/* Open issues that somebody resolved or ignored, where a version calls for it. The order is by issue. */
static int open_issues(struct batch *batch, const struct order *order)
{
    struct triage_report *seen = arena_array(batch->arena, order->count + 1, sizeof *seen);

    if (!seen)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < order->count; i++) {
        const struct item *item = order->items[i];
        seen[i] = (struct triage_report){item->issue_id, item->tree, stages_cut(item, item->report.app.version)};
        if (!seen[i].version)
            return MIRE_FAULT_MEMORY;
    }
    return rows_triage_seen(batch->tx, batch->arena, batch->items->claim.app_id, seen, order->count);
}

int batch_place(struct batch *batch)
{
    struct order order = {arena_array(batch->arena, batch->count + 1, sizeof(struct item *)), 0};
    int rc = find_versions(batch);

    if (!order.items)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < batch->count; i++)
        if (!batch->items[i].failed && kind_of(&batch->items[i])->feature)
            order.items[order.count++] = &batch->items[i];
    if (order.count)
        qsort(order.items, order.count, sizeof(struct item *), by_feature);
    if (!rc)
        rc = find_issues(batch, &order);
    if (!rc)
        rc = find_trees(batch, &order);
    return rc || !order.count ? rc : open_issues(batch, &order);
}
