/* enough.c - see enough.h. */
#include "pipeline/enough.h"
#include "pipeline/kinds.h"

#include "base/clock.h"
#include "base/fault.h"
#include "decode/write.h"
#include "document/document.h"
#include "rows/enough.h"

#include <stdlib.h>
#include <string.h>

#define LOOKS 8 /* until the rest is used up */

/* --- finding */

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_key(const struct item *x, const struct item *y)
{
    int order = compare(x->issue_id, y->issue_id);
    order = order ? order : compare(x->version_id, y->version_id);
    return order ? order : compare(clock_day(x->occurred.at_us), clock_day(y->occurred.at_us));
}

/* Items of one key are neighbours, in the order of the batch. */
static int by_key_and_place(const void *a, const void *b)
{
    struct item *const *x = a, *const *y = b;
    int order = by_key(*x, *y);
    return order ? order : (*x > *y) - (*x < *y);
}

static struct enough_entry key_of(const struct item *item)
{
    return (struct enough_entry){.app_id = item->claim.app_id,
                                 .day = clock_day(item->occurred.at_us),
                                 .issue_id = item->issue_id,
                                 .version_id = item->version_id};
}

static struct enough_entry *entry_of(struct enough *enough, const struct enough_entry *key)
{
    uint64_t x = (uint64_t)key->issue_id * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (uint64_t)key->version_id ^ (uint64_t)key->day << 32) * UINT64_C(0xbf58476d1ce4e5b9);
    return &enough->entries[(x >> 40) % MIRE_ENOUGH_ROOM];
}

static bool is_same(const struct enough_entry *a, const struct enough_entry *b)
{
    return a->app_id == b->app_id && a->day == b->day && a->issue_id == b->issue_id && a->version_id == b->version_id;
}

/* Other workers may have added many reports since the last look. */
static bool is_stale(const struct enough_entry *entry, int64_t limit)
{
    return entry->reports < limit && entry->reports - entry->seen > (limit - entry->seen) / LOOKS;
}

/* An entry for each key of the ordered items, with its reports so far. */
static int read_groups(struct enough_entry *groups, size_t *count_out, struct enough *enough, struct item *const *order,
                       size_t count, int64_t limit)
{
    struct arena *arena = order[0]->arena;
    struct rows_enough *asked = arena_array(arena, count, sizeof *asked);
    size_t *group_of = arena_array(arena, count, sizeof *group_of), n = 0, asked_count = 0;

    if (!asked || !group_of)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++) {
        if (i && !by_key(order[i - 1], order[i]))
            continue;
        groups[n] = key_of(order[i]);
        const struct enough_entry *known = entry_of(enough, &groups[n]);
        if (is_same(known, &groups[n]) && !is_stale(known, limit)) {
            groups[n] = *known;
        } else {
            asked[asked_count] = (struct rows_enough){groups[n].issue_id, groups[n].version_id, groups[n].day, 0};
            group_of[asked_count++] = n;
        }
        n++;
    }
    *count_out = n;
    int rc = rows_enough_read(asked, asked_count, order[0]->tx, arena, order[0]->claim.app_id);
    for (size_t i = 0; !rc && i < asked_count; i++)
        groups[group_of[i]].seen = groups[group_of[i]].reports = asked[i].reports;
    return rc;
}

int enough_find(struct enough *enough, struct item *const *items, size_t count)
{
    int64_t limit = 0;
    size_t group_count, group = 0;

    if (!count)
        return 0;
    if (enough->is_open)
        memset(enough->entries, 0, sizeof enough->entries);
    int rc = rows_enough_limit_read(&limit, items[0]->tx, items[0]->claim.app_id, enough->limit);
    if (rc || !limit)
        return rc;
    enough->is_open = true;
    struct item **order = arena_array(items[0]->arena, count, sizeof(struct item *));
    struct enough_entry *groups = arena_array(items[0]->arena, count, sizeof *groups);
    if (!order || !groups)
        return MIRE_FAULT_MEMORY;
    memcpy(order, items, count * sizeof(struct item *));
    qsort(order, count, sizeof(struct item *), by_key_and_place);
    rc = read_groups(groups, &group_count, enough, order, count, limit);
    for (size_t i = 0; !rc && i < count; i++) {
        group += i && by_key(order[i - 1], order[i]) != 0;
        order[i]->is_counted = groups[group].reports++ >= limit;
    }
    for (size_t i = 0; !rc && i < group_count; i++)
        *entry_of(enough, &groups[i]) = groups[i];
    return rc;
}

/* --- cutting */

/* The report without stacks, context, threads and notes, which are shown of one report alone. */
static struct report without_stacks(const struct report *report)
{
    static const struct report_node root;
    struct report cut = *report;

    cut.context = (struct report_context){0};
    cut.image_count = cut.java_count = cut.script_count = cut.frame_count = 0;
    cut.node_count = 1;
    cut.nodes = &root;
    cut.event.sample_count = 0;
    cut.event.wait_node = 0;
    cut.event.blame = (struct report_blame){0};
    cut.event.hot = (struct report_hot){0};
    cut.memory.stack_count = cut.memory.point_count = 0;
    cut.thread_count = 0;
    cut.note_count = 0;
    return cut;
}

static int copy_packed(struct pg_bytes *out, struct arena *arena, unsigned char *bytes, size_t len)
{
    *out = (struct pg_bytes){arena_copy(arena, (const char *)bytes, len), len};
    free(bytes);
    return out->bytes ? 0 : MIRE_FAULT_MEMORY;
}

/* The amounts of a memory report, which the sums of its issue contain. */
static int cut_document(struct pg_bytes *out, const struct item *item)
{
    static const struct resolved_node root;
    struct resolved cut = {MIRE_RESOLVED_NOTHING, .node_count = 1, .nodes = &root,
                           .hot = {.caller1 = -1, .caller2 = -1}};
    unsigned char *bytes;
    size_t len;

    cut.memory = item->resolved.memory;
    cut.memory.stack_count = cut.memory.point_count = 0;
    if (resolved_encode_by(item->encoder, &bytes, &len, &cut))
        return MIRE_FAULT_MEMORY;
    return copy_packed(out, item->arena, bytes, len);
}

int enough_cut(struct pg_bytes *body_out, struct pg_bytes *document_out, const struct item *item)
{
    const struct report cut = without_stacks(&item->report);
    unsigned char *bytes;
    size_t len;

    *document_out = (struct pg_bytes){0};
    if (report_pack(&bytes, &len, &cut))
        return MIRE_FAULT_MEMORY;
    int rc = copy_packed(body_out, item->arena, bytes, len);
    return rc || !kind_of(item)->has_memory ? rc : cut_document(document_out, item);
}
