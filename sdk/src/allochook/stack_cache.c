/* stack_cache.c - see stack_cache.h. Signal-safe. */
#include "allochook/stack_cache.h"

#include "heap/counters.h"
#include "platform/platform.h"

#include <string.h>

/* Where a tail, or a head, may lie: in two sets. */
#define PLACES (2 * MIRE_WALK_WAYS)

/* A tail's words on their way into it. */
struct words {
    uint32_t count;
    uint32_t at[MIRE_WALK_TAIL_WORDS];
    uint64_t values[MIRE_WALK_TAIL_WORDS];
};

/* Add a word; `at` in bytes from the tail's sp. False: there is no room, or it lies too far out. */
MIRE_INLINE bool add_word(struct words *words, uint64_t at, uint64_t value)
{
    if (words->count == MIRE_WALK_TAIL_WORDS || at > UINT16_MAX)
        return false;
    words->at[words->count] = (uint32_t)at;
    words->values[words->count++] = value;
    return true;
}

/* The place of a split among a head's; made if it is missing. MIRE_WALK_SPLITS: there is no room. */
static uint32_t place_split(struct walk_head *head, uint32_t offset)
{
    uint32_t at = 0, count = head->splits_count;

    while (at < count && head->splits[at] < offset)
        at++;
    if (at < count && head->splits[at] == offset)
        return at;
    if (count == MIRE_WALK_SPLITS)
        return count;
    memmove(&head->splits[at + 1], &head->splits[at], (count - at) * sizeof(head->splits[0]));
    memmove(&head->leads[at + 1], &head->leads[at], (count - at) * sizeof(head->leads[0]));
    head->splits[at] = (uint16_t)offset;
    head->leads[at] = 0;
    head->splits_count++;
    return at;
}

/*
 * The word in which a tail of the same innermost frame first differs from the stack as it stands: the head learns it.
 * Both depend on it, for all that is further in is the same; so what stands in the splits there leads to it.
 * Returns whether they are told apart now and were not.
 */
MIRE_UNCHECKED static bool learn_split(struct walk_head *head, const struct walk_tail *tail)
{
    uint32_t words = (tail->what & MIRE_TAIL_BYTES) / sizeof(struct walk_four) * 4, at;
    bool learnt;

    for (uint32_t i = 0; i < words; i++) {
        const struct walk_four *four = &tail->words[i / 4];
        uint32_t offset = four->at[i % 4], count = head->splits_count;

        if (mire__walk_word(tail->sp + offset) == four->values[i % 4 / 2][i % 2])
            continue;
        at = place_split(head, offset);
        if (at == MIRE_WALK_SPLITS)
            return false;
        learnt = head->splits_count > count;
        while (at-- > 0) {
            uint32_t lead = 1u << mire__walk_lead((uint32_t)mire__walk_word(head->sp + head->splits[at]));

            learnt |= !(head->leads[at] & lead);
            head->leads[at] |= lead;
        }
        return learnt;
    }
    return false;
}

static struct walk_head *head_place(struct walk *walk, uint32_t hash, uint32_t place)
{
    return &mire__walk_heads(walk, hash, place / MIRE_WALK_WAYS % 2)[place % MIRE_WALK_WAYS];
}

/* The innermost frame's head; there is one from now on. */
static struct walk_head *choose_head(struct walk *walk, const struct walk_frame *frame)
{
    const uint32_t hash = mire__walk_hash(frame->pc, frame->sp);
    struct walk_head *head = mire__walk_head(walk, frame->pc, frame->sp);
    uint32_t place = 0;

    if (head)
        return head;
    while (place < PLACES && head_place(walk, hash, place)->pc)
        place++;
    head = head_place(walk, hash, place < PLACES ? place : walk->next_way++);
    *head = (struct walk_head){.pc = frame->pc,
                               .sp = frame->sp,
                               .set = (uint16_t)(hash >> 8 & walk->tails_mask),
                               .other = (uint16_t)(hash >> 18 | 1)};
    return head;
}

/* The tails of the sets that an innermost frame's may be in, as the stack stands. */
static void find_places(struct walk_tail *places[PLACES], struct walk *walk, const struct walk_head *head)
{
    const uint32_t set = mire__walk_as_set(walk, head, head->sp), sets[] = {set, mire__walk_other_set(walk, head, set)};

    for (uint32_t i = 0; i < PLACES; i++)
        places[i] = &walk->tails[sets[i / MIRE_WALK_WAYS]][i % MIRE_WALK_WAYS];
}

/*
 * A tail to be given up: the one that stands there already, for its base does not; else, once what tells it apart from
 * those of the same frame is learnt, a free one; else one after the other.
 */
MIRE_UNCHECKED static struct walk_tail *choose_tail(struct walk *walk, const struct walk_frame *frame)
{
    struct walk_head *head = choose_head(walk, frame);
    struct walk_tail *places[PLACES];

    find_places(places, walk, head);
    for (uint32_t i = 0; i < PLACES; i++) {
        if (places[i]->what & MIRE_TAIL_BASED && mire__walk_as_tail_is(places[i], frame->pc, frame->sp, frame->fp))
            return places[i];
    }
    for (uint32_t i = 0; i < PLACES; i++) {
        if (places[i]->pc == frame->pc && places[i]->sp == frame->sp && learn_split(head, places[i])) {
            find_places(places, walk, head);
            break;
        }
    }
    for (uint32_t i = 0; i < PLACES; i++) {
        if (places[i]->pc == 0)
            return places[i];
        walk->met += places[i]->pc != frame->pc || places[i]->sp != frame->sp;
    }
    return places[walk->next_way++ % PLACES];
}

/*
 * What the last stack follows from: from the innermost frame outwards, as far as there is room.
 * Returns the base: the outermost frame that follows from these words.
 */
MIRE_INLINE uint32_t gather(struct words *words, const struct walk *walk)
{
    uint32_t base = walk->count - 1, left = walk->words_count, whole = 0;
    const uint64_t sp = walk->frames[base].sp;

    for (words->count = 0; base > 0; base--, whole = words->count) {
        const struct walk_frame *outer = &walk->frames[base - 1];
        bool fits = add_word(words, outer->slot - sp, outer->pc);

        for (; fits && left > 0 && walk->words[left - 1].frame == base - 1; left--)
            fits = add_word(words, walk->words[left - 1].at - sp, walk->words[left - 1].value);
        if (!fits)
            break;
    }
    for (words->count = whole; words->count % 4;)
        add_word(words, words->at[0], words->values[0]);
    return base;
}

/* Remember the last stack as a tail as well. */
void mire__tails_as_remember(struct walk *walk)
{
    const struct walk_frame *frame = &walk->frames[walk->count - 1];
    struct walk_tail *tail = choose_tail(walk, frame);
    struct words words;
    uint32_t base = gather(&words, walk);

    tail->pc = 0;
    if (words.count == 0)
        return;
    tail->sp = frame->sp;
    tail->fp = frame->fp;
    tail->node = walk->nodes[walk->count - 1];
    for (uint32_t i = 0; i < words.count; i += 4) {
        memcpy(tail->words[i / 4].at, &words.at[i], sizeof(tail->words[0].at));
        memcpy(tail->words[i / 4].values, &words.values[i], sizeof(tail->words[0].values));
    }
    tail->what = (uint16_t)(words.count / 4 * sizeof(struct walk_four) | (base > 0 ? MIRE_TAIL_BASED : 0) |
                            (walk->needs_fp[walk->count - 1] ? MIRE_TAIL_NEEDS_FP : 0));
    tail->base_pc = walk->frames[base].pc;
    tail->base_sp = walk->frames[base].sp;
    tail->base_fp = walk->frames[base].fp;
    tail->base_at = base;
    tail->base_node = walk->nodes[base];
    tail->line = (uint16_t)(((uintptr_t)tail - (uintptr_t)walk->tails) / MIRE_TAIL_LINE);
    tail->pc = frame->pc;
    mire__walk_learn(walk, tail);
}

MIRE_UNCHECKED uint32_t mire__walk_as_based(const struct walk *walk, const struct walk_tail *tail)
{
    bool stands = !(tail->what & MIRE_TAIL_BASED) ||
                  (tail->base_at < walk->count && walk->nodes[tail->base_at] == tail->base_node &&
                   mire__walk_is_frame(walk, tail->base_at, tail->base_pc, tail->base_sp, tail->base_fp) &&
                   mire__walk_as_standing(walk, tail->base_at) == tail->base_at);

    return stands ? tail->node : 0;
}

/* The thread's allocations, ever; the lower half of their number. */
static uint32_t count_calls(const struct walk *walk)
{
    int64_t count = 0;

    for (uint32_t i = 0; walk->slot && i < MIRE_HEAP_SIZES; i++)
        count += mire__slot_get(&walk->slot->counts[i].count);
    return (uint32_t)count;
}

static void begin_trial(struct walk *walk, uint32_t walks)
{
    walk->trial = walks;
    walk->walks = walk->met = 0;
    walk->calls = count_calls(walk);
}

static void look_at_heads(struct walk *walk)
{
    uint32_t sets = walk->tails_mask + 1;

    walk->heads_from = MIRE_WALK_HEADS - (sets < MIRE_WALK_HEADS ? sets : MIRE_WALK_HEADS);
}

/*
 * Let the pages come that lie between. They are looked at before they are stored to: each would come twice else, and
 * for the second time the kernel interrupts the processors of the program's other threads.
 */
static void claim_between(const void *from, const void *to)
{
    const uintptr_t begin = ((uintptr_t)from + 4095) & ~(uintptr_t)4095, end = (uintptr_t)to & ~(uintptr_t)4095;

    if (begin < end)
        mire__pages_claim((void *)begin, end - begin);
}

/* So many sets from now on. Tails stay where they are; heads, which say where, are made anew. */
static void use_sets(struct walk *walk, uint32_t sets)
{
    const uint32_t sets_before = walk->tails_mask + 1, heads_before = walk->heads_from;

    for (uint32_t i = walk->heads_from; i < MIRE_WALK_HEADS; i++)
        for (uint32_t k = 0; k < MIRE_WALK_WAYS; k++)
            if (walk->heads[i][k].pc)
                walk->heads[i][k].pc = 0;
    walk->tails_mask = sets - 1;
    look_at_heads(walk);
    begin_trial(walk, MIRE_WALK_TAIL_GROWTH);
    if (sets > sets_before) {
        claim_between(walk->tails[sets_before], walk->tails[sets]);
        claim_between(walk->heads[walk->heads_from], walk->heads[heads_before]);
    }
}

/* Forget all, and use so many sets. Nothing is stored to what was never used: it has no memory. */
static void begin_anew(struct walk *walk, uint32_t sets)
{
    for (uint32_t set = 0; set <= walk->tails_mask; set++)
        for (uint32_t way = 0; way < MIRE_WALK_WAYS; way++)
            if (walk->tails[set][way].pc)
                walk->tails[set][way].pc = 0;
    /* What is expected is the first tail, again and again: no other line of the cache is looked at until one is found.
     */
    memset(walk->by_depth, 0, sizeof(walk->by_depth));
    walk->next = walk->tails[0];
    walk->order = walk->next->next;
    walk->last = 0;
    walk->rests = false;
    use_sets(walk, sets);
}

void mire__tails_as_forget(struct walk *walk)
{
    begin_anew(walk, MIRE_WALK_TAIL_SETS_INIT);
}

static bool grow(struct walk *walk)
{
    static _Atomic uint32_t many;
    uint32_t sets = (walk->tails_mask + 1) * (walk->tails_mask < MIRE_WALK_TAIL_SETS_INIT ? 2 : 4);

    if (walk->stays || walk->tails_mask + 1 == MIRE_WALK_TAIL_SETS)
        return false;
    if (sets > MIRE_WALK_TAIL_SETS)
        sets = MIRE_WALK_TAIL_SETS;
    if (sets > MIRE_WALK_TAIL_SETS_MANY && !walk->many) {
        if (atomic_load(&many) >= MIRE_WALK_MANY_MAX || atomic_fetch_add(&many, 1) >= MIRE_WALK_MANY_MAX)
            return false;
        walk->many = true; /* whoever has the state after this thread as well */
    }
    use_sets(walk, sets);
    return true;
}

/* Only the last set of heads is looked at, and it is empty as all of them. */
static void rest(struct walk *walk)
{
    begin_anew(walk, walk->tails_mask + 1);
    walk->rests = true;
    walk->heads_from = MIRE_WALK_HEADS - 1;
    if (walk->rest == 0)
        walk->rest = MIRE_WALK_REST_FIRST;
    else if (walk->rest < MIRE_WALK_REST)
        walk->rest *= 2;
    begin_trial(walk, walk->rest);
}

/* Were two calls in three done without a walk? In sampled mode there are more walks than calls that are counted. */
static bool is_worth_it(const struct walk *walk)
{
    const uint32_t calls = count_calls(walk) - walk->calls;

    return calls < MIRE_WALK_TRIAL || calls >= MIRE_WALK_TRIAL * MIRE_WALK_TRIAL_CALLS;
}

void mire__tails_as_review(struct walk *walk)
{
    bool judged = walk->trial == MIRE_WALK_TRIAL;

    if (!walk->rests && grow(walk))
        return;
    walk->met = 0;
    if (walk->walks < walk->trial)
        return;
    if (judged && !is_worth_it(walk)) {
        rest(walk);
        return;
    }
    if (judged)
        walk->rest = 0;
    look_at_heads(walk);
    begin_trial(walk, walk->rests ? MIRE_WALK_WARMING : MIRE_WALK_TRIAL);
    walk->rests = false;
}
