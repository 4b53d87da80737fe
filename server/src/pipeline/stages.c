/*
 * stages.c - the stages in order: a new one is a function and a row. kinds.c has what differs by kind of report.
 */
#include "pipeline/stages.h"
#include "base/path.h"
#include "base/text.h"
#include "fetch/mappings.h"
#include "pipeline/kinds.h"
#include "pipeline/known.h"
#include "pipeline/shares.h"

#include "cluster/cluster.h"
#include "decode/decode.h"
#include "document/document.h"
#include "model/frames.h"
#include "rows/alias.h"
#include "rows/derive.h"
#include "rows/tree.h"

#include <stdio.h>
#include <string.h>

/* A stored report that is derived again stays in the hour in which it was counted. */
static void find_occurred(struct item *item)
{
    const struct inbox_claim *claim = &item->claim;
    struct aggregate_clock clock = {claim->clock_known, claim->clock_behind_ms, item->keep_days};

    if (!item->occurred.at_us)
        item->occurred = aggregate_occurred(&item->report, claim->received_us, &clock);
}

/* A share that no rollout gave does not multiply a report. */
static int believe(struct item *item)
{
    const struct inbox_claim *claim = &item->claim;
    size_t refused;
    int rc =
        shares_believe(&refused, &item->report, item->shares, item->tx, item->arena, claim->app_id, claim->received_us);
    if (!rc && refused)
        atomic_fetch_add_explicit(item->disbelieved, 1, memory_order_relaxed);
    return rc;
}

static int run_decode(struct item *item)
{
    struct decode_fault fault;
    const struct inbox_claim *claim = &item->claim;
    const char *path;
    switch (decode_report(&item->report, item->arena, &fault, claim->format, claim->encoding, claim->body,
                          claim->body_len)) {
    case MIRE_DECODE_OK:
        find_occurred(item);
        return believe(item);
    case MIRE_DECODE_NO_MEMORY:
        return MIRE_FAULT_MEMORY;
    case MIRE_DECODE_MALFORMED:
        text_format(item->reason, sizeof item->reason, "byte %zu: %s", fault.position, fault.text);
        return MIRE_STAGE_UNUSABLE;
    case MIRE_DECODE_WRONG:
        path = fault.path[0] ? fault.path : "/";
        text_format(item->reason, sizeof item->reason, "%.*s: %.*s", TEXT_CUT(path, 150), TEXT_CUT(fault.text, 150));
        return MIRE_STAGE_UNUSABLE;
    case MIRE_DECODE_TOO_BIG:
    case MIRE_DECODE_UNKNOWN:
    case MIRE_DECODE_STOPPED:
    case MIRE_DECODE_UNREADABLE:
        break;
    }
    text_format(item->reason, sizeof item->reason, "%s", fault.text);
    return MIRE_STAGE_UNUSABLE;
}

static int run_symbolicate(struct item *item)
{
    if (!kind_of(item)->feature)
        return MIRE_STAGE_DONE;
    int rc = mappings_name(&item->report, item->arena, item->claim.app_id);
    if (rc)
        return rc;
    return symbolicate(&item->resolved, &item->counts, item->arena, item->symbols, &item->report, item->now_ms);
}

int stages_find_version(struct item *item)
{
    const struct report_app *app = &item->report.app;
    struct pg_bytes version = {app->version, aggregate_text_length(app->version)};
    struct pg_bytes build = {app->build, aggregate_text_length(app->build)};

    if (item->version_id)
        return 0; /* of a stored report */
    return rows_version(&item->version_id, item->tx, item->claim.app_id, version, build, item->claim.received_us);
}

static int run_feature(struct item *item)
{
    const struct kind *kind = kind_of(item);
    return kind->feature ? kind->feature(item) : MIRE_STAGE_DONE;
}

static int find_issue(void *context, int64_t *issue_id_out, const struct issue_row *issue)
{
    return rows_issue_find(issue_id_out, context, issue);
}

static int open_issue(void *context, int64_t *issue_id_out, const struct issue_row *issue)
{
    return rows_issue_open(issue_id_out, context, issue);
}

static int be_alone(void *context, int32_t app_id)
{
    return rows_alias_begin(context, app_id);
}

static int find_scenes(void *context, struct cluster_scenes *out, int32_t app_id,
                       const uint8_t blame[MIRE_FEATURE_KEY_LEN])
{
    return rows_issue_scenes(&out->first, &out->count, context, app_id, blame);
}

static int join_issue(void *context, int32_t app_id, int64_t issue_id, int64_t into)
{
    return rows_issue_join(context, app_id, issue_id, into);
}

struct cluster_index stages_index(struct pg_tx *tx)
{
    return (struct cluster_index){tx, find_issue, open_issue, be_alone, find_scenes, join_issue};
}

static struct tree_row tree_of(const struct item *item)
{
    return (struct tree_row){.app_id = item->claim.app_id,
                             .issue_id = item->issue_id,
                             .tree = item->feature.tree,
                             .first_seen_us = item->occurred.at_us,
                             .caller1 = item->feature.stack_caller1};
}

int stages_tree(struct tree_row *out, const struct item *item)
{
    *out = tree_of(item);
    out->frames = frames_format(item->arena, &item->resolved, item->feature.stack);
    return out->frames ? 0 : MIRE_FAULT_MEMORY;
}

int stages_keep_tree(struct item *item)
{
    const struct feature *feature = &item->feature;
    struct tree_row row = tree_of(item);
    int rc = feature->tree ? rows_tree_find(item->tx, &row) : 0;
    if (feature->tree && !rc) {
        rc = stages_tree(&row, item);
        rc = rc ? rc : rows_tree_keep(item->tx, &row);
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
        .first_seen_us = item->occurred.at_us,
        .first_version_id = item->version_id,
    };
    memcpy(out->feature_key, feature->key, sizeof out->feature_key);
    memcpy(out->blame_key, feature->blame, sizeof out->blame_key);
    out->joins = feature->joins;
}

int stages_encode(struct item *item)
{
    unsigned char *bytes;
    size_t len;

    if (!kind_of(item)->feature)
        return 0;
    if (resolved_encode_by(item->encoder, &bytes, &len, &item->resolved))
        return MIRE_FAULT_MEMORY;
    item->document = (struct pg_bytes){arena_copy(item->arena, (const char *)bytes, len), len};
    free(bytes);
    return item->document.bytes ? 0 : MIRE_FAULT_MEMORY;
}

void stages_facts(struct aggregate_facts *out, const struct item *item)
{
    *out = (struct aggregate_facts){
        .key = {.slot = item->claim.slot, .day = item->claim.day},
        .app_id = item->claim.app_id,
        .received_us = item->claim.received_us,
        .occurred = item->occurred,
        .version_id = item->version_id,
        .issue_id = item->issue_id,
        .tree = item->tree,
        .category = item->feature.category,
        .reason = feature_reason(&item->feature),
        .holder = item->feature.holder,
        .subject_bytes = item->feature.subject_bytes,
        .above_bytes = item->feature.above_bytes,
        .rules_version = item->feature.rules_version,
        .frame_count = item->counts.frames,
        .unresolved_count = item->counts.unresolved,
    };
    memcpy(out->key.report_id, item->claim.report_id.bytes, sizeof out->key.report_id);
}

const char *stages_cut(const struct item *item, const char *text)
{
    return arena_copy(item->arena, text, aggregate_text_length(text));
}

static int make_missing(struct missing_debug_row *out, const struct item *item, const struct symbolicate_missing *entry)
{
    const struct report_image *image = entry->image;
    const struct report_app *app = &item->report.app;
    static const char *const had[] = {
        [MIRE_DEPTH_UNKNOWN] = "none", [MIRE_DEPTH_NAMES] = "names", [MIRE_DEPTH_LINES] = "lines"};
    const char *arch = image->arch[0] ? image->arch : item->report.device.arch;

    if (image->java)
        arch = "java";
    *out = (struct missing_debug_row){.build_id = image->id,
                                      .build_id_len = image->id_len,
                                      .name = stages_cut(item, path_base(image->name)),
                                      .arch = arch,
                                      .had = had[entry->had],
                                      .version = stages_cut(item, image->by_version ? app->version : ""),
                                      .build = stages_cut(item, image->by_version ? app->build : ""),
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

int stages_decode(struct item *item)
{
    return run_decode(item);
}

int stages_derive(struct item *item)
{
    int rc = run_decode(item);
    if (!rc)
        rc = run_symbolicate(item);
    return rc ? rc : run_feature(item);
}

const struct stage work_stages[] = {
    {"decode", run_decode}, {"symbolicate", run_symbolicate}, {"known", known_take}, {"feature", run_feature}};
const size_t work_stage_count = sizeof work_stages / sizeof *work_stages;
