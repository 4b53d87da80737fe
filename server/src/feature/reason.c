/*
 * reason.c - one vote a sample, weighted by its time:
 *
 *     state            innermost class before the first app frame     vote
 *     R  running       any                                            cpu, if the thread used the CPU more than hardly
 * at all; else as ?: the interruption itself woke it D  disk sleep    any                                            io
 *     S  sleeping      lock, io, sleep, wait                          that; otherwise unknown
 *     ?  not told      lock, io, sleep, wait                          that; otherwise cpu if the thread used the CPU
 *                                                                     most of the time, unknown if not
 *
 * Samples see only moments. If the thread spent most of the hang on the CPU, it is cpu whatever they say.
 */
#include "feature/reason.h"

#define BUSY_PERCENT 60 /* of the hang on the CPU: most of it */
#define IDLE_PERCENT 20 /* hardly any */

static enum hang_reason of_class(enum rule_class class)
{
    switch (class) {
    case MIRE_CLASS_LOCK:
        return MIRE_REASON_LOCK;
    case MIRE_CLASS_IO:
        return MIRE_REASON_IO;
    case MIRE_CLASS_SLEEP:
        return MIRE_REASON_SLEEP;
    case MIRE_CLASS_WAIT:
        return MIRE_REASON_WAIT;
    default:
        return MIRE_REASON_UNKNOWN;
    }
}

/* What the innermost frames say, up to the first that is the app's own. */
static enum hang_reason of_stack(const struct resolved *doc, const enum rule_class *classes, uint32_t node)
{
    for (; node; node = doc->nodes[node].parent) {
        enum rule_class class = classes[doc->nodes[node].place];
        enum hang_reason reason = of_class(class);
        if (reason != MIRE_REASON_UNKNOWN || class == MIRE_CLASS_APP)
            return reason;
    }
    return MIRE_REASON_UNKNOWN;
}

/* Percent of the hang that the thread was on the CPU; -1 if that is unknown. */
static int cpu_percent(const struct report *report)
{
    const struct fact *cpu_ms = &report->hang.thread.cpu_ms;
    uint64_t duration_ms = report->hang.duration_ms;
    if (!cpu_ms->known || !duration_ms)
        return -1;
    return cpu_ms->value >= duration_ms ? 100 : (int)(cpu_ms->value * 100 / duration_ms);
}

static bool mostly_on_cpu(const struct report *report)
{
    return cpu_percent(report) >= BUSY_PERCENT;
}

static bool hardly_on_cpu(const struct report *report)
{
    int percent = cpu_percent(report);
    return percent >= 0 && percent < IDLE_PERCENT;
}

static enum hang_reason vote(const struct resolved *doc, const struct report *report, const enum rule_class *classes,
                             const struct report_sample *sample)
{
    enum hang_reason reason = of_stack(doc, classes, sample->node);
    if (sample->state == 'R' && !hardly_on_cpu(report))
        return MIRE_REASON_CPU;
    if (sample->state == 'D')
        return MIRE_REASON_IO;
    if (sample->state == '?' && reason == MIRE_REASON_UNKNOWN && mostly_on_cpu(report))
        return MIRE_REASON_CPU;
    return reason;
}

enum hang_reason reason_find(const struct resolved *doc, const struct report *report, const enum rule_class *classes)
{
    uint64_t votes[MIRE_REASON_COUNT] = {0};
    enum hang_reason most = MIRE_REASON_UNKNOWN;
    if (mostly_on_cpu(report))
        return MIRE_REASON_CPU;
    for (size_t i = 0; i < doc->sample_count; i++)
        votes[vote(doc, report, classes, &doc->samples[i])] += doc->samples[i].weight_ms + 1ull;
    if (!doc->sample_count)
        return of_stack(doc, classes, doc->hot.node);
    for (int i = 0; i < MIRE_REASON_COUNT; i++)
        if (votes[i] > votes[most])
            most = (enum hang_reason)i;
    return most;
}
