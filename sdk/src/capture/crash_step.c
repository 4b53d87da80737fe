/* crash_step.c - the check thread's half of crash.h. */
#include "capture/crash.h"

#include "capture/process_lane.h"
#include "gate/gate.h"

#include <string.h>

#define SURVIVED_NS (60 * MIRE_NS_PER_S) /* a process that goes on for so long has not crashed */

/* The crashed thread first, then the watched ones: the main thread may have waited for it. */
static void take_all(struct check *check, struct record *record, const struct crash_request *request)
{
    struct ring *ring = &check->box->lanes[record->lane].ring;
    const struct crash_said *said = mire__crash_said();
    struct gate_view view;

    if (said && said->depth > 0)
        mire__sampler_take_callers(mire__ring_reserve(ring), check->sampler, said->callers, said->depth, check->box);
    else
        mire__sampler_take_given(mire__ring_reserve(ring), check->sampler, request->tid, &request->regs, check->box);
    mire__record_put(check, record, MIRE_NS_PER_MS);
    for (uint32_t lane = 0; lane < MIRE_WATCHED_MAX; lane++) {
        if (!mire__gate_look(&view, lane) || view.tid == request->tid)
            continue;
        mire__record_take(check, record, view.tid);
        mire__record_put(check, record, 0);
    }
}

static void take(struct check *check, struct process_record *of, const struct crash_request *request)
{
    struct event event = {.begin_ns = mire__now_ns(), .trigger = MIRE_TRIGGER_CRASH, .tid = request->tid};
    const struct crash_said *said = mire__crash_said();

    mire__text_copy(event.name, sizeof(event.name), said ? said->name : mire__crash_as_name(request->signal));
    mire__thread_name(event.thread_name, request->tid);
    if (!mire__process_open(check, of, &event))
        return;
    take_all(check, &of->record, request);
    of->record.event.last_seen_ns = of->record.event.begin_ns;
    mire__blackbox_set_event(check->box, of->record.lane, &of->record.event);
}

void mire__crash_step(struct check *check, struct process_record *of)
{
    const struct crash_request *request = mire__crash_begin();
    bool has = mire__process_has(of, MIRE_TRIGGER_CRASH);

    if (request) {
        take(check, of, request);
        mire__crash_end();
    } else if (mire__crash_is_forgotten() || (has && check->now_ns - of->record.event.begin_ns > SURVIVED_NS)) {
        mire__process_forget(check, of, MIRE_TRIGGER_CRASH);
        mire__crash_outlived();
    }
}

void mire__crash_start(struct check *check)
{
    mire__crash_as_reach(check->wake, check->tid);
}

void mire__crash_stop(void)
{
    mire__crash_as_reach(NULL, 0);
}
