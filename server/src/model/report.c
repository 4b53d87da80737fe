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

double report_weight(const struct report *report)
{
    for (size_t i = 0; i < report->sampling_count; i++)
        if (!strcmp(report->sampling[i].plugin, "hang"))
            return 1 / report->sampling[i].p;
    return 1;
}
