/*
 * devices.h - distinct devices: of each issue, of each group of issues, and in all.
 *
 * Counted by rows/devices.c. Pure; thread: any.
 */
#ifndef MIRE_MODEL_DEVICES_H
#define MIRE_MODEL_DEVICES_H

#include <stddef.h>
#include <stdint.h>

#define MIRE_INSTALL_LEN 16

struct devices {
    size_t issue_count;
    int64_t *issues, *of_issue; /* issues in rising order */
    size_t group_count;
    const char **groups; /* in strcmp's order */
    int64_t *of_group;
    int64_t total;
};

/* Devices of an issue; 0 for an issue that is not in the lists. */
int64_t devices_of_issue(const struct devices *devices, int64_t issue);

/* Devices of a group; 0 for a group that is not in the lists. */
int64_t devices_of_group(const struct devices *devices, const char *group);

#endif
