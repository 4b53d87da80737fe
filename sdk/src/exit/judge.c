/*
 * judge.c - finds the facts of a run and the signs that are present, group by group.
 */
#include "exit/judge.h"

#include "ring/event.h"

#include <signal.h>
#include <string.h>

#define BIT(sign) MIRE_SIGN_BIT(sign)

/* The input of all groups. */
struct scene {
    const struct evidence *evidence;
    const struct exit_after *after;
    const struct trail_row *last; /* NULL: no look has been stored */
    const struct trail_row *rows;
    uint32_t count;
    uint64_t seen_ns; /* last time at which the process was certainly alive */
};

static uint64_t later(uint64_t one, uint64_t other)
{
    return one > other ? one : other;
}

static void set(struct scene *scene, const struct evidence *evidence, uint32_t rows, const struct exit_after *after)
{
    uint64_t seen_ns = evidence->start.boot_ns;

    *scene = (struct scene){.evidence = evidence, .after = after, .rows = evidence->trail, .count = rows};
    if (rows > 0) {
        scene->last = &evidence->trail[rows - 1];
        seen_ns = later(seen_ns, atomic_load(&scene->last->boot_ns));
    }
    seen_ns = later(seen_ns, (atomic_load(&evidence->ground) >> 2) * 1000);
    seen_ns = later(seen_ns, atomic_load(&evidence->stopped_ns));
    scene->seen_ns = later(seen_ns, atomic_load(&evidence->left_ns));
}

static uint64_t signs_of_own_will(const struct scene *scene)
{
    static const uint64_t of_left[] = {
        [MIRE_LEFT_NOT] = 0,
        [MIRE_LEFT_EXIT] = BIT(EXITED),
        [MIRE_LEFT_EXEC] = BIT(EXECUTED),
        [MIRE_LEFT_ABORT] = BIT(ABORT_CALLED),
    };
    const struct evidence *evidence = scene->evidence;
    uint64_t signs = of_left[atomic_load(&evidence->left)];

    if (atomic_load(&evidence->stopped_ns) != 0)
        signs |= BIT(STOPPED);
    if (scene->after->runs)
        signs |= BIT(EXECUTED);
    if (atomic_load(&evidence->quit) != MIRE_QUIT_NOT)
        signs |= BIT(QUIT_ANNOUNCED);
    if (atomic_load(&evidence->quit_signal) != 0)
        signs |= BIT(QUIT_SIGNAL);
    return signs;
}

static uint64_t signs_of_crash(const struct scene *scene)
{
    const struct evidence_crash *crash = &scene->evidence->crash;
    uint32_t signal = atomic_load(&crash->signal);
    uint64_t signs = scene->last && scene->last->foreign ? BIT(HANDLERS_REPLACED) : 0;

    if (signal == 0)
        return signs | (scene->after->crash_file ? BIT(CRASHED) : 0);
    if (scene->seen_ns > crash->boot_ns && scene->seen_ns - crash->boot_ns >= MIRE_SURVIVED_NS)
        return signs | BIT(CRASH_SURVIVED);
    if (signal != SIGABRT)
        return signs | BIT(CRASHED);
    return signs | (crash->sender == scene->evidence->start.pid ? BIT(ABORTED) : BIT(ABORT_SENT));
}

static uint64_t sign_of_signal(uint32_t signal)
{
    switch (signal) {
    case SIGKILL:
        return BIT(PARENT_SAW_KILL);
    case SIGABRT:
        return BIT(PARENT_SAW_ABORT);
    case SIGTERM:
    case SIGINT:
    case SIGHUP:
    case SIGQUIT:
        return BIT(PARENT_SAW_QUIT);
    case SIGSEGV:
    case SIGBUS:
    case SIGILL:
    case SIGFPE:
    case SIGTRAP:
    case SIGSYS:
        return BIT(PARENT_SAW_CRASH);
    default:
        return BIT(PARENT_SAW_SIGNAL);
    }
}

static uint64_t signs_of_parent(const struct scene *scene)
{
    if (scene->after->parent == MIRE_PARENT_EXITED)
        return BIT(PARENT_SAW_EXIT);
    return scene->after->parent == MIRE_PARENT_SIGNALED ? sign_of_signal(scene->after->parent_status) : 0;
}

/* A wait status that the system kept is as good as one that a parent received. */
static uint64_t signs_of_system(const struct scene *scene)
{
    switch (scene->after->system_end) {
    case MIRE_END_EXIT:
        return BIT(PARENT_SAW_EXIT);
    case MIRE_END_SIGNAL:
        return sign_of_signal(scene->after->system_status);
    case MIRE_END_CRASH:
        return BIT(SYSTEM_SAW_CRASH);
    case MIRE_END_HANG:
        return BIT(SYSTEM_SAW_HANG);
    case MIRE_END_LOW_MEMORY:
        return BIT(SYSTEM_SAW_LOW_MEMORY);
    case MIRE_END_MEMORY_LIMIT:
        return BIT(SYSTEM_SAW_LIMIT);
    case MIRE_END_USER:
        return BIT(SYSTEM_SAW_USER);
    case MIRE_END_UPGRADE:
        return BIT(SYSTEM_SAW_UPGRADE);
    case MIRE_END_SYSTEM:
        return BIT(SYSTEM_SAW_KILL);
    case MIRE_END_UNKNOWN:
    default:
        return 0;
    }
}

static bool differ(const char *one, const char *other)
{
    return one && other && one[0] && other[0] && strcmp(one, other) != 0;
}

static uint64_t signs_of_change(const struct scene *scene)
{
    const struct evidence_start *start = &scene->evidence->start;
    const struct exit_after *after = scene->after;
    bool same_program = after->process_name && strcmp(after->process_name, start->process_name) == 0;
    bool changed = after->next_start && (differ(start->app_version, after->app_version) ||
                                         (same_program && differ(start->app_build, after->app_build)));
    uint64_t signs = changed ? BIT(APP_CHANGED) : BIT(APP_SAME);

    if (differ(start->os_version, after->os_version) || differ(start->os_build, after->os_build))
        signs |= BIT(OS_CHANGED);
    if (start->boot_id[0] && after->boot_id && after->boot_id[0])
        signs |= differ(start->boot_id, after->boot_id) ? BIT(BOOT_CHANGED) : BIT(BOOT_SAME);
    return signs;
}

/* Time in the foreground, or in the background, before the end. */
static uint64_t ground_ns(const struct scene *scene)
{
    uint64_t since_ns = (atomic_load(&scene->evidence->ground) >> 2) * 1000;
    uint64_t end_ns = scene->after->parent != MIRE_PARENT_NONE ? scene->after->now_boot_ns : scene->seen_ns;

    return end_ns > since_ns ? end_ns - since_ns : 0;
}

static uint64_t signs_of_state(const struct scene *scene)
{
    const struct exit_after *after = scene->after;
    uint32_t ground = atomic_load(&scene->evidence->ground) & 3;
    uint64_t signs;

    if (ground == MIRE_GROUND_BACK)
        signs = BIT(BACKGROUND);
    else if (ground == MIRE_GROUND_UNKNOWN)
        signs = BIT(GROUND_UNKNOWN);
    else
        signs = ground_ns(scene) < MIRE_JUST_NS ? BIT(JUST_FOREGROUND) : BIT(FOREGROUND);
    if (after->box_read)
        signs |= after->stuck ? BIT(STUCK) : BIT(NOT_STUCK);
    if (scene->last && scene->last->debugger)
        signs |= BIT(DEBUGGER);
    return signs;
}

/* OOM kills since the last look; earlier ones did not end this run. -1: unknown. */
static int64_t rise(uint64_t before, bool before_known, uint64_t after, bool after_known)
{
    return before_known && after_known && after >= before ? (int64_t)(after - before) : -1;
}

static uint64_t signs_of_oom(const struct scene *scene)
{
    const struct oom_counts *before = scene->last ? &scene->last->oom : &scene->evidence->start.oom;
    const struct oom_counts *after = &scene->after->oom;
    int64_t cgroup = rise(before->cgroup, before->cgroup_known, after->cgroup, after->cgroup_known);
    int64_t system = rise(before->system, before->system_known, after->system, after->system_known);

    if (differ(scene->evidence->start.boot_id, scene->after->boot_id))
        return 0;
    if (cgroup > 0)
        return BIT(OOM_COUNTED);
    if (cgroup == 0 || system == 0)
        return BIT(OOM_NOT_COUNTED);
    return system > 0 ? BIT(OOM_COUNTED_ELSEWHERE) : 0;
}

/* The largest known footprint at the end. The parent knows the peak, but not its time. */
static uint64_t held_bytes(const struct scene *scene)
{
    uint64_t peak = scene->after->parent_peak_bytes;
    uint64_t seen_peak = atomic_load(&scene->evidence->footprint_peak_bytes);
    uint64_t held = later(scene->last->used_bytes, scene->last->footprint_bytes);

    return peak > seen_peak + seen_peak / 8 ? later(held, peak) : held;
}

static bool grew(const struct scene *scene)
{
    uint64_t now_ns = scene->last->boot_ns;

    for (uint32_t i = 0; i < scene->count; i++) {
        if (now_ns - scene->rows[i].boot_ns <= MIRE_GREW_WITHIN_NS)
            return scene->last->footprint_bytes / 5 > scene->rows[i].footprint_bytes / 4;
    }
    return false;
}

static uint64_t signs_of_memory(const struct scene *scene)
{
    uint64_t signs = signs_of_oom(scene), held, limit;
    uint32_t near_percent;

    if (!scene->last)
        return signs;
    if (scene->last->pressure_ppm >= 100000)
        signs |= BIT(PRESSURE);
    if (grew(scene))
        signs |= BIT(GREW);
    limit = scene->last->limit_bytes;
    if (scene->last->limit == MIRE_LIMIT_NONE || limit == 0)
        return signs;
    held = held_bytes(scene);
    /* Programs never use all memory of a machine, but may use all of a cgroup. */
    near_percent = scene->last->limit == MIRE_LIMIT_MACHINE ? 94 : 85;
    if (held / near_percent >= limit / 100)
        return signs | BIT(NEAR_LIMIT);
    return held < limit / 2 ? signs | BIT(FAR_FROM_LIMIT) : signs;
}

static uint64_t signs_of_time(const struct scene *scene)
{
    uint64_t now_ns = scene->after->now_boot_ns;

    if (scene->after->parent != MIRE_PARENT_NONE || differ(scene->evidence->start.boot_id, scene->after->boot_id))
        return 0;
    return now_ns > scene->seen_ns && now_ns - scene->seen_ns >= MIRE_FOUND_LATE_NS ? BIT(FOUND_LATE) : 0;
}

uint64_t mire__exit_signs(const struct evidence *evidence, uint32_t rows, const struct exit_after *after)
{
    struct scene scene;

    set(&scene, evidence, rows, after);
    return signs_of_own_will(&scene) | signs_of_crash(&scene) | signs_of_parent(&scene) | signs_of_system(&scene) |
           signs_of_change(&scene) | signs_of_state(&scene) | signs_of_memory(&scene) | signs_of_time(&scene);
}

static uint32_t signal_of(const struct evidence *evidence, const struct exit_after *after)
{
    uint32_t crash = atomic_load(&evidence->crash.signal);

    if (after->parent == MIRE_PARENT_SIGNALED)
        return after->parent_status;
    if (after->system_end == MIRE_END_SIGNAL)
        return after->system_status;
    return crash != 0 ? crash : atomic_load(&evidence->quit_signal);
}

static void take_memory(struct exit_end *out, const struct scene *scene)
{
    const struct trail_row *last = scene->last;
    const struct oom_counts *before = &scene->evidence->start.oom, *after = &scene->after->oom;
    int64_t kills = rise(before->cgroup, before->cgroup_known, after->cgroup, after->cgroup_known);

    out->looked_peak_bytes = atomic_load(&scene->evidence->footprint_peak_bytes);
    out->parent_peak_bytes = scene->after->parent_peak_bytes;
    out->file_bytes = atomic_load(&scene->evidence->file_bytes);
    out->footprint_peak_bytes =
        later(out->looked_peak_bytes,
              out->parent_peak_bytes > out->file_bytes ? out->parent_peak_bytes - out->file_bytes : 0);
    out->oom_known = kills >= 0 && !differ(scene->evidence->start.boot_id, scene->after->boot_id);
    out->oom_kills = out->oom_known ? (uint32_t)kills : 0;
    out->trail_rows = scene->count;
    memcpy(out->trail, scene->rows, sizeof(out->trail));
    if (!last)
        return;
    out->footprint_bytes = last->footprint_bytes;
    out->used_bytes = last->used_bytes;
    out->limit_bytes = last->limit_bytes;
    out->available_bytes = last->available_bytes;
    out->pressure_ppm = last->pressure_ppm <= 1000000 ? last->pressure_ppm : 1000000;
    out->thread_count = last->thread_count;
    out->fd_count = last->fd_count;
    out->debugger = last->debugger != 0;
}

void mire__exit_judge(struct exit_end *out, const struct evidence *evidence, uint32_t rows,
                      const struct exit_after *after)
{
    const struct evidence_start *start = &evidence->start;
    struct scene scene;

    memset(out, 0, sizeof(*out));
    set(&scene, evidence, rows, after);
    mire__verdict_find(&out->verdict, mire__exit_signs(evidence, rows, after));
    out->signal = signal_of(evidence, after);
    if (atomic_load(&evidence->crash.signal) != 0) {
        out->signal_code = evidence->crash.code;
        out->crash_address = evidence->crash.address;
        out->crash_depth = atomic_load(&evidence->crash.depth);
    }
    out->ground = atomic_load(&evidence->ground) & 3;
    out->ground_ms = ground_ns(&scene) / MIRE_NS_PER_MS;
    out->stuck = after->stuck;
    out->stuck_ms = after->stuck_ms;
    out->start_wall_ms = start->wall_ms;
    out->seen_wall_ms = start->wall_ms + (scene.seen_ns - start->boot_ns) / MIRE_NS_PER_MS;
    take_memory(out, &scene);
}
