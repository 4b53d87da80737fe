/*
 * runs.c - makes the reports of ended runs, in one order for each:
 *
 *     evidence -> verdict -> remembered -> hangs sealed with it -> memory tables reported, kept -> evidence deleted
 *
 * After a kill in between, the next process begins again: the ids are the same, and the verdict is stored once.
 */
#include "report/recovery.h"

#include "platform/platform.h"
#include "report/memory.h"
#include "report/session.h"
#include "store/ends.h"
#include "store/outbox.h"
#include "store/tables.h"

#include <string.h>

/* One run. */
struct run_ending {
    struct recovery *recovery;
    const struct store_run *run;
    struct evidence evidence;
    uint32_t rows;
    bool judged; /* `end` holds, and is remembered */
    struct exit_end end;
};

static bool is_ended(const struct report_ended *ended, const struct evidence_start *start)
{
    return ended && ended->pid == start->pid && ended->start_ticks == start->start_ticks;
}

static void look_at_parent(struct exit_after *after, const struct report_ended *ended,
                           const struct evidence_start *start)
{
    if (!is_ended(ended, start))
        return;
    after->parent = ended->killed ? MIRE_PARENT_SIGNALED : MIRE_PARENT_EXITED;
    after->parent_status = ended->status;
    after->parent_peak_bytes = ended->peak_bytes;
}

static void look_at_next(struct exit_after *after, const struct evidence_start *next)
{
    if (!next)
        return;
    after->next_start = true;
    after->app_version = next->app_version;
    after->app_build = next->app_build;
    after->process_name = next->process_name;
    after->os_version = next->os_version;
    after->os_build = next->os_build;
}

static void look_at_witnesses(struct exit_after *after, const struct report_finder *finder, const char *run)
{
    for (size_t i = 0; i < finder->witness_count; i++) {
        if (strcmp(finder->witnesses[i].run, run) != 0)
            continue;
        after->system_end = finder->witnesses[i].end;
        after->system_status = finder->witnesses[i].status;
    }
}

/* A hang that was open when the process was killed. */
static void look_for_hang(struct exit_after *after, const struct blackbox *box)
{
    after->box_read = true;
    for (uint32_t lane = 0; lane < MIRE_LANE_PROCESS; lane++) {
        struct event event;
        uint64_t ms;

        mire__blackbox_event(&event, box, lane);
        if (event.state != MIRE_EVENT_OPEN || !mire__event_counts(&event) || mire__event_may_be_idle(&event) ||
            event.last_seen_ns < event.begin_ns)
            continue;
        ms = (event.last_seen_ns - event.begin_ns) / MIRE_NS_PER_MS;
        after->stuck = true;
        after->stuck_ms = ms > after->stuck_ms ? ms : after->stuck_ms;
    }
}

/* box: NULL if there is none that can be read. False: the verdict could not be remembered. */
static bool judge(struct run_ending *ending, const struct blackbox *box)
{
    const struct report_finder *finder = ending->recovery->finder;
    const struct evidence_start *start = &ending->evidence.start;
    struct exit_after after = {.crash_file = ending->run->crash_file, .now_boot_ns = mire__boot_now_ns()};
    struct store_end kept = {.confidence_ppm = 0};
    bool this_boot;

    this_boot = strncmp(ending->recovery->boot_id, start->boot_id, 36) == 0;
    after.boot_id = ending->recovery->boot_id;
    after.runs = this_boot && mire__process_runs(start->pid, start->start_ticks);
    look_at_parent(&after, finder->ended, start);
    look_at_next(&after, finder->next);
    look_at_witnesses(&after, finder, ending->run->name);
    if (box)
        look_for_hang(&after, box);
    if (this_boot)
        mire__oom_counts(&after.oom, &start->cgroup);
    mire__exit_judge(&ending->end, &ending->evidence, ending->rows, &after);

    kept.confidence_ppm = ending->end.verdict.confidence_ppm;
    kept.start_wall_ms = ending->end.start_wall_ms;
    kept.seen_wall_ms = ending->end.seen_wall_ms;
    kept.pid = start->pid;
    mire__text_copy(kept.run, sizeof(kept.run), ending->run->name);
    mire__text_copy(kept.verdict, sizeof(kept.verdict), mire__verdict_name(ending->end.verdict.verdict));
    mire__text_copy(kept.process, sizeof(kept.process), start->process_name[0] ? start->process_name : "?");
    if (ending->evidence.session[0]) { /* told by its session */
        kept.reported = true;
        mire__session_note_end(ending->recovery->store, ending->evidence.session, &kept, start->pid,
                               start->start_ticks);
    }
    ending->judged = mire__store_end_add(ending->recovery->store, &kept) == MIRE_OK;
    return ending->judged;
}

/* The memory tables, if the run has any. box as above. False: they are wanted, for another try. */
static bool take_tables(const struct run_ending *ending, const struct blackbox *box)
{
    struct recovery *recovery = ending->recovery;
    bool sealed;
    enum mire_err err = mire__report_memory_of_run(&sealed, recovery->store, ending->run->name, box, &ending->end,
                                                   recovery->finder->now_ms);

    recovery->sealed += sealed;
    return err == MIRE_OK;
}

static bool take_box(void *context, void *memory, size_t size, uint64_t written_ms)
{
    struct run_ending *ending = context;
    struct blackbox *box = memory;
    bool sealed;

    if (mire__blackbox_check(box, size) != MIRE_OK) {
        mire__store_count_drop(ending->recovery->store, MIRE_DROP_BROKEN);
        return true;
    }
    mire__recovery_end_box(ending->recovery, box);
    mire__recovery_see_unkept(ending->recovery, box);
    if (!judge(ending, box))
        return false;
    mire__recovery_take_trace(ending->recovery, box, ending->run->name, &ending->end);
    sealed = mire__recovery_seal_box(ending->recovery, box, &ending->end, written_ms);
    mire__recovery_leave_trace(ending->recovery);
    if (!sealed || !take_tables(ending, box))
        return false;
    mire__recovery_take_counts(ending->recovery, box);
    return true;
}

static bool take_run(void *context, const struct store_run *run)
{
    struct run_ending ending = {.recovery = context, .run = run};
    struct store *store = ending.recovery->store;

    if (!mire__recovery_next(ending.recovery))
        return false;
    if (mire__evidence_read(&ending.evidence, &ending.rows, run->evidence, run->size) != MIRE_OK) {
        mire__store_count_drop(store, MIRE_DROP_BROKEN);
        mire__store_tables_drop(store, run->name);
        return true; /* its blackbox is found by itself */
    }
    if (!mire__store_run_box(store, run->name, take_box, &ending))
        return false;
    return ending.judged || (judge(&ending, NULL) && take_tables(&ending, NULL));
}

size_t mire__report_recover(struct store *store, const struct report_finder *finder)
{
    struct recovery recovery = {.store = store, .finder = finder};

    if (mire__file_read(recovery.boot_id, sizeof(recovery.boot_id), "/proc/sys/kernel/random/boot_id") < 36)
        recovery.boot_id[0] = '\0';
    recovery.boot_id[36] = '\0';
    mire__outbox_take_all(store, finder->now_ms);
    mire__store_runs_recover(store, take_run, &recovery);
    mire__store_recover(store, mire__recovery_take_box, &recovery);
    mire__store_runs_enforce(store, finder->now_ms);
    mire__store_keep_orphans(store, MIRE_MEMORY_RUNS, MIRE_MEMORY_KEPT_BYTES);
    if (finder->settles)
        mire__sessions_recover(store, finder->session, finder->now_ms);
    mire__store_tables_sweep();
    return recovery.sealed;
}
