/*
 * category.c - the first row that applies:
 *
 *     memory    foom, test                                that kind; otherwise memory
 *     trigger   cpu, power, disk, frames, crash,          that kind; custom for
 *               call, test                                a trigger of later versions
 *     thread    in the background                         background
 *               its process was killed for it             killed
 *               wanted the processor and did not get it,
 *               among more than 64 threads                threads
 *               before the loop's first wait              launch
 *               else                                      hang
 *
 * A high number of threads alone is no kind: some programs always have many threads, and their hangs have causes of
 * their own.
 */
#include "feature/category.h"

#include <string.h>

#define MANY_THREADS  64
#define STARVED_SHARE 60 /* percent of the samples' time in which the thread wanted to run */
#define STARVED_CPU   60 /* percent of the hang: above it the thread ran */
#define STARVED_LEAST 10 /* involuntary switches: fewer are nobody's doing */

/* Did other threads take the processor from it most of the time? Each time is an involuntary switch. */
static bool is_starved(const struct report *report)
{
    const struct report_event *event = &report->event;
    const struct report_watched *thread = &event->thread;
    uint64_t running = 0, all = 0;

    for (size_t i = 0; i < event->sample_count; i++) {
        all += event->samples[i].weight_ms;
        running += event->samples[i].state == 'R' ? event->samples[i].weight_ms : 0;
    }
    return thread->cpu_ms.known && thread->cpu_ms.value * 100 < (uint64_t)event->duration_ms * STARVED_CPU &&
           thread->involuntary_switches.value >= STARVED_LEAST &&
           thread->involuntary_switches.value > thread->voluntary_switches.value && all &&
           running * 100 >= all * STARVED_SHARE;
}

/* The process did not survive the event. If the device knows another reason for the end than the hang, the hang is like
 * others. */
static bool is_killed(const struct report *report)
{
    return report->event.open && (!report->exit.known || !strcmp(report->exit.verdict, "watchdog_kill"));
}

static enum event_category of_memory(const struct memory *memory)
{
    if (!strcmp(memory->trigger, "foom"))
        return MIRE_CATEGORY_FOOM;
    return strcmp(memory->trigger, "test") ? MIRE_CATEGORY_MEMORY : MIRE_CATEGORY_TEST;
}

enum event_category category_find(const struct report *report)
{
    static const struct {
        const char *trigger;
        enum event_category category;
    } of_process[] = {
        {"cpu", MIRE_CATEGORY_CPU},       {"power", MIRE_CATEGORY_POWER}, {"disk", MIRE_CATEGORY_DISK},
        {"frames", MIRE_CATEGORY_FRAMES}, {"crash", MIRE_CATEGORY_CRASH}, {"call", MIRE_CATEGORY_CUSTOM},
        {"test", MIRE_CATEGORY_TEST},
    };
    const struct report_event *event = &report->event;

    if (report->kind == MIRE_REPORT_MEMORY)
        return of_memory(&report->memory);
    for (size_t i = 0; i < sizeof of_process / sizeof *of_process; i++)
        if (!strcmp(event->trigger, of_process[i].trigger))
            return of_process[i].category;
    if (strcmp(event->trigger, "busy") != 0 && strcmp(event->trigger, "unanswered") != 0)
        return MIRE_CATEGORY_CUSTOM;
    if (event->foreground_known && !event->foreground)
        return MIRE_CATEGORY_BACKGROUND;
    if (is_killed(report))
        return MIRE_CATEGORY_KILLED;
    if (report->process.thread_count.value > MANY_THREADS && is_starved(report))
        return MIRE_CATEGORY_THREADS;
    return event->launch ? MIRE_CATEGORY_LAUNCH : MIRE_CATEGORY_HANG;
}
