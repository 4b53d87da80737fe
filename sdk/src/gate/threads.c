/* threads.c - the watched threads: enter, exit, fork, and the end of the watch. Signal-safe. */
#include "gate/state.h"

#include "platform/locals.h"
#include "platform/platform.h"
#include "platform/quiet.h"

#include <string.h>

#define LOOK_AGAIN_NS MIRE_NS_PER_S /* a thread may be renamed */

static bool changes(struct gate *gate, uint32_t from, uint32_t to)
{
    return atomic_compare_exchange_strong(&gate->state, &from, to);
}

/* A free gate, or that of a thread that ended after its watch. */
static struct gate *find_free(void)
{
    for (uint32_t i = 0; i < MIRE_WATCHED_MAX; i++) {
        if (changes(&mire__gates.lanes[i], MIRE_GATE_FREE, MIRE_GATE_TAKEN))
            return &mire__gates.lanes[i];
    }
    for (uint32_t i = 0; i < MIRE_WATCHED_MAX; i++) {
        struct gate *gate = &mire__gates.lanes[i];

        if (atomic_load(&gate->state) == MIRE_GATE_LEFT && !mire__thread_signal(atomic_load(&gate->tid), 0) &&
            changes(gate, MIRE_GATE_LEFT, MIRE_GATE_TAKEN))
            return gate;
    }
    return NULL;
}

struct gate *mire__gate_as_take(uint64_t begun_ns, const char *name)
{
    struct gate *gate = atomic_load(&mire__gates.open) && mire__locals_as_exist() ? find_free() : NULL;
    uint64_t turn;

    if (!gate)
        return NULL;
    turn = (atomic_load(&gate->turn) + 2) | 1;
    atomic_store(&gate->waits, mire__gates.waits);
    gate->mark_depth = gate->untried = gate->patience = gate->replaced = 0;
    gate->usual = NULL;
    gate->tried_ns = 0;
    atomic_store(&gate->wait_from, 0);
    atomic_store(&gate->wait_frame, 0);
    for (uint32_t row = 0; row < MIRE_KNOWN_CALLS; row++)
        atomic_store(&gate->known[row].from, 0);
    gate->begun_ns = begun_ns;
    atomic_store(&gate->begun_turn, begun_ns ? turn : 0);
    mire__text_copy(gate->name, sizeof(gate->name), name);
    atomic_store(&gate->tid, mire__tid());
    atomic_store(&gate->ended_turn, 0);
    atomic_store(&gate->asked, ASKED_KEEP);
    atomic_store(&gate->kind, 0);
    atomic_store(&gate->ours, 0);
    atomic_store(&gate->since_ticks, mire__ticks_now());
    atomic_store(&gate->turn, turn);
    atomic_store(&gate->state, MIRE_GATE_WATCHED);
    if (!atomic_load(&mire__gates.open)) { /* the watch was stopped meanwhile */
        atomic_store(&gate->state, MIRE_GATE_FREE);
        return NULL;
    }
    mire__gate_as_set_own(gate);
    mire__gate_as_wake();
    return gate;
}

struct gate *mire__gate_as_look_for_name(void)
{
    struct locals *own = mire__locals_as_own();
    uint64_t now_ns = mire__now_coarse_ns();
    char name[MIRE_THREAD_NAME_BYTES];

    if (now_ns < own->look_again_ns || mire__quiet_is())
        return NULL;
    own->look_again_ns = now_ns + LOOK_AGAIN_NS;
    if (!mire__thread_own_name(name))
        return NULL;
    for (uint32_t i = 0; i < atomic_load(&mire__gates.names_count); i++) {
        if (strncmp(name, mire__gates.names[i], MIRE_GATE_NAME_BYTES) == 0)
            return mire__gate_as_take(0, NULL);
    }
    return NULL;
}

void mire__gate_as_forked(void)
{
    bool was_watched = atomic_load(&mire__gates.open) || atomic_load(&mire__gates.awaits);

    for (uint32_t i = 0; i < MIRE_WATCHED_MAX; i++) {
        atomic_store(&mire__gates.lanes[i].state, MIRE_GATE_FREE);
        atomic_store(&mire__gates.lanes[i].asked, 0);
    }
    atomic_store(&mire__gates.open, 0);
    atomic_store(&mire__gates.names_count, 0);
    atomic_store(&mire__gates.left, NULL);
    atomic_store(&mire__gates.left_how, NULL);
    atomic_store(&mire__gates.leaving, 0);
    mire__gate_as_set_own(NULL);
    atomic_store(&mire__gates.awaits, was_watched);
    if (!was_watched)
        return;
    atomic_store(&mire__gates.lanes[0].state, MIRE_GATE_CHILD);
    mire__gate_as_set_own(&mire__gates.lanes[0]);
}

void mire__gate_publish(const struct gate_options *options, int waits)
{
    mire__gates.waits = waits;
    mire__gates.wake = options->wake;
    atomic_store(&mire__gates.executing, 0);
    atomic_store(&mire__gates.sending, 0);
    mire__gates.pid = mire__pid();
    mire__gates.on_child = options->on_child;
    mire__gates.context = options->context;
    for (uint32_t i = 0; i < options->names_count; i++)
        mire__text_copy(mire__gates.names[i], sizeof(mire__gates.names[i]), options->names[i]);
    atomic_store(&mire__gates.left, options->left_ns);
    atomic_store(&mire__gates.left_how, options->left_how);
    atomic_store(&mire__gates.awaits, 0);
    atomic_store(&mire__gates.open, 1);
    atomic_store(&mire__gates.names_count, options->names_count);
}

int mire__gate_enter(uint64_t begun_ns, const char *name)
{
    struct gate *gate = mire__gate_as_own();

    if (gate && atomic_load(&gate->state) != MIRE_GATE_WATCHED) {
        atomic_store(&mire__gates.awaits, 0);
        atomic_store(&gate->state, MIRE_GATE_FREE);
        mire__gate_as_set_own(NULL);
        gate = NULL;
    }
    if (!gate)
        gate = mire__gate_as_take(begun_ns, name);
    return gate ? (int)(gate - mire__gates.lanes) : -1;
}

bool mire__gate_exit(void)
{
    struct gate *gate = mire__gate_as_own();

    if (!gate)
        return false;
    mire__gate_as_keep_last(gate);
    mire__gate_as_set_own(NULL);
    mire__locals_as_own()->look_again_ns = UINT64_MAX; /* the name does not count either */
    return atomic_exchange(&gate->state, MIRE_GATE_FREE) == MIRE_GATE_WATCHED;
}

void mire__gate_release(uint32_t lane)
{
    changes(&mire__gates.lanes[lane], MIRE_GATE_WATCHED, MIRE_GATE_FREE);
}

void mire__gate_dismiss(uint32_t lane)
{
    changes(&mire__gates.lanes[lane], MIRE_GATE_WATCHED, MIRE_GATE_LEFT);
}

bool mire__gate_in_child(void)
{
    return atomic_load(&mire__gates.lanes[0].state) == MIRE_GATE_CHILD;
}

void mire__gate_stop(void)
{
    uint32_t count;

    atomic_store(&mire__gates.open, 0);
    atomic_store(&mire__gates.awaits, 0);
    atomic_store(&mire__gates.names_count, 0);
    for (uint32_t i = 0; i < MIRE_WATCHED_MAX; i++) {
        changes(&mire__gates.lanes[i], MIRE_GATE_WATCHED, MIRE_GATE_LEFT);
        changes(&mire__gates.lanes[i], MIRE_GATE_CHILD, MIRE_GATE_LEFT);
    }
    atomic_store(&mire__gates.left, NULL);
    atomic_store(&mire__gates.left_how, NULL);
    while ((count = atomic_load(&mire__gates.leaving)) > 0) /* few instructions, or until it gets a processor */
        mire__futex_wait(&mire__gates.leaving, count, mire__now_ns() + MIRE_NS_PER_MS);
}
