/*
 * cluster.h - feature -> issue: one issue an app and feature.
 *
 * Known issues are asked for through a struct of functions: pg/ has the real ones, tests one in memory.
 */
#ifndef MIRE_CLUSTER_CLUSTER_H
#define MIRE_CLUSTER_CLUSTER_H

#include "model/rows.h"

struct cluster_index {
    void *context;
    /* The issue of a feature: 1 found, 0 there is none, below zero a fault. */
    int (*find)(void *context, int64_t *issue_id_out, int32_t app_id, const uint8_t key[MIRE_FEATURE_KEY_LEN]);
    /* Open an issue, or find the one somebody else opened meanwhile. 0 or a fault. */
    int (*open)(void *context, int64_t *issue_id_out, const struct issue_row *issue);
};

/* Outcomes. */
enum cluster_outcome { MIRE_CLUSTER_KNOWN = 1, MIRE_CLUSTER_NEW = 2 };

/*
 * The issue a hang belongs to; opens one if its feature is new.
 *
 * Returns MIRE_CLUSTER_KNOWN, MIRE_CLUSTER_NEW, or a fault of the index.
 */
int cluster_assign(int64_t *issue_id_out, const struct cluster_index *index, const struct issue_row *issue);

#endif
