/* gate.c - the code that a watched thread runs when it passes the gate. Signal-safe.
 *
 * The watched thread writes turn, since_ticks, kind and the ended_ fields. Both threads write asked. The check thread
 * reads all of them. Invariant of the handshake of `turn` and `asked`: each side stores its own word, then loads the
 * other's. So the check thread sees the new turn, or the watched thread sees the request. The watched thread passes
 * often, and has only a compiler barrier between the two. The check thread's barrier orders both (mire__barrier_all).
 */
#include "gate/state.h"

#include "platform/locals.h"
#include "platform/platform.h"
#include "platform/quiet.h"

#define SENDING_NS (10 * MIRE_NS_PER_MS) /* far longer than sending a signal takes */
#define SHORT_NS   (50 * MIRE_NS_PER_MS) /* shorter than any hang */

struct gates mire__gates;

struct gate *mire__gate_as_own(void)
{
    return mire__locals_as_own()->gate;
}

void mire__gate_as_set_own(struct gate *gate)
{
    mire__locals_as_own()->gate = gate;
}

/* ---- the watched thread's side ---- */

void mire__gate_as_wake(void)
{
    atomic_store(mire__gates.wake, 1);
    if (!mire__quiet_is()) /* otherwise the check thread wakes up by itself */
        mire__futex_wake(mire__gates.wake);
}

/* Publish the turn. Returns the request of the check thread. */
static enum mire__gate_asked turn_to(struct gate *gate, uint64_t turn)
{
    atomic_store_explicit(&gate->turn, turn, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    return (enum mire__gate_asked)atomic_load_explicit(&gate->asked, memory_order_relaxed);
}

static __attribute__((noinline)) void keep_end(struct gate *gate, uint64_t turn, enum mire__gate_asked asked)
{
    uint32_t still = asked;

    atomic_store(&gate->ended_since_ticks, atomic_load(&gate->since_ticks));
    atomic_store(&gate->end_ns, mire__now_ns());
    atomic_store(&gate->ended_turn, turn);
    atomic_compare_exchange_strong(&gate->asked, &still, ASKED_NOTHING); /* it may have another request by now */
    if (asked == ASKED_END)
        mire__gate_as_wake();
}

/* A short turn does not replace the end of the one before, which the check thread may not have seen yet. */
void mire__gate_as_keep_last(struct gate *gate)
{
    uint64_t turn = atomic_load(&gate->turn);
    bool is_short = mire__now_ns() - atomic_load(&gate->end_ns) < SHORT_NS;

    if ((turn & 1) && !(is_short && atomic_load(&gate->ended_turn) + 2 == turn))
        keep_end(gate, turn, ASKED_NOTHING);
}

/* This function and become_busy are inlined: that saves 0.8 ns a turn (make bench-gate). */
static inline __attribute__((always_inline)) void become_idle(struct gate *gate, uint64_t turn, uint32_t kind)
{
    enum mire__gate_asked asked;

    atomic_store_explicit(&gate->kind, kind, memory_order_relaxed);
    asked = turn_to(gate, (turn | 1) + 1);
    if (__builtin_expect(asked >= ASKED_KEEP, 0) && (turn & 1))
        keep_end(gate, turn, asked);
}

static inline __attribute__((always_inline)) void become_busy(struct gate *gate, uint64_t turn, uint32_t kind)
{
    atomic_store_explicit(&gate->kind, kind, memory_order_relaxed);
    atomic_store_explicit(&gate->since_ticks, mire__ticks_now(), memory_order_release);
    if (__builtin_expect(turn_to(gate, (turn + 1) | 1) == ASKED_TURN, 0)) {
        atomic_store(&gate->asked, ASKED_KEEP);
        mire__gate_as_wake();
    }
}

/* The lane of a watched thread is FREE only in a child made by a direct system call: see struct gates. */
static bool is_cleared(uint32_t state)
{
    return state == MIRE_GATE_FREE && !mire__quiet_is() && mire__gates.pid != 0 && mire__gates.pid != mire__pid();
}

/* The watch was stopped between two turns, or starts again in a forked child. */
static struct gate *turn_back(struct gate *gate)
{
    uint32_t state = atomic_load(&gate->state);

    if (is_cleared(state)) {
        mire__gate_as_forked();
        gate = &mire__gates.lanes[0]; /* the lane of a child, whichever the thread had */
        state = MIRE_GATE_CHILD;
    }
    mire__gate_as_set_own(NULL);
    atomic_store(&mire__gates.awaits, 0);
    atomic_store(&gate->state, MIRE_GATE_FREE);
    if (state == MIRE_GATE_CHILD && mire__gates.on_child && !mire__quiet_is())
        mire__gates.on_child(mire__gates.context);
    return mire__gate_as_own();
}

/* The calling thread's gate, NULL if it is not watched. */
static inline struct gate *watched(void)
{
    struct gate *gate = mire__locals_as_own()->gate;

    if (!gate) {
        if (atomic_load_explicit(&mire__gates.names_count, memory_order_relaxed) == 0)
            return NULL;
        return mire__gate_as_look_for_name();
    }
    if (atomic_load_explicit(&gate->state, memory_order_relaxed) != MIRE_GATE_WATCHED)
        return turn_back(gate);
    return gate;
}

static inline void begin_wait(struct gate *gate, uint64_t turn)
{
    _Atomic uint64_t *count;

    if (gate->usual) {
        count = &gate->usual->count;
        atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1, memory_order_relaxed);
    }
    become_idle(gate, turn, 1);
}

/* A wait by another call than the last one. */
static __attribute__((noinline)) enum mire__wait begin_another(int on, enum mire__wait_length length,
                                                               struct gate_call call)
{
    struct gate *gate = watched();
    enum mire__wait wait;
    uint64_t turn;
    int waits;

    if (!gate)
        return MIRE_WAIT_COUNTS;
    waits = atomic_load_explicit(&gate->waits, memory_order_relaxed);
    if (waits != MIRE_WAITS_ALL && waits != on)
        return MIRE_WAIT_NESTED;
    turn = atomic_load_explicit(&gate->turn, memory_order_relaxed);
    /* Idle already: a signal handler waits inside a wait, if its frame is further in. Otherwise it left by longjmp. */
    if ((turn & 1) == 0 && call.frame < atomic_load_explicit(&gate->wait_frame, memory_order_relaxed))
        return MIRE_WAIT_NESTED;
    if (waits == MIRE_WAITS_ALL && (wait = mire__gate_as_counts(gate, length, call, turn)) != MIRE_WAIT_COUNTS)
        return wait;
    atomic_store_explicit(&gate->wait_from, call.from, memory_order_relaxed);
    atomic_store_explicit(&gate->wait_frame, call.frame, memory_order_relaxed);
    begin_wait(gate, turn);
    return MIRE_WAIT_COUNTS;
}

/* Most waits of a loop come from one call. `usual` is set only while every wait counts. */
enum mire__wait mire__gate_as_wait_begin(int on, enum mire__wait_length length, struct gate_call call)
{
    struct gate *gate = mire__locals_as_own()->gate;

    if (gate && gate->usual && atomic_load_explicit(&gate->state, memory_order_relaxed) == MIRE_GATE_WATCHED &&
        atomic_load_explicit(&gate->wait_from, memory_order_relaxed) == call.from &&
        atomic_load_explicit(&gate->wait_frame, memory_order_relaxed) == call.frame) {
        begin_wait(gate, atomic_load_explicit(&gate->turn, memory_order_relaxed));
        return MIRE_WAIT_COUNTS;
    }
    if (!gate && atomic_load_explicit(&mire__gates.names_count, memory_order_relaxed) == 0)
        return MIRE_WAIT_COUNTS;
    return begin_another(on, length, call);
}

void mire__gate_as_wait_end(enum mire__wait wait)
{
    struct gate *gate = mire__locals_as_own()->gate;

    if (!gate || wait != MIRE_WAIT_COUNTS ||
        atomic_load_explicit(&gate->state, memory_order_relaxed) != MIRE_GATE_WATCHED)
        return;
    if (__builtin_expect(gate->tried_ns != 0, 0))
        mire__gate_as_try_ends(gate);
    become_busy(gate, atomic_load_explicit(&gate->turn, memory_order_relaxed), 1);
}

void mire__gate_as_mark_enter(void)
{
    struct gate *gate = watched();
    uint64_t turn;

    if (!gate)
        return;
    turn = atomic_load_explicit(&gate->turn, memory_order_relaxed);
    gate->mark_depth++;
    if (turn & 1) /* a turn inside a turn is progress as well */
        become_idle(gate, turn++, 2);
    become_busy(gate, turn, 2);
}

void mire__gate_as_mark_leave(void)
{
    struct gate *gate = watched();

    if (!gate)
        return;
    if (gate->mark_depth > 0)
        gate->mark_depth--;
    gate->usual = NULL;
    atomic_store_explicit(&gate->wait_from, 0, memory_order_relaxed);
    atomic_store_explicit(&gate->wait_frame, 0, memory_order_relaxed);
    become_idle(gate, atomic_load_explicit(&gate->turn, memory_order_relaxed), 2);
    if (gate->mark_depth > 0)
        become_busy(gate, atomic_load_explicit(&gate->turn, memory_order_relaxed), 2);
}

void mire__gate_as_turn_begin(void)
{
    struct gate *gate = watched();
    uint64_t turn;

    if (!gate)
        return;
    turn = atomic_load_explicit(&gate->turn, memory_order_relaxed);
    if ((turn & 1) && atomic_load_explicit(&gate->kind, memory_order_relaxed) == 0)
        return;
    if (turn & 1)
        become_idle(gate, turn++, 2);
    become_busy(gate, turn, 2);
}

void mire__gate_as_turn_end(void)
{
    struct gate *gate = watched();

    if (!gate)
        return;
    gate->usual = NULL;
    atomic_store_explicit(&gate->wait_from, 0, memory_order_relaxed);
    atomic_store_explicit(&gate->wait_frame, 0, memory_order_relaxed);
    become_idle(gate, atomic_load_explicit(&gate->turn, memory_order_relaxed), 2);
}

bool mire__gate_as_ours_begin(void)
{
    struct gate *gate = mire__locals_as_own()->gate;

    if (!gate || atomic_load(&gate->state) != MIRE_GATE_WATCHED)
        return false;
    atomic_store(&gate->ours, atomic_load(&gate->ours) + MIRE_OURS_DEPTH + 2);
    return true;
}

void mire__gate_as_ours_end(bool begun)
{
    struct gate *gate = mire__locals_as_own()->gate;
    uint64_t ours = begun && gate ? atomic_load(&gate->ours) : 0;

    if (ours & MIRE_OURS_DEPTH)
        atomic_store(&gate->ours, ours - 1);
}

void mire__gate_as_set_waits(int waits)
{
    struct gate *gate = watched();

    if (!gate)
        return;
    atomic_store(&gate->waits, waits);
    gate->usual = NULL;
    gate->mark_depth = 0;
}

void mire__gate_as_answered(void)
{
    struct gate *gate = watched();

    if (gate && atomic_load(&gate->waits) == MIRE_WAITS_MARKED && gate->mark_depth == 0 &&
        atomic_load_explicit(&gate->kind, memory_order_relaxed) == 0)
        become_idle(gate, atomic_load_explicit(&gate->turn, memory_order_relaxed), 3);
}

int mire__gate_as_lane(void)
{
    struct gate *gate = watched();

    return gate ? (int)(gate - mire__gates.lanes) : -1;
}

/* ---- the check thread's side ---- */

bool mire__gate_look(struct gate_view *out, uint32_t lane)
{
    struct gate *gate = &mire__gates.lanes[lane];
    uint64_t turn;

    if (atomic_load(&gate->state) != MIRE_GATE_WATCHED)
        return false;
    do {
        turn = atomic_load_explicit(&gate->turn, memory_order_acquire);
        out->ended_turn = atomic_load(&gate->ended_turn);
        out->since_ticks = atomic_load(&gate->since_ticks);
        out->ended_since_ticks = atomic_load(&gate->ended_since_ticks);
        out->end_ns = atomic_load(&gate->end_ns);
        out->kind = atomic_load(&gate->kind);
        out->ours = atomic_load(&gate->ours);
        out->wait = (struct gate_call){atomic_load(&gate->wait_from), atomic_load(&gate->wait_frame)};
        out->turn = turn;
    } while (atomic_load(&gate->turn) != turn || atomic_load(&gate->ended_turn) != out->ended_turn);
    out->tid = atomic_load(&gate->tid);
    out->all_count = atomic_load(&gate->waits) == MIRE_WAITS_ALL;
    out->begun_turn = atomic_load(&gate->begun_turn);
    out->begun_ns = gate->begun_ns;
    return true;
}

bool mire__gate_look_last(struct gate_view *out, uint32_t lane, uint64_t turn)
{
    struct gate *gate = &mire__gates.lanes[lane];

    *out = (struct gate_view){.ended_turn = atomic_load(&gate->ended_turn), .end_ns = atomic_load(&gate->end_ns)};
    out->kind = atomic_load(&gate->kind);
    out->tid = atomic_load(&gate->tid);
    out->turn = atomic_load(&gate->turn);
    return out->ended_turn == turn && atomic_load(&gate->ended_turn) == turn;
}

uint64_t mire__gate_ours(uint32_t lane)
{
    return atomic_load(&mire__gates.lanes[lane].ours);
}

const char *mire__gate_name(uint32_t lane)
{
    return mire__gates.lanes[lane].name;
}

uint32_t mire__gate_park(uint32_t lanes)
{
    uint32_t busy = 0;

    for (uint32_t lane = 0; lane < MIRE_WATCHED_MAX; lane++) {
        if (lanes >> lane & 1)
            atomic_store(&mire__gates.lanes[lane].asked, ASKED_TURN);
    }
    mire__barrier_all();
    for (uint32_t lane = 0; lane < MIRE_WATCHED_MAX; lane++) {
        if ((lanes >> lane & 1) == 0 || (atomic_load(&mire__gates.lanes[lane].turn) & 1) == 0)
            continue;
        atomic_store(&mire__gates.lanes[lane].asked, ASKED_KEEP);
        busy |= 1u << lane;
    }
    return busy;
}

void mire__gate_keep_end(uint32_t lane)
{
    atomic_store(&mire__gates.lanes[lane].asked, ASKED_KEEP);
}

bool mire__gate_watch_end(uint32_t lane, uint64_t turn)
{
    struct gate *gate = &mire__gates.lanes[lane];

    atomic_store(&gate->asked, ASKED_END);
    mire__barrier_all();
    return atomic_load(&gate->turn) == turn;
}

void mire__gate_unwatch(uint32_t lane)
{
    atomic_store(&mire__gates.lanes[lane].asked, ASKED_NOTHING);
}

/* ---- the program's end ---- */

/* A program that aborts is killed by a signal, so an open hang stays open. */
static void note_leaving(enum mire__left how)
{
    _Atomic uint64_t *left;
    _Atomic uint32_t *word;

    if (mire__quiet_is() || mire__gates.pid != mire__pid())
        return;
    if (mire__gates.on_exec && how != MIRE_LEFT_ABORT)
        mire__gates.on_exec(how == MIRE_LEFT_EXEC ? mire__now_ns() : 0);
    atomic_fetch_add(&mire__gates.leaving, 1);
    left = atomic_load(&mire__gates.left);
    if (left && how != MIRE_LEFT_ABORT)
        atomic_store(left, how == MIRE_LEFT_NOT ? 0 : mire__now_ns());
    word = atomic_load(&mire__gates.left_how);
    if (word)
        atomic_store(word, how);
    atomic_fetch_sub(&mire__gates.leaving, 1);
}

/*
 * A signal that is pending for a thread survives exec, and the new program has no handler. So no signal is sent from
 * now on, and a pending one is delivered at the return of a system call.
 */
static void hold_signals(void)
{
    uint64_t deadline_ns = mire__now_ns() + SENDING_NS;

    atomic_fetch_add(&mire__gates.executing, 1);
    while (atomic_load(&mire__gates.sending) != 0 && mire__now_ns() < deadline_ns)
        mire__yield();
    mire__tid();
}

void mire__gate_on_exec(void (*notify)(uint64_t now_ns))
{
    mire__gates.on_exec = notify;
}

void mire__gate_as_leave(enum mire__left how)
{
    note_leaving(how);
    if (how == MIRE_LEFT_EXEC && mire__gates.pid == mire__pid())
        hold_signals();
}

void mire__gate_as_stay(void)
{
    note_leaving(MIRE_LEFT_NOT);
    if (mire__gates.pid == mire__pid() && atomic_load(&mire__gates.executing) > 0)
        atomic_fetch_sub(&mire__gates.executing, 1);
}

bool mire__gate_send_begin(void)
{
    atomic_store(&mire__gates.sending, 1);
    if (atomic_load(&mire__gates.executing) == 0)
        return true;
    mire__gate_send_end();
    return false;
}

void mire__gate_send_end(void)
{
    atomic_store(&mire__gates.sending, 0);
}
