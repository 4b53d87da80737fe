/*
 * trace.c - the system's trace of an ended run: it goes with the report of the hang or crash that ended the run. If the
 * library saw neither, an event without samples is made for it, whose stacks are those of the trace.
 */
#include "report/recovery.h"

#include "base/alloc.h"
#include "platform/platform.h"
#include "report/trace_keep.h"
#include "wire/limits.h"

#include <stdio.h>
#include <string.h>

#define ANR_MS    5000u                /* the shortest hang that Android ends an app for */
#define BEFORE_NS (30 * MIRE_NS_PER_S) /* the system waits for some seconds, and takes some to write its trace */

static bool is_crash(const struct exit_end *end)
{
    return end->verdict.verdict == MIRE_EXIT_CRASH || end->verdict.verdict == MIRE_EXIT_ABORT;
}

/* The lane whose open event ended with the run; MIRE_LANES: none. */
static uint32_t find_lane(const struct blackbox *box, bool crash)
{
    for (uint32_t lane = 0; lane < MIRE_LANES; lane++) {
        struct event event;

        mire__blackbox_event(&event, box, lane);
        if (event.state == MIRE_EVENT_OPEN && mire__event_counts(&event) &&
            (crash ? event.trigger == MIRE_TRIGGER_CRASH
                   : event.trigger == MIRE_TRIGGER_BUSY || event.trigger == MIRE_TRIGGER_UNANSWERED))
            return lane;
    }
    return MIRE_LANES;
}

/* A lane without an event, that of the main thread if it has none; MIRE_LANES: all have one. */
static uint32_t find_free_lane(const struct blackbox *box)
{
    for (uint32_t lane = 0; lane < MIRE_LANE_PROCESS; lane++) {
        struct event event;

        mire__blackbox_event(&event, box, lane);
        if (event.state == MIRE_EVENT_NONE)
            return lane;
    }
    return MIRE_LANES;
}

/* The event of a lane, or the one that it replaced, whose copy is still there. */
static bool ended_before(struct event *out, const struct blackbox *box, uint32_t lane, uint32_t which, uint64_t seen_ns)
{
    const struct lane *from = &box->lanes[lane];

    *out = from->events[(atomic_load(&from->event_active) + which) & 1];
    out->message[sizeof(out->message) - 1] = '\0';
    return out->state == MIRE_EVENT_ENDED && out->trigger == MIRE_TRIGGER_BUSY && mire__event_counts(out) &&
           out->end_ns <= seen_ns && seen_ns - out->end_ns <= BEFORE_NS;
}

/*
 * The system may look late: the main thread is idle again, and the slow message is over. A sentence about the last hang
 * of the main thread before the end; "" if it is too long ago, or the box no longer has it.
 */
static void note_hang_before(char out[MIRE_TRACE_NOTE_BYTES], const struct blackbox *box, uint64_t seen_ns)
{
    struct event event;

    if (mire__blackbox_is_unreserved(box, 0) ||
        (!ended_before(&event, box, 0, 0, seen_ns) && !ended_before(&event, box, 0, 1, seen_ns)))
        return;
    snprintf(out, MIRE_TRACE_NOTE_BYTES, "the slow message before: %s%s%u ms, over %u ms before the last sign of life",
             event.message, event.message[0] ? ", " : "", (unsigned)(mire__event_duration_ns(&event) / MIRE_NS_PER_MS),
             (unsigned)((seen_ns - event.end_ns) / MIRE_NS_PER_MS));
}

static unsigned digit(char hex)
{
    return hex <= '9' ? (unsigned)(hex - '0') : (unsigned)(hex - 'a' + 10);
}

/* A UUIDv7 of that instant that is the same for every attempt: its other bits are those of the run's name. */
static void make_id(uint8_t id[16], const char *run, uint64_t wall_ms)
{
    for (int i = 0; i < 16; i++)
        id[i] = (uint8_t)(digit(run[2 * i]) << 4 | digit(run[2 * i + 1]));
    for (int i = 0; i < 6; i++)
        id[i] = (uint8_t)(wall_ms >> (40 - 8 * i));
    id[6] = (uint8_t)(0x70 | (id[6] & 0x0f));
    id[8] = (uint8_t)(0x80 | (id[8] & 0x3f));
}

/* Make the event of a hang or crash that only the system saw, from the last sign of life on. The box is a private
 * copy. */
static uint32_t make_event(struct blackbox *box, const char *run, const struct exit_end *end)
{
    uint32_t lane = find_free_lane(box), length_ms = is_crash(end) ? 0 : ANR_MS;
    struct event event = {.state = MIRE_EVENT_OPEN,
                          .trigger = is_crash(end) ? MIRE_TRIGGER_CRASH : MIRE_TRIGGER_BUSY,
                          .threshold_ms = length_ms,
                          .foreground = (uint8_t)end->ground};

    if (lane == MIRE_LANES || atomic_load(&box->facts.sampling_ppm[MIRE_PLUGIN_HANG]) == 0)
        return MIRE_LANES;
    event.begin_ns = atomic_load(&box->session.seen_ns);
    if (event.begin_ns < box->facts.start_mono_ns)
        event.begin_ns = box->facts.start_mono_ns;
    event.last_seen_ns = event.begin_ns + length_ms * MIRE_NS_PER_MS;
    make_id(event.id, run, end->seen_wall_ms);
    memset(&box->lanes[lane], 0, sizeof(box->lanes[lane]));
    mire__blackbox_has(box, lane);
    mire__blackbox_set_event(box, lane, &event);
    return lane;
}

static bool may_have_trace(const struct report_finder *finder, const char *run)
{
    for (size_t i = 0; finder->read_trace && i < finder->witness_count; i++)
        if (strcmp(finder->witnesses[i].run, run) == 0)
            return finder->witnesses[i].end == MIRE_END_HANG || finder->witnesses[i].end == MIRE_END_CRASH ||
                   finder->witnesses[i].end == MIRE_END_SIGNAL;
    return false;
}

void mire__recovery_take_trace(struct recovery *recovery, struct blackbox *box, const char *run,
                               const struct exit_end *end)
{
    const struct report_finder *finder = recovery->finder;
    struct report_trace *trace = &recovery->trace;
    void *bytes = may_have_trace(finder, run) ? mire__malloc(MIRE_WIRE_TRACE_MAX) : NULL;

    *trace = (struct report_trace){.bytes = bytes, .lane = MIRE_LANES};
    if (!bytes)
        return;
    trace->size = finder->read_trace(finder->trace_context, run, bytes, MIRE_WIRE_TRACE_MAX);
    trace->size = mire__trace_keep(bytes, trace->size < MIRE_WIRE_TRACE_MAX ? trace->size : MIRE_WIRE_TRACE_MAX);
    if (trace->size == 0)
        return;
    trace->lane = find_lane(box, is_crash(end));
    if (trace->lane != MIRE_LANES)
        return;
    if (!is_crash(end))
        note_hang_before(trace->note, box, atomic_load(&box->session.seen_ns));
    trace->lane = make_event(box, run, end);
}

void mire__recovery_leave_trace(struct recovery *recovery)
{
    mire__free((void *)(uintptr_t)recovery->trace.bytes);
    memset(&recovery->trace, 0, sizeof(recovery->trace));
}
