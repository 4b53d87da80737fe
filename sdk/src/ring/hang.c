/* hang.c - see hang.h. Signal-safe: arithmetic only. */
#include "ring/hang.h"

uint64_t mire__hang_duration_ns(const struct hang *hang)
{
    uint64_t until_ns = hang->state == MIRE_HANG_ENDED ? hang->end_ns : hang->last_seen_ns;

    return until_ns > hang->begin_ns ? until_ns - hang->begin_ns : 0;
}

bool mire__hang_counts(const struct hang *hang)
{
    uint64_t duration_ns = mire__hang_duration_ns(hang);

    if (hang->state != MIRE_HANG_OPEN && hang->state != MIRE_HANG_ENDED)
        return false;
    if (hang->exited && hang->launch && hang->gate == MIRE_GATE_NONE)
        return false;
    return duration_ns >= hang->late_ns && duration_ns - hang->late_ns >= hang->threshold_ms * MIRE_NS_PER_MS;
}

enum mire__guess mire__hang_guess(const struct hang *hang)
{
    switch (hang->trigger) {
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
    default:
        break;
    }
    if (hang->state == MIRE_HANG_OPEN && hang->foreground != MIRE_GROUND_BACK)
        return MIRE_GUESS_BLOCKED_AND_KILLED;
    if (hang->process.thread_count > MIRE_MANY_THREADS)
        return MIRE_GUESS_BLOCKED_MANY_THREADS;
    if (hang->launch)
        return MIRE_GUESS_LAUNCH_BLOCK;
    return hang->foreground == MIRE_GROUND_BACK ? MIRE_GUESS_BACKGROUND_BLOCK : MIRE_GUESS_FOREGROUND_BLOCK;
}
