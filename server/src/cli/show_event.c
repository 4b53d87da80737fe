/* show_event.c - see show.h. */
#include "cli/say.h"
#include "cli/show.h"

#include <inttypes.h>
#include <stdio.h>

static void print_ms(const char *name, uint64_t ms, const char *meaning)
{
    if (ms)
        say(stdout, "%-10s %" PRIu64 " ms: %s\n", name, ms, meaning);
}

/* ", limit 80 %" */
static void print_limit(struct fact limit, const char *unit)
{
    if (limit.known)
        say(stdout, ", limit %" PRIu64 " %s", limit.value, unit);
    putchar('\n');
}

static void print_loads(const struct report_event *event)
{
    if (event->cpu.known) {
        say(stdout, "cpu        %" PRIu64 " %% of a core in %" PRIu64 " ms", event->cpu.percent, event->cpu.window_ms);
        print_limit(event->cpu.limit_percent, "%");
    }
    if (event->disk.known) {
        say(stdout, "disk       %" PRIu64 " bytes read, %" PRIu64 " written in %" PRIu64 " ms", event->disk.read_bytes,
            event->disk.write_bytes, event->disk.window_ms);
        print_limit(event->disk.limit_bytes, "bytes");
    }
    if (event->frames.known)
        say(stdout, "frames     %" PRIu64 " came, %" PRIu64 " dropped, longest %" PRIu64 " ms\n", event->frames.ticks,
            event->frames.dropped, event->frames.longest_ms.value);
}

void show_event(const struct report *report, const struct feature *feature, const struct resolved *doc)
{
    const struct report_event *event = &report->event;
    const char *ground = !event->foreground_known ? ""
                         : event->foreground      ? ", in the foreground"
                                                  : ", in the background";
    char threshold[32] = ""; /* absent in some formats */

    if (event->threshold_ms)
        snprintf(threshold, sizeof threshold, ", threshold %u ms", event->threshold_ms);
    if (category_is_of_process(feature->category))
        say(stdout, "event      %u ms watched%s\n", event->duration_ms, ground);
    else
        say(stdout, "hang       %u ms%s, gate %s%s%s%s\n", event->duration_ms, threshold, gate_name(event->gate),
            event->launch ? ", at launch" : "", ground, event->open ? ", the process was killed in it" : "");
    say(stdout, "trigger    %s%s%s\n", event->trigger, event->name[0] ? ", " : "", event->name);
    say(stdout, "kind       %s, %s%s%s\n", category_name(feature->category), feature_reason(feature),
        feature->holder[0] ? ", held by " : "", feature->holder);
    if (event->guess[0])
        say(stdout, "guess      %s, says the device\n", event->guess);
    print_loads(event);
    print_ms("late", event->late_ms, "so late was the device's checker meanwhile");
    print_ms("suspended", event->suspended_ms, "the machine slept; not in the hang's length");
    print_ms("slack", event->begin_slack_ms, "so much earlier it may have begun");
    print_ms("end", event->end_slack_ms, "so much later it may have ended");
    print_ms("unsure", event->unsure_ms, "asleep, and it is unknown whether its loop waited");
    if (event->suppressed.count)
        say(stdout, "suppressed %" PRIu64 " more like it, %" PRIu64 " ms together, were counted and not sent\n",
            event->suppressed.count, event->suppressed.duration_ms.value);
    if (doc->blame.known)
        say(stdout, "blame      %s holds %u %% of the sampled time, says the device\n",
            doc->locations[doc->blame.location].function, doc->blame.share_ppm / 10000);
}

void show_threads(const struct resolved *doc)
{
    for (size_t i = 0; i < doc->thread_count; i++) {
        const struct resolved_thread *thread = &doc->threads[i];
        uint64_t sampled_ms = 0;
        int32_t at = 0;
        for (size_t s = 0; s < doc->sample_count; s++)
            sampled_ms += doc->samples[s].thread == i + 1 ? doc->samples[s].weight_ms : 0;
        say(stdout, "\nThread %" PRIu64 " %s%s%s, state %c", thread->tid, thread->name, thread->role[0] ? ", " : "",
            thread->role, thread->state);
        if (thread->cpu_ms.known)
            say(stdout, ", %" PRIu64 " ms CPU", thread->cpu_ms.value);
        if (sampled_ms)
            say(stdout, ", %" PRIu64 " ms sampled", sampled_ms);
        putchar('\n');
        for (uint32_t node = thread->node; node; node = doc->nodes[node].parent, at++) {
            const struct resolved_location *location = &doc->locations[doc->nodes[node].location];
            bool holds = doc->holder.thread == (int32_t)i && doc->holder.frame == at;
            say(stdout, "%s       %-9s %s\n", holds ? "H>" : "  ", role_name(location->role), location->function);
        }
    }
}

static void print_cost(const char *name, struct fact fact)
{
    if (fact.known)
        say(stdout, ", %" PRIu64 " %s", fact.value, name);
}

void show_cost(const struct resolved *doc)
{
    const struct report_cost *cost = &doc->cost;

    say(stdout,
        "\nCost       %" PRIu64 " samples; the longest stopped a thread for %" PRIu64 " us; all, %" PRIu64
        " us; unwinding, %" PRIu64 " us; checking, %" PRIu64 " us of CPU time",
        cost->samples, cost->stopped_max_ns / 1000, cost->stopped_sum_ns / 1000, cost->unwind_sum_ns / 1000,
        cost->watch_cpu_us);
    print_cost("wake-ups", cost->wakeups);
    print_cost("bytes stored", cost->stored_bytes);
    if (cost->period_raised.value)
        print_cost("times sampling was slowed down to stay cheap", cost->period_raised);
    putchar('\n');
    if (doc->bucket_count)
        say(stdout, "\nTurns of watched loops since the last report\n");
    for (size_t i = 0; i < doc->bucket_count; i++)
        say(stdout, "   %5u  of %u ms and more\n", doc->buckets[i].count, doc->buckets[i].from_ms);
}
