/* devices.c - binary searches. */
#include "model/devices.h"

#include <string.h>

int64_t devices_of_issue(const struct devices *d, int64_t issue)
{
    size_t low = 0, high = d->issue_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (d->issues[middle] < issue)
            low = middle + 1;
        else
            high = middle;
    }

    return low < d->issue_count && d->issues[low] == issue ? d->of_issue[low] : 0;
}

int64_t devices_of_group(const struct devices *d, const char *group)
{
    size_t low = 0, high = d->group_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(d->groups[middle], group) < 0)
            low = middle + 1;
        else
            high = middle;
    }

    return low < d->group_count && strcmp(d->groups[low], group) == 0 ? d->of_group[low] : 0;
}
