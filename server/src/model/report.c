/*
 * report.c - what follows from a report's facts alone.
 */
#include "model/report.h"

#include <string.h>

const char *gate_name(enum gate_kind gate)
{
    static const char *const names[] = {"none", "poll", "mark", "ping"};
    return (unsigned)gate < sizeof names / sizeof *names ? names[gate] : names[0];
}

bool report_is_baseline(const struct report *report)
{
    return report->kind == MIRE_REPORT_MEMORY && !strcmp(report->memory.trigger, "baseline");
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
    static const char *const plugins[] = {
        [MIRE_REPORT_HANG] = "hang", [MIRE_REPORT_MEMORY] = "memory", [MIRE_REPORT_SESSION] = "session"};
    return 1 / report_share(report, plugins[report->kind]);
}
