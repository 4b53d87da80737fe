/*
 * devices.c - every install gets a number the first time it is met; a number is counted once an issue and once a group.
 *
 * Lists are walked group by group, so "counted already" is one mark a device, overwritten by the next issue or group.
 */
#include "model/devices.h"

#include "base/fault.h"
#include "base/id.h"
#include "base/scope.h"

#include <stdlib.h>
#include <string.h>

struct device_marks {
    uint32_t in_list, in_group; /* number of the last list and group it was counted in, from 1 */
};

struct table {
    uint32_t *slots;            /* 1 + number of the device; 0: free. Power of two, at most half full */
    const uint8_t **installs;   /* by number */
    struct device_marks *marks; /* by number */
    size_t mask, used;
    uint8_t key[MIRE_SHORT_KEY];
};

static void table_fini(struct table *t)
{
    free(t->slots);
    free(t->installs);
    free(t->marks);
}

static int table_init(struct table *t, size_t most)
{
    size_t room = 16;

    while (room < 2 * most)
        room *= 2;
    *t = (struct table){.slots = calloc(room, sizeof *t->slots),
                        .installs = calloc(most + 1, sizeof *t->installs),
                        .marks = calloc(most + 1, sizeof *t->marks),
                        .mask = room - 1};
    random_fill(t->key, sizeof t->key);
    return t->slots && t->installs && t->marks && most < UINT32_MAX / 4 ? 0 : MIRE_FAULT_MEMORY;
}

static struct device_marks *table_find(struct table *t, const uint8_t *install)
{
    size_t at = (size_t)hash_short(t->key, install, MIRE_INSTALL_LEN) & t->mask;

    for (; t->slots[at]; at = (at + 1) & t->mask)
        if (memcmp(t->installs[t->slots[at] - 1], install, MIRE_INSTALL_LEN) == 0)
            return &t->marks[t->slots[at] - 1];
    t->installs[t->used] = install;
    t->slots[at] = (uint32_t)t->used + 1;
    return &t->marks[t->used++];
}

static int by_group(const void *a, const void *b)
{
    const struct device_list *x = a, *y = b;
    int order = strcmp(x->group, y->group);
    return order ? order : (x->issue > y->issue) - (x->issue < y->issue);
}

struct counted {
    int64_t issue, devices;
};

static int by_issue(const void *a, const void *b)
{
    const struct counted *x = a, *y = b;
    return (x->issue > y->issue) - (x->issue < y->issue);
}

/* Count the devices of list number `list` (from 0), and add the new ones to its group. */
static int64_t count_list(struct table *t, int64_t *of_group, const struct device_list *list, uint32_t number,
                          uint32_t group)
{
    int64_t devices = 0;

    for (size_t i = 0; i < list->count; i++) {
        struct device_marks *m = table_find(t, list->installs + i * MIRE_INSTALL_LEN);
        devices += m->in_list != number + 1;
        *of_group += m->in_group != group;
        *m = (struct device_marks){number + 1, group};
    }
    return devices;
}

static void put_issues(struct devices *out, struct counted *counted, size_t count, int64_t times)
{
    qsort(counted, count, sizeof *counted, by_issue);
    for (size_t i = 0; i < count; i++) {
        out->issues[i] = counted[i].issue;
        out->of_issue[i] = counted[i].devices * times;
    }
    for (size_t g = 0; g < out->group_count; g++)
        out->of_group[g] *= times;
}

int devices_count(struct devices *out, struct arena *arena, struct device_list *lists, size_t count, int64_t times)
{
    struct table table MIRE_SCOPED(table_fini) = {0};
    size_t events = 0;

    for (size_t i = 0; i < count; i++)
        events += lists[i].count;
    struct counted *counted = arena_array(arena, count + 1, sizeof *counted);
    *out = (struct devices){.issue_count = count,
                            .issues = arena_array(arena, count + 1, sizeof *out->issues),
                            .of_issue = arena_array(arena, count + 1, sizeof *out->of_issue),
                            .groups = arena_array(arena, count + 1, sizeof *out->groups),
                            .of_group = arena_array(arena, count + 1, sizeof *out->of_group)};
    if (!counted || !out->issues || !out->of_issue || !out->groups || !out->of_group || table_init(&table, events) != 0)
        return MIRE_FAULT_MEMORY;
    if (count)
        qsort(lists, count, sizeof *lists, by_group);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(lists[i].group, lists[i - 1].group) != 0)
            out->groups[out->group_count++] = lists[i].group;
        counted[i].issue = lists[i].issue;
        counted[i].devices = count_list(&table, &out->of_group[out->group_count - 1], &lists[i], (uint32_t)i,
                                        (uint32_t)out->group_count);
    }

    out->total = (int64_t)table.used * times;
    put_issues(out, counted, count, times);
    return 0;
}

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
