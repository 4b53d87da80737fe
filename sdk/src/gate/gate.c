/* gate.c - the watched thread's state. Signal-safe.
 *
 * Writer of turn, since_ns, end_ns, kind: the watched thread. Writer of asked: both; reader of all: the check thread.
 * `turn` and `asked` form a handshake: each side stores its own word, then loads the other's, both sequentially
 * consistent; so either the check thread sees the new turn, or the watched thread sees that it is asked for.
 */
#include "gate/gate.h"

#include "gate/state.h"
#include "platform/platform.h"

enum asked { ASKED_NOTHING, ASKED_TURN, ASKED_END };

struct gate mire__gate;

/* initial-exec: a load from a fixed offset, without a call that might allocate. */
static __thread bool watched __attribute__((tls_model("initial-exec")));

void mire__gate_as_forked(void)
{
    uint32_t mode = atomic_load_explicit(&mire__gate.mode, memory_order_relaxed);

    watched = mode != MIRE_GATE_OFF;
    atomic_store_explicit(&mire__gate.mode, mode == MIRE_GATE_OFF ? MIRE_GATE_OFF : MIRE_GATE_CHILD,
                          memory_order_relaxed);
    atomic_store_explicit(&mire__gate.asked, ASKED_NOTHING, memory_order_relaxed);
    atomic_store_explicit(&mire__gate.left, NULL, memory_order_relaxed);
    atomic_store_explicit(&mire__gate.leaving, 0, memory_order_relaxed);
}

void mire__gate_as_await(void)
{
    atomic_store(&mire__gate.mode, MIRE_GATE_CHILD);
    watched = true;
}

void mire__gate_as_open(void)
{
    mire__gate.mark_depth = 0;
    atomic_store(&mire__gate.asked, ASKED_NOTHING);
    atomic_store(&mire__gate.kind, 0);
    atomic_store(&mire__gate.since_ns, mire__now_coarse_ns());
    atomic_store(&mire__gate.turn, (atomic_load(&mire__gate.turn) + 2) | 1);
    atomic_store(&mire__gate.mode, MIRE_GATE_ON);
    watched = true;
}

void mire__gate_stop(void)
{
    uint32_t count;

    atomic_store(&mire__gate.mode, MIRE_GATE_OFF);
    atomic_store(&mire__gate.left, NULL);
    while ((count = atomic_load(&mire__gate.leaving)) > 0) /* a few instructions, or a thread without a processor */
        mire__futex_wait(&mire__gate.leaving, count, mire__now_ns() + MIRE_NS_PER_MS);
}

bool mire__gate_in_child(void)
{
    return atomic_load(&mire__gate.mode) == MIRE_GATE_CHILD;
}

void mire__gate_look(struct gate_view *out)
{
    uint64_t turn;

    do {
        turn = atomic_load(&mire__gate.turn);
        out->since_ns = atomic_load(&mire__gate.since_ns);
        out->end_ns = atomic_load(&mire__gate.end_ns);
        out->kind = atomic_load(&mire__gate.kind);
        out->turn = turn;
    } while (atomic_load(&mire__gate.turn) != turn);
}

bool mire__gate_park(void)
{
    atomic_store(&mire__gate.asked, ASKED_TURN);
    if ((atomic_load(&mire__gate.turn) & 1) == 0)
        return true;
    atomic_store(&mire__gate.asked, ASKED_NOTHING);
    return false;
}

bool mire__gate_watch_end(uint64_t turn)
{
    if (atomic_load(&mire__gate.turn) != turn)
        return false;
    atomic_store(&mire__gate.end_ns, 0);
    atomic_store(&mire__gate.asked, ASKED_END);
    return atomic_load(&mire__gate.turn) == turn;
}

void mire__gate_unwatch(void)
{
    atomic_store(&mire__gate.asked, ASKED_NOTHING);
}

static void wake_checker(void)
{
    atomic_store(mire__gate.wake, 1);
    mire__futex_wake(mire__gate.wake);
}

static void become_idle(uint64_t turn, uint32_t kind)
{
    atomic_store_explicit(&mire__gate.kind, kind, memory_order_relaxed);
    atomic_store(&mire__gate.turn, (turn | 1) + 1);
    if (atomic_load(&mire__gate.asked) == ASKED_END) {
        atomic_store(&mire__gate.end_ns, mire__now_ns());
        atomic_store(&mire__gate.asked, ASKED_NOTHING);
        wake_checker();
    }
}

static void become_busy(uint64_t turn, uint32_t kind)
{
    atomic_store_explicit(&mire__gate.kind, kind, memory_order_relaxed);
    atomic_store_explicit(&mire__gate.since_ns, mire__now_coarse_ns(), memory_order_relaxed);
    atomic_store(&mire__gate.turn, (turn + 1) | 1);
    if (atomic_load(&mire__gate.asked) == ASKED_TURN) {
        atomic_store(&mire__gate.asked, ASKED_NOTHING);
        wake_checker();
    }
}

/* False if the gate is off. Starts anew in a forked child. */
static bool is_on(void)
{
    uint32_t mode = atomic_load_explicit(&mire__gate.mode, memory_order_relaxed);

    if (mode == MIRE_GATE_CHILD) {
        atomic_store(&mire__gate.mode, MIRE_GATE_OFF);
        if (mire__gate.on_child)
            mire__gate.on_child(mire__gate.context);
        mode = atomic_load_explicit(&mire__gate.mode, memory_order_relaxed);
    }
    return mode == MIRE_GATE_ON;
}

bool mire__gate_as_wait_begin(void)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    uint64_t turn;

    if (!watched || !is_on())
        return false;
    turn = atomic_load_explicit(&mire__gate.turn, memory_order_relaxed);
    /* Idle already: a handler polls inside a poll, if its frame lies further in. Else the handler left by longjmp. */
    if ((turn & 1) == 0 && frame < mire__gate.wait_frame)
        return true;
    mire__gate.wait_frame = frame;
    become_idle(turn, 1);
    return false;
}

void mire__gate_as_wait_end(bool nested)
{
    if (!watched || nested || atomic_load_explicit(&mire__gate.mode, memory_order_relaxed) != MIRE_GATE_ON)
        return;
    become_busy(atomic_load_explicit(&mire__gate.turn, memory_order_relaxed), 1);
}

void mire__gate_as_mark_enter(void)
{
    uint64_t turn;

    if (!watched || !is_on())
        return;
    turn = atomic_load_explicit(&mire__gate.turn, memory_order_relaxed);
    mire__gate.mark_depth++;
    if (turn & 1) /* a turn inside a turn: progress all the same */
        become_idle(turn++, 2);
    become_busy(turn, 2);
}

void mire__gate_as_mark_leave(void)
{
    uint64_t turn;

    if (!watched || !is_on())
        return;
    turn = atomic_load_explicit(&mire__gate.turn, memory_order_relaxed);
    if (mire__gate.mark_depth > 0)
        mire__gate.mark_depth--;
    mire__gate.wait_frame = 0;
    become_idle(turn, 2);
    if (mire__gate.mark_depth > 0)
        become_busy(atomic_load_explicit(&mire__gate.turn, memory_order_relaxed), 2);
}

static void note_leaving(uint64_t at_ns)
{
    _Atomic uint64_t *left;

    if (mire__gate.pid != mire__pid())
        return;
    atomic_fetch_add(&mire__gate.leaving, 1);
    left = atomic_load(&mire__gate.left);
    if (left)
        atomic_store(left, at_ns);
    atomic_fetch_sub(&mire__gate.leaving, 1);
}

void mire__gate_as_leave(void)
{
    note_leaving(mire__now_ns());
}

void mire__gate_as_stay(void)
{
    note_leaving(0);
}
