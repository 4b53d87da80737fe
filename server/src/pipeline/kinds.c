/*
 * kinds.c - see kinds.h.
 */
#include "pipeline/kinds.h"
#include "pipeline/modules.h"

#include "rows/derive.h"
#include "rows/memory.h"
#include "rows/session.h"

#include <string.h>

static int feature_event(struct item *item)
{
    return feature_find(&item->feature, item->arena, &item->resolved, &item->report, item->rules);
}

/* What rows are found by is never too long for their index. */
static const char *device_class(const struct item *item)
{
    const char *name = stages_cut(item, item->report.device.class_name);
    return name ? name : "";
}

/* Against the healthy processes of its version and class. */
static int feature_memory(struct item *item)
{
    struct memory_packs packs = {.rules = item->rules, .suspects = item->suspects};
    struct population healthy;

    int rc = stages_find_version(item);
    if (!rc)
        rc = rows_healthy_find(&healthy, &packs.healthy.scope, item->tx, item->arena, item->claim.app_id,
                               item->version_id, device_class(item), MIRE_HEALTHY_LEAST);
    if (rc)
        return rc;
    packs.healthy.population = packs.healthy.scope == MIRE_HEALTHY_NONE ? NULL : &healthy;
    return feature_find_memory(&item->feature, item->arena, &item->resolved, &item->report, &packs);
}

static int store_losses(struct item *item, const struct aggregate_facts *facts)
{
    struct loss_row loss;
    aggregate_losses(&loss, &item->report, facts);
    return rows_loss_add(item->tx, &loss);
}

static int store_missing(struct item *item, const struct report_key *key)
{
    struct missing_debug_row *missing;
    int rc = stages_missing(&missing, item);
    if (!rc)
        rc = rows_images_store(item->tx, missing, item->counts.missing_count);
    return rc ? rc : rows_missing_debug_store(item->tx, key, item->claim.app_id, missing, item->counts.missing_count);
}

/* An event's own rows: its stacks, its missing debug files, its share of the hour. */
static int store_parts(struct item *item, const struct aggregate_facts *facts, const struct aggregate_rows *rows)
{
    int rc = stages_store_stacks(item, &facts->key);
    if (!rc)
        rc = store_missing(item, &facts->key);
    if (!rc)
        rc = rows_hour_add(item->tx, &rows->hour);
    if (!rc && kind_of(item)->has_memory)
        rc = rows_issue_memory_add(item->tx, item->arena, &rows->event, &item->resolved.memory);
    if (!rc)
        rc = store_losses(item, facts);
    return rc ? rc : modules_store(item->modules, item);
}

static int store_event(struct item *item, const struct aggregate_facts *facts)
{
    struct aggregate_rows rows;
    bool is_new = false;
    aggregate_rows(&rows, &item->report, facts);
    int rc = rows_event_store(&is_new, item->tx, &rows.event);
    return rc || !is_new ? rc : store_parts(item, facts, &rows);
}

static int store_baseline(struct item *item, const struct aggregate_facts *facts)
{
    struct baseline_row row;
    bool is_new = false;

    aggregate_baseline(&row, &item->report, facts);
    row.device_class = device_class(item);
    int rc = rows_baseline_store(&is_new, item->tx, &row);
    if (!rc && is_new && item->report.memory.category_count)
        rc = rows_healthy_add(item->tx, item->arena, &row, &item->report.memory);
    if (!rc && is_new)
        rc = store_losses(item, facts);
    return rc;
}

/* Each verdict once, with how many runs ended so. */
static int count_ends(struct item *item, const struct session_row *row)
{
    const struct report_session *session = &item->report.session;
    const char **verdicts = arena_array(item->arena, session->end_count + 1, sizeof *verdicts);
    double *counts = arena_array(item->arena, session->end_count + 1, sizeof *counts);
    size_t count = 0;

    if (!verdicts || !counts)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < session->end_count; i++) {
        const char *verdict = stages_cut(item, session->ends[i].verdict);
        size_t at = 0;
        if (!verdict)
            return MIRE_FAULT_MEMORY;
        while (at < count && strcmp(verdicts[at], verdict) != 0)
            at++;
        verdicts[at] = verdict;
        counts[at]++;
        count += at == count;
    }

    return rows_session_end_add(item->tx, row, verdicts, counts, count);
}

static int store_session(struct item *item, const struct aggregate_facts *facts)
{
    struct session_row row;
    bool is_new = false;

    aggregate_session(&row, &item->report, facts);
    row.channel = stages_cut(item, item->report.app.channel);
    if (!row.channel)
        return MIRE_FAULT_MEMORY;
    int rc = rows_session_store(&is_new, item->tx, &row);
    if (!rc && is_new)
        rc = rows_session_add(item->tx, &row);
    if (!rc && is_new)
        rc = count_ends(item, &row);
    if (!rc && is_new)
        rc = rows_arrival_add(item->tx, &(struct rows_arrival){row.key.slot, row.occurred_day, row.app_id, "session",
                                                               row.delay, row.weight});
    if (!rc && is_new)
        rc = store_losses(item, facts);
    return rc;
}

const struct kind *kind_of(const struct item *item)
{
    static const struct kind kinds[] = {
        [MIRE_REPORT_EVENT] = {feature_event, store_event, false},
        [MIRE_REPORT_MEMORY] = {feature_memory, store_event, true},
        [MIRE_REPORT_BASELINE] = {NULL, store_baseline, false},
        [MIRE_REPORT_SESSION] = {NULL, store_session, false},
    };
    return &kinds[item->report.kind];
}
