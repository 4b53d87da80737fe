/*
 * cluster.h - feature -> issue: one issue for each feature of an app. Some issues are shown as one from the start.
 *
 *     Caller1 load in scene onOpen     I-1
 *     Caller1 load in scene onTimer    I-7, shown as I-1: one trouble, reached from several scenes
 *     ...
 *     the fifth scene                  I-9, shown as itself, as all further ones: load is a helper of many, and only
 *                                      the scene distinguishes its troubles
 *
 * The scene is in every key. An issue that is opened for a further scene of a known Caller1 (of the same kind and
 * reason) is shown as the first one, as long as there are fewer than MIRE_CLUSTER_SCENES. This is decided once: the
 * decision is a row (docs/adr/0032-first-scenes-as-one-issue.md), which holds until a person changes it, also for
 * reports that are derived again. Scenes named by a rule or by the app are never joined.
 *
 * Known issues are asked for through a struct of functions: pg/ has the real ones, tests one in memory.
 */
#ifndef MIRE_CLUSTER_CLUSTER_H
#define MIRE_CLUSTER_CLUSTER_H

#include "model/rows.h"

#define MIRE_CLUSTER_SCENES 4 /* of one Caller1 that are shown as one issue (tests/bench/bench_clusters.c) */

/* Issues that differ only in the scene, without those that lead to others. */
struct cluster_scenes {
    int64_t first; /* the oldest */
    int64_t count; /* 0: join none */
};

struct cluster_index {
    void *context;
    /* The issue of the row's feature, which has an event of the row's first_seen_us from now on: 1 found, 0 there is
     * none, below zero a fault. */
    int (*find)(void *context, int64_t *issue_id_out, const struct issue_row *issue);
    /* Open an issue, or find the one that another transaction opened meanwhile. 0 or a fault. */
    int (*open)(void *context, int64_t *issue_id_out, const struct issue_row *issue);
    /* Lock the app against other openings until this transaction ends. 0 or a fault. */
    int (*alone)(void *context, int32_t app_id);
    /* Scenes of a Caller1, kind and reason. 0 or a fault. */
    int (*scenes)(void *context, struct cluster_scenes *out, int32_t app_id, const uint8_t blame[MIRE_FEATURE_KEY_LEN]);
    /* Show an issue that was shown as itself as another one. 0 or a fault. */
    int (*join)(void *context, int32_t app_id, int64_t issue_id, int64_t into);
};

/* Outcomes. */
enum cluster_outcome { MIRE_CLUSTER_KNOWN = 1, MIRE_CLUSTER_NEW = 2 };

/*
 * The issue an event belongs to; opens one if its feature is new.
 *
 * Returns MIRE_CLUSTER_KNOWN, MIRE_CLUSTER_NEW, or a fault of the index.
 */
int cluster_assign(int64_t *issue_id_out, const struct cluster_index *index, const struct issue_row *issue);

/* Open an issue for a feature that has none, and show it as another one if it is a further scene. The caller is alone.
 * 0 or a fault of the index. */
int cluster_open(int64_t *issue_id_out, const struct cluster_index *index, const struct issue_row *issue);

/* Show an issue that has just got this feature as another one if it is a further scene. */
int cluster_join(const struct cluster_index *index, const struct issue_row *issue, int64_t issue_id);

#endif
