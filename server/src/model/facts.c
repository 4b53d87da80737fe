/*
 * facts.c - one line a fact. Unknown facts are left out.
 */
#include "model/facts.h"

#include "base/id.h"
#include "base/path.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define FIXED_MAX 55 /* facts besides tags, breadcrumbs, sampling, drops and build ids */

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
    static const char *const units[] = {"KiB", "MiB", "GiB"};
    size_t unit = 0;
    double value = (double)fact.value / 1024;
    if (fact.known && fact.value < 1024)
        add_number(list, name, fact, " B");
    if (!fact.known || fact.value < 1024)
        return;
    for (; value >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
        value /= 1024;
    add(list, name, arena_printf(list->arena, "%.1f %s", value, units[unit]));
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
    add_number(list, "involuntary switches", report->event.thread.involuntary_switches, "");
    add_bytes(list, "written", report->event.thread.write_bytes);
}

/* If samples, not the loop's own calls, gave the begin and the end. */
static void add_doubt(struct list *list, const struct report_event *event)
{
    if (event->end_slack_ms)
        add(list, "may have ended later by", arena_printf(list->arena, "%" PRIu64 " ms", event->end_slack_ms));
    if (event->unsure_ms)
        add(list, "asleep, perhaps idle", arena_printf(list->arena, "%" PRIu64 " ms", event->unsure_ms));
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

/* When a breadcrumb was left, beside the moment that the report is of. */
static const char *crumb_name(struct arena *arena, const struct report *report, const struct report_crumb *crumb)
{
    uint64_t of_ns = report->memory.known ? report->memory.taken_ns : report->event.begin_ns;
    uint64_t start_ns = report->process.start_ns.value;
    uint64_t of_ms = of_ns > start_ns ? (of_ns - start_ns) / 1000000 : 0;

    if (!report->process.start_ns.known)
        return arena_printf(arena, "breadcrumb, %.1f s after the start", (double)crumb->at_ms / 1e3);
    if (crumb->at_ms > of_ms)
        return arena_printf(arena, "breadcrumb, %.1f s after", (double)(crumb->at_ms - of_ms) / 1e3);
    return arena_printf(arena, "breadcrumb, %.1f s before", (double)(of_ms - crumb->at_ms) / 1e3);
}

/* NULL: the report's format has no such text. */
static void add_text(struct list *list, const char *name, const char *value)
{
    if (value)
        add(list, name, value);
}

static void add_context(struct list *list, const struct report *report)
{
    const struct report_context *context = &report->context;

    add_text(list, "app state", context->state);
    add_text(list, "scene", context->scene);
    add_text(list, context->user_hashed ? "user, hashed" : "user", context->user);
    for (size_t i = 0; i < context->tag_count; i++)
        add(list, arena_printf(list->arena, "tag %s", context->tags[i].name), context->tags[i].value);
    for (size_t i = 0; i < context->crumb_count; i++)
        add(list, crumb_name(list->arena, report, &context->crumbs[i]), context->crumbs[i].text);
}

static void add_words(struct list *list, const char *name, const struct exit_words *words)
{
    const char *text = "";
    for (size_t i = 0; text && i < words->count; i++)
        text = arena_printf(list->arena, "%s%s%s", text, i ? ", " : "", words->words[i]);
    add(list, name, text);
}

/* The end of the process, and its memory at that time. */
static void add_exit(struct list *list, const struct report_exit *exit)
{
    if (!exit->known)
        return;
    add(list, "why it ended",
        arena_printf(list->arena, "%s (%s), %.1f %% sure", exit_text(exit->verdict), exit->verdict,
                     exit->confidence_ppm / 1e4));
    add_words(list, "speaks for that", &exit->speaks_for);
    add_words(list, "speaks against", &exit->against);
    add(list, "excluded", arena_printf(list->arena, "%zu of %d", exit->excluded.count, MIRE_EXIT_EXCLUSIONS));
    add_number(list, "ended by signal", exit->signal, "");
    add_time(list, "last seen", exit->seen_wall_ms);
    add_bytes(list, "footprint at the end", exit->footprint_bytes);
    add_bytes(list, "largest footprint", exit->footprint_peak_bytes);
    add_bytes(list, "memory limit", exit->limit_bytes);
    add_bytes(list, "used of the limit", exit->limit_used_bytes);
    add_number(list, "OOM kills counted", exit->oom_kills, "");
    add_number(list, "descriptors at the end", exit->fd_count, "");
}

/* The losses and the cost of the memory monitor. */
static void add_memory(struct list *list, const struct memory *memory)
{
    const struct memory_cost *cost = &memory->cost;
    if (memory->degraded.times)
        add(list, "detail given up for the budget",
            arena_printf(list->arena, "%" PRIu64 " times; asked for was %s", memory->degraded.times,
                         memory->degraded.sampled ? "sampled" : "exact"));
    add_bytes(list, "monitor's budget", cost->budget_bytes);
    add_bytes(list, "monitor's tables", cost->used_bytes);
    add_number(list, "allocator calls seen", cost->calls, "");
    add_number(list, "distinct stacks noted", cost->stacks, "");
    if (cost->build_us.known)
        add(list, "report built in", arena_printf(list->arena, "%.1f ms", (double)cost->build_us.value / 1000));
    for (size_t i = 0; i < memory->drop_count; i++)
        add(list, arena_printf(list->arena, "calls lost, %s", memory->drops[i].name),
            arena_printf(list->arena, "%" PRIu64, memory->drops[i].value));
}

/* The build ids of modules, which their debug files must have. */
static void add_build_ids(struct list *list, const struct report *report)
{
    char hex[2 * MIRE_BUILD_ID_MAX + 1];

    for (size_t i = 0; i < report->image_count; i++) {
        const struct report_image *image = &report->images[i];
        if (image->id_len == 0)
            continue;
        hex_format(hex, image->id, image->id_len);
        add(list, arena_printf(list->arena, "build id, %s", path_base(image->name)), arena_strdup(list->arena, hex));
    }
}

int report_facts(const struct resolved_fact **out, size_t *count_out, struct arena *arena, const struct report *report)
{
    size_t room = FIXED_MAX + report->context.tag_count + report->context.crumb_count + report->sampling_count +
                  report->drop_count + report->memory.drop_count + report->image_count + report->note_count;
    struct list list = {.arena = arena, .rows = arena_array(arena, room, sizeof *list.rows)};
    if (!list.rows)
        return -1;
    add_device(&list, report);
    add_process(&list, report);
    add_context(&list, report);
    add_text(&list, "message", report->event.message);
    add_doubt(&list, &report->event);
    for (size_t i = 0; i < report->sampling_count; i++)
        add(&list, arena_printf(arena, "sampling, %s", report->sampling[i].plugin),
            arena_printf(arena, "%g", report->sampling[i].p));
    for (size_t i = 0; i < report->drop_count; i++)
        add(&list, arena_printf(arena, "lost, %s", report->drops[i].name),
            arena_printf(arena, "%" PRIu64, report->drops[i].value));
    add_exit(&list, &report->exit);
    add_memory(&list, &report->memory);
    for (size_t i = 0; i < report->note_count; i++)
        add(&list, "note", report->notes[i]);
    add_build_ids(&list, report);
    for (size_t i = 0; i < list.count; i++)
        list.failed |= !list.rows[i].name;
    *out = list.rows;
    *count_out = list.count;
    return list.failed ? -1 : 0;
}
