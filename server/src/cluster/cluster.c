/*
 * cluster.c - features are equal or not; likeness is not weighed.
 */
#include "cluster/cluster.h"

int cluster_join(const struct cluster_index *index, const struct issue_row *issue, int64_t issue_id)
{
    struct cluster_scenes scenes = {0, 0};
    int rc = issue->joins ? index->scenes(index->context, &scenes, issue->app_id, issue->blame_key) : 0;
    if (rc || scenes.count < 2 || scenes.count > MIRE_CLUSTER_SCENES || scenes.first == issue_id)
        return rc;
    return index->join(index->context, issue->app_id, issue_id, scenes.first);
}

int cluster_open(int64_t *issue_id_out, const struct cluster_index *index, const struct issue_row *issue)
{
    int rc = index->open(index->context, issue_id_out, issue);
    return rc ? rc : cluster_join(index, issue, *issue_id_out);
}

int cluster_assign(int64_t *issue_id_out, const struct cluster_index *index, const struct issue_row *issue)
{
    int found = index->find(index->context, issue_id_out, issue);
    if (found)
        return found < 0 ? found : MIRE_CLUSTER_KNOWN;
    int rc = index->alone(index->context, issue->app_id);
    if (!rc) /* somebody may have opened it meanwhile */
        found = index->find(index->context, issue_id_out, issue);
    if (rc)
        return rc;
    if (found)
        return found < 0 ? found : MIRE_CLUSTER_KNOWN;
    rc = cluster_open(issue_id_out, index, issue);
    return rc ? rc : MIRE_CLUSTER_NEW;
}
