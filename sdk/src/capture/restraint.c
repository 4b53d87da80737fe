/* restraint.c - see restraint.h. */
#include "capture/restraint.h"

#include <string.h>

#define WAIT_MAX 987u /* units; the row of Fibonacci numbers ends here: 16 hours of minutes */

/* Records without a stack are told apart by how long they lasted, in powers of two. */
static uint64_t length_class(const struct hang *hang)
{
    uint64_t ms = mire__hang_duration_ns(hang) / MIRE_NS_PER_MS, doublings = 1;

    for (; ms > 1; ms /= 2)
        doublings++;
    return doublings;
}

static uint64_t number_of(const struct hang *hang, const struct spine *spine)
{
    uint64_t without_stack = spine->deepest == 0 ? length_class(hang) : 0;

    return mire__spine_number(spine, without_stack << 8 | (uint64_t)hang->trigger << 1 | hang->launch);
}

static struct restraint_stack *find(struct restraint *restraint, const struct hang *hang, const struct spine *spine)
{
    for (size_t i = 0; i < MIRE_RESTRAINT_STACKS; i++) {
        struct restraint_stack *stack = &restraint->stacks[i];

        if (stack->number != 0 && stack->trigger == hang->trigger && stack->launch == (hang->launch != 0) &&
            mire__spine_same(&stack->spine, spine))
            return stack;
    }
    return NULL;
}

/* A free row, or that of the stack not seen for longest. */
static struct restraint_stack *make_room(struct restraint *restraint)
{
    struct restraint_stack *oldest = &restraint->stacks[0];

    for (size_t i = 0; i < MIRE_RESTRAINT_STACKS; i++) {
        struct restraint_stack *stack = &restraint->stacks[i];

        if (stack->number == 0)
            return stack;
        if (stack->seen_ns < oldest->seen_ns)
            oldest = stack;
    }
    return oldest;
}

static void note_first(struct restraint *restraint, uint64_t number, const struct hang *hang, const struct spine *spine,
                       uint64_t now_ns)
{
    *make_room(restraint) = (struct restraint_stack){.number = number,
                                                     .seen_ns = now_ns,
                                                     .sent_ns = now_ns,
                                                     .longest_ns = mire__hang_duration_ns(hang),
                                                     .wait = 1,
                                                     .next = 1,
                                                     .trigger = hang->trigger,
                                                     .launch = hang->launch != 0,
                                                     .spine = *spine};
}

static void lengthen_wait(struct restraint_stack *stack)
{
    uint32_t wait = stack->next;

    if (wait >= WAIT_MAX)
        return;
    stack->next += stack->wait;
    stack->wait = wait;
}

static enum mire__verdict come_again(struct restraint_stack *stack, uint64_t duration_ns, uint64_t now_ns,
                                     uint64_t unit_ns)
{
    bool much_longer = stack->longest_ns > 0 && duration_ns / 2 >= stack->longest_ns;

    stack->seen_ns = now_ns;
    if (!much_longer && now_ns - stack->sent_ns < stack->wait * unit_ns) {
        stack->held++;
        return MIRE_VERDICT_ANNEALED;
    }
    if (now_ns - stack->sent_ns >= stack->wait * unit_ns) {
        if (stack->held > 0)
            lengthen_wait(stack);
        else
            stack->wait = stack->next = 1;
    }
    stack->sent_ns = now_ns;
    stack->held = 0;
    if (duration_ns > stack->longest_ns)
        stack->longest_ns = duration_ns;
    return MIRE_VERDICT_SEND;
}

enum mire__verdict mire__restraint_wait(uint64_t *number_out, struct restraint *restraint, const struct hang *hang,
                                        const struct spine *spine, uint64_t now_ns,
                                        const struct capture_settings *settings)
{
    struct restraint_stack *stack = find(restraint, hang, spine);

    *number_out = restraint->judged = stack ? stack->number : number_of(hang, spine);
    if (settings->anneal_ms == 0 || hang->trigger == MIRE_TRIGGER_CALL || hang->trigger == MIRE_TRIGGER_TEST)
        return MIRE_VERDICT_SEND;
    if (stack)
        return come_again(stack, mire__hang_duration_ns(hang), now_ns, settings->anneal_ms * MIRE_NS_PER_MS);
    if (spine->sure > 0)
        note_first(restraint, *number_out, hang, spine, now_ns);
    return MIRE_VERDICT_SEND;
}

static enum mire__verdict ask_ledger(struct annealed_fact *held_out, struct store *store, uint64_t number,
                                     const struct spine *spine, uint64_t wall_ms,
                                     const struct capture_settings *settings)
{
    bool is_short = spine->deepest > 0 && spine->deepest < settings->depth_least;
    struct store_held held;
    enum mire_err err = mire__store_stack_send(&held, store, number, wall_ms, is_short ? 1 : settings->daily_cap);

    *held_out = (struct annealed_fact){.count = held.count, .duration_ms = held.duration_ms};
    if (err != MIRE_E_FULL)
        return MIRE_VERDICT_SEND;
    return is_short ? MIRE_VERDICT_SHORT : MIRE_VERDICT_DAILY;
}

enum mire__verdict mire__restraint_judge(struct annealed_fact *held_out, struct restraint *restraint,
                                         struct store *store, const struct hang *hang, const struct spine *spine,
                                         uint64_t now_ns, uint64_t wall_ms, const struct capture_settings *settings)
{
    static const enum store_reason reasons[] = {[MIRE_VERDICT_SHORT] = MIRE_DROP_SHORT,
                                                [MIRE_VERDICT_ANNEALED] = MIRE_DROP_ANNEALED,
                                                [MIRE_VERDICT_DAILY] = MIRE_DROP_DAILY};
    const struct store_held one = {1, mire__hang_duration_ns(hang) / MIRE_NS_PER_MS};
    enum mire__verdict verdict;
    uint64_t number;

    memset(held_out, 0, sizeof(*held_out));
    if (hang->trigger == MIRE_TRIGGER_TEST)
        return MIRE_VERDICT_SEND;
    verdict = mire__restraint_wait(&number, restraint, hang, spine, now_ns, settings);
    if (verdict == MIRE_VERDICT_SEND)
        verdict = ask_ledger(held_out, store, number, spine, wall_ms, settings);
    if (verdict == MIRE_VERDICT_SEND)
        return verdict;
    mire__store_stack_hold(store, number, wall_ms, &one);
    mire__store_count_drop(store, reasons[verdict]);
    return verdict;
}

void mire__restraint_undo(const struct restraint *restraint, struct store *store, const struct hang *hang,
                          uint64_t wall_ms)
{
    const struct store_held all = {1 + hang->annealed.count,
                                   hang->annealed.duration_ms + mire__hang_duration_ns(hang) / MIRE_NS_PER_MS};

    mire__store_stack_hold(store, restraint->judged, wall_ms, &all);
}
