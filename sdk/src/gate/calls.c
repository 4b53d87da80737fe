/* calls.c - decides which waiting calls belong to a loop: the calls that have slept. Signal-safe. */
#include "gate/state.h"

#include "platform/platform.h"

/*
 * SLEPT_NS       a wait this long has slept, or was interrupted, which does no harm once
 * RESTED_NS      the same for a call deeper than the loop's: an inner loop has rested, not a slow server
 * UNTRIED_MAX    number of untimed waits between two timed ones, in a loop that never sleeps
 * OFTEN          a wait of this count belongs to a loop, not to a connection: a turn may ask ASKED_MAX times
 * SEVERAL        a wait of this count probably belongs to a loop: a turn after the wait may ask ASKED_FEW times
 * FUNCTION_BYTES largest distance of two calls in one function
 */
#define SLEPT_NS       50000
#define RESTED_NS      (20 * MIRE_NS_PER_MS)
#define UNTRIED_MAX    63
#define OFTEN          50
#define ASKED_MAX      64
#define SEVERAL        8
#define ASKED_FEW      16
#define FUNCTION_BYTES 4096

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

/*
 * The number of questions that are allowed in the loop's work after this call, if the call belongs to a loop. A loop
 * deeper in the stack, which finds something each time, begins its turns at its own waits.
 */
static uint32_t questions_of(const struct gate *gate, const struct known_call *known)
{
    uint64_t count = atomic_load_explicit(&known->count, memory_order_relaxed);
    struct gate_call call = call_of(known);

    if (count >= OFTEN)
        return ASKED_MAX;
    return count >= SEVERAL && atomic_load_explicit(&gate->wait_from, memory_order_relaxed) == call.from &&
                   atomic_load_explicit(&gate->wait_frame, memory_order_relaxed) == call.frame
               ? ASKED_FEW
               : 0;
}

/* Is the call no deeper than the outermost call that has slept, or in the same function, which has several such calls? */
static bool lies_outside(const struct gate *gate, uint32_t row, struct gate_call call)
{
    struct gate_call known = call_of(&gate->known[row]);

    return (row == 0 && call.frame >= known.frame) ||
           (call.frame == known.frame && call.from - known.from + FUNCTION_BYTES < 2 * FUNCTION_BYTES);
}

/*
 * May a long wait deeper than the loop's be a question of the work that is answered at once? A known outer loop allows
 * some questions in a turn. Without an outer loop, the second question from one place may be the loop itself, which
 * finds something each time.
 */
static bool may_ask(struct asked_calls *deep, struct gate_call call, uint64_t turn, uint32_t questions)
{
    if (deep->turn != turn)
        *deep = (struct asked_calls){.turn = turn};
    if (questions > 0)
        return deep->count++ < questions;
    for (uint32_t i = 0; i < deep->count && i < MIRE_ASKED_CALLS; i++) {
        if (deep->calls[i].from == call.from && deep->calls[i].frame == call.frame)
            return false;
    }
    if (deep->count >= MIRE_ASKED_CALLS)
        return false;
    deep->calls[deep->count++] = call;
    return true;
}

enum mire__wait mire__gate_as_counts(struct gate *gate, enum mire__wait_length length, struct gate_call call,
                                     uint64_t turn)
{
    bool any = false, outside = false;
    uint32_t questions = 0;

    for (uint32_t row = 0; row < MIRE_KNOWN_CALLS && !is_free(&gate->known[row]); row++) {
        struct gate_call known = call_of(&gate->known[row]);

        if (known.from == call.from && known.frame == call.frame) {
            gate->usual = &gate->known[row];
            return MIRE_WAIT_COUNTS;
        }
        any = true;
        outside |= lies_outside(gate, row, call);
        if (call.frame < known.frame) {
            uint32_t allowed = questions_of(gate, &gate->known[row]);

            questions = allowed > questions ? allowed : questions;
        }
    }
    if (any && !outside) {
        if (length == MIRE_WAIT_SHORT || length == MIRE_WAIT_LOOK)
            return MIRE_WAIT_NESTED;
        if (length == MIRE_WAIT_LONG && (turn & 1) && may_ask(&gate->deep, call, turn, questions))
            return MIRE_WAIT_ASKS;
    }
    gate->usual = NULL;
    if (length == MIRE_WAIT_ASKED)
        gate->untried = 0;
    if (length != MIRE_WAIT_LOOK && gate->untried-- == 0) {
        gate->untried = 0;
        gate->tried_ns = mire__now_ns();
    }
    return MIRE_WAIT_COUNTS;
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
    if (slept_ns < RESTED_NS && !is_free(&known[0]) && call.frame < call_of(&known[0]).frame)
        return;
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
