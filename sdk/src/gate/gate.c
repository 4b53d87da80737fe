/*
 * gate.c - the watched thread's state. Signal-safe but for start.
 *
 * Writer of turn, since_ns, end_ns, kind: the watched thread. Writer of asked: both; reader of all: the check thread.
 * `turn` and `asked` form a handshake: each side stores its own word, then loads the other's, both sequentially
 * consistent; so either the check thread sees the new turn, or the watched thread sees that it is asked for.
 */
#include "gate/gate.h"

#include "platform/platform.h"

#include <pthread.h>

enum mode { MODE_OFF, MODE_ON, MODE_CHILD };
enum asked { ASKED_NOTHING, ASKED_TURN, ASKED_END };

static struct {
    _Atomic uint64_t turn;
    _Atomic uint64_t since_ns;
    _Atomic uint64_t end_ns;
    _Atomic uint32_t kind;
    _Atomic uint32_t asked;
    _Atomic uint32_t mode; /* written by start, stop and the fork handler */
    uint32_t mark_depth;   /* watched thread only, like the next */
    uintptr_t wait_frame;  /* stack address of the outermost wait under way; 0 if idle by a mark */
    _Atomic uint32_t *wake;
    void (*on_child)(void *context);
    void *context;
} gate;

/* initial-exec: a load from a fixed offset, without a call that might allocate. */
static __thread bool watched __attribute__((tls_model("initial-exec")));

static void after_fork_in_child(void)
{
    uint32_t mode = atomic_load_explicit(&gate.mode, memory_order_relaxed);

    watched = mode != MODE_OFF;
    atomic_store_explicit(&gate.mode, mode == MODE_OFF ? MODE_OFF : MODE_CHILD, memory_order_relaxed);
    atomic_store_explicit(&gate.asked, ASKED_NOTHING, memory_order_relaxed);
}

static void register_fork_handler(void)
{
    pthread_atfork(NULL, NULL, after_fork_in_child);
}

void mire__gate_start(_Atomic uint32_t *wake, void (*on_child)(void *context), void *context)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, register_fork_handler);
    gate.wake = wake;
    gate.on_child = on_child;
    gate.context = context;
    gate.mark_depth = 0;
    atomic_store(&gate.asked, ASKED_NOTHING);
    atomic_store(&gate.kind, 0);
    atomic_store(&gate.since_ns, mire__now_coarse_ns());
    atomic_store(&gate.turn, (atomic_load(&gate.turn) + 2) | 1);
    atomic_store(&gate.mode, MODE_ON);
    watched = true;
}

void mire__gate_stop(void)
{
    atomic_store(&gate.mode, MODE_OFF);
}

bool mire__gate_in_child(void)
{
    return atomic_load(&gate.mode) == MODE_CHILD;
}

void mire__gate_look(struct gate_view *out)
{
    uint64_t turn;

    do {
        turn = atomic_load(&gate.turn);
        out->since_ns = atomic_load(&gate.since_ns);
        out->end_ns = atomic_load(&gate.end_ns);
        out->kind = atomic_load(&gate.kind);
        out->turn = turn;
    } while (atomic_load(&gate.turn) != turn);
}

bool mire__gate_park(void)
{
    atomic_store(&gate.asked, ASKED_TURN);
    if ((atomic_load(&gate.turn) & 1) == 0)
        return true;
    atomic_store(&gate.asked, ASKED_NOTHING);
    return false;
}

bool mire__gate_watch_end(uint64_t turn)
{
    if (atomic_load(&gate.turn) != turn)
        return false;
    atomic_store(&gate.end_ns, 0);
    atomic_store(&gate.asked, ASKED_END);
    return atomic_load(&gate.turn) == turn;
}

void mire__gate_unwatch(void)
{
    atomic_store(&gate.asked, ASKED_NOTHING);
}

static void wake_checker(void)
{
    atomic_store(gate.wake, 1);
    mire__futex_wake(gate.wake);
}

static void become_idle(uint64_t turn, uint32_t kind)
{
    atomic_store_explicit(&gate.kind, kind, memory_order_relaxed);
    atomic_store(&gate.turn, (turn | 1) + 1);
    if (atomic_load(&gate.asked) == ASKED_END) {
        atomic_store(&gate.end_ns, mire__now_ns());
        atomic_store(&gate.asked, ASKED_NOTHING);
        wake_checker();
    }
}

static void become_busy(uint64_t turn, uint32_t kind)
{
    atomic_store_explicit(&gate.kind, kind, memory_order_relaxed);
    atomic_store_explicit(&gate.since_ns, mire__now_coarse_ns(), memory_order_relaxed);
    atomic_store(&gate.turn, (turn + 1) | 1);
    if (atomic_load(&gate.asked) == ASKED_TURN) {
        atomic_store(&gate.asked, ASKED_NOTHING);
        wake_checker();
    }
}

/* False if the gate is off. Starts anew in a forked child. */
static bool is_on(void)
{
    uint32_t mode = atomic_load_explicit(&gate.mode, memory_order_relaxed);

    if (mode == MODE_CHILD) {
        atomic_store(&gate.mode, MODE_OFF);
        if (gate.on_child)
            gate.on_child(gate.context);
        mode = atomic_load_explicit(&gate.mode, memory_order_relaxed);
    }
    return mode == MODE_ON;
}

bool mire__gate_as_wait_begin(void)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    uint64_t turn;

    if (!watched || !is_on())
        return false;
    turn = atomic_load_explicit(&gate.turn, memory_order_relaxed);
    /* Idle already: a handler polls inside a poll, if its frame lies further in. Else the handler left by longjmp. */
    if ((turn & 1) == 0 && frame < gate.wait_frame)
        return true;
    gate.wait_frame = frame;
    become_idle(turn, 1);
    return false;
}

void mire__gate_as_wait_end(bool nested)
{
    if (!watched || nested || atomic_load_explicit(&gate.mode, memory_order_relaxed) != MODE_ON)
        return;
    become_busy(atomic_load_explicit(&gate.turn, memory_order_relaxed), 1);
}

void mire__gate_as_mark_enter(void)
{
    uint64_t turn;

    if (!watched || !is_on())
        return;
    turn = atomic_load_explicit(&gate.turn, memory_order_relaxed);
    gate.mark_depth++;
    if (turn & 1) /* a turn inside a turn: progress all the same */
        become_idle(turn++, 2);
    become_busy(turn, 2);
}

void mire__gate_as_mark_leave(void)
{
    uint64_t turn;

    if (!watched || !is_on())
        return;
    turn = atomic_load_explicit(&gate.turn, memory_order_relaxed);
    if (gate.mark_depth > 0)
        gate.mark_depth--;
    gate.wait_frame = 0;
    become_idle(turn, 2);
    if (gate.mark_depth > 0)
        become_busy(atomic_load_explicit(&gate.turn, memory_order_relaxed), 2);
}
