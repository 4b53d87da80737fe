/* tails.c - see tails.h. Signal-safe. */
#include "heap/tails.h"

/* Add a word to a tail. False: there is no room, or it lies too far out. */
static bool add_word(struct walk_tail *tail, uint64_t at, uint64_t value)
{
    uint64_t offset = at - tail->sp;

    if (tail->words_count == MIRE_WALK_TAIL_WORDS || at < tail->sp || offset > UINT16_MAX)
        return false;
    tail->offsets[tail->words_count] = (uint16_t)offset;
    tail->values[tail->words_count / 2][tail->words_count % 2] = value;
    tail->words_count++;
    return true;
}

/* The word in which a tail of the same innermost frame first differs from the stack as it stands: the head learns it.
 */
MIRE_UNCHECKED static bool learn_split(struct walk_head *head, const struct walk_tail *tail)
{
    for (uint32_t i = 0; i < tail->words_count && head->splits_count < MIRE_WALK_SPLITS; i++) {
        if (mire__walk_word(tail->sp + tail->offsets[i]) == tail->values[i / 2][i % 2])
            continue;
        for (uint32_t k = 0; k < head->splits_count; k++) {
            if (head->splits[k] == tail->offsets[i])
                return false;
        }
        head->splits[head->splits_count++] = tail->offsets[i];
        return true;
    }
    return false;
}

/* The innermost frame's head; there is one from now on. */
static struct walk_head *choose_head(struct walk *walk, const struct walk_frame *frame)
{
    struct walk_head *heads = mire__walk_heads(walk, frame->pc, frame->sp), *head;
    uint64_t hash = mire__walk_hash(frame->pc, frame->sp);

    for (uint32_t i = 0; i < 2; i++) {
        if (mire__walk_is_head(&heads[i], frame->pc, frame->sp))
            return &heads[i];
    }
    head = heads[0].pc == 0 ? &heads[0] : &heads[walk->next_way++ % 2];
    *head = (struct walk_head){.pc = frame->pc, .sp = frame->sp, .tails = (uint16_t)(hash & walk->tails_mask)};
    return head;
}

/*
 * A tail to be given up: the one that stands there already, for its base does not; else, once what tells it apart from
 * those of the same frame is learnt, a free one; else one after the other.
 */
MIRE_UNCHECKED static struct walk_tail *choose_tail(struct walk *walk, const struct walk_frame *frame)
{
    struct walk_head *head = choose_head(walk, frame);
    struct walk_tail *tails;

    tails = mire__walk_as_tails(walk, head);
    for (uint32_t way = 0; way < MIRE_WALK_TAIL_WAYS; way++) {
        if (mire__walk_as_tail_is(&tails[way], frame))
            return &tails[way];
    }
    for (uint32_t way = 0; way < MIRE_WALK_TAIL_WAYS; way++) {
        if (tails[way].pc == frame->pc && tails[way].sp == frame->sp && learn_split(head, &tails[way])) {
            tails = mire__walk_as_tails(walk, head);
            break;
        }
    }
    for (uint32_t way = 0; way < MIRE_WALK_TAIL_WAYS; way++) {
        if (tails[way].pc == 0)
            return &tails[way];
        walk->met += tails[way].pc != frame->pc || tails[way].sp != frame->sp;
    }
    return &tails[walk->next_way++ % MIRE_WALK_TAIL_WAYS];
}

/* Remember the last stack as a tail as well: from the innermost frame outwards, as far as there is room for words. */
void mire__tails_as_remember(struct walk *walk)
{
    uint32_t base = walk->count - 1, word = walk->words_count;
    const struct walk_frame *frame = &walk->frames[base];
    struct walk_tail *tail = choose_tail(walk, frame);

    tail->pc = 0;
    tail->sp = frame->sp;
    tail->fp = frame->fp;
    tail->needs_fp = walk->needs_fp[base];
    tail->node = walk->nodes[base];
    tail->words_count = 0;
    while (base > 0) {
        const struct walk_frame *outer = &walk->frames[base - 1];
        uint8_t count = tail->words_count;
        uint32_t left = word;
        bool fits = add_word(tail, outer->slot, outer->pc);

        while (fits && left > 0 && walk->words[left - 1].frame == base - 1) {
            left--;
            fits = add_word(tail, walk->words[left].at, walk->words[left].value);
        }
        if (!fits) {
            tail->words_count = count;
            break;
        }
        word = left;
        base--;
    }
    if (base + 1 == walk->count)
        return;
    while (tail->words_count % 4)
        add_word(tail, tail->sp + tail->offsets[0], tail->values[0][0]);
    tail->base_pc = walk->frames[base].pc;
    tail->base_sp = walk->frames[base].sp;
    tail->base_fp = walk->frames[base].fp;
    tail->base_at = (uint16_t)base;
    tail->base_node = walk->nodes[base];
    tail->pc = frame->pc;
}

/* So many sets from now on. Tails stay where they are; heads, which say where, are made anew. */
static void use_sets(struct walk *walk, uint32_t sets)
{
    for (uint32_t i = MIRE_WALK_HEADS - 1 - walk->heads_mask; i < MIRE_WALK_HEADS; i++)
        for (uint32_t k = 0; k < 2; k++)
            if (walk->heads[i][k].pc)
                walk->heads[i][k].pc = 0;
    walk->walks = walk->met = 0;
    walk->tails_mask = sets - 1;
    walk->heads_mask = (sets < MIRE_WALK_HEADS ? sets : MIRE_WALK_HEADS) - 1;
}

/* Nothing is stored to what was never used: it has no memory, and threads may be many. */
void mire__tails_as_forget(struct walk *walk)
{
    for (uint32_t set = 0; set <= walk->tails_mask; set++)
        for (uint32_t way = 0; way < MIRE_WALK_TAIL_WAYS; way++)
            if (walk->tails[set][way].pc)
                walk->tails[set][way].pc = 0;
    use_sets(walk, MIRE_WALK_TAIL_SETS_INIT);
}

void mire__tails_as_grow(struct walk *walk)
{
    static _Atomic uint32_t many;
    uint32_t sets = (walk->tails_mask + 1) * (walk->tails_mask < MIRE_WALK_TAIL_SETS_INIT ? 2 : 4);

    walk->walks = walk->met = 0;
    if (sets > MIRE_WALK_TAIL_SETS || walk->stays)
        return;
    if (sets > MIRE_WALK_TAIL_SETS_MANY && !walk->many) {
        if (atomic_load(&many) >= MIRE_WALK_MANY_MAX || atomic_fetch_add(&many, 1) >= MIRE_WALK_MANY_MAX)
            return;
        walk->many = true; /* whoever has the state after this thread as well */
    }
    use_sets(walk, sets);
}
