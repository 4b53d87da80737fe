/*
 * stages.h - the stages a report passes, and what it carries from one to the next. Inside work/ only.
 */
#ifndef MIRE_WORK_STAGES_H
#define MIRE_WORK_STAGES_H

#include "feature/memory.h"
#include "inbox/inbox.h"
#include "model/report.h"
#include "model/resolved.h"
#include "symbolicate/symbolicate.h"

struct item {
    struct arena *arena; /* emptied before each report */
    struct pg_tx *tx;    /* the report's transaction */
    struct hand *hand;
    struct hand_slot *slot;  /* the worker's own */
    struct symbols *symbols; /* the worker's own */
    const struct rules *rules;
    const struct suspect_rules *suspects;
    uint64_t now_ms;
    struct inbox_claim claim;
    struct report report;             /* after decode */
    struct resolved resolved;         /* after symbolicate; roles, hot: after feature */
    struct symbolicate_counts counts; /* after symbolicate */
    struct feature feature;           /* after feature */
    int64_t version_id, issue_id;     /* after cluster */
    char reason[320];                 /* why a stage gave up */
};

enum stage_outcome {
    MIRE_STAGE_DONE = 0,
    MIRE_STAGE_UNUSABLE = 1, /* the report itself is at fault: trying again cannot help */
};

struct stage {
    const char *name;              /* as in unworked.stage */
    int (*run)(struct item *item); /* an outcome or a fault */
};

extern const struct stage work_stages[];
extern const size_t work_stage_count;

#endif
