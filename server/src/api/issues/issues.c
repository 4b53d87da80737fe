/* issues.c - the issue list on two levels, sorted and paged by the database. */
#include "api/apps/compared.h"
#include "api/call.h"
#include "api/complete.h"
#include "api/handlers.h"
#include "api/issues/listed.h"
#include "api/params.h"
#include "api/parts.h"
#include "rows/devices.h"
#include "model/category.h"
#include "rows/faceted.h"
#include "rows/issues.h"
#include "rows/rows.h"

#include <string.h>

#define SORTS                                                                                                      \
    "-impact, impact, -events, events, -devices, devices, -longest, longest, -last, last, -bytes, bytes, -above, " \
    "above, title, -title, -change, auto"

static int read_order(struct group_order *order, struct call *call)
{
    static const char *const sorts[] = {
        [ROWS_SORT_IMPACT] = "impact",   [ROWS_SORT_EVENTS] = "events", [ROWS_SORT_DEVICES] = "devices",
        [ROWS_SORT_LONGEST] = "longest", [ROWS_SORT_LAST] = "last",     [ROWS_SORT_TITLE] = "title",
        [ROWS_SORT_BYTES] = "bytes",     [ROWS_SORT_ABOVE] = "above",   [ROWS_SORT_CHANGE] = "change"};
    const char *by = request_query(call->request, "by"), *sort = request_query(call->request, "sort");
    size_t i = 0;

    if (by && strcmp(by, "caller1") != 0 && strcmp(by, "category") != 0 && strcmp(by, "place") != 0)
        return call_refuse(call, "by", "caller1, category, place");
    order->by = !by || !strcmp(by, "caller1") ? ROWS_BY_CALLER1
                : !strcmp(by, "place")        ? ROWS_BY_PLACE
                                              : ROWS_BY_CATEGORY;
    sort = !sort ? "-impact" : strcmp(sort, "auto") == 0 ? "-change" : sort;
    order->falling = *sort == '-';
    while (i < sizeof sorts / sizeof *sorts && strcmp(sorts[i], sort + order->falling) != 0)
        i++;
    if (i == sizeof sorts / sizeof *sorts)
        return call_refuse(call, "sort", SORTS);
    order->sort = (enum rows_sort)i;
    return order->sort == ROWS_SORT_CHANGE && !order->falling ? call_refuse(call, "sort", SORTS) : 0;
}

/* The ranks of changed issues: the first of the comparison has the highest. Changes are known of all devices, not of
 * some. */
static int read_changed(struct group_order *order, struct call *call)
{
    const char *sort = request_query(call->request, "sort");
    struct comparison c;

    if (order->sort != ROWS_SORT_CHANGE)
        return 0;
    if (order->faceted)
        return strcmp(sort, "auto") == 0 ? 0
                                         : call_refuse(call, "sort", "-change is of all devices, systems and channels");
    int rc = compared_read(&c, call, NULL, NULL);
    if (rc)
        return rc;
    int64_t *issues = arena_array(call->arena, c.count + 1, sizeof *issues);
    int64_t *ranks = arena_array(call->arena, c.count + 1, sizeof *ranks);
    if (!issues || !ranks)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < c.count; i++) {
        if (!compared_is_shown(&c.list[i]))
            continue;
        issues[order->changed_count] = c.list[i].issue;
        ranks[order->changed_count++] = (int64_t)(c.count - i);
    }
    order->changed = issues;
    order->change_ranks = ranks;
    return 0;
}

static bool rank_fits(const struct group_order *order)
{
    size_t len = strlen(order->after_rank);

    if (order->sort == ROWS_SORT_TITLE)
        return true;
    return len > 0 && len < 30 && strspn(order->after_rank, "0123456789.") == len;
}

static int read_cursor(struct group_order *order, struct call *call)
{
    const char *text = request_query(call->request, "cursor");
    struct page_cursor cursor;

    if (!text)
        return 0;
    if (cursor_parse(&cursor, call->arena, text, call_query_hash(call)) == 0) {
        order->after_rank = cursor.rank;
        order->after_key = cursor.key;
        call->view.span = cursor.span;
        if (rank_fits(order))
            return 0;
    }

    return call_refuse(call, "cursor", "the next of an answer to the same query");
}

static size_t shown(const struct group *g)
{
    return g->issue_count < MIRE_GROUP_ISSUES_MAX ? g->issue_count : MIRE_GROUP_ISSUES_MAX;
}

/* The trend of a group is the sum of its issues' trends, unless some of them are not shown. */
static int group_trend(double trend[MIRE_TREND_PARTS], struct call *call, const struct faceted *faceted,
                       const struct group *g, const struct issue_summary *summaries)
{
    if (shown(g) < g->issue_count && !faceted)
        return rows_trend_read(trend, call->tx, call->arena, &call->view, g->issues, g->issue_count);
    if (faceted) {
        faceted_trend(trend, faceted, g->issues, g->issue_count);
        return 0;
    }
    memset(trend, 0, MIRE_TREND_PARTS * sizeof *trend);
    for (size_t i = 0; i < shown(g); i++)
        for (int part = 0; part < MIRE_TREND_PARTS; part++)
            trend[part] += summaries[i].trend[part];
    return 0;
}

static int put_group(struct call *call, const struct faceted *faceted, const struct group *g,
                     const struct issue_summary *summaries)
{
    struct json_writer *w = &call->json;
    double trend[MIRE_TREND_PARTS];
    int rc = group_trend(trend, call, faceted, g, summaries);

    json_write_open(w, NULL, '{');
    json_write_text(w, "key", g->key);
    json_write_text(w, "title", g->title);
    json_write_text(w, "image", g->image);
    json_write_text(w, "scene", g->scene);
    json_write_i64(w, "most_bytes", g->most_bytes);
    json_write_i64(w, "above_bytes", (int64_t)(g->above_bytes + 0.5));
    part_totals(w, "totals", &g->totals);
    part_trend(w, trend);
    part_time(w, "last_seen_at", g->last_us);
    json_write_open(w, "issues", '[');
    for (size_t i = 0; i < shown(g); i++)
        part_summary(w, NULL, &summaries[i]);
    json_write_close(w, ']');
    json_write_close(w, '}');
    return rc;
}

/* The summaries of all groups of the page come in one go, in the groups' order. */
static int put_groups(struct call *call, struct group_page *page, const struct devices *devices,
                      const struct faceted *faceted)
{
    struct issue_summary *summaries = NULL;
    size_t wanted = 0, count = 0, at = 0;
    int rc = 0;

    for (size_t i = 0; i < page->count; i++)
        wanted += shown(&page->groups[i]);
    int64_t *issues = arena_array(call->arena, wanted + 1, sizeof *issues);
    if (!issues)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < page->count; at += shown(&page->groups[i++]))
        memcpy(&issues[at], page->groups[i].issues, shown(&page->groups[i]) * sizeof *issues);
    if (wanted)
        rc = rows_summaries_read(&summaries, &count, call->tx, call->arena, &call->view, issues, wanted);
    if (rc == 0 && count != wanted)
        return MIRE_FAULT_BROKEN;
    if (faceted)
        rows_summaries_of_facets(summaries, count, faceted);
    for (size_t i = 0; i < count; i++)
        summaries[i].totals.devices = devices_of_issue(devices, summaries[i].issue);
    json_write_open(&call->json, "groups", '[');
    for (size_t i = 0, first = 0; rc == 0 && i < page->count; first += shown(&page->groups[i++])) {
        page->groups[i].totals.devices = devices_of_group(devices, page->groups[i].key);
        rc = put_group(call, faceted, &page->groups[i], &summaries[first]);
    }
    json_write_close(&call->json, ']');
    return rc;
}

static int put_next(struct call *call, const struct group *last)
{
    const struct page_cursor cursor = {
        .query = call_query_hash(call), .span = call->view.span, .rank = last->rank, .key = last->key};
    const char *text = cursor_format(call->arena, &cursor);

    if (!text)
        return MIRE_FAULT_MEMORY;
    json_write_text(&call->json, "next", text);
    return 0;
}

static void put_totals(struct json_writer *w, const struct totals *totals)
{
    if (totals->devices != MIRE_NOT_COUNTED) {
        part_totals(w, "totals", totals);
        return;
    }
    json_write_open(w, "totals", '{');
    part_counts(w, totals);
    json_write_close(w, '}');
}

/* Are all kinds wanted of memory, in whose issues nobody waits? */
static bool is_of_memory(const struct filter *kinds)
{
    for (size_t i = 0; i < kinds->with_count; i++)
        if (strcmp(kinds->with[i], category_name(MIRE_CATEGORY_FOOM)) != 0 &&
            strcmp(kinds->with[i], category_name(MIRE_CATEGORY_MEMORY)) != 0)
            return false;
    return kinds->with_count > 0;
}

/* The order that was used, as `sort` names it. */
static const char *sort_name(struct call *call, const struct group_order *order)
{
    const char *sort = request_query(call->request, "sort");

    if (sort && strcmp(sort, "auto") != 0)
        return sort;
    if (order->sort == ROWS_SORT_CHANGE && order->changed_count)
        return "-change";
    return sort && is_of_memory(&call->view.kind) ? "-above" : "-impact";
}

static void put_states(struct json_writer *w, const struct group_page *page)
{
    json_write_open(w, "states", '{');
    json_write_i64(w, "open", page->open);
    json_write_i64(w, "regressed", page->regressed);
    json_write_i64(w, "resolved", page->resolved);
    json_write_i64(w, "ignored", page->ignored);
    json_write_close(w, '}');
}

/* Sessions of the view, by which counts become rates; null where none is told. */
static int put_sessions(struct call *call, const struct faceted *faceted)
{
    double sessions = faceted ? faceted->sessions : 0;
    int rc = faceted ? 0 : rows_session_count_read(&sessions, call->tx, &call->view);

    if (!rc && sessions > 0)
        json_write_real(&call->json, "sessions", sessions);
    else
        json_write_null(&call->json, "sessions");
    return rc;
}

/* How complete the figures of facets are; null if none are wanted. */
static void put_faceted(struct json_writer *w, const struct faceted *faceted)
{
    if (!faceted) {
        json_write_null(w, "faceted");
        return;
    }
    json_write_open(w, "faceted", '{');
    if (faceted->read_since_us)
        part_time(w, "since", faceted->read_since_us);
    else
        json_write_null(w, "since");
    json_write_i64(w, "others", faceted->others);
    json_write_close(w, '}');
}

static int answer_issues(struct call *call)
{
    struct json_writer *w = &call->json;
    struct group_order order = {0};
    struct group_page page;
    struct kept kept = {0};
    struct faceted faceted;
    int64_t limit;
    int rc;

    if ((rc = read_order(&order, call)) || (rc = call_integer(&limit, call, "limit", 1, 200, 50)) ||
        (rc = read_cursor(&order, call)))
        return rc;
    if (rows_is_faceted(&call->view)) {
        if ((rc = rows_faceted_read(&faceted, call->tx, call->arena, &call->view)))
            return rc;
        order.faceted = &faceted;
    }
    if ((rc = read_changed(&order, call)))
        return rc;
    order.limit = (int)limit + 1;
    if ((rc = listed_read(&page, &kept, &order, call)))
        return rc;
    bool more = page.count > (size_t)limit;
    page.count -= more;
    json_write_open(w, NULL, '{');
    part_range_kept(w, &call->view.span, page.newest_us, page.first_hour_us, kept.oldest_us);
    json_write_text(w, "sort", sort_name(call, &order));
    json_write_i64(w, "total", page.groups_total);
    json_write_i64(w, "issues_total", page.issues_total);
    put_totals(w, &page.totals);
    put_states(w, &page);
    put_faceted(w, order.faceted);
    if ((rc = put_sessions(call, order.faceted)))
        return rc;
    rc = put_groups(call, &page, &kept.devices, order.faceted);
    if (rc == 0)
        rc = put_completeness(call, "event");
    if (more && rc == 0)
        rc = put_next(call, &page.groups[page.count - 1]);
    else
        json_write_null(w, "next");
    json_write_close(w, '}');
    return rc;
}

int get_issues(void *api, struct request *request, struct reply *reply)
{
    static const char *const names[] = {"t",     "v",       "kind", "state", "q",      "os",    "os_version", "model",
                                        "class", "channel", "by",   "sort",  "cursor", "limit", NULL};
    static const struct call_kind kind = {
        .table = "groups.issues", .names = names, .has_app = true, .has_facets = true, .answer = answer_issues};
    return call_run(api, request, reply, &kind);
}
