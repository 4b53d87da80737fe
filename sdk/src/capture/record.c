/*
 * record.c - see record.h.
 */
#include "capture/record.h"

#include <string.h>

#define HEARTBEAT_NS MIRE_NS_PER_S /* between two readings of the counters */

uint64_t mire__record_period_ns(const struct check *check, const struct record *record)
{
    uint64_t period_ns = check->settings.period_ms * MIRE_NS_PER_MS;

    return period_ns << (check->box->lanes[record->lane].ring.thinned_count + check->period_shift);
}

/* A thread that has ended has no counters: the last values stay. */
static struct thread_use used(const struct record *record)
{
    const struct thread_counters *base = &record->base;
    struct thread_counters now;

    mire__thread_counters(&now, record->event.tid);
    if (now.cpu_ns < base->cpu_ns)
        return record->event.use;
    return (struct thread_use){.cpu_ns = now.cpu_ns - base->cpu_ns,
                               .voluntary_switches = now.voluntary_switches - base->voluntary_switches,
                               .involuntary_switches = now.involuntary_switches - base->involuntary_switches,
                               .major_faults = now.major_faults - base->major_faults,
                               .read_bytes = now.read_bytes - base->read_bytes,
                               .write_bytes = now.write_bytes - base->write_bytes};
}

/* Read the counters of the event: some ten small files, 150 us. */
static void count_use(struct record *record)
{
    struct process_counters process;

    if (record->event.tid)
        record->event.use = used(record);
    mire__process_counters(&process);
    record->event.process = (struct process_use){.cpu_user_ms = process.cpu_user_ms,
                                                 .cpu_system_ms = process.cpu_system_ms,
                                                 .rss_bytes = process.rss_bytes,
                                                 .thread_count = process.thread_count};
}

void mire__record_open(struct check *check, struct record *record, const struct event *event)
{
    struct blackbox *box = check->box;
    struct lane *lane = &box->lanes[record->lane];

    if (!mire__blackbox_any_event(box)) {
        mire__blackbox_clear_images(box);
        mire__blackbox_tidy_scripts(box);
    }
    atomic_store_explicit(&lane->other_count, 0, memory_order_release);
    mire__ring_reset(&lane->ring, event->begin_ns * 0x9e3779b97f4a7c15ull);
    mire__sampler_look(check->sampler, box);
    record->event = *event;
    record->event.state = MIRE_EVENT_OPEN;
    record->event.period_ms = check->settings.period_ms;
    mire__uuid7(record->event.id);
    record->counted_ns = 0;
    if (event->tid)
        mire__others_begin(&record->others, check->sampler, box, record->lane, event->tid,
                           event->begin_ns + event->threshold_ms * MIRE_NS_PER_MS);
    mire__record_keep(check, record);
}

static void add_cost(struct capture_cost *cost, const struct capture_cost *more)
{
    cost->samples += more->samples;
    cost->stopped_sum_ns += more->stopped_sum_ns;
    cost->unwind_sum_ns += more->unwind_sum_ns;
    if (more->stopped_max_ns > cost->stopped_max_ns)
        cost->stopped_max_ns = more->stopped_max_ns;
}

/*
 * Add the sampler's cost since the record began to the record. The library's total cost decides the sampling rate from
 * here on.
 */
static void account(struct check *check, struct record *record)
{
    const struct capture_cost *cost = &check->sampler->cost;

    check->sampled += (uint32_t)cost->samples;
    check->handler_ns += cost->stopped_sum_ns;
    add_cost(&record->event.cost, cost);
    memset(&check->sampler->cost, 0, sizeof(check->sampler->cost));
    check->period_shift = mire__governor_shift(&check->governor, mire__now_ns(),
                                               mire__thread_cpu_ns(0) + check->handler_ns, &check->settings);
}

struct sample *mire__record_take(struct check *check, struct record *record, uint32_t tid)
{
    struct sample *sample = mire__ring_reserve(&check->box->lanes[record->lane].ring);

    mire__sampler_take(sample, check->sampler, tid ? tid : record->event.tid, check->box);
    sample->tid = tid;
    if (!tid && !record->event.message[0])
        mire__text_copy(record->event.message, sizeof(record->event.message), check->sampler->turn);
    account(check, record);
    return sample;
}

void mire__record_put(struct check *check, struct record *record, uint64_t weight_ns)
{
    mire__ring_append(&check->box->lanes[record->lane].ring, weight_ns);
    record->event.period_ms = (uint32_t)(mire__record_period_ns(check, record) / MIRE_NS_PER_MS);
}

void mire__record_sample(struct check *check, struct record *record, uint32_t tid, uint64_t weight_ns)
{
    mire__record_take(check, record, tid);
    mire__record_put(check, record, weight_ns);
    if (!tid)
        mire__record_look_around(check, record);
}

void mire__record_look_around(struct check *check, struct record *record)
{
    if (!record->event.tid)
        return;
    mire__others_look(&record->others, &record->event);
    account(check, record);
}

void mire__record_keep(struct check *check, struct record *record)
{
    struct event *event = &record->event;

    event->last_seen_ns = mire__now_ns();
    if (event->last_seen_ns - record->counted_ns >= HEARTBEAT_NS) {
        record->counted_ns = event->last_seen_ns;
        count_use(record);
    }
    event->cost.watch_cpu_ns = mire__thread_cpu_ns(0);
    event->cost.wakeups = check->wakeups;
    event->cost.period_raised = check->governor.raised_count;
    mire__blackbox_set_event(check->box, record->lane, event);
}

void mire__record_forget(struct check *check, struct record *record)
{
    memset(&record->event, 0, sizeof(record->event));
    mire__blackbox_set_event(check->box, record->lane, &record->event);
}

void mire__record_close(struct check *check, struct record *record, uint64_t end_ns, bool exited)
{
    struct event *event = &record->event;

    if (event->tid)
        mire__others_end(&record->others);
    record->counted_ns = 0;
    mire__record_keep(check, record);
    event->state = MIRE_EVENT_ENDED;
    event->end_ns = end_ns > event->begin_ns ? end_ns : event->begin_ns;
    event->exited = exited;
    mire__blackbox_set_event(check->box, record->lane, event);
    if (mire__event_counts(event))
        check->options->on_event(check->options->context, check->box, record->lane);
    mire__record_forget(check, record);
    check->marked_ns = mire__now_ns(); /* sealing may have taken long */
}
