/* event.c - see event.h. Signal-safe: arithmetic only. */
#include "ring/event.h"

uint64_t mire__event_duration_ns(const struct event *event)
{
    uint64_t until_ns = event->state == MIRE_EVENT_ENDED ? event->end_ns : event->last_seen_ns;

    return until_ns > event->begin_ns ? until_ns - event->begin_ns : 0;
}

bool mire__event_counts(const struct event *event)
{
    uint64_t duration_ns = mire__event_duration_ns(event);

    if (event->state != MIRE_EVENT_OPEN && event->state != MIRE_EVENT_ENDED)
        return false;
    if (event->exited && event->launch && event->gate == MIRE_GATE_NONE)
        return false;
    return duration_ns >= event->late_ns && duration_ns - event->late_ns >= event->threshold_ms * MIRE_NS_PER_MS;
}

bool mire__event_may_be_idle(const struct event *event)
{
    return event->unsure_ns > 0 && event->unsure_ns >= mire__event_duration_ns(event) / 2;
}

enum mire__guess mire__event_guess(const struct event *event)
{
    switch (event->trigger) {
    case MIRE_TRIGGER_CPU:
        return MIRE_GUESS_CPU_HIGH;
    case MIRE_TRIGGER_POWER:
        return MIRE_GUESS_POWER;
    case MIRE_TRIGGER_DISK:
        return MIRE_GUESS_DISK_IO;
    case MIRE_TRIGGER_FRAMES:
        return MIRE_GUESS_FRAMES;
    case MIRE_TRIGGER_CALL:
        return MIRE_GUESS_CUSTOM;
    case MIRE_TRIGGER_TEST:
        return MIRE_GUESS_TEST;
    case MIRE_TRIGGER_CRASH:
        return MIRE_GUESS_CRASH;
    default:
        break;
    }
    if (event->state == MIRE_EVENT_OPEN && event->foreground != MIRE_GROUND_BACK)
        return MIRE_GUESS_BLOCKED_AND_KILLED;
    if (event->process.thread_count > MIRE_MANY_THREADS)
        return MIRE_GUESS_BLOCKED_MANY_THREADS;
    if (event->launch)
        return MIRE_GUESS_LAUNCH_BLOCK;
    return event->foreground == MIRE_GROUND_BACK ? MIRE_GUESS_BACKGROUND_BLOCK : MIRE_GUESS_FOREGROUND_BLOCK;
}
