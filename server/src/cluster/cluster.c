/*
 * cluster.c - features are equal or not; likeness is not weighed.
 */
#include "cluster/cluster.h"

int cluster_assign(int64_t *issue_id_out, const struct cluster_index *index, const struct issue_row *issue)
{
    int found = index->find(index->context, issue_id_out, issue->app_id, issue->feature_key);
    if (found)
        return found < 0 ? found : MIRE_CLUSTER_KNOWN;
    int rc = index->open(index->context, issue_id_out, issue);
    return rc ? rc : MIRE_CLUSTER_NEW;
}
