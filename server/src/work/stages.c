/*
 * stages.c - the stages in order: a new one is a function and a row.
 */
#include "work/stages.h"

#include "aggregate/aggregate.h"
#include "cluster/cluster.h"
#include "decode/decode.h"
#include "pg/derive.h"

#include <stdio.h>
#include <string.h>

static int run_decode(struct item *item)
{
    struct decode_fault fault;
    const struct inbox_claim *claim = &item->claim;
    switch (decode_report(&item->report, item->arena, &fault, claim->format, claim->encoding, claim->body,
                          claim->body_len)) {
    case MIRE_DECODE_OK:
        return MIRE_STAGE_DONE;
    case MIRE_DECODE_NO_MEMORY:
        return MIRE_FAULT_MEMORY;
    case MIRE_DECODE_MALFORMED:
        snprintf(item->reason, sizeof item->reason, "byte %zu: %s", fault.position, fault.text);
        return MIRE_STAGE_UNUSABLE;
    case MIRE_DECODE_WRONG:
        snprintf(item->reason, sizeof item->reason, "%.150s: %.150s", fault.path[0] ? fault.path : "/", fault.text);
        return MIRE_STAGE_UNUSABLE;
    case MIRE_DECODE_TOO_BIG:
    case MIRE_DECODE_UNKNOWN:
        break;
    }
    snprintf(item->reason, sizeof item->reason, "%s", fault.text);
    return MIRE_STAGE_UNUSABLE;
}

static int run_symbolicate(struct item *item)
{
    return symbolicate(&item->resolved, &item->counts, item->arena, item->symbols, &item->report, item->now_ms);
}

static int run_feature(struct item *item)
{
    return feature_find(&item->feature, item->arena, &item->resolved, &item->report, item->rules);
}

static int find_issue(void *context, int64_t *issue_id_out, int32_t app_id, const uint8_t key[MIRE_FEATURE_KEY_LEN])
{
    return pg_issue_find(issue_id_out, context, app_id, key);
}

static int open_issue(void *context, int64_t *issue_id_out, const struct issue_row *issue)
{
    return pg_issue_open(issue_id_out, context, issue);
}

static struct pg_bytes cut(const char *text)
{
    return (struct pg_bytes){text, aggregate_text_length(text)};
}

static int run_cluster(struct item *item)
{
    const struct feature *feature = &item->feature;
    int rc = pg_version(&item->version_id, item->tx, item->claim.app_id, cut(item->report.app.version),
                        cut(item->report.app.build), item->claim.received_us);
    if (rc)
        return rc;
    struct issue_row issue = {
        .app_id = item->claim.app_id,
        .caller1 = feature->caller1.function,
        .caller1_image = feature->caller1.image,
        .caller1_place = feature->caller1.place,
        .caller2 = feature->caller2.function,
        .caller2_image = feature->caller2.image,
        .category = category_name(feature->category),
        .reason = reason_name(feature->reason),
        .rules_version = feature->rules_version,
        .first_seen_us = item->claim.received_us,
        .first_version_id = item->version_id,
    };
    memcpy(issue.feature_key, feature->key, sizeof issue.feature_key);
    const struct cluster_index index = {item->tx, find_issue, open_issue};
    rc = cluster_assign(&item->issue_id, &index, &issue);
    return rc < 0 ? rc : MIRE_STAGE_DONE;
}

static int store_stacks(struct item *item, const struct report_key *key)
{
    unsigned char *bytes;
    size_t len;
    if (resolved_encode(&bytes, &len, &item->resolved))
        return MIRE_FAULT_MEMORY;
    int rc = pg_stack_store(item->tx, key, (struct pg_bytes){bytes, len});
    free(bytes);
    return rc;
}

static int run_aggregate(struct item *item)
{
    struct aggregate_facts facts = {
        .key = {.slot = item->claim.slot, .day = item->claim.day},
        .app_id = item->claim.app_id,
        .received_us = item->claim.received_us,
        .version_id = item->version_id,
        .issue_id = item->issue_id,
        .category = item->feature.category,
        .reason = reason_name(item->feature.reason),
        .holder = item->feature.holder,
        .rules_version = item->feature.rules_version,
        .frame_count = item->counts.frames,
        .unresolved_count = item->counts.unresolved,
    };
    struct aggregate_rows rows;
    bool is_new = false;
    memcpy(facts.key.report_id, item->claim.report_id.bytes, sizeof facts.key.report_id);
    aggregate_rows(&rows, &item->report, &facts);
    int rc = pg_hang_store(&is_new, item->tx, &rows.hang);
    if (!rc && is_new)
        rc = store_stacks(item, &facts.key);
    if (!rc && is_new)
        rc = pg_hour_add(item->tx, &rows.hour);
    return rc;
}

const struct stage work_stages[] = {
    {"decode", run_decode},   {"symbolicate", run_symbolicate}, {"feature", run_feature},
    {"cluster", run_cluster}, {"aggregate", run_aggregate},
};
const size_t work_stage_count = sizeof work_stages / sizeof *work_stages;
