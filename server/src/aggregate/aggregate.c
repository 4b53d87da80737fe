/*
 * aggregate.c - pure arithmetic; what is stored where is decided in pg/derive.c.
 */
#include "aggregate/aggregate.h"

#include <string.h>

#define HOUR_US 3600000000ll
#define DAY_US  (24 * HOUR_US)

size_t aggregate_text_length(const char *text)
{
    size_t len = strnlen(text, MIRE_AGGREGATE_TEXT_MAX + 1);
    if (len <= MIRE_AGGREGATE_TEXT_MAX)
        return len;
    len = MIRE_AGGREGATE_TEXT_MAX;
    while (len && ((unsigned char)text[len] & 0xc0) == 0x80)
        len--;
    return len;
}

/* By the device's clock, unless it does not tell or is over a day ahead of ours. */
static int64_t begun_us(const struct report *report, int64_t received_us)
{
    const struct fact *wall_ms = &report->hang.begin_wall_ms;
    if (!wall_ms->known || wall_ms->value > (uint64_t)(received_us + DAY_US) / 1000)
        return received_us;
    return (int64_t)wall_ms->value * 1000;
}

static int32_t count(size_t n)
{
    return n < INT32_MAX ? (int32_t)n : INT32_MAX;
}

void aggregate_rows(struct aggregate_rows *out, const struct report *report, const struct aggregate_facts *facts)
{
    double weight = report_weight(report);
    if (!(weight <= MIRE_AGGREGATE_WEIGHT_MAX))
        weight = MIRE_AGGREGATE_WEIGHT_MAX;
    int64_t received = facts->received_us;
    *out = (struct aggregate_rows){
        .hang =
            {
                .key = facts->key,
                .app_id = facts->app_id,
                .version_id = facts->version_id,
                .issue_id = facts->issue_id,
                .received_us = received,
                .begun_us = begun_us(report, received),
                .duration_ms = report->hang.duration_ms,
                .category = facts->category,
                .reason = facts->reason,
                .open = report->hang.open,
                .weight = weight,
                .os = report->device.os,
                .os_version = report->device.os_version,
                .arch = report->device.arch,
                .model = report->device.model,
                .process_name = report->process.name,
                .sample_count = count(report->hang.sample_count),
                .frame_count = count(facts->frame_count),
                .unresolved_count = count(facts->unresolved_count),
                .rules_version = facts->rules_version,
            },
        .hour =
            {
                .slot = facts->key.slot,
                .hour_us = received - ((received % HOUR_US) + HOUR_US) % HOUR_US,
                .app_id = facts->app_id,
                .version_id = facts->version_id,
                .issue_id = facts->issue_id,
                .category = facts->category,
                .hangs = weight,
                .hang_ms = weight * report->hang.duration_ms,
                .longest_ms = report->hang.duration_ms,
                .last_us = received,
            },
    };
    memcpy(out->hang.install, report->device.install, sizeof out->hang.install);
}
