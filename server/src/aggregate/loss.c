/*
 * loss.c - the losses that a device reports, as a row; pure arithmetic.
 */
#include "aggregate/aggregate.h"

#include <string.h>

#define DAY_US 86400000000ll

/* A reason outside the list is "other". */
static const char *const reasons[MIRE_LOSS_REASONS] = {"age",      "big",        "broken", "consent", "daily",
                                                       "filtered", "format",     "full",   "other",   "refused",
                                                       "short",    "suppressed", "write"};

static size_t find(const char *name)
{
    size_t other = 0;

    for (size_t i = 0; i < MIRE_LOSS_REASONS; i++) {
        if (strcmp(reasons[i], name) == 0)
            return i;
        if (strcmp(reasons[i], "other") == 0)
            other = i;
    }
    return other;
}

void aggregate_losses(struct loss_row *out, const struct report *report, const struct aggregate_facts *facts)
{
    int64_t lost[MIRE_LOSS_REASONS] = {0};

    *out = (struct loss_row){
        .day = (int32_t)(facts->received_us / DAY_US), .app_id = facts->app_id, .version_id = facts->version_id};
    for (size_t i = 0; i < report->drop_count; i++) {
        int64_t *to = &lost[find(report->drops[i].name)];
        uint64_t value = report->drops[i].value;

        *to += value < (uint64_t)(MIRE_AGGREGATE_LOST_MAX - *to) ? (int64_t)value : MIRE_AGGREGATE_LOST_MAX - *to;
    }
    for (size_t i = 0; i < MIRE_LOSS_REASONS; i++)
        if (lost[i] > 0) {
            out->reasons[out->count] = reasons[i];
            out->lost[out->count++] = lost[i];
        }
}
