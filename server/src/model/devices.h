/*
 * devices.h - distinct devices: of each issue, of each group of issues, and in all.
 *
 * Exact, in one pass over the identifiers. Pure; thread: any.
 */
#ifndef MIRE_MODEL_DEVICES_H
#define MIRE_MODEL_DEVICES_H

#include "base/arena.h"

#include <stdint.h>

#define MIRE_INSTALL_LEN 16

/* The events of one issue. */
struct device_list {
    int64_t issue;
    const char *group;       /* lists with the same text are one group */
    const uint8_t *installs; /* MIRE_INSTALL_LEN bytes an event, in any order, repeated as they come */
    size_t count;
};

struct devices {
    size_t issue_count;
    int64_t *issues, *of_issue; /* issues in rising order */
    size_t group_count;
    const char **groups; /* in strcmp's order; the texts are the lists' */
    int64_t *of_group;
    int64_t total;
};

/*
 * Count.
 *
 *   lists  sorted in place by group; an issue is in one list only
 *   times  what every count is multiplied with: 1, or more when the lists hold a share of the devices
 *
 * Arrays of `out` lie in the arena. 0 or MIRE_FAULT_MEMORY.
 */
int devices_count(struct devices *out, struct arena *arena, struct device_list *lists, size_t count, int64_t times);

/* Devices of an issue; 0 for an issue that is not in the lists. */
int64_t devices_of_issue(const struct devices *devices, int64_t issue);

/* Devices of a group; 0 for a group that is not in the lists. */
int64_t devices_of_group(const struct devices *devices, const char *group);

#endif
