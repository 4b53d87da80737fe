/* ramp.c - guards first, then time, then evidence. */
#include "rollout/ramp.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define Z          1.959963984540054
#define CPU_TIME   3600000.0 /* ms of sampled sessions before their CPU time is judged */
#define MS_TO_PART 10.0      /* us per ms, as a percentage */

const char *ramp_state_name(enum ramp_state state)
{
    static const char *const names[MIRE_RAMP_STATES] = {"running", "paused", "done", "stopped"};
    return names[state];
}

/* The number of plain ends that carry as much information as the weighted ones, and the number of bad ones. Two of each
 * are added, so that the difference of rare shares keeps its confidence (Agresti and Caffo, 2000). */
static void plain(double *n, double *p, const struct ramp_arm *arm)
{
    double worth = arm->ends_sq > 0 ? arm->ends * arm->ends / arm->ends_sq : 0;
    double bad = arm->ends > 0 ? worth * arm->bad / arm->ends : 0;

    *n = worth + 2;
    *p = (bad + 1) / *n;
}

double ramp_excess(const struct ramp_arm *sampled, const struct ramp_arm *control)
{
    double n, p, m, q;

    plain(&n, &p, sampled);
    plain(&m, &q, control);
    return 100 * (p - q - Z * sqrt(p * (1 - p) / n + q * (1 - q) / m));
}

/* Does a guard trip? `note` gets its name and numbers. */
static bool trips(char note[MIRE_RAMP_NOTE_BYTES], const struct ramp_guards *guards, const struct ramp_seen *seen)
{
    const struct ramp_arm *arm = &seen->sampled;
    double cpu = arm->time_ms >= CPU_TIME ? arm->sdk_cpu_us / MS_TO_PART / arm->time_ms : 0;
    double excess = ramp_excess(arm, &seen->control);

    if (guards->crash_points > 0 && excess > guards->crash_points)
        snprintf(note, MIRE_RAMP_NOTE_BYTES, "runs with the plugin end badly more often: by %.2f points or more",
                 excess);
    else if (guards->cpu_percent > 0 && cpu > guards->cpu_percent)
        snprintf(note, MIRE_RAMP_NOTE_BYTES, "the library takes %.2f %% of a processor", cpu);
    else if (guards->reports_per_hour > 0 && seen->reports_last_hour > guards->reports_per_hour)
        snprintf(note, MIRE_RAMP_NOTE_BYTES, "%.0f reports in the last hour", seen->reports_last_hour);
    else
        return false;
    return true;
}

enum ramp_move ramp_decide(char note[MIRE_RAMP_NOTE_BYTES], const struct ramp *ramp, const struct ramp_seen *seen)
{
    int64_t left_s = ramp->step_since_s + ramp->hold_s - seen->now_s;
    int64_t fewer = seen->sampled.records < seen->control.records ? seen->sampled.records : seen->control.records;

    note[0] = '\0';
    if (seen->ppm != ramp->steps[ramp->step]) {
        snprintf(note, MIRE_RAMP_NOTE_BYTES, "the share is no longer this step's: somebody has changed it");
        return MIRE_RAMP_PAUSE;
    }
    if (trips(note, &ramp->guards, seen))
        return ramp->backs ? MIRE_RAMP_BACK : MIRE_RAMP_PAUSE;
    if (left_s > 0) {
        snprintf(note, MIRE_RAMP_NOTE_BYTES, "holds for %" PRId64 " more minutes", (left_s + 59) / 60);
        return MIRE_RAMP_STAYS;
    }
    if (ramp->guards.crash_points > 0 && fewer < MIRE_RAMP_LEAST_RECORDS && ramp->steps[ramp->step] < 1000000) {
        snprintf(note, MIRE_RAMP_NOTE_BYTES,
                 "waits for sessions: %" PRId64 " with the plugin, %" PRId64 " without, of %d", seen->sampled.records,
                 seen->control.records, MIRE_RAMP_LEAST_RECORDS);
        return MIRE_RAMP_STAYS;
    }
    return ramp->step + 1 < ramp->step_count ? MIRE_RAMP_NEXT : MIRE_RAMP_ENDS;
}
