/*
 * stages.h - the stages of a report, and the data that it carries from one to the next. Inside pipeline/ only.
 */
#ifndef MIRE_PIPELINE_STAGES_H
#define MIRE_PIPELINE_STAGES_H

#include "aggregate/aggregate.h"
#include "cluster/cluster.h"
#include "feature/memory.h"
#include "inbox/inbox.h"
#include "model/report.h"
#include "model/resolved.h"
#include "symbolicate/symbolicate.h"

#include <stdatomic.h>

struct enough;
struct known;

struct item {
    struct arena *arena; /* of the batch */
    struct pg_tx *tx;    /* the same */
    struct journal *journal;
    struct journal_slot *slot; /* the worker's own */
    struct symbols *symbols;   /* the worker's own */
    const struct rules *rules;
    const struct suspect_rules *suspects;
    struct rules_seen *seen;          /* the worker's own */
    struct modules *modules;          /* the worker's own */
    struct shares *shares;            /* the worker's own */
    struct enough *enough;            /* the worker's own */
    struct known *known;              /* the worker's own */
    _Atomic uint64_t *disbelieved;    /* reports with shares that no rollout gave */
    struct document_encoder *encoder; /* the worker's own */
    uint64_t now_ms;
    int keep_days; /* days for which reports are kept; 0: for ever */
    struct inbox_claim claim;
    struct report report;              /* after decode */
    struct aggregate_instant occurred; /* after decode; of a stored report as it was counted */
    struct resolved resolved;          /* after symbolicate; roles, hot: after feature */
    struct symbolicate_counts counts;  /* after symbolicate */
    struct feature feature;            /* after feature */
    int64_t version_id, issue_id;      /* after cluster */
    int32_t tree;                      /* the same: level 3, 0 if it is not kept */
    struct pg_bytes document;          /* after encode, of an event: its resolved stacks as they are stored */
    unsigned aside;                    /* values that count as "other": bits by enum known_kind */
    bool is_counted;                   /* after enough_find: beyond those that are kept whole */
    const char *failed;                /* stage that could not use the report; NULL: none */
    const char *left_out;              /* installations that the app leaves out, as app.left_out */
    const char *kept_tags;             /* names of the tags that its event keeps */
    bool is_left_out;                  /* the report is of one of them: it is counted nowhere */
    char reason[320];                  /* why a stage gave up */
};

enum stage_outcome {
    MIRE_STAGE_DONE = 0,
    MIRE_STAGE_UNUSABLE = 1, /* the report itself is at fault: trying again cannot help */
};

struct stage {
    const char *name;              /* as in dead_letter.stage */
    int (*run)(struct item *item); /* an outcome or a fault */
};

/* The first stage alone. */
int stages_decode(struct item *item);

/* The stages up to the feature, one after the other: an outcome or a fault. The only row that they may write
 * is a new version. */
int stages_derive(struct item *item);

/* Find or make the row of the report's version. 0 or a fault. */
int stages_find_version(struct item *item);

/* A text of the report in the item's arena, no longer than an index takes. NULL: no memory. */
const char *stages_cut(const struct item *item, const char *text);

/* The result of the stages, as the rows that cluster and aggregate make. Texts are borrowed from the item. */
void stages_issue(struct issue_row *out, const struct item *item);
void stages_facts(struct aggregate_facts *out, const struct item *item);

/* The issues of cluster/cluster.h, in the database. */
struct cluster_index stages_index(struct pg_tx *tx);

/* The item's tree with its representative stack, in the item's arena. 0 or a fault. */
int stages_tree(struct tree_row *out, const struct item *item);

/* Set item->tree. The stack of a new tree is stored; a tree beyond MIRE_TREES_MAX
 * has the number 0. 0 or a fault. */
int stages_keep_tree(struct item *item);

/* Modules without debug file, in the item's arena; there are as many as item->counts.missing_count. 0 or a fault. */
int stages_missing(struct missing_debug_row **out, const struct item *item);

/* The resolved stacks as they are stored, into item->document. 0 or a fault. */
int stages_encode(struct item *item);

/* decode, symbolicate, feature: those that derive one report. cluster and aggregate are of a whole batch (batch.h). */
extern const struct stage work_stages[];
extern const size_t work_stage_count;

#endif
