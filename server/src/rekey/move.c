/*
 * move.c - issues first, then the reports' own rows, then counters: each table by rising key.
 */
#include "rekey/move.h"
#include "rekey/counters.h"

#include "base/fault.h"
#include "document/document.h"
#include "model/category.h"
#include "pipeline/kinds.h"
#include "rows/derive.h"
#include "rows/memory.h"

#include <stdlib.h>
#include <string.h>

int move_prepare(struct move *move)
{
    struct item *item = &move->item;
    const struct rekey_stored *stored = &move->stored;
    struct aggregate_facts facts;
    struct resolved document;

    stages_issue(&move->issue, item);
    stages_facts(&facts, item);
    aggregate_rows(&move->after, &item->report, &facts);
    if (!category_named(&facts.category, stored->category))
        return MIRE_FAULT_BROKEN;
    facts.issue_id = stored->issue_id;
    facts.tree = stored->tree;
    facts.subject_bytes = (uint64_t)stored->subject_bytes;
    aggregate_rows(&move->before, &item->report, &facts);
    if (kind_of(item)->has_memory && stored->document.len &&
        resolved_decode(&document, item->arena, stored->document.bytes, stored->document.len) == 0) {
        struct memory *had = arena_array(item->arena, 1, sizeof *had);
        if (!had)
            return MIRE_FAULT_MEMORY;
        *had = document.memory;
        move->had = had;
    }

    return stages_missing(&move->missing, item);
}

/* --- issues --- */

static int by_feature(const void *a, const void *b)
{
    const struct move *x = *(const struct move *const *)a;
    const struct move *y = *(const struct move *const *)b;
    if (x->stored.app_id != y->stored.app_id)
        return x->stored.app_id < y->stored.app_id ? -1 : 1;
    int order = memcmp(x->issue.feature_key, y->issue.feature_key, sizeof x->issue.feature_key);
    if (order)
        return order;
    return (x->stored.occurred_us > y->stored.occurred_us) - (x->stored.occurred_us < y->stored.occurred_us);
}

/* libfoo.so+0x1234 */
static bool is_address(const char *function, const char *image)
{
    size_t len = strlen(image);
    return len && !strncmp(function, image, len) && !strncmp(function + len, "+0x", 3);
}

/* Is it the device's name of a row of Java? */
static bool is_short(const struct move *move, const char *function)
{
    const struct report *report = &move->item.report;
    for (size_t i = 0; i < report->java_count; i++) {
        const char *name = report_java_name(move->item.arena, &report->java[i]);
        if (name && !strcmp(name, function))
            return true;
    }
    return false;
}

/* Has the report no frame with that name and build any more? */
static bool is_named_now(const struct move *move, const char *function)
{
    const struct resolved *doc = &move->item.resolved;
    for (size_t i = 0; i < doc->location_count; i++)
        if (doc->locations[i].build && !strcmp(doc->locations[i].function, function))
            return false;
    return true;
}

/* Can no further report have the old issue's key? So it is if a caller was an address, or a short name of
 * Java, and has another name now. If one was an address, a short name proves nothing. */
static bool is_outdated(const struct move *move)
{
    const char *one = move->stored.issue.caller1, *two = move->stored.issue.caller2;
    bool first = is_address(one, move->stored.issue.caller1_image);
    bool second = is_address(two, move->stored.issue.caller2_image);

    if (!move->stored.issue.unnamed)
        return false;
    if (!first && !second) {
        first = is_short(move, one);
        second = is_short(move, two);
    }

    return (first && is_named_now(move, one)) || (second && is_named_now(move, two));
}

static int be_alone(struct pg_tx *tx, int32_t app_id, int32_t *alone)
{
    int rc = *alone != app_id ? rows_rekey_alone(tx, app_id) : 0;
    *alone = app_id;
    return rc;
}

/* An issue for a feature that has none yet. */
static int make_issue(struct move *move, struct pg_tx *tx)
{
    const struct cluster_index index = stages_index(tx);

    int named = is_outdated(move) ? rows_issue_rename(tx, move->stored.issue_id, &move->issue) : 0;
    if (named < 0)
        return named;
    if (named) {
        move->to_issue = move->stored.issue_id;
        return cluster_join(&index, &move->issue, move->to_issue);
    }
    int rc = cluster_open(&move->to_issue, &index, &move->issue);
    return rc ? rc : rows_issue_inherit(tx, move->to_issue, move->stored.issue_id);
}

/* The issue of a report; *alone is the app whose issues this transaction has locked. */
static int find_issue(struct move *move, struct pg_tx *tx, int32_t *alone)
{
    int32_t app_id = move->stored.app_id;
    struct rekey_issue issue = {0};
    int found = rows_rekey_find(&issue, tx, app_id, move->issue.feature_key);
    bool changes = !found || issue.gone || issue.first_seen_us > move->stored.occurred_us;

    move->to_issue = issue.issue_id;
    if (found < 0 || move->stored.preview || (found && issue.issue_id == move->stored.issue_id) || !changes)
        return found < 0 ? found : 0;
    int rc = be_alone(tx, app_id, alone);
    if (rc)
        return rc;
    found = rows_rekey_find(&issue, tx, app_id, move->issue.feature_key);
    move->to_issue = issue.issue_id;
    if (found > 0)
        return rows_issue_take(tx, issue.issue_id, move->stored.occurred_us, move->stored.version_id);
    return found < 0 ? found : make_issue(move, tx);
}

static int keep_tree(struct move *move)
{
    struct item *item = &move->item;
    item->issue_id = move->to_issue;
    int rc = move_is_stored(move) ? stages_keep_tree(item) : 0;
    move->after.event.tree = move->after.hour.tree = item->tree;
    return rc;
}

/* Issues of all derived reports, by rising key. */
static int find_issues(struct move_batch *batch, struct pg_tx *tx)
{
    struct move **order = arena_array(batch->arena, batch->count, sizeof(struct move *));
    size_t count = 0;
    int32_t alone = 0;
    int rc = 0;

    if (!order)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < batch->count; i++)
        if (move_is_derived(&batch->moves[i]))
            order[count++] = &batch->moves[i];
    if (count)
        qsort(order, count, sizeof(struct move *), by_feature);
    for (size_t i = 0; !rc && i < count; i++) {
        rc = find_issue(order[i], tx, &alone);
        order[i]->after.event.issue_id = order[i]->after.hour.issue_id = order[i]->to_issue;
    }
    for (size_t i = 0; !rc && i < count; i++)
        rc = keep_tree(order[i]);
    return rc;
}

/* --- the reports' own rows --- */

static int by_build(const void *a, const void *b)
{
    const struct missing_debug_row *x = a;
    const struct missing_debug_row *y = b;
    size_t len = x->build_id_len < y->build_id_len ? x->build_id_len : y->build_id_len;
    int order = memcmp(x->build_id, y->build_id, len);
    return order ? order : (x->build_id_len > y->build_id_len) - (x->build_id_len < y->build_id_len);
}

static int store_images(const struct move_batch *batch, struct pg_tx *tx)
{
    size_t count = 0;

    for (size_t i = 0; i < batch->count; i++)
        count += move_is_stored(&batch->moves[i]) ? batch->moves[i].item.counts.missing_count : 0;
    struct missing_debug_row *all = arena_array(batch->arena, count, sizeof *all);
    if (!all)
        return MIRE_FAULT_MEMORY;
    count = 0;
    for (size_t i = 0; i < batch->count; i++)
        for (size_t k = 0; move_is_stored(&batch->moves[i]) && k < batch->moves[i].item.counts.missing_count; k++)
            all[count++] = batch->moves[i].missing[k];
    if (count)
        qsort(all, count, sizeof *all, by_build);
    return rows_images_store(tx, all, count);
}

static int store_own(const struct move_batch *batch, struct pg_tx *tx)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < batch->count; i++) {
        const struct move *move = &batch->moves[i];
        if (!move_is_stored(move))
            continue;
        rc = rows_event_move(tx, &move->after.event);
        if (!rc)
            rc = stages_store_stacks(&move->item, &move->stored.key);
        if (!rc)
            rc = rows_missing_debug_forget(tx, &move->stored.key);
        if (!rc)
            rc = rows_missing_debug_store(tx,
                                          &(struct rows_missing){move->stored.key, move->stored.app_id, move->missing,
                                                                 move->item.counts.missing_count},
                                          1);
    }

    return rc;
}

/* --- what became of it --- */

static int by_flow(const void *a, const void *b)
{
    const struct move *x = *(const struct move *const *)a;
    const struct move *y = *(const struct move *const *)b;
    int order = move_compare(x->stored.key.slot, y->stored.key.slot);
    order = order ? order : move_compare(x->stored.job, y->stored.job);
    order = order ? order : move_compare(x->stored.issue_id, y->stored.issue_id);
    return order ? order : memcmp(x->issue.feature_key, y->issue.feature_key, sizeof x->issue.feature_key);
}

static int count_one(const struct move *move, struct pg_tx *tx)
{
    static const struct issue_row unknown = {.caller1 = "", .caller2 = "", .category = "", .reason = ""};
    struct rekey_step step = {.job = move->stored.job,
                              .slot = move->stored.key.slot,
                              .from_issue = move->stored.issue_id,
                              .to_issue = move->left ? move->stored.issue_id : move->to_issue,
                              .to = move->left ? &unknown : &move->issue,
                              .failed = move->left};
    return move->stored.gone ? 0 : rows_rekey_count(tx, &step);
}

static int finish(const struct move_batch *batch, struct pg_tx *tx)
{
    const struct move **order = arena_array(batch->arena, batch->count, sizeof(struct move *));
    int rc = 0;

    if (!order)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < batch->count; i++)
        order[i] = &batch->moves[i];
    if (batch->count)
        qsort(order, batch->count, sizeof(struct move *), by_flow);
    for (size_t i = 0; !rc && i < batch->count; i++) {
        rc = count_one(order[i], tx);
        if (!rc)
            rc = rows_rekey_finish(tx, &order[i]->stored);
    }

    return rc;
}

int move_all(struct move_batch *batch, struct pg_tx *tx)
{
    int rc = find_issues(batch, tx);
    if (!rc)
        rc = store_own(batch, tx);
    if (!rc)
        rc = store_images(batch, tx);
    if (!rc)
        rc = counters_shift(batch, tx);
    return rc ? rc : finish(batch, tx);
}
