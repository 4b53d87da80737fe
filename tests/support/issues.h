/*
 * issues.h - the index of known issues, in memory (cluster/cluster.h).
 */
#ifndef MIRE_TESTS_ISSUES_H
#define MIRE_TESTS_ISSUES_H

#include "cluster/cluster.h"

#include <string.h>

#define ISSUES_MAX 64

struct issues {
    struct issue_row rows[ISSUES_MAX]; /* issue n + 1 */
    int count;
    int fault; /* what every call returns, if not 0 */
};

static inline int issues_find(void *context, int64_t *issue_id_out, int32_t app_id,
                              const uint8_t key[MIRE_FEATURE_KEY_LEN])
{
    struct issues *issues = context;
    for (int i = 0; i < issues->count && !issues->fault; i++) {
        if (issues->rows[i].app_id == app_id && !memcmp(issues->rows[i].feature_key, key, MIRE_FEATURE_KEY_LEN)) {
            *issue_id_out = i + 1;
            return 1;
        }
    }
    return issues->fault;
}

static inline int issues_open(void *context, int64_t *issue_id_out, const struct issue_row *issue)
{
    struct issues *issues = context;
    issues->rows[issues->count++] = *issue;
    *issue_id_out = issues->count;
    return issues->fault;
}

#endif
