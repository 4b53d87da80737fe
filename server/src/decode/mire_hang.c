/*
 * mire_hang.c - the section "hang" of Mire's own format.
 */
#include "decode/mire.h"

#include <string.h>

static enum bind_outcome read_gate(struct bind *bind, void *out, uint32_t at)
{
    struct report_hang *hang = out;
    if (json_kind(bind->json, at) == MIRE_JSON_STRING) {
        for (enum gate_kind gate = MIRE_GATE_NONE; gate <= MIRE_GATE_PING; gate++) {
            if (json_is(bind->json, at, gate_name(gate))) {
                hang->gate = gate;
                return MIRE_BIND_OK;
            }
        }
    }
    return bind_wrong(bind, "must be poll, mark, ping or none");
}

static enum bind_outcome read_foreground(struct bind *bind, void *out, uint32_t at)
{
    struct report_hang *hang = out;
    enum json_kind kind = json_kind(bind->json, at);
    if (kind != MIRE_JSON_TRUE && kind != MIRE_JSON_FALSE)
        return bind_wrong(bind, "must be true or false");
    hang->foreground = kind == MIRE_JSON_TRUE;
    hang->foreground_known = true;
    return MIRE_BIND_OK;
}

static enum bind_outcome read_thread(struct bind *bind, void *out, uint32_t at)
{
    static const struct bind_field fields[] = {
        {REQUIRED(COUNTED(struct report_watched, tid, MIRE_NAME_TID))},
        {TEXT(struct report_watched, name, MIRE_NAME_NAME)},
        {FACT(struct report_watched, cpu_ms, MIRE_NAME_CPU_MS)},
        {FACT(struct report_watched, voluntary_switches, MIRE_NAME_VOLUNTARY_SWITCHES)},
        {FACT(struct report_watched, involuntary_switches, MIRE_NAME_INVOLUNTARY_SWITCHES)},
        {FACT(struct report_watched, major_faults, MIRE_NAME_MAJOR_FAULTS)},
        {FACT(struct report_watched, read_bytes, MIRE_NAME_READ_BYTES)},
        {FACT(struct report_watched, write_bytes, MIRE_NAME_WRITE_BYTES)},
    };
    struct report_hang *hang = out;
    return bind_object(bind, &hang->thread, at, fields, COUNT(fields));
}

struct samples {
    uint32_t period_ms;
    struct bind_column at_ms, weight_ms, node, syscall;
    const char *state;
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
    for (const char *p = s->state; *p; p++)
        if (!(*p >= 'A' && *p <= 'Z') && !(*p >= 'a' && *p <= 'z') && *p != '?')
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
    };
    struct samples s = {.state = ""};
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
        rows[i] =
            (struct report_sample){clip(s.at_ms.values[i]), clip(s.weight_ms.values[i]), (uint32_t)s.node.values[i],
                                   s.state[0] ? s.state[i] : '?', s.syscall.known ? (int32_t)s.syscall.values[i] : -1};
    report->hang.period_ms = s.period_ms;
    report->hang.samples = rows;
    report->hang.sample_count = count;
    return MIRE_BIND_OK;
}

static enum bind_outcome read_hot(struct bind *bind, struct report *report, uint32_t at)
{
    struct hot {
        uint32_t node, run;
        struct bind_column repeat;
    } hot = {0};
    const struct bind_field fields[] = {
        {REQUIRED(WHOLE(struct hot, node, MIRE_NAME_NODE, MIRE_BIND_U32, 0, report->node_count - 1))},
        {REQUIRED(WHOLE(struct hot, run, MIRE_NAME_RUN, MIRE_BIND_U32, 1, UINT32_MAX))},
        {REQUIRED(COLUMN(struct hot, repeat, MIRE_NAME_REPEAT, MIRE_WIRE_REPEAT_MAX, 1, UINT32_MAX))},
    };
    enum bind_outcome outcome = bind_object(bind, &hot, at, fields, COUNT(fields));
    if (outcome)
        return outcome;
    uint32_t *repeat = arena_array(bind->arena, hot.repeat.count, sizeof *repeat);
    if (!repeat)
        return MIRE_BIND_NO_MEMORY;
    for (size_t i = 0; i < hot.repeat.count; i++)
        repeat[i] = (uint32_t)hot.repeat.values[i];
    report->hang.hot = (struct report_hot){true, hot.node, hot.run, hot.repeat.count, repeat};
    return MIRE_BIND_OK;
}

/* The two below get the hang, but need the nodes: the hang lies inside its report. */
static struct report *report_of(void *hang)
{
    return (struct report *)(void *)((char *)hang - offsetof(struct report, hang));
}

static enum bind_outcome read_samples_of(struct bind *bind, void *out, uint32_t at)
{
    return read_samples(bind, report_of(out), at);
}

static enum bind_outcome read_hot_of(struct bind *bind, void *out, uint32_t at)
{
    return read_hot(bind, report_of(out), at);
}

enum bind_outcome mire_read_hang(struct bind *bind, void *out, uint32_t at)
{
    static const struct bind_field fields[] = {
        {REQUIRED(WHOLE(struct report_hang, begin_ns, MIRE_NAME_BEGIN_NS, MIRE_BIND_U64, 0, UINT64_MAX))},
        {FACT(struct report_hang, begin_wall_ms, MIRE_NAME_BEGIN_WALL_MS)},
        {REQUIRED(
            WHOLE(struct report_hang, duration_ms, MIRE_NAME_DURATION_MS, MIRE_BIND_U32, 0, MIRE_WIRE_DURATION_MAX))},
        {REQUIRED(WHOLE(struct report_hang, threshold_ms, MIRE_NAME_THRESHOLD_MS, MIRE_BIND_U32, 1,
                        MIRE_WIRE_THRESHOLD_MAX))},
        {REQUIRED(FLAG(struct report_hang, open, MIRE_NAME_OPEN))},
        {FLAG(struct report_hang, launch, MIRE_NAME_LAUNCH)},
        {OTHER(MIRE_NAME_FOREGROUND, read_foreground)},
        {WHOLE(struct report_hang, late_ms, MIRE_NAME_LATE_MS, MIRE_BIND_U64, 0, UINT64_MAX)},
        {OTHER(MIRE_NAME_GATE, read_gate)},
        {TEXT(struct report_hang, guess, MIRE_NAME_GUESS)},
        {OTHER(MIRE_NAME_THREAD, read_thread)},
        {REQUIRED(OTHER(MIRE_NAME_SAMPLES, read_samples_of))},
        {OTHER(MIRE_NAME_HOT, read_hot_of)},
    };
    struct report *report = out;
    return bind_object(bind, &report->hang, at, fields, COUNT(fields));
}
