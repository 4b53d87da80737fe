/* rate_limiter.c - see rate_limiter.h. */
#include "capture/rate_limiter.h"

#include <string.h>

#define WAIT_MAX 987u /* units; the last Fibonacci number used: 16 hours of minutes */

/* Events without a stack are distinguished by their duration, in powers of two. */
static uint64_t length_class(const struct event *event)
{
    uint64_t ms = mire__event_duration_ns(event) / MIRE_NS_PER_MS, doublings = 1;

    for (; ms > 1; ms /= 2)
        doublings++;
    return doublings;
}

static uint64_t number_of(const struct event *event, const struct stack_signature *signature)
{
    uint64_t without_stack = signature->deepest == 0 ? length_class(event) : 0;

    return mire__signature_number(signature, without_stack << 8 | (uint64_t)event->trigger << 1 | event->launch);
}

static struct limited_stack *find(struct rate_limiter *limiter, const struct event *event,
                                  const struct stack_signature *signature)
{
    for (size_t i = 0; i < MIRE_RATE_LIMITER_STACKS; i++) {
        struct limited_stack *stack = &limiter->stacks[i];

        if (stack->number != 0 && stack->trigger == event->trigger && stack->launch == (event->launch != 0) &&
            mire__signature_same(&stack->signature, signature))
            return stack;
    }
    return NULL;
}

/* A free row, or the row of the least recently seen stack. */
static struct limited_stack *make_room(struct rate_limiter *limiter)
{
    struct limited_stack *oldest = &limiter->stacks[0];

    for (size_t i = 0; i < MIRE_RATE_LIMITER_STACKS; i++) {
        struct limited_stack *stack = &limiter->stacks[i];

        if (stack->number == 0)
            return stack;
        if (stack->seen_ns < oldest->seen_ns)
            oldest = stack;
    }
    return oldest;
}

static void note_first(struct rate_limiter *limiter, uint64_t number, const struct event *event,
                       const struct stack_signature *signature, uint64_t now_ns)
{
    *make_room(limiter) = (struct limited_stack){.number = number,
                                                 .seen_ns = now_ns,
                                                 .sent_ns = now_ns,
                                                 .longest_ns = mire__event_duration_ns(event),
                                                 .wait = 1,
                                                 .next = 1,
                                                 .trigger = event->trigger,
                                                 .launch = event->launch != 0,
                                                 .signature = *signature};
}

static void lengthen_wait(struct limited_stack *stack)
{
    uint32_t wait = stack->next;

    if (wait >= WAIT_MAX)
        return;
    stack->next += stack->wait;
    stack->wait = wait;
}

static enum mire__verdict come_again(struct limited_stack *stack, uint64_t duration_ns, uint64_t now_ns,
                                     uint64_t unit_ns)
{
    bool much_longer = stack->longest_ns > 0 && duration_ns / 2 >= stack->longest_ns;

    stack->seen_ns = now_ns;
    if (!much_longer && now_ns - stack->sent_ns < stack->wait * unit_ns) {
        stack->held++;
        return MIRE_VERDICT_SUPPRESSED;
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

enum mire__verdict mire__rate_limiter_wait(uint64_t *number_out, struct rate_limiter *limiter,
                                           const struct event *event, const struct stack_signature *signature,
                                           uint64_t now_ns, const struct capture_settings *settings)
{
    struct limited_stack *stack = find(limiter, event, signature);

    *number_out = limiter->judged = stack ? stack->number : number_of(event, signature);
    if (settings->suppress_ms == 0 || event->trigger == MIRE_TRIGGER_CALL || event->trigger == MIRE_TRIGGER_TEST)
        return MIRE_VERDICT_SEND;
    if (stack)
        return come_again(stack, mire__event_duration_ns(event), now_ns, settings->suppress_ms * MIRE_NS_PER_MS);
    if (signature->sure > 0)
        note_first(limiter, *number_out, event, signature, now_ns);
    return MIRE_VERDICT_SEND;
}

static enum mire__verdict ask_ledger(struct suppressed_fact *held_out, struct store *store, uint64_t number,
                                     const struct stack_signature *signature, uint64_t wall_ms,
                                     const struct capture_settings *settings)
{
    bool is_short = signature->deepest > 0 && signature->deepest < settings->depth_least;
    struct store_held held;
    enum mire_err err = mire__store_stack_send(&held, store, number, wall_ms, is_short ? 1 : settings->daily_cap);

    *held_out = (struct suppressed_fact){.count = held.count, .duration_ms = held.duration_ms};
    if (err != MIRE_E_FULL)
        return MIRE_VERDICT_SEND;
    return is_short ? MIRE_VERDICT_SHORT : MIRE_VERDICT_DAILY;
}

enum mire__verdict mire__rate_limiter_judge(struct suppressed_fact *held_out, struct rate_limiter *limiter,
                                            struct store *store, const struct event *event,
                                            const struct stack_signature *signature, uint64_t now_ns, uint64_t wall_ms,
                                            const struct capture_settings *settings)
{
    static const enum store_reason reasons[] = {[MIRE_VERDICT_SHORT] = MIRE_DROP_SHORT,
                                                [MIRE_VERDICT_SUPPRESSED] = MIRE_DROP_SUPPRESSED,
                                                [MIRE_VERDICT_DAILY] = MIRE_DROP_DAILY};
    const struct store_held one = {1, mire__event_duration_ns(event) / MIRE_NS_PER_MS};
    enum mire__verdict verdict;
    uint64_t number;

    memset(held_out, 0, sizeof(*held_out));
    if (event->trigger == MIRE_TRIGGER_TEST)
        return MIRE_VERDICT_SEND;
    verdict = mire__rate_limiter_wait(&number, limiter, event, signature, now_ns, settings);
    if (verdict == MIRE_VERDICT_SEND)
        verdict = ask_ledger(held_out, store, number, signature, wall_ms, settings);
    if (verdict == MIRE_VERDICT_SEND)
        return verdict;
    mire__store_stack_hold(store, number, wall_ms, &one);
    mire__store_count_drop(store, reasons[verdict]);
    return verdict;
}

void mire__rate_limiter_undo(const struct rate_limiter *limiter, struct store *store, const struct event *event,
                             uint64_t wall_ms)
{
    const struct store_held all = {1 + event->suppressed.count,
                                   event->suppressed.duration_ms + mire__event_duration_ns(event) / MIRE_NS_PER_MS};

    mire__store_stack_hold(store, limiter->judged, wall_ms, &all);
}
