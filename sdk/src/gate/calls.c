/* calls.c - which waiting calls are a loop's: those that have slept. Signal-safe. */
#include "gate/state.h"

#include "platform/platform.h"

#define SLEPT_NS       50000 /* a wait this long has slept, or was interrupted, which does no harm once */
#define UNTRIED_MAX    63    /* of a loop that never sleeps so many waits are not timed between two that are */
#define FUNCTION_BYTES 4096  /* two calls of one function lie no further apart */

static void set_known(struct known_call *known, struct gate_call call)
{
    atomic_store_explicit(&known->frame, call.frame, memory_order_relaxed);
    atomic_store_explicit(&known->count, 1, memory_order_relaxed);
    atomic_store_explicit(&known->from, call.from, memory_order_release);
}

static struct gate_call call_of(const struct known_call *known)
{
    return (struct gate_call){atomic_load_explicit(&known->from, memory_order_acquire),
                              atomic_load_explicit(&known->frame, memory_order_relaxed)};
}

static inline bool is_free(const struct known_call *known)
{
    return atomic_load_explicit(&known->from, memory_order_relaxed) == 0;
}

/* No further in than the outermost call that has slept; or in the same function, which has several such calls. */
static bool lies_outside(const struct gate *gate, uint32_t row, struct gate_call call)
{
    struct gate_call known = call_of(&gate->known[row]);

    return (row == 0 && call.frame >= known.frame) ||
           (call.frame == known.frame && call.from - known.from + FUNCTION_BYTES < 2 * FUNCTION_BYTES);
}

bool mire__gate_as_counts(struct gate *gate, enum mire__wait_length length, struct gate_call call)
{
    bool any = false, outside = false;

    for (uint32_t row = 0; row < MIRE_KNOWN_CALLS && !is_free(&gate->known[row]); row++) {
        struct gate_call known = call_of(&gate->known[row]);

        if (known.from == call.from && known.frame == call.frame) {
            gate->usual = &gate->known[row];
            return true;
        }
        any = true;
        outside |= lies_outside(gate, row, call);
    }
    if (length != MIRE_WAIT_LONG && any && !outside)
        return false;
    gate->usual = NULL;
    if (length != MIRE_WAIT_LOOK && gate->untried-- == 0) {
        gate->untried = 0;
        gate->tried_ns = mire__now_ns();
    }
    return true;
}

void mire__gate_as_try_ends(struct gate *gate)
{
    struct gate_call call = {atomic_load_explicit(&gate->wait_from, memory_order_relaxed),
                             atomic_load_explicit(&gate->wait_frame, memory_order_relaxed)};
    uint64_t slept_ns = mire__now_ns() - gate->tried_ns;
    struct known_call *known = gate->known;
    uint32_t row = 0;

    gate->tried_ns = 0;
    if (slept_ns < SLEPT_NS) {
        gate->patience = gate->patience < UNTRIED_MAX ? 2 * gate->patience + 1 : UNTRIED_MAX;
        gate->untried = gate->patience;
        return;
    }
    gate->patience = 0;
    while (row < MIRE_KNOWN_CALLS && !is_free(&known[row]))
        row++;
    if (row == MIRE_KNOWN_CALLS)
        row = 1 + gate->replaced++ % (MIRE_KNOWN_CALLS - 1);
    if (row > 0 && call.frame > call_of(&known[0]).frame) {
        set_known(&known[row], call_of(&known[0]));
        row = 0;
    }
    set_known(&known[row], call);
    gate->usual = &known[row];
}

uint32_t mire__gate_calls(struct gate_call out[MIRE_KNOWN_CALLS], uint64_t counts[MIRE_KNOWN_CALLS], uint32_t lane)
{
    const struct known_call *known = mire__gates.lanes[lane].known;
    uint32_t count = 0;

    while (count < MIRE_KNOWN_CALLS && !is_free(&known[count])) {
        out[count] = call_of(&known[count]);
        counts[count] = atomic_load_explicit(&known[count].count, memory_order_relaxed);
        count++;
    }
    return count;
}
