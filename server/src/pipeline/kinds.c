/*
 * kinds.c - see kinds.h.
 */
#include "pipeline/kinds.h"

#include "rows/memory.h"

static int feature_event(struct item *item)
{
    return feature_find(&item->feature, item->arena, &item->resolved, &item->report, item->rules, item->seen);
}

const char *kinds_device_class(const struct item *item)
{
    const char *name = stages_cut(item, item->report.device.class_name);
    return name ? name : "";
}

const char *kinds_os(const struct item *item)
{
    const char *name = stages_cut(item, item->report.device.os);
    return name ? name : "";
}

/* Against the healthy processes of its version, system and class. */
static int feature_memory(struct item *item)
{
    struct memory_packs packs = {.rules = item->rules, .suspects = item->suspects, .seen = item->seen};
    struct population healthy;

    int rc = stages_find_version(item);
    if (!rc)
        rc = rows_healthy_find(&healthy, &packs.healthy.scope, item->tx, item->arena, item->claim.app_id,
                               item->version_id, kinds_os(item), kinds_device_class(item), MIRE_HEALTHY_LEAST);
    if (rc)
        return rc;
    packs.healthy.population = packs.healthy.scope == MIRE_HEALTHY_NONE ? NULL : &healthy;
    return feature_find_memory(&item->feature, item->arena, &item->resolved, &item->report, &packs);
}

const struct kind *kind_of(const struct item *item)
{
    static const struct kind kinds[] = {
        [MIRE_REPORT_EVENT] = {feature_event, ROWS_OF_EVENTS, false},
        [MIRE_REPORT_MEMORY] = {feature_memory, ROWS_OF_EVENTS, true},
        [MIRE_REPORT_BASELINE] = {NULL, ROWS_OF_BASELINES, false},
        [MIRE_REPORT_SESSION] = {NULL, ROWS_OF_SESSIONS, false},
    };
    return &kinds[item->report.kind];
}
