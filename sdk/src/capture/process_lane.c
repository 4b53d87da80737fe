/* process_lane.c - see process_lane.h. */
#include "capture/process_lane.h"

/* A trigger of higher weight takes the lane. Hangs have lanes of their own. */
static const uint8_t weight[MIRE_TRIGGERS] = {
    [MIRE_TRIGGER_POWER] = 1, [MIRE_TRIGGER_CPU] = 2,  [MIRE_TRIGGER_DISK] = 3,  [MIRE_TRIGGER_FRAMES] = 4,
    [MIRE_TRIGGER_CALL] = 5,  [MIRE_TRIGGER_TEST] = 5, [MIRE_TRIGGER_CRASH] = 6,
};

bool mire__process_has(const struct process_record *of, enum mire__trigger trigger)
{
    return of->record.event.state == MIRE_EVENT_OPEN && of->record.event.trigger == (uint32_t)trigger;
}

bool mire__process_open(struct check *check, struct process_record *of, const struct event *event)
{
    struct event whole = *event;

    if (of->record.event.state == MIRE_EVENT_OPEN) {
        if (weight[of->record.event.trigger] >= weight[event->trigger])
            return false;
        mire__record_forget(check, &of->record);
    }
    whole.foreground = (uint8_t)check->foreground;
    of->record.lane = MIRE_LANE_PROCESS;
    mire__record_open(check, &of->record, &whole);
    return true;
}

void mire__process_forget(struct check *check, struct process_record *of, enum mire__trigger trigger)
{
    if (mire__process_has(of, trigger))
        mire__record_forget(check, &of->record);
}

uint64_t mire__process_period_ns(const struct check *check, const struct process_record *of, uint32_t times)
{
    return mire__record_period_ns(check, &of->record) * times;
}
