/*
 * mire_event.c - the sections "event" and "threads" of Mire's own format.
 */
#include "decode/mire.h"
#include "document/facts.h"

#include <string.h>

static enum bind_outcome read_gate(struct bind *bind, void *out, uint32_t at)
{
    struct report_event *event = out;
    if (json_kind(bind->json, at) == MIRE_JSON_STRING) {
        for (enum gate_kind gate = MIRE_GATE_NONE; gate <= MIRE_GATE_PING; gate++) {
            if (json_is(bind->json, at, gate_name(gate))) {
                event->gate = gate;
                return MIRE_BIND_OK;
            }
        }
    }
    return bind_wrong(bind, "must be poll, mark, ping or none");
}

static enum bind_outcome read_foreground(struct bind *bind, void *out, uint32_t at)
{
    struct report_event *event = out;
    enum json_kind kind = json_kind(bind->json, at);
    if (kind != MIRE_JSON_TRUE && kind != MIRE_JSON_FALSE)
        return bind_wrong(bind, "must be true or false");
    event->foreground = kind == MIRE_JSON_TRUE;
    event->foreground_known = true;
    return MIRE_BIND_OK;
}

static enum bind_outcome read_thread(struct bind *bind, void *out, uint32_t at)
{
    struct report_watched *thread = &((struct report_event *)out)->thread;
    enum bind_outcome outcome = facts_read(bind, thread, at, &facts_watched);
    return outcome || thread->tid.known ? outcome : bind_wrong_at(bind, MIRE_NAME_TID, "is missing");
}

/* A scheduler's letter. */
static bool is_state(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '?';
}

static enum bind_outcome read_state(struct bind *bind, void *out, uint32_t at)
{
    struct report_thread *thread = out;
    const char *text;
    enum bind_outcome outcome = bind_text(&text, bind, at, MIRE_WIRE_TEXT_MAX);
    if (outcome)
        return outcome;
    if (!is_state(text[0]) || text[1])
        return bind_wrong(bind, "must be a letter or ?");
    thread->state = text[0];
    return MIRE_BIND_OK;
}

static enum bind_outcome read_thread_lock(struct bind *bind, void *out, uint32_t at)
{
    struct report_thread *thread = out;
    thread->lock.known = true;
    return facts_read(bind, &thread->lock, at, &facts_lock);
}

static enum bind_outcome read_syscall(struct bind *bind, void *out, uint32_t at)
{
    struct report_thread *thread = out;
    uint64_t number;
    enum bind_outcome outcome = bind_number(&number, bind, at, -1, MIRE_WIRE_SYSCALL_MAX);
    if (!outcome)
        thread->syscall = (int32_t)number;
    return outcome;
}

enum bind_outcome mire_read_threads(struct bind *bind, void *out, uint32_t at)
{
    struct report *report = out;
    const struct bind_field fields[] = {
        {REQUIRED(WHOLE(struct report_thread, tid, MIRE_NAME_TID, MIRE_BIND_U64, 0, UINT32_MAX))},
        {TEXT(struct report_thread, name, MIRE_NAME_NAME)},
        {TEXT(struct report_thread, role, MIRE_NAME_ROLE)},
        {FACT(struct report_thread, cpu_ms, MIRE_NAME_CPU_MS)},
        {REQUIRED(WHOLE(struct report_thread, node, MIRE_NAME_NODE, MIRE_BIND_U32, 0, report->node_count - 1))},
        {OTHER(MIRE_NAME_STATE, read_state)},
        {OTHER(MIRE_NAME_SYSCALL, read_syscall)},
        {OTHER(MIRE_NAME_LOCK, read_thread_lock)},
    };
    enum bind_outcome outcome = bind_is_array(bind, at, MIRE_WIRE_THREADS_MAX);
    if (outcome)
        return outcome;
    size_t count = json_size(bind->json, at);
    struct report_thread *threads = arena_array(bind->arena, count, sizeof *threads);
    if (!threads)
        return MIRE_BIND_NO_MEMORY;
    uint32_t element = at + 1;
    for (size_t i = 0; i < count; i++, element = json_next(bind->json, element)) {
        threads[i] = (struct report_thread){.name = "", .role = "", .state = '?', .syscall = -1};
        bind_enter(bind, NULL, i);
        outcome = bind_object(bind, &threads[i], element, fields, COUNT(fields));
        if (outcome)
            return outcome;
        bind_leave(bind);
    }
    report->threads = threads;
    report->thread_count = count;
    return MIRE_BIND_OK;
}

struct samples {
    uint32_t period_ms;
    struct bind_column at_ms, weight_ms, node, syscall, thread, folded, skipped;
    const char *state, *loss;
};

static enum bind_outcome check_samples(struct bind *bind, const struct samples *s)
{
    size_t count = s->at_ms.count;
    size_t states = strlen(s->state);
    if (s->weight_ms.count != count)
        return bind_wrong_at(bind, MIRE_NAME_WEIGHT_MS, UNEQUAL);
    if (s->node.count != count)
        return bind_wrong_at(bind, MIRE_NAME_NODE, UNEQUAL);
    if (states && states != count)
        return bind_wrong_at(bind, MIRE_NAME_STATE, UNEQUAL);
    if (s->syscall.known && s->syscall.count != count)
        return bind_wrong_at(bind, MIRE_NAME_SYSCALL, UNEQUAL);
    if (s->thread.known && s->thread.count != count)
        return bind_wrong_at(bind, MIRE_NAME_THREAD, UNEQUAL);
    if (s->folded.known && s->folded.count != count)
        return bind_wrong_at(bind, MIRE_NAME_FOLDED, UNEQUAL);
    if (s->skipped.known && s->skipped.count != count)
        return bind_wrong_at(bind, MIRE_NAME_SKIPPED, UNEQUAL);
    if (s->loss[0] && strlen(s->loss) != count)
        return bind_wrong_at(bind, MIRE_NAME_LOSS, UNEQUAL);
    for (const char *p = s->loss; *p; p++)
        if (*p != '.' && (*p < 'a' || *p > 'z'))
            return bind_wrong_at(bind, MIRE_NAME_LOSS, "must be small letters or dots");
    for (const char *p = s->state; *p; p++)
        if (!is_state(*p))
            return bind_wrong_at(bind, MIRE_NAME_STATE, "must be letters or ?");
    for (size_t i = 1; i < count; i++)
        if (s->at_ms.values[i] < s->at_ms.values[i - 1])
            return bind_wrong_element(bind, MIRE_NAME_AT_MS, i, "must not fall");
    return MIRE_BIND_OK;
}

static enum bind_outcome read_samples(struct bind *bind, struct report *report, uint32_t at)
{
    const struct bind_field fields[] = {
        {WHOLE(struct samples, period_ms, MIRE_NAME_PERIOD_MS, MIRE_BIND_U32, 1, MIRE_WIRE_PERIOD_MAX)},
        {REQUIRED(COLUMN(struct samples, at_ms, MIRE_NAME_AT_MS, MIRE_WIRE_SAMPLES_MAX, 0, UINT64_MAX))},
        {REQUIRED(COLUMN(struct samples, weight_ms, MIRE_NAME_WEIGHT_MS, MIRE_WIRE_SAMPLES_MAX, 0, UINT64_MAX))},
        {REQUIRED(COLUMN(struct samples, node, MIRE_NAME_NODE, MIRE_WIRE_SAMPLES_MAX, 0, report->node_count - 1))},
        {TEXT(struct samples, state, MIRE_NAME_STATE)},
        {COLUMN(struct samples, syscall, MIRE_NAME_SYSCALL, MIRE_WIRE_SAMPLES_MAX, -1, MIRE_WIRE_SYSCALL_MAX)},
        {COLUMN(struct samples, thread, MIRE_NAME_THREAD, MIRE_WIRE_SAMPLES_MAX, 0, report->thread_count)},
        {TEXT(struct samples, loss, MIRE_NAME_LOSS)},
        {COLUMN(struct samples, folded, MIRE_NAME_FOLDED, MIRE_WIRE_SAMPLES_MAX, 0, UINT32_MAX)},
        {COLUMN(struct samples, skipped, MIRE_NAME_SKIPPED, MIRE_WIRE_SAMPLES_MAX, 0, UINT32_MAX)},
    };
    struct samples s = {.state = "", .loss = ""};
    enum bind_outcome outcome = bind_object(bind, &s, at, fields, COUNT(fields));
    if (!outcome)
        outcome = check_samples(bind, &s);
    if (outcome)
        return outcome;
    size_t count = s.at_ms.count;
    struct report_sample *rows = arena_array(bind->arena, count, sizeof *rows);
    if (!rows)
        return MIRE_BIND_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        rows[i] = (struct report_sample){.at_ms = clip(s.at_ms.values[i]),
                                         .weight_ms = clip(s.weight_ms.values[i]),
                                         .node = (uint32_t)s.node.values[i],
                                         .state = s.state[0] ? s.state[i] : '?',
                                         .syscall = s.syscall.known ? (int32_t)s.syscall.values[i] : -1,
                                         .thread = s.thread.known ? (uint32_t)s.thread.values[i] : 0,
                                         .loss = s.loss[0] ? s.loss[i] : '.',
                                         .folded = s.folded.known ? (uint32_t)s.folded.values[i] : 0,
                                         .skipped = s.skipped.known ? (uint32_t)s.skipped.values[i] : 0};
    report->event.period_ms = s.period_ms;
    report->event.samples = rows;
    report->event.sample_count = count;
    return MIRE_BIND_OK;
}

static enum bind_outcome read_hot(struct bind *bind, struct report *report, uint32_t at)
{
    struct hot_columns {
        uint32_t node, run;
        struct bind_column repeat;
    } hot = {0};
    const struct bind_field fields[] = {
        {REQUIRED(WHOLE(struct hot_columns, node, MIRE_NAME_NODE, MIRE_BIND_U32, 0, report->node_count - 1))},
        {REQUIRED(WHOLE(struct hot_columns, run, MIRE_NAME_RUN, MIRE_BIND_U32, 1, UINT32_MAX))},
        {REQUIRED(COLUMN(struct hot_columns, repeat, MIRE_NAME_REPEAT, MIRE_WIRE_REPEAT_MAX, 1, UINT32_MAX))},
    };
    enum bind_outcome outcome = bind_object(bind, &hot, at, fields, COUNT(fields));
    if (outcome)
        return outcome;
    uint32_t *repeat = arena_array(bind->arena, hot.repeat.count, sizeof *repeat);
    if (!repeat)
        return MIRE_BIND_NO_MEMORY;
    for (size_t i = 0; i < hot.repeat.count; i++)
        repeat[i] = (uint32_t)hot.repeat.values[i];
    report->event.hot = (struct report_hot){true, hot.node, hot.run, hot.repeat.count, repeat};
    return MIRE_BIND_OK;
}

static enum bind_outcome read_blame(struct bind *bind, struct report *report, uint32_t at)
{
    struct report_blame *blame = &report->event.blame;
    const struct bind_field fields[] = {
        {REQUIRED(WHOLE(struct report_blame, node, MIRE_NAME_NODE, MIRE_BIND_U32, 1, report->node_count - 1))},
        {REQUIRED(WHOLE(struct report_blame, share_ppm, MIRE_NAME_SHARE_PPM, MIRE_BIND_U32, 0, 1000000))},
    };
    blame->known = true;
    return bind_object(bind, blame, at, fields, COUNT(fields));
}

static enum bind_outcome read_lock(struct bind *bind, void *out, uint32_t at)
{
    struct report_event *event = out;
    event->lock.known = true;
    return facts_read(bind, &event->lock, at, &facts_lock);
}

static enum bind_outcome read_cpu(struct bind *bind, void *out, uint32_t at)
{
    struct report_event *event = out;
    event->cpu.known = true;
    return facts_read(bind, &event->cpu, at, &facts_cpu);
}

static enum bind_outcome read_disk(struct bind *bind, void *out, uint32_t at)
{
    struct report_event *event = out;
    event->disk.known = true;
    return facts_read(bind, &event->disk, at, &facts_disk);
}

static enum bind_outcome read_frames(struct bind *bind, void *out, uint32_t at)
{
    struct report_event *event = out;
    event->frames.known = true;
    return facts_read(bind, &event->frames, at, &facts_frames);
}

static enum bind_outcome read_suppressed(struct bind *bind, void *out, uint32_t at)
{
    return facts_read(bind, &((struct report_event *)out)->suppressed, at, &facts_suppressed);
}

static enum bind_outcome read_wait_node(struct bind *bind, struct report *report, uint32_t at)
{
    uint64_t node;
    enum bind_outcome outcome = bind_number(&node, bind, at, 1, report->node_count - 1);
    if (!outcome)
        report->event.wait_node = (uint32_t)node;
    return outcome;
}

/* The four below get the event, but need the nodes: the event lies inside its report. */
static struct report *report_of(void *event)
{
    return (struct report *)(void *)((char *)event - offsetof(struct report, event));
}

static enum bind_outcome read_samples_of(struct bind *bind, void *out, uint32_t at)
{
    return read_samples(bind, report_of(out), at);
}

static enum bind_outcome read_blame_of(struct bind *bind, void *out, uint32_t at)
{
    return read_blame(bind, report_of(out), at);
}

static enum bind_outcome read_hot_of(struct bind *bind, void *out, uint32_t at)
{
    return read_hot(bind, report_of(out), at);
}

static enum bind_outcome read_wait_node_of(struct bind *bind, void *out, uint32_t at)
{
    return read_wait_node(bind, report_of(out), at);
}

enum bind_outcome mire_read_event(struct bind *bind, void *out, uint32_t at)
{
    static const struct bind_field fields[] = {
        {REQUIRED(WHOLE(struct report_event, begin_ns, MIRE_NAME_BEGIN_NS, MIRE_BIND_U64, 0, UINT64_MAX))},
        {FACT(struct report_event, begin_wall_ms, MIRE_NAME_BEGIN_WALL_MS)},
        {REQUIRED(
            WHOLE(struct report_event, duration_ms, MIRE_NAME_DURATION_MS, MIRE_BIND_U32, 0, MIRE_WIRE_DURATION_MAX))},
        {WHOLE(struct report_event, threshold_ms, MIRE_NAME_THRESHOLD_MS, MIRE_BIND_U32, 1, MIRE_WIRE_THRESHOLD_MAX)},
        {TEXT(struct report_event, trigger, MIRE_NAME_TRIGGER)},
        {TEXT(struct report_event, name, MIRE_NAME_NAME)},
        {TEXT(struct report_event, message, MIRE_NAME_MESSAGE)},
        {REQUIRED(FLAG(struct report_event, open, MIRE_NAME_OPEN))},
        {FLAG(struct report_event, launch, MIRE_NAME_LAUNCH)},
        {OTHER(MIRE_NAME_FOREGROUND, read_foreground)},
        {WHOLE(struct report_event, late_ms, MIRE_NAME_LATE_MS, MIRE_BIND_U64, 0, UINT64_MAX)},
        {WHOLE(struct report_event, suspended_ms, MIRE_NAME_SUSPENDED_MS, MIRE_BIND_U64, 0, UINT64_MAX)},
        {WHOLE(struct report_event, begin_slack_ms, MIRE_NAME_BEGIN_SLACK_MS, MIRE_BIND_U64, 0, UINT64_MAX)},
        {WHOLE(struct report_event, end_slack_ms, MIRE_NAME_END_SLACK_MS, MIRE_BIND_U64, 0, UINT64_MAX)},
        {WHOLE(struct report_event, unsure_ms, MIRE_NAME_UNSURE_MS, MIRE_BIND_U64, 0, UINT64_MAX)},
        {OTHER(MIRE_NAME_WAIT_NODE, read_wait_node_of)},
        {OTHER(MIRE_NAME_GATE, read_gate)},
        {TEXT(struct report_event, guess, MIRE_NAME_GUESS)},
        {OTHER(MIRE_NAME_LOCK, read_lock)},
        {OTHER(MIRE_NAME_CPU, read_cpu)},
        {OTHER(MIRE_NAME_DISK, read_disk)},
        {OTHER(MIRE_NAME_FRAMES, read_frames)},
        {OTHER(MIRE_NAME_SUPPRESSED, read_suppressed)},
        {OTHER(MIRE_NAME_THREAD, read_thread)},
        {REQUIRED(OTHER(MIRE_NAME_SAMPLES, read_samples_of))},
        {OTHER(MIRE_NAME_BLAME, read_blame_of)},
        {OTHER(MIRE_NAME_HOT, read_hot_of)},
    };
    struct report *report = out;
    return bind_object(bind, &report->event, at, fields, COUNT(fields));
}
