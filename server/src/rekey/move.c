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
#include "rows/tree.h"

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
    facts.above_bytes = (uint64_t)stored->above_bytes;
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

/* Does the report change nothing of the issue that was found for its feature? Then it is the report's. */
static bool takes_known(struct move *move, const struct rows_issue_found *known)
{
    if (!known || !known->issue_id || known->gone || known->first_seen_us > move->stored.occurred_us)
        return false;
    move->to_issue = known->issue_id;
    return true;
}

/* Has an older report of the batch the same feature? Then its issue is the report's, which changes nothing of it. */
static bool takes_older(struct move *move, const struct move *older)
{
    if (!older || older->stored.app_id != move->stored.app_id || !older->to_issue || older->stored.preview ||
        memcmp(older->issue.feature_key, move->issue.feature_key, sizeof move->issue.feature_key) != 0)
        return false;
    move->to_issue = older->to_issue;
    return true;
}

/* The issue of a report; *alone is the app whose issues this transaction has locked. */
static int find_issue(struct move *move, struct pg_tx *tx, int32_t *alone, const struct rows_issue_found *known)
{
    int32_t app_id = move->stored.app_id;
    struct rekey_issue issue = {0};

    if (takes_known(move, known))
        return 0;
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

static int keep_tree(struct move *move, const struct rows_tree_found *known)
{
    struct item *item = &move->item;
    bool is_known = known->kept && known->first_seen_us <= move->stored.occurred_us;
    if (is_known)
        item->tree = item->feature.tree;
    int rc = move_is_stored(move) && !is_known ? stages_keep_tree(item) : 0;
    move->after.event.tree = move->after.hour.tree = item->tree;
    return rc;
}

/* The index behind the last report of the app of the one at `from`. */
static size_t end_of_app(struct move *const *order, size_t count, size_t from)
{
    size_t to = from + 1;
    while (to < count && order[to]->stored.app_id == order[from]->stored.app_id)
        to++;
    return to;
}

/* Look up the issues of all reports: one statement an app. */
static int know_issues(struct rows_issue_found *known, struct move *const *order, size_t count, struct pg_tx *tx,
                       struct arena *arena)
{
    struct pg_bytes *keys = arena_array(arena, count + 1, sizeof *keys);
    int rc = keys ? 0 : MIRE_FAULT_MEMORY;

    for (size_t at = 0, to; !rc && at < count; at = to) {
        to = end_of_app(order, count, at);
        for (size_t i = at; i < to; i++)
            keys[i] = (struct pg_bytes){order[i]->issue.feature_key, MIRE_FEATURE_KEY_LEN};
        rc = rows_issues_find(&known[at], tx, order[at]->stored.app_id, &keys[at], to - at);
    }
    return rc;
}

/* Look up the trees of all reports: one statement an app. */
static int know_trees(struct rows_tree_found *known, struct move *const *order, size_t count, struct pg_tx *tx,
                      struct arena *arena)
{
    int64_t *issues = arena_array(arena, count + 1, sizeof *issues);
    int32_t *trees = arena_array(arena, count + 1, sizeof *trees);
    int rc = issues && trees ? 0 : MIRE_FAULT_MEMORY;

    for (size_t at = 0, to; !rc && at < count; at = to) {
        to = end_of_app(order, count, at);
        for (size_t i = at; i < to; i++) {
            issues[i] = order[i]->to_issue;
            trees[i] = order[i]->item.feature.tree;
        }
        rc = rows_trees_find(&known[at], tx, order[at]->stored.app_id, &issues[at], &trees[at], to - at);
    }
    return rc;
}

/* Issues and trees of all derived reports, by rising key. */
static int find_issues(struct move_batch *batch, struct pg_tx *tx)
{
    struct move **order = arena_array(batch->arena, batch->count + 1, sizeof(struct move *));
    struct rows_issue_found *issues = arena_array(batch->arena, batch->count + 1, sizeof *issues);
    struct rows_tree_found *trees = arena_array(batch->arena, batch->count + 1, sizeof *trees);
    size_t count = 0;
    int32_t alone = 0;

    if (!order || !issues || !trees)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < batch->count; i++)
        if (move_is_derived(&batch->moves[i]))
            order[count++] = &batch->moves[i];
    if (count)
        qsort(order, count, sizeof(struct move *), by_feature);
    int rc = know_issues(issues, order, count, tx, batch->arena);
    for (size_t i = 0; !rc && i < count; i++) {
        if (!takes_older(order[i], i ? order[i - 1] : NULL))
            rc = find_issue(order[i], tx, &alone, alone ? NULL : &issues[i]); /* a change may be of any issue */
        order[i]->after.event.issue_id = order[i]->after.hour.issue_id = order[i]->item.issue_id = order[i]->to_issue;
    }
    if (!rc)
        rc = know_trees(trees, order, count, tx, batch->arena);
    for (size_t i = 0; !rc && i < count; i++)
        rc = keep_tree(order[i], &trees[i]);
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

/* Does the job change what a report lacks? */
static bool misses_anew(const struct move *move)
{
    return move_is_stored(move) && move->stored.misses;
}

static int store_images(const struct move_batch *batch, struct pg_tx *tx)
{
    size_t count = 0;

    for (size_t i = 0; i < batch->count; i++)
        count += misses_anew(&batch->moves[i]) ? batch->moves[i].item.counts.missing_count : 0;
    struct missing_debug_row *all = arena_array(batch->arena, count, sizeof *all);
    if (!all)
        return MIRE_FAULT_MEMORY;
    count = 0;
    for (size_t i = 0; i < batch->count; i++)
        for (size_t k = 0; misses_anew(&batch->moves[i]) && k < batch->moves[i].item.counts.missing_count; k++)
            all[count++] = batch->moves[i].missing[k];
    if (count)
        qsort(all, count, sizeof *all, by_build);
    return rows_images_store(tx, all, count);
}

static int store_own(const struct move_batch *batch, struct pg_tx *tx)
{
    const struct event_row **events = arena_array(batch->arena, batch->count + 1, sizeof *events);
    struct pg_bytes *documents = arena_array(batch->arena, batch->count + 1, sizeof *documents);
    struct move **moves = arena_array(batch->arena, batch->count + 1, sizeof(struct move *));
    bool *changed = arena_array(batch->arena, batch->count + 1, sizeof *changed);
    struct rows_missing *missing = arena_array(batch->arena, batch->count + 1, sizeof *missing);
    size_t count = 0, missing_count = 0;

    if (!events || !documents || !moves || !changed || !missing)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < batch->count; i++) {
        struct move *move = &batch->moves[i];
        if (!move_is_stored(move))
            continue;
        int rc = stages_encode(&move->item);
        if (rc)
            return rc;
        events[count] = &move->after.event;
        documents[count] = move->item.document;
        moves[count++] = move;
        if (move->stored.misses)
            missing[missing_count++] = (struct rows_missing){move->stored.key, move->stored.app_id, move->missing,
                                                             move->item.counts.missing_count};
    }
    int rc = rows_events_move(changed, tx, batch->arena, events, documents, count);
    for (size_t i = 0; !rc && i < count; i++)
        moves[i]->changed = changed[i];
    if (!rc)
        rc = rows_missing_debug_forget(tx, batch->arena, missing, missing_count);
    return rc ? rc : rows_missing_debug_store(tx, batch->arena, missing, missing_count);
}

/* --- what became of it --- */

static int by_flow(const void *a, const void *b)
{
    const struct move *x = *(const struct move *const *)a;
    const struct move *y = *(const struct move *const *)b;
    int order = move_compare(x->stored.key.slot, y->stored.key.slot);
    order = order ? order : move_compare(x->stored.job, y->stored.job);
    order = order ? order : move_compare(x->stored.issue_id, y->stored.issue_id);
    order = order ? order : move_compare(y->left, x->left); /* their key is the lowest */
    return order ? order : memcmp(x->issue.feature_key, y->issue.feature_key, sizeof x->issue.feature_key);
}

static struct rekey_step step_of(const struct move *move)
{
    static const struct issue_row unknown = {.caller1 = "", .caller2 = "", .category = "", .reason = ""};

    return (struct rekey_step){.job = move->stored.job,
                               .slot = move->stored.key.slot,
                               .from_issue = move->stored.issue_id,
                               .to_issue = move->left ? move->stored.issue_id : move->to_issue,
                               .to = move->left ? &unknown : &move->issue,
                               .reports = move->left ? 0 : move->stored.stands,
                               .failed = move->left ? move->stored.stands : 0};
}

/* Are both counted in one row? */
static bool same_flow(const struct rekey_step *a, const struct rekey_step *b)
{
    return a->slot == b->slot && a->job == b->job && a->from_issue == b->from_issue &&
           !memcmp(a->to->feature_key, b->to->feature_key, sizeof a->to->feature_key);
}

/* Count reports of one flow at once; `order` is by flow. */
static int count_flows(struct move *const *order, size_t count, struct pg_tx *tx, struct arena *arena)
{
    struct rekey_step *steps = arena_array(arena, count + 1, sizeof *steps);
    size_t flows = 0;

    if (!steps)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++) {
        struct rekey_step next = step_of(order[i]);
        if (flows && same_flow(&steps[flows - 1], &next)) {
            steps[flows - 1].reports += next.reports;
            steps[flows - 1].failed += next.failed;
            continue;
        }
        steps[flows++] = next;
    }
    return rows_rekey_count(tx, arena, steps, flows);
}

static int finish(const struct move_batch *batch, struct pg_tx *tx)
{
    struct move **order = arena_array(batch->arena, batch->count + 1, sizeof(struct move *));
    struct rekey_done *done = arena_array(batch->arena, batch->count + 1, sizeof *done);
    size_t count = 0;

    if (!order || !done)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < batch->count; i++) {
        struct move *move = &batch->moves[i];
        done[i] = (struct rekey_done){move->stored.key, move->stored.job};
        if (!move->stored.gone)
            order[count++] = move;
    }
    if (count)
        qsort(order, count, sizeof(struct move *), by_flow);
    int rc = count_flows(order, count, tx, batch->arena);
    return rc ? rc : rows_rekey_finish(tx, batch->arena, done, batch->count);
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
