/*
 * issues.h - an index of known issues in memory, for cluster/cluster.h.
 */
#ifndef MIRE_TESTS_ISSUES_H
#define MIRE_TESTS_ISSUES_H

#include "cluster/cluster.h"

#include <string.h>

#define ISSUES_MAX 64

struct issues {
    struct issue_row rows[ISSUES_MAX]; /* row n is issue n + 1 */
    int64_t shown[ISSUES_MAX];
    int count;
    int fault; /* result of every call, if not 0 */
};

static inline int issues_find(void *context, int64_t *issue_id_out, const struct issue_row *issue)
{
    struct issues *issues = context;
    for (int i = 0; i < issues->count && !issues->fault; i++) {
        if (issues->rows[i].app_id == issue->app_id &&
            !memcmp(issues->rows[i].feature_key, issue->feature_key, MIRE_FEATURE_KEY_LEN)) {
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
    issues->shown[issues->count - 1] = issues->count;
    return issues->fault;
}

static inline int issues_alone(void *context, int32_t app_id)
{
    (void)app_id;
    return ((struct issues *)context)->fault;
}

static inline int issues_scenes(void *context, struct cluster_scenes *out, int32_t app_id,
                                const uint8_t blame[MIRE_FEATURE_KEY_LEN])
{
    struct issues *issues = context;
    *out = (struct cluster_scenes){0, 0};
    for (int i = 0; i < issues->count; i++) {
        if (!issues->rows[i].joins || issues->rows[i].app_id != app_id ||
            memcmp(issues->rows[i].blame_key, blame, MIRE_FEATURE_KEY_LEN) != 0)
            continue;
        out->first = out->first ? out->first : i + 1;
        out->count++;
    }
    return issues->fault;
}

static inline int issues_join(void *context, int32_t app_id, int64_t issue_id, int64_t into)
{
    struct issues *issues = context;
    (void)app_id;
    issues->shown[issue_id - 1] = issues->shown[into - 1];
    return issues->fault;
}

static inline struct cluster_index issues_index(struct issues *issues)
{
    return (struct cluster_index){issues, issues_find, issues_open, issues_alone, issues_scenes, issues_join};
}

#endif
