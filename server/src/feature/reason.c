/*
 * reason.c - one vote a sample, weighted by its time:
 *
 *     state           asleep in system call (syscalls.c)   vote
 *     R  running, or wanting to                            cpu, unless the thread hardly used the CPU (the interruption
 *                                                          itself may have woken it), or not mostly and the frames say
 *                                                          something: then as below, and cpu if that says nothing
 *     D  disk sleep                                        io; page_in if it is in no call, the frames do not say io,
 *                                                          and pages were read for it
 *     other           futex                                sleep, or wait and what is waited for, as the frames say;
 *                                                          else lock
 *                     reads, writes, sleeps, file locks    that
 *                     waits for events or processes        what the frames say, otherwise wait
 *                     none, or unknown                     what the frames say; else, if the state is unknown, cpu
 *                                                          if the thread used the CPU most of the time; otherwise lock if
 *                                                          the report tells of one (a monitor of Java)
 *
 * The frames' word is the class of the innermost one that is lock, io, sleep, wait or ipc, before the first app
 * frame; lock, io or ipc behind a wait is what is waited for.
 *
 * Samples see only moments. If the thread spent most of the hang on the CPU, it is cpu whatever they say; else, if the
 * thread that watches was itself late for most of it, the process hardly ran at all: late.
 */
#include "feature/reason.h"
#include "feature/syscalls.h"

#define BUSY_PERCENT 60 /* of the hang on the CPU: most of it */
#define IDLE_PERCENT 20 /* hardly any */

const char *reason_name(enum event_reason reason)
{
    static const char *const names[MIRE_REASON_COUNT] = {"unknown", "cpu",     "io",    "lock", "sleep",
                                                         "wait",    "page_in", "ipc",   "idle", "late",
                                                         "bytes",   "objects", "growth"};
    return names[reason];
}

static enum event_reason of_class(enum rule_class class)
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
    case MIRE_CLASS_IPC:
        return MIRE_REASON_IPC;
    default:
        return MIRE_REASON_UNKNOWN;
    }
}

/*
 * The reason by the innermost frames, up to the first that is the app's own. A wait may turn out to be for a lock, for
 * another thread's input or output, or for another process.
 */
static enum event_reason of_stack(const struct resolved *doc, const enum rule_class *classes, uint32_t node,
                                  bool *waits)
{
    enum event_reason found = MIRE_REASON_UNKNOWN;
    *waits = false;
    for (; node; node = doc->nodes[node].parent) {
        enum rule_class class = classes[doc->nodes[node].location];
        enum event_reason reason = of_class(class);
        if (found == MIRE_REASON_UNKNOWN || (found == MIRE_REASON_WAIT && reason != MIRE_REASON_UNKNOWN))
            found = reason;
        *waits = *waits || found == MIRE_REASON_WAIT;
        if (rule_class_is_app(class) || (found != MIRE_REASON_UNKNOWN && found != MIRE_REASON_WAIT))
            break;
    }
    return found;
}

/* Percent of the hang that the thread was on the CPU; -1 if that is unknown. */
static int cpu_percent(const struct report *report)
{
    const struct fact *cpu_ms = &report->event.thread.cpu_ms;
    uint64_t duration_ms = report->event.duration_ms;
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

/* The reason by the system call in which the thread sleeps, and by the frames. */
static enum event_reason of_syscall(enum syscall_kind kind, enum event_reason frames, bool waits)
{
    switch (kind) {
    case MIRE_SYSCALL_FUTEX:
        return waits || frames == MIRE_REASON_SLEEP ? frames : MIRE_REASON_LOCK;
    case MIRE_SYSCALL_LOCK:
        return MIRE_REASON_LOCK;
    case MIRE_SYSCALL_IO:
        return MIRE_REASON_IO;
    case MIRE_SYSCALL_SLEEP:
        return MIRE_REASON_SLEEP;
    case MIRE_SYSCALL_WAIT:
        return frames == MIRE_REASON_UNKNOWN ? MIRE_REASON_WAIT : frames;
    case MIRE_SYSCALL_OTHER:
        break;
    }
    return frames;
}

/* It sleeps for the disk, in no call, and pages were read for it. */
static bool is_page_in(const struct report *report, const struct report_sample *sample, enum event_reason frames)
{
    return sample->syscall < 0 && frames != MIRE_REASON_IO && report->event.thread.major_faults.value > 0;
}

/* Was the thread that watches late for most of it? */
static bool is_late(const struct report *report)
{
    return report->event.duration_ms &&
           report->event.late_ms * 100 >= (uint64_t)report->event.duration_ms * BUSY_PERCENT;
}

static enum event_reason vote(const struct resolved *doc, const struct report *report, const enum rule_class *classes,
                              const struct report_sample *sample)
{
    bool waits;
    enum event_reason frames = of_stack(doc, classes, sample->node, &waits);
    bool within_call = frames != MIRE_REASON_UNKNOWN && cpu_percent(report) >= 0; /* mostly: was asked before */
    if (sample->state == 'R' && !hardly_on_cpu(report) && !within_call)
        return MIRE_REASON_CPU;
    enum syscall_kind call = syscall_kind(report->device.arch, sample->syscall);
    if (sample->state == 'D' && call != MIRE_SYSCALL_WAIT) /* a parent waits for its vfork in that state */
        return is_page_in(report, sample, frames) ? MIRE_REASON_PAGE_IN : MIRE_REASON_IO;
    enum event_reason reason = of_syscall(call, frames, waits);
    if (reason != MIRE_REASON_UNKNOWN)
        return reason;
    if (sample->state == 'R' || (sample->state == '?' && mostly_on_cpu(report)))
        return MIRE_REASON_CPU;
    return report->event.lock.known ? MIRE_REASON_LOCK : MIRE_REASON_UNKNOWN;
}

enum event_reason reason_find(const struct resolved *doc, const struct report *report, const enum rule_class *classes)
{
    uint64_t votes[MIRE_REASON_COUNT] = {0};
    enum event_reason most = MIRE_REASON_UNKNOWN;
    bool waits;
    if (mostly_on_cpu(report))
        return MIRE_REASON_CPU;
    if (is_late(report))
        return MIRE_REASON_LATE;
    for (size_t i = 0; i < doc->sample_count; i++)
        votes[vote(doc, report, classes, &doc->samples[i])] += doc->samples[i].weight_ms + 1ull;
    if (!doc->sample_count)
        return of_stack(doc, classes, doc->hot.node, &waits);
    for (int i = 0; i < MIRE_REASON_COUNT; i++)
        if (votes[i] > votes[most])
            most = (enum event_reason)i;
    return most;
}
