/*
 * stages.c - the stages in order: a new one is a function and a row.
 */
#include "pipeline/stages.h"
#include "base/path.h"
#include "fetch/mappings.h"
#include "pipeline/modules.h"

#include "cluster/cluster.h"
#include "decode/decode.h"
#include "document/document.h"
#include "model/frames.h"
#include "rows/alias.h"
#include "rows/derive.h"
#include "rows/session.h"
#include "rows/memory.h"
#include "rows/tree.h"

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

/* A baseline is no event: of it only what it holds is counted. */
static bool is_session(const struct item *item)
{
    return item->report.kind == MIRE_REPORT_SESSION;
}

static int run_symbolicate(struct item *item)
{
    if (is_session(item) || report_is_baseline(&item->report))
        return MIRE_STAGE_DONE;
    int rc = mappings_name(item);
    if (rc)
        return rc;
    return symbolicate(&item->resolved, &item->counts, item->arena, item->symbols, &item->report, item->now_ms);
}

static struct pg_bytes cut(const char *text)
{
    return (struct pg_bytes){text, aggregate_text_length(text)};
}

/* What rows are found by is never too long for their index. */
static const char *device_class(struct item *item)
{
    const char *name = item->report.device.class_name;
    const char *copy = arena_copy(item->arena, name, aggregate_text_length(name));
    return copy ? copy : "";
}

static int find_version(struct item *item)
{
    return pg_version(&item->version_id, item->tx, item->claim.app_id, cut(item->report.app.version),
                      cut(item->report.app.build), item->claim.received_us);
}

/* Against the healthy processes of its version and class. */
static int run_feature_memory(struct item *item)
{
    struct memory_packs packs = {.rules = item->rules, .suspects = item->suspects};
    struct population healthy;
    int rc = find_version(item);
    if (!rc)
        rc = pg_healthy_find(&healthy, &packs.healthy.scope, item->tx, item->arena, item->claim.app_id,
                             item->version_id, device_class(item), MIRE_HEALTHY_LEAST);
    if (rc)
        return rc;
    packs.healthy.population = packs.healthy.scope == MIRE_HEALTHY_NONE ? NULL : &healthy;
    return feature_find_memory(&item->feature, item->arena, &item->resolved, &item->report, &packs);
}

static int run_feature(struct item *item)
{
    if (is_session(item) || report_is_baseline(&item->report))
        return MIRE_STAGE_DONE;
    if (item->report.kind == MIRE_REPORT_MEMORY)
        return run_feature_memory(item);
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

static int be_alone(void *context, int32_t app_id)
{
    return pg_alias_begin(context, app_id);
}

static int find_scenes(void *context, struct cluster_scenes *out, int32_t app_id,
                       const uint8_t blame[MIRE_FEATURE_KEY_LEN])
{
    return pg_issue_scenes(&out->first, &out->count, context, app_id, blame);
}

static int join_issue(void *context, int32_t app_id, int64_t issue_id, int64_t into)
{
    return pg_issue_join(context, app_id, issue_id, into);
}

struct cluster_index stages_index(struct pg_tx *tx)
{
    return (struct cluster_index){tx, find_issue, open_issue, be_alone, find_scenes, join_issue};
}

int stages_keep_tree(struct item *item)
{
    const struct feature *feature = &item->feature;
    struct tree_row row = {.app_id = item->claim.app_id,
                           .issue_id = item->issue_id,
                           .tree = feature->tree,
                           .first_seen_us = item->claim.received_us,
                           .caller1 = feature->stack_caller1};
    int rc = feature->tree ? pg_tree_find(item->tx, row.app_id, row.issue_id, row.tree) : 0;
    if (feature->tree && !rc) {
        row.frames = frames_format(item->arena, &item->resolved, feature->stack);
        rc = row.frames ? pg_tree_keep(item->tx, &row) : MIRE_FAULT_MEMORY;
    }
    item->tree = rc > 0 ? feature->tree : 0;
    return rc < 0 ? rc : MIRE_STAGE_DONE;
}

void stages_issue(struct issue_row *out, const struct item *item)
{
    const struct feature *feature = &item->feature;
    *out = (struct issue_row){
        .app_id = item->claim.app_id,
        .caller1 = feature->caller1.function,
        .caller1_image = feature->caller1.image,
        .caller1_location = feature->caller1.location,
        .caller2 = feature->caller2.function,
        .caller2_image = feature->caller2.image,
        .category = category_name(feature->category),
        .reason = feature_reason(feature),
        .subject = feature->subject,
        .unnamed = feature->caller1.build || feature->caller2.build,
        .rules_version = feature->rules_version,
        .first_seen_us = item->claim.received_us,
        .first_version_id = item->version_id,
    };
    memcpy(out->feature_key, feature->key, sizeof out->feature_key);
    memcpy(out->blame_key, feature->blame, sizeof out->blame_key);
    out->joins = feature->joins;
}

static int run_cluster(struct item *item)
{
    int rc = find_version(item);
    if (rc || is_session(item) || report_is_baseline(&item->report))
        return rc;
    struct issue_row issue;
    stages_issue(&issue, item);
    const struct cluster_index index = stages_index(item->tx);
    rc = cluster_assign(&item->issue_id, &index, &issue);
    return rc < 0 ? rc : stages_keep_tree(item);
}

int stages_store_stacks(const struct item *item, const struct report_key *key)
{
    unsigned char *bytes;
    size_t len;
    if (resolved_encode(&bytes, &len, &item->resolved))
        return MIRE_FAULT_MEMORY;
    int rc = pg_stack_store(item->tx, key, (struct pg_bytes){bytes, len});
    free(bytes);
    return rc;
}

static int store_losses(struct item *item, const struct aggregate_facts *facts)
{
    struct loss_row loss;
    aggregate_losses(&loss, &item->report, facts);
    return pg_loss_add(item->tx, &loss);
}

static int store_baseline(struct item *item, const struct aggregate_facts *facts)
{
    struct baseline_row row;
    bool is_new = false;
    aggregate_baseline(&row, &item->report, facts);
    row.device_class = device_class(item);
    int rc = pg_baseline_store(&is_new, item->tx, &row);
    if (!rc && is_new && item->report.memory.category_count)
        rc = pg_healthy_add(item->tx, item->arena, &row, &item->report.memory);
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
        const char *full = session->ends[i].verdict;
        const char *verdict = arena_copy(item->arena, full, aggregate_text_length(full));
        size_t at = 0;
        if (!verdict)
            return MIRE_FAULT_MEMORY;
        while (at < count && strcmp(verdicts[at], verdict) != 0)
            at++;
        verdicts[at] = verdict;
        counts[at]++;
        count += at == count;
    }
    return pg_session_end_add(item->tx, row, verdicts, counts, count);
}

static int store_session(struct item *item, const struct aggregate_facts *facts)
{
    const char *channel = item->report.app.channel;
    struct session_row row;
    bool is_new = false;
    aggregate_session(&row, &item->report, facts);
    row.channel = arena_copy(item->arena, channel, aggregate_text_length(channel));
    if (!row.channel)
        return MIRE_FAULT_MEMORY;
    int rc = pg_session_store(&is_new, item->tx, &row);
    if (!rc && is_new)
        rc = pg_session_add(item->tx, &row);
    if (!rc && is_new)
        rc = count_ends(item, &row);
    if (!rc && is_new)
        rc = store_losses(item, facts);
    return rc;
}

void stages_facts(struct aggregate_facts *out, const struct item *item)
{
    *out = (struct aggregate_facts){
        .key = {.slot = item->claim.slot, .day = item->claim.day},
        .app_id = item->claim.app_id,
        .received_us = item->claim.received_us,
        .version_id = item->version_id,
        .issue_id = item->issue_id,
        .tree = item->tree,
        .category = item->feature.category,
        .reason = feature_reason(&item->feature),
        .holder = item->feature.holder,
        .subject_bytes = item->feature.subject_bytes,
        .rules_version = item->feature.rules_version,
        .frame_count = item->counts.frames,
        .unresolved_count = item->counts.unresolved,
    };
    memcpy(out->key.report_id, item->claim.report_id.bytes, sizeof out->key.report_id);
}

static const char *copy_cut(const struct item *item, const char *text)
{
    return arena_copy(item->arena, text, aggregate_text_length(text));
}

static int make_missing(struct missing_debug_row *out, const struct item *item, const struct symbolicate_missing *entry)
{
    const struct report_image *image = entry->image;
    const struct report_app *app = &item->report.app;
    static const char *const had[] = {
        [MIRE_DEPTH_UNKNOWN] = "none", [MIRE_DEPTH_NAMES] = "names", [MIRE_DEPTH_LINES] = "lines"};
    const char *arch = image->java ? "java" : image->arch[0] ? image->arch : item->report.device.arch;
    *out = (struct missing_debug_row){.build_id = image->id,
                                      .build_id_len = image->id_len,
                                      .name = copy_cut(item, path_base(image->name)),
                                      .arch = arch,
                                      .had = had[entry->had],
                                      .version = copy_cut(item, image->by_version ? app->version : ""),
                                      .build = copy_cut(item, image->by_version ? app->build : ""),
                                      .defect = entry->defect,
                                      .sought = !image->java && !entry->there,
                                      .splits = entry->splits ? entry->splits->ids : NULL,
                                      .split_count = entry->splits ? entry->splits->count : 0};
    return out->name && out->version && out->build ? 0 : MIRE_FAULT_MEMORY;
}

int stages_missing(struct missing_debug_row **out, const struct item *item)
{
    const struct symbolicate_counts *counts = &item->counts;
    struct missing_debug_row *missing = arena_array(item->arena, counts->missing_count, sizeof *missing);
    if (!missing)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < counts->missing_count; i++) {
        if (make_missing(&missing[i], item, &counts->missing[i]))
            return MIRE_FAULT_MEMORY;
    }
    *out = missing;
    return 0;
}

static int store_missing(struct item *item, const struct report_key *key)
{
    struct missing_debug_row *missing;
    int rc = stages_missing(&missing, item);
    if (!rc)
        rc = pg_images_store(item->tx, missing, item->counts.missing_count);
    return rc ? rc : pg_missing_debug_store(item->tx, key, item->claim.app_id, missing, item->counts.missing_count);
}

static int run_aggregate(struct item *item)
{
    struct aggregate_facts facts;
    struct aggregate_rows rows;
    bool is_new = false;
    stages_facts(&facts, item);
    if (is_session(item))
        return store_session(item, &facts);
    if (report_is_baseline(&item->report))
        return store_baseline(item, &facts);
    aggregate_rows(&rows, &item->report, &facts);
    int rc = pg_event_store(&is_new, item->tx, &rows.event);
    if (!rc && is_new)
        rc = stages_store_stacks(item, &facts.key);
    if (!rc && is_new)
        rc = store_missing(item, &facts.key);
    if (!rc && is_new)
        rc = pg_hour_add(item->tx, &rows.hour);
    if (!rc && is_new && item->report.kind == MIRE_REPORT_MEMORY)
        rc = pg_issue_memory_add(item->tx, item->arena, &rows.event, &item->resolved.memory);
    if (!rc && is_new)
        rc = store_losses(item, &facts);
    return rc || !is_new ? rc : modules_store(item->modules, item);
}

int stages_derive(struct item *item)
{
    int rc = run_decode(item);
    if (!rc)
        rc = run_symbolicate(item);
    return rc ? rc : run_feature(item);
}

const struct stage work_stages[] = {
    {"decode", run_decode},   {"symbolicate", run_symbolicate}, {"feature", run_feature},
    {"cluster", run_cluster}, {"aggregate", run_aggregate},
};
const size_t work_stage_count = sizeof work_stages / sizeof *work_stages;
