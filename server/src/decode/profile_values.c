/*
 * profile_values.c - what the values of profiles are called by their makers: Go and gperftools, heapprofd (perfetto's
 * pprof_builder.cc), jemalloc and Rust, Node, async-profiler, OpenTelemetry.
 */
#include "decode/pprof.h"

#include <string.h>

enum value_role { LIVE_COUNT, LIVE_BYTES, TOTAL_COUNT, TOTAL_BYTES, ROLES };

static const struct {
    const char *type;
    enum value_role role;
} names[] = {
    {"inuse_objects", LIVE_COUNT},
    {"inuse_space", LIVE_BYTES},
    {"alloc_objects", TOTAL_COUNT},
    {"alloc_space", TOTAL_BYTES},
    {"objects", LIVE_COUNT},
    {"space", LIVE_BYTES},
    {"Unreleased malloc count", LIVE_COUNT},
    {"Unreleased malloc size", LIVE_BYTES},
    {"Total malloc count", TOTAL_COUNT},
    {"Total malloc size", TOTAL_BYTES},
    {"Unreleased count", LIVE_COUNT},
    {"Unreleased size", LIVE_BYTES},
    {"Total count", TOTAL_COUNT},
    {"Total size", TOTAL_BYTES},
    {"Total allocation count", TOTAL_COUNT},
    {"Total allocation size", TOTAL_BYTES},
    {"allocated_objects", TOTAL_COUNT},
    {"allocated_space", TOTAL_BYTES},
    {"allocations", TOTAL_COUNT},
    {"live", LIVE_COUNT},
};

uint64_t profile_unit_ns(const char *unit)
{
    static const struct {
        const char *unit;
        uint64_t ns;
    } units[] = {{"nanoseconds", 1},        {"ns", 1},       {"microseconds", 1000},  {"us", 1000},
                 {"milliseconds", 1000000}, {"ms", 1000000}, {"seconds", 1000000000}, {"s", 1000000000}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(units[i].unit, unit))
            return units[i].ns;
    return 0;
}

/* cpu is preferred to other time, and time to a number of samples. */
static void add_time(struct profile_values *values, int index, const char *type, const char *unit)
{
    uint64_t ns = profile_unit_ns(unit);
    bool samples = !ns && (!strcmp(type, "samples") || !strcmp(type, "sample") || !strcmp(type, "cpu"));
    if (!ns && !(samples && values->time < 0))
        return;
    if (values->time >= 0 && values->time_unit_ns && strcmp(type, "cpu") != 0)
        return;
    values->time = index;
    values->time_unit_ns = ns;
    values->time_name = samples ? "cpu" : type;
}

void profile_values_add(struct profile_values *values, int index, const char *type, const char *unit)
{
    int *const roles[ROLES] = {&values->live_count, &values->live_bytes, &values->total_count, &values->total_bytes};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i].type, type) != 0)
            continue;
        if (*roles[names[i].role] < 0)
            *roles[names[i].role] = index;
        return;
    }
    add_time(values, index, type, unit);
}

void profile_values_settle(struct profile_values *values, struct build *build)
{
    if (values->live_bytes >= 0 || values->total_bytes < 0)
        return;
    values->live_count = values->total_count;
    values->live_bytes = values->total_bytes;
    build_note(build, "the profile has allocations, and no frees: all of it is shown as held");
}
