/*
 * seal.c - reports into the store: of the live blackbox, and of dead ones.
 *
 * A process may be killed between sealing a report and clearing its hang. Then the hang is sealed once more by whoever
 * recovers the box, under the same id: in the store it replaces the first, at the server it is a repeat.
 */
#include "report/report.h"

#include "platform/platform.h"

#include <string.h>

/* Turns that no report tells yet. */
static void untold_micro(uint64_t out[MIRE_MICRO_BUCKETS], const struct micro *micro)
{
    for (int i = 0; i < MIRE_MICRO_BUCKETS; i++) {
        uint64_t count = atomic_load(&micro->count[i]), told = atomic_load(&micro->told[i]);
        out[i] = count > told ? count - told : 0;
    }
}

enum mire_err mire__report_seal(struct store *store, struct blackbox *box, uint32_t lane, uint64_t now_ms)
{
    struct report_told told;
    struct report report;
    enum mire_err err;

    mire__store_drops(told.drops, store);
    untold_micro(told.micro, &box->micro);
    err = mire__report_build(&report, box, lane, &told);
    if (err != MIRE_OK) {
        if (err != MIRE_E_MEMORY)
            mire__store_count_drop(store, err == MIRE_E_FULL ? MIRE_DROP_BIG : MIRE_DROP_BROKEN);
        return err;
    }
    err = mire__store_put(store, report.id, report.body, report.size, told.drops, now_ms);
    for (int i = 0; err == MIRE_OK && i < MIRE_MICRO_BUCKETS; i++)
        atomic_fetch_add(&box->micro.told[i], told.micro[i]);
    mire__report_fini(&report);
    return err;
}

struct recovery {
    struct store *store;
    uint64_t now_ms;
    const struct report_ended *ended;
    size_t sealed;
};

static bool is_of_this_boot(const struct blackbox_facts *facts)
{
    char boot_id[sizeof(facts->boot_id)];

    return mire__file_read(boot_id, sizeof(boot_id), "/proc/sys/kernel/random/boot_id") > 0 &&
           strncmp(boot_id, facts->boot_id, 36) == 0;
}

/* Did the program end itself, by a way that left no word of it in the box? */
static bool left_silently(const struct recovery *recovery, const struct blackbox *box)
{
    const struct blackbox_facts *facts = &box->facts;
    const struct report_ended *ended = recovery->ended;

    if (!is_of_this_boot(facts))
        return false;
    return (ended && facts->pid == ended->pid && facts->start_ticks == ended->start_ticks) ||
           mire__process_runs(facts->pid, facts->start_ticks);
}

/* False: not sealed for want of memory or disk, but wanted. */
static bool take_lane(struct recovery *recovery, struct blackbox *box, uint32_t lane)
{
    struct hang hang;
    enum mire_err err;

    mire__blackbox_hang(&hang, box, lane);
    if (hang.state == MIRE_HANG_OPEN && left_silently(recovery, box))
        atomic_store(&box->left_ns, hang.last_seen_ns);
    if (!mire__report_wanted(box, lane))
        return true;
    err = mire__report_seal(recovery->store, box, lane, recovery->now_ms);
    recovery->sealed += err == MIRE_OK;
    return err != MIRE_E_MEMORY && err != MIRE_E_STORE;
}

/* A box that cannot be sealed stays for a later try; what it told already is then told again, under the same ids. */
static bool take_box(void *context, void *memory, size_t size)
{
    struct recovery *recovery = context;
    struct blackbox *box = memory;
    bool all = true;

    if (mire__blackbox_check(box, size) != MIRE_OK) {
        mire__store_count_drop(recovery->store, MIRE_DROP_BROKEN);
        return true;
    }
    for (uint32_t lane = 0; lane < MIRE_LANES; lane++)
        all &= take_lane(recovery, box, lane);
    return all;
}

size_t mire__report_recover(struct store *store, uint64_t now_ms, const struct report_ended *ended)
{
    struct recovery recovery = {.store = store, .now_ms = now_ms, .ended = ended};

    mire__store_recover(store, take_box, &recovery);
    return recovery.sealed;
}
