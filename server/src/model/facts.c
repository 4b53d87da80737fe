/*
 * facts.c - one line a fact. What the device did not tell is left out.
 */
#include "model/facts.h"

#include "base/id.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define FIXED_MAX 32 /* facts besides sampling, drops and build ids */

struct list {
    struct arena *arena;
    struct resolved_fact *rows;
    size_t count;
    bool failed;
};

static void add(struct list *list, const char *name, const char *value)
{
    list->failed |= !value;
    if (value && value[0])
        list->rows[list->count++] = (struct resolved_fact){name, value};
}

static void add_number(struct list *list, const char *name, struct fact fact, const char *unit)
{
    if (fact.known)
        add(list, name, arena_printf(list->arena, "%" PRIu64 "%s", fact.value, unit));
}

static void add_bytes(struct list *list, const char *name, struct fact fact)
{
    if (fact.known && fact.value < 10u << 20)
        add(list, name, arena_printf(list->arena, "%" PRIu64 " bytes", fact.value));
    else if (fact.known)
        add(list, name, arena_printf(list->arena, "%.1f MiB", (double)fact.value / (1u << 20)));
}

static void add_time(struct list *list, const char *name, struct fact wall_ms)
{
    time_t seconds = (time_t)(wall_ms.value / 1000);
    struct tm tm;
    char text[64];
    if (wall_ms.known && wall_ms.value < 253402300800000 && gmtime_r(&seconds, &tm) &&
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm))
        add(list, name, arena_strdup(list->arena, text));
}

static void add_process(struct list *list, const struct report *report)
{
    const struct report_process *process = &report->process;
    add(list, "process", process->name);
    add(list, "path", process->path);
    add(list, "pid", arena_printf(list->arena, "%" PRIu64, process->pid));
    add_time(list, "process started", process->start_wall_ms);
    add_number(list, "threads", process->thread_count, "");
    add_number(list, "process CPU, user", process->cpu_user_ms, " ms");
    add_number(list, "process CPU, system", process->cpu_system_ms, " ms");
    add_bytes(list, "resident memory", process->rss_bytes);
    add_number(list, "involuntary switches", report->hang.thread.involuntary_switches, "");
    add_bytes(list, "written", report->hang.thread.write_bytes);
}

static void add_device(struct list *list, const struct report *report)
{
    const struct report_device *device = &report->device;
    add(list, "build", report->app.build);
    add(list, "channel", report->app.channel);
    add(list, "OS", arena_printf(list->arena, "%s %s", device->os, device->os_version));
    add(list, "model", device->model);
    add(list, "device class", device->class_name);
    add(list, "architecture", device->arch);
    add_number(list, "CPUs", device->cpu_count, "");
    add_bytes(list, "memory", device->memory_bytes);
    if (report->sdk_name[0])
        add(list, "SDK", arena_printf(list->arena, "%s %s", report->sdk_name, report->sdk_version));
}

/* What a debug file of the module must have, to be found by. */
static void add_build_ids(struct list *list, const struct report *report)
{
    char hex[2 * MIRE_BUILD_ID_MAX + 1];

    for (size_t i = 0; i < report->image_count; i++) {
        const struct report_image *image = &report->images[i];
        const char *slash = strrchr(image->name, '/');
        if (image->id_len == 0)
            continue;
        hex_format(hex, image->id, image->id_len);
        add(list, arena_printf(list->arena, "build id, %s", slash ? slash + 1 : image->name),
            arena_strdup(list->arena, hex));
    }
}

int report_facts(const struct resolved_fact **out, size_t *count_out, struct arena *arena, const struct report *report)
{
    size_t room = FIXED_MAX + report->sampling_count + report->drop_count + report->image_count;
    struct list list = {.arena = arena, .rows = arena_array(arena, room, sizeof *list.rows)};
    if (!list.rows)
        return -1;
    add_device(&list, report);
    add_process(&list, report);
    for (size_t i = 0; i < report->sampling_count; i++)
        add(&list, arena_printf(arena, "sampling, %s", report->sampling[i].plugin),
            arena_printf(arena, "%g", report->sampling[i].p));
    for (size_t i = 0; i < report->drop_count; i++)
        add(&list, arena_printf(arena, "lost, %s", report->drops[i].name),
            arena_printf(arena, "%" PRIu64, report->drops[i].value));
    add_build_ids(&list, report);
    for (size_t i = 0; i < list.count; i++)
        list.failed |= !list.rows[i].name;
    *out = list.rows;
    *count_out = list.count;
    return list.failed ? -1 : 0;
}
