/*
 * listed.c - see listed.h.
 *
 * Devices are read of the groups on the page alone, unless they are the sort key. A group has at most as many devices as
 * reports, so the groups with most devices are looked for among those with most reports.
 */
#include "api/issues/listed.h"

#include "rows/faceted.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_ISSUES 2000 /* issues whose devices are read one by one */
#define MOST_ISSUES 8000 /* the same, to find the groups with most devices */
#define WIDE        2    /* times as many groups as the page has are looked at first */
#define WIDER       8    /* times as many next */
#define EXACT       256  /* more devices are an estimate, which is off by */
#define ERROR       1.05 /* at most */

struct issue_ids {
    int64_t *ids;
    size_t count;
};

/* The issues of all groups. */
static int list_issues(struct issue_ids *out, struct arena *arena, const struct group_page *page)
{
    size_t count = 0;

    for (size_t i = 0; i < page->count; i++)
        count += page->groups[i].issue_count;
    *out = (struct issue_ids){.ids = arena_array(arena, count + 1, sizeof *out->ids)};
    if (!out->ids)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < page->count; out->count += page->groups[i++].issue_count)
        memcpy(&out->ids[out->count], page->groups[i].issues, page->groups[i].issue_count * sizeof *out->ids);
    return 0;
}

/* The devices of every issue that matches. */
static int read_all(struct kept *kept, const struct group_order *order, struct call *call)
{
    if (order->faceted)
        return rows_faceted_devices(kept, call->tx, call->arena, &call->view, order->by, order->faceted);
    return rows_devices_read(kept, call->tx, call->arena, &call->view, order->by, NULL, 0);
}

/* Does the view have all issues of its kinds? Then the app's own cells have their devices. */
static bool has_all(const struct view *view, const struct group_page *page)
{
    return !view->word_count && page->open + page->regressed + page->resolved + page->ignored == page->issues_total;
}

/* The devices of a page's issues, and of all that match: those are counted by the app's cells or not at all. */
static int read_some(struct kept *kept, const struct group_page *page, const struct issue_ids *issues,
                     const struct group_order *order, struct call *call)
{
    int rc = rows_devices_read(kept, call->tx, call->arena, &call->view, order->by, issues->ids, issues->count);

    if (rc || page->count == (size_t)page->groups_total)
        return rc;
    rc = rows_devices_of_app(kept, call->tx, call->arena, &call->view);
    if (!has_all(&call->view, page))
        kept->devices.total = MIRE_NOT_COUNTED;
    return rc;
}

static int read_of_page(struct kept *kept, const struct group_page *page, const struct group_order *order,
                        struct call *call)
{
    struct issue_ids issues;
    int rc = list_issues(&issues, call->arena, page);

    if (rc)
        return rc;
    if (order->faceted || !issues.count || issues.count > PAGE_ISSUES ||
        (!has_all(&call->view, page) && page->issues_total <= PAGE_ISSUES))
        return read_all(kept, order, call);
    return read_some(kept, page, &issues, order, call);
}

/* --- the groups with most devices --- */

static bool is_beyond(const struct group_order *order, int64_t devices, const char *key)
{
    if (!order->after_rank)
        return true;
    int64_t after = strtoll(order->after_rank, NULL, 10);
    return devices < after || (devices == after && strcmp(key, order->after_key) > 0);
}

/* Are so many of these groups on the page that no group with fewer reports than the last one can be? */
static bool fill_page(const struct group_page *page, const struct devices *devices, const struct group_order *order)
{
    int64_t most = page->groups[page->count - 1].totals.reports;
    double bound = most > EXACT ? (double)most * ERROR : (double)most;
    int found = 0;

    for (size_t i = 0; i < page->count; i++) {
        int64_t of_group = devices_of_group(devices, page->groups[i].key);
        found += (double)of_group > bound && is_beyond(order, of_group, page->groups[i].key);
    }
    return found >= order->limit;
}

static int read_most(struct kept *kept, const struct group_order *order, struct call *call)
{
    struct group_order by_reports = *order;

    by_reports.sort = ROWS_SORT_REPORTS;
    by_reports.after_rank = by_reports.after_key = NULL;
    for (by_reports.limit = order->limit * WIDE;; by_reports.limit *= WIDER) {
        struct issue_ids issues;
        struct group_page page;
        int rc = rows_groups_read(&page, call->tx, call->arena, &call->view, &by_reports);
        if (rc == 0)
            rc = list_issues(&issues, call->arena, &page);
        if (rc)
            return rc;
        if (page.issues_total <= PAGE_ISSUES || issues.count > MOST_ISSUES)
            return read_all(kept, order, call);
        rc = read_some(kept, &page, &issues, order, call);
        if (rc || page.count == (size_t)page.groups_total || fill_page(&page, &kept->devices, order))
            return rc;
    }
}

int listed_read(struct group_page *page, struct kept *kept, struct group_order *order, struct call *call)
{
    bool by_devices = order->sort == ROWS_SORT_DEVICES;
    int rc = 0;

    if (by_devices)
        rc = order->falling && !order->faceted ? read_most(kept, order, call) : read_all(kept, order, call);
    order->devices = &kept->devices;
    if (rc == 0)
        rc = rows_groups_read(page, call->tx, call->arena, &call->view, order);
    if (rc == 0 && !by_devices)
        rc = read_of_page(kept, page, order, call);
    page->totals.devices = kept->devices.total;
    return rc;
}
