/*
 * seal.c - reports into the store: of the live blackbox, and of dead ones.
 *
 * A process may be killed between sealing a report and clearing its hang. Then the hang is sealed once more by whoever
 * recovers the box, under the same id: in the store it replaces the first, at the server it is a repeat.
 */
#include "report/recovery.h"

#include "platform/platform.h"
#include "report/session.h"

#include <string.h>

#define DAY_MS (24ull * 3600 * 1000) /* a clock that jumped makes no long session */

/* Turns that no report tells yet. */
static void untold_micro(uint64_t out[MIRE_MICRO_BUCKETS], const struct micro *micro)
{
    for (int i = 0; i < MIRE_MICRO_BUCKETS; i++) {
        uint64_t count = atomic_load(&micro->count[i]), told = atomic_load(&micro->told[i]);
        out[i] = count > told ? count - told : 0;
    }
}

/* Not by its own will, nor by its user's. */
static bool is_death(enum mire__end verdict)
{
    return verdict == MIRE_EXIT_FOOM || verdict == MIRE_EXIT_WATCHDOG_KILL || verdict == MIRE_EXIT_CRASH ||
           verdict == MIRE_EXIT_ABORT;
}

static enum store_value value_of(const struct blackbox *box, uint32_t lane, const struct exit_end *end)
{
    struct hang hang;

    mire__blackbox_hang(&hang, box, lane);
    if (end && (hang.state == MIRE_HANG_OPEN || is_death(end->verdict.verdict)))
        return MIRE_VALUE_DEATH;
    return hang.trigger == MIRE_TRIGGER_BUSY || hang.trigger == MIRE_TRIGGER_UNANSWERED ? MIRE_VALUE_HANG
                                                                                        : MIRE_VALUE_CAPTURE;
}

/* told.drops: what it tells, all zeros for nothing. */
static enum mire_err build_and_put(struct store *store, struct blackbox *box, uint32_t lane,
                                   const struct report_told *told, uint64_t now_ms)
{
    struct report report;
    enum mire_err err = mire__report_build(&report, box, lane, told);

    if (err != MIRE_OK) {
        if (err != MIRE_E_MEMORY)
            mire__store_count_drop(store, err == MIRE_E_FULL ? MIRE_DROP_BIG : MIRE_DROP_BROKEN);
        return err;
    }
    const struct store_report sealed = {.id = report.id,
                                        .body = report.body,
                                        .size = report.size,
                                        .value = value_of(box, lane, told->end),
                                        .told = told->drops};
    err = mire__store_put(store, &sealed, now_ms);
    mire__report_fini(&report);
    return err;
}

enum mire_err mire__report_seal(struct store *store, struct blackbox *box, uint32_t lane, const struct exit_end *end,
                                uint64_t now_ms)
{
    struct report_told told = {.end = end};
    enum mire_err err;

    mire__store_drops(told.drops, store);
    untold_micro(told.micro, &box->micro);
    err = build_and_put(store, box, lane, &told, now_ms);
    if (err == MIRE_E_STATE) { /* another report tells the losses */
        memset(told.drops, 0, sizeof(told.drops));
        err = build_and_put(store, box, lane, &told, now_ms);
    }
    for (int i = 0; err == MIRE_OK && i < MIRE_MICRO_BUCKETS; i++)
        atomic_fetch_add(&box->micro.told[i], told.micro[i]);
    return err;
}

static bool is_of_this_boot(const struct recovery *recovery, const struct blackbox_facts *facts)
{
    return recovery->boot_id[0] && strncmp(recovery->boot_id, facts->boot_id, 36) == 0;
}

/* Did the program end itself, by a way that left no word of it in the box? */
static bool left_silently(const struct recovery *recovery, const struct blackbox *box)
{
    const struct blackbox_facts *facts = &box->facts;
    const struct report_ended *ended = recovery->finder->ended;

    if (!is_of_this_boot(recovery, facts))
        return false;
    return (ended && !ended->killed && facts->pid == ended->pid && facts->start_ticks == ended->start_ticks) ||
           mire__process_runs(facts->pid, facts->start_ticks);
}

void mire__recovery_end_box(const struct recovery *recovery, struct blackbox *box)
{
    for (uint32_t lane = 0; lane < MIRE_LANES; lane++) {
        struct hang hang;

        mire__blackbox_hang(&hang, box, lane);
        if (hang.state == MIRE_HANG_OPEN && left_silently(recovery, box))
            atomic_store(&box->left_ns, hang.last_seen_ns);
    }
}

/* False: not sealed for want of memory or disk, but wanted. */
static bool seal_lane(struct recovery *recovery, struct blackbox *box, uint32_t lane, const struct exit_end *end)
{
    enum mire_err err;

    if (!mire__report_wanted(box, lane))
        return true;
    err = mire__report_seal(recovery->store, box, lane, end, recovery->finder->now_ms);
    recovery->sealed += err == MIRE_OK;
    return err != MIRE_E_MEMORY && err != MIRE_E_STORE;
}

/* Up to when the process is known to have run, on its own clock. */
static uint64_t end_of(const struct blackbox *box, const struct exit_end *end)
{
    const struct blackbox_facts *facts = &box->facts;
    uint64_t seen_ns = atomic_load(&box->session.seen_ns), by_wall_ns;

    if (!end || end->seen_wall_ms < facts->start_wall_ms || end->seen_wall_ms - facts->start_wall_ms > DAY_MS)
        return seen_ns;
    by_wall_ns = facts->start_mono_ns + (end->seen_wall_ms - facts->start_wall_ms) * MIRE_NS_PER_MS;
    return by_wall_ns > seen_ns ? by_wall_ns : seen_ns;
}

/* The session that was not told before its process ended. As seal_lane. */
static bool seal_session(struct recovery *recovery, struct blackbox *box, const struct exit_end *end)
{
    enum mire_err err = mire__session_seal(recovery->store, box, end_of(box, end), true, recovery->finder->now_ms);

    return err != MIRE_E_MEMORY && err != MIRE_E_STORE;
}

/* A box that cannot be sealed stays for a later try; what it told already is then told again, under the same ids. */
bool mire__recovery_seal_box(struct recovery *recovery, struct blackbox *box, const struct exit_end *end)
{
    bool all = true;

    for (uint32_t lane = 0; lane < MIRE_LANES; lane++)
        all &= seal_lane(recovery, box, lane, end);
    return seal_session(recovery, box, end) && all;
}

void mire__recovery_see_unkept(const struct recovery *recovery, const struct blackbox *box)
{
    struct report_unkept *unkept = recovery->finder->unkept;
    uint32_t reports = atomic_load(&box->losses.unkept);

    if (!unkept || reports == 0)
        return;
    unkept->reports += reports;
    unkept->why = (int)atomic_load(&box->losses.why);
}

void mire__recovery_take_counts(const struct recovery *recovery, const struct blackbox *box)
{
    uint64_t counts[MIRE_DROP_REASONS];

    _Static_assert(MIRE_DROP_REASONS <= MIRE_LOSSES_MAX, "a word for each reason");
    for (size_t i = 0; i < MIRE_DROP_REASONS; i++)
        counts[i] = atomic_load(&box->losses.waiting[i]);
    mire__store_count_drops(recovery->store, counts);
}

bool mire__recovery_take_box(void *context, void *memory, size_t size)
{
    struct recovery *recovery = context;

    if (mire__blackbox_check(memory, size) != MIRE_OK) {
        mire__store_count_drop(recovery->store, MIRE_DROP_BROKEN);
        return true;
    }
    mire__recovery_end_box(recovery, memory);
    mire__recovery_see_unkept(recovery, memory);
    if (!mire__recovery_seal_box(recovery, memory, NULL))
        return false;
    mire__recovery_take_counts(recovery, memory);
    return true;
}
