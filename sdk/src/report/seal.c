/*
 * seal.c - reports into the store: of the live blackbox, and of dead ones.
 *
 * A process may be killed between sealing a report and clearing its hang. Then the process that recovers the box seals
 * the hang again, under the same id: in the store the report replaces the first, at the server it is a repeat.
 */
#include "report/recovery.h"

#include "platform/platform.h"
#include "report/session.h"

#include <string.h>

#define DAY_NS (24 * 3600 * MIRE_NS_PER_S) /* a clock that jumped makes no long session */

/* Turns that are in no report yet. */
static void unreported_micro(uint64_t out[MIRE_MICRO_BUCKETS], const struct micro *micro)
{
    for (int i = 0; i < MIRE_MICRO_BUCKETS; i++) {
        uint64_t count = atomic_load(&micro->count[i]), attached = atomic_load(&micro->reported[i]);
        out[i] = count > attached ? count - attached : 0;
    }
}

/* Did the process end neither by itself nor by the user's wish? */
static bool is_death(enum mire__end verdict)
{
    return verdict == MIRE_EXIT_FOOM || verdict == MIRE_EXIT_WATCHDOG_KILL || verdict == MIRE_EXIT_CRASH ||
           verdict == MIRE_EXIT_ABORT;
}

static enum store_value value_of(const struct blackbox *box, uint32_t lane, const struct exit_end *end)
{
    struct event event;

    mire__blackbox_event(&event, box, lane);
    if (end && (event.state == MIRE_EVENT_OPEN || is_death(end->verdict.verdict)))
        return MIRE_VALUE_DEATH;
    return event.trigger == MIRE_TRIGGER_BUSY || event.trigger == MIRE_TRIGGER_UNANSWERED ? MIRE_VALUE_HANG
                                                                                          : MIRE_VALUE_CAPTURE;
}

/* attached->drops: the losses in the report; all zeros: none. */
static enum mire_err build_and_put(struct store *store, struct blackbox *box, uint32_t lane,
                                   const struct report_attached *attached, uint64_t now_ms)
{
    struct report report;
    enum mire_err err = mire__report_build(&report, box, lane, attached);

    if (err != MIRE_OK) {
        if (err != MIRE_E_MEMORY)
            mire__store_count_drop(store, err == MIRE_E_FULL ? MIRE_DROP_BIG : MIRE_DROP_BROKEN);
        return err;
    }
    const struct store_report sealed = {.id = report.id,
                                        .body = report.body,
                                        .size = report.size,
                                        .value = value_of(box, lane, attached->end),
                                        .losses = attached->drops};
    err = mire__store_put(store, &sealed, now_ms);
    mire__report_fini(&report);
    return err;
}

/* attached: the counts are filled in here. */
static enum mire_err seal(struct store *store, struct blackbox *box, uint32_t lane, struct report_attached *attached,
                          uint64_t now_ms)
{
    enum mire_err err;

    mire__store_drops(attached->drops, store);
    unreported_micro(attached->micro, &box->micro);
    err = build_and_put(store, box, lane, attached, now_ms);
    if (err == MIRE_E_STATE) { /* another report has the losses */
        memset(attached->drops, 0, sizeof(attached->drops));
        err = build_and_put(store, box, lane, attached, now_ms);
    }
    for (int i = 0; err == MIRE_OK && i < MIRE_MICRO_BUCKETS; i++)
        atomic_fetch_add(&box->micro.reported[i], attached->micro[i]);
    return err;
}

enum mire_err mire__report_seal(struct store *store, struct blackbox *box, uint32_t lane, const struct exit_end *end,
                                uint64_t now_ms)
{
    struct report_attached attached = {.end = end};

    return seal(store, box, lane, &attached, now_ms);
}

static bool is_of_this_boot(const struct recovery *recovery, const struct blackbox_facts *facts)
{
    return recovery->boot_id[0] && strncmp(recovery->boot_id, facts->boot_id, 36) == 0;
}

/* Did the program end itself in a way that the box does not record? */
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
        struct event event;

        mire__blackbox_event(&event, box, lane);
        if (event.state == MIRE_EVENT_OPEN && left_silently(recovery, box))
            atomic_store(&box->left_ns, event.last_seen_ns);
    }
}

/* Did the process survive the crash, by a handler of its own? */
static bool is_outlived(const struct blackbox *box, uint32_t lane, const struct exit_end *end)
{
    struct event event;

    mire__blackbox_event(&event, box, lane);
    return event.trigger == MIRE_TRIGGER_CRASH && end && end->verdict.verdict != MIRE_EXIT_CRASH &&
           end->verdict.verdict != MIRE_EXIT_ABORT;
}

/* False: not sealed for lack of memory or disk, but wanted. */
static bool seal_lane(struct recovery *recovery, struct blackbox *box, uint32_t lane, const struct exit_end *end)
{
    const struct report_trace *trace = &recovery->trace;
    struct report_attached attached = {.end = end};
    enum mire_err err;

    if (!mire__report_wanted(box, lane) || is_outlived(box, lane, end))
        return true;
    if (trace->size > 0 && trace->lane == lane) {
        attached.trace = trace->bytes;
        attached.trace_size = trace->size;
        attached.note = trace->note[0] ? trace->note : NULL;
    }
    err = seal(recovery->store, box, lane, &attached, recovery->finder->now_ms);
    if (err == MIRE_E_FULL && attached.trace) { /* try again without the trace */
        attached.trace = NULL;
        err = seal(recovery->store, box, lane, &attached, recovery->finder->now_ms);
    }
    recovery->sealed += err == MIRE_OK;
    return err != MIRE_E_MEMORY && err != MIRE_E_STORE;
}

/* By the process's own clock, which stops while the machine is suspended: the latest possible time. */
static uint64_t mono_of(const struct blackbox *box, uint64_t wall_ms, uint64_t latest_ns)
{
    const struct blackbox_facts *facts = &box->facts;
    uint64_t ns = facts->start_mono_ns;

    if (wall_ms > facts->start_wall_ms)
        ns += (wall_ms - facts->start_wall_ms) * MIRE_NS_PER_MS;
    return ns < latest_ns ? ns : latest_ns;
}

/*
 * The end of the process: the parent's time if known; otherwise the latest of the last look, the evidence, and the last
 * write to the box, which is the time of death if the box has a mark of the death.
 */
static uint64_t end_of(const struct recovery *recovery, const struct blackbox *box, const struct exit_end *end,
                       uint64_t written_ms)
{
    const struct report_ended *ended = recovery->finder->ended;
    uint64_t seen_ns = atomic_load(&box->session.seen_ns), by_wall_ms = written_ms, by_wall_ns;
    bool this_boot = is_of_this_boot(recovery, &box->facts);

    if (ended && ended->end_ns && this_boot && box->facts.pid == ended->pid &&
        box->facts.start_ticks == ended->start_ticks && atomic_load(&box->left_ns) == 0)
        return ended->end_ns;
    if (end && end->seen_wall_ms > by_wall_ms)
        by_wall_ms = end->seen_wall_ms;
    by_wall_ns = mono_of(box, by_wall_ms, this_boot ? mire__now_ns() : seen_ns + DAY_NS);
    return by_wall_ns > seen_ns ? by_wall_ns : seen_ns;
}

/* Did the finder's own process, which is a session of its own, run another program before it executed this one? */
static bool is_own_past(const struct recovery *recovery, const struct blackbox *box)
{
    const struct blackbox *own = recovery->finder->own;

    return own && !own->session.of[0] && !box->session.of[0] && own->facts.pid == box->facts.pid &&
           own->facts.start_ticks == box->facts.start_ticks && is_of_this_boot(recovery, &box->facts);
}

/* Seal the counts of the process that are in no report. Returns as seal_lane. */
static bool record_session(struct recovery *recovery, struct blackbox *box, uint64_t end_ns)
{
    struct session *session = &box->session;
    struct session_sum share;
    char name[MIRE_STORE_RUN_BYTES];
    enum mire_err err;

    if (atomic_load(&session->on) == MIRE_SESSION_RECORDED)
        return true;
    session->of[sizeof(session->of) - 1] = '\0';
    mire__session_of_box(&share, box, end_ns, false);
    if (is_own_past(recovery, box)) {
        mire__session_carry(recovery->finder->own, &share);
        return true;
    }
    if (session->of[0]) {
        err = mire__session_fold(recovery->store, session->of, &share, session->apart != 0);
    } else {
        mire__store_run_name(name);
        err = mire__session_settle(recovery->store, name, &share, recovery->finder->now_ms);
    }
    return err != MIRE_E_MEMORY && err != MIRE_E_STORE;
}

/* The session ended before its process, and its record has the app's part of the process's life. */
static bool is_stranger(const struct recovery *recovery, const struct blackbox *box)
{
    const struct session *session = &box->session;

    return session->of[0] && !session->apart && !mire__session_goes_on(recovery->store, session->of);
}

/* A box that cannot be sealed stays for a later attempt, which makes the same reports with the same ids again. */
bool mire__recovery_seal_box(struct recovery *recovery, struct blackbox *box, const struct exit_end *end,
                             uint64_t written_ms)
{
    bool all = true;

    if (is_stranger(recovery, box))
        return true;
    for (uint32_t lane = 0; lane < MIRE_LANES; lane++)
        all &= seal_lane(recovery, box, lane, end);
    return all && record_session(recovery, box, end_of(recovery, box, end, written_ms));
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

bool mire__recovery_next(struct recovery *recovery)
{
    const struct report_finder *finder = recovery->finder;

    return recovery->taken++ == 0 || !finder->is_leaving || !finder->is_leaving(finder->context);
}

bool mire__recovery_take_box(void *context, void *memory, size_t size, uint64_t written_ms)
{
    struct recovery *recovery = context;

    if (!mire__recovery_next(recovery))
        return false;
    if (mire__blackbox_check(memory, size) != MIRE_OK) {
        mire__store_count_drop(recovery->store, MIRE_DROP_BROKEN);
        return true;
    }
    mire__recovery_end_box(recovery, memory);
    mire__recovery_see_unkept(recovery, memory);
    if (!mire__recovery_seal_box(recovery, memory, NULL, written_ms))
        return false;
    mire__recovery_take_counts(recovery, memory);
    return true;
}
