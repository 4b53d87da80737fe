/*
 * report.c - functions of a report's facts alone.
 */
#include "model/report.h"

#include "base/arena.h"
#include "base/id.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *gate_name(enum gate_kind gate)
{
    static const char *const names[] = {"none", "poll", "mark", "ping"};
    return (unsigned)gate < sizeof names / sizeof *names ? names[gate] : names[0];
}

const char *report_java_name(struct arena *arena, const struct report_java *java)
{
    if (java->number >= 0)
        return arena_printf(arena, "method %" PRId64, java->number);
    return arena_printf(arena, "%s.%s", java->class_name, java->method);
}

/* Each text is hashed by itself first, so that different pairs never give the same bytes. */
void mapping_id(uint8_t out[MIRE_MAPPING_ID_LEN], int32_t app_id, const char *version, const char *build)
{
    char parts[16 + 2 * MIRE_MAPPING_ID_LEN] = {0};
    snprintf(parts, 16, "app %" PRId32, app_id);
    hash_blake2b((uint8_t *)parts + 16, MIRE_MAPPING_ID_LEN, version, strlen(version));
    hash_blake2b((uint8_t *)parts + 16 + MIRE_MAPPING_ID_LEN, MIRE_MAPPING_ID_LEN, build, strlen(build));
    hash_blake2b(out, MIRE_MAPPING_ID_LEN, parts, sizeof parts);
}

double report_share(const struct report *report, const char *plugin)
{
    for (size_t i = 0; i < report->sampling_count; i++)
        if (!strcmp(report->sampling[i].plugin, plugin))
            return report->sampling[i].p;
    return 1;
}

double report_weight(const struct report *report)
{
    static const char *const plugins[] = {[MIRE_REPORT_EVENT] = "hang",
                                          [MIRE_REPORT_MEMORY] = "memory",
                                          [MIRE_REPORT_BASELINE] = "memory",
                                          [MIRE_REPORT_SESSION] = "session"};
    return 1 / report_share(report, plugins[report->kind]);
}
