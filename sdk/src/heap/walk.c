/* walk.c - see walk.h. Signal-safe. */
#include "heap/walk.h"

#include "heap/nodes.h"
#include "heap/tails.h"
#include "platform/arch.h"
#include "platform/platform.h"

#include <string.h>

/* Where the walk stands. */
struct place {
    uint64_t pc, sp, fp;
    uint64_t slot;
    uint64_t link; /* only where a signal stopped the thread */
    bool exact;    /* pc is where it stands, not where a call returns to */
    bool loose;    /* found by frame pointer where that says nothing of the stack pointer */
};

enum step { STEP_ON, STEP_END, STEP_BROKEN };

/* A word of a stack that is not the thread's own. */
static bool copy_word(uint64_t *out, struct walk *walk, uint64_t at)
{
    if (at < walk->window_at || at - walk->window_at + sizeof(*out) > walk->window_bytes) {
        walk->window_bytes = (uint32_t)mire__peek(walk->window, at, sizeof(walk->window));
        walk->window_at = at;
        if (walk->window_bytes < sizeof(*out))
            return false;
    }
    memcpy(out, walk->window + (at - walk->window_at), sizeof(*out));
    return true;
}

/* A word of the stack, at or outside of the frame that is stood in. */
MIRE_UNCHECKED static inline bool load(uint64_t *out, struct walk *walk, uint64_t at, uint64_t from, bool own)
{
    if (at % 8 != 0 || at < from)
        return false;
    if (!own)
        return copy_word(out, walk, at);
    if (at > walk->high - 8)
        return false;
    *out = mire__walk_word(at);
    return true;
}

/* Through a signal's frame to what it interrupted. */
MIRE_UNCHECKED static enum step step_by_signal(struct place *place, struct walk *walk, bool own)
{
    uint64_t context[MIRE_UCONTEXT_BYTES / 8];
    uint64_t at = place->sp + mire__arch.sigreturn_context;
    struct regs regs;

    for (size_t i = 0; i < MIRE_COUNT(context); i++) {
        if (!load(&context[i], walk, at + 8 * i, place->sp, own))
            return STEP_BROKEN;
    }
    mire__arch_as_regs(&regs, context);
    *place = (struct place){.pc = regs.pc,
                            .sp = regs.value[mire__arch.sp],
                            .fp = regs.value[mire__arch.fp],
                            .link = mire__arch.link == MIRE_NO_REG ? 0 : regs.value[mire__arch.link],
                            .exact = true};
    return STEP_ON;
}

MIRE_UNCHECKED static inline enum step step(struct place *place, struct walk *walk, const struct rule *rule,
                                            uint64_t floor, bool own)
{
    uint64_t cfa, ra, fp = place->fp;

    if (rule->kind == RULE_END)
        return STEP_END;
    if (rule->kind == RULE_SIGNAL)
        return step_by_signal(place, walk, own);
    if (rule->kind == RULE_NONE || (place->loose && !rule->from_fp))
        return STEP_BROKEN;
    cfa = (rule->from_fp ? place->fp : place->sp) + (uint64_t)(int64_t)rule->offset;
    if (rule->kind == RULE_CFA_AT) {
        if (!load(&cfa, walk, cfa, floor, own))
            return STEP_BROKEN;
        cfa += (uint64_t)(int64_t)rule->add;
    }
    if (rule->flags & MIRE_RULE_LINKED) {
        if (!place->exact || cfa < place->sp)
            return STEP_BROKEN;
        ra = place->link;
    } else if (cfa <= place->sp || !load(&ra, walk, cfa + (uint64_t)(int64_t)rule->ra_at, floor, own))
        return STEP_BROKEN;
    if (rule->fp == RULE_FP_AT_CFA && !load(&fp, walk, cfa + (uint64_t)(int64_t)rule->fp_at, floor, own))
        return STEP_BROKEN;
    if (rule->fp == RULE_FP_AT_BASE && !load(&fp, walk, place->fp + (uint64_t)(int64_t)rule->fp_at, floor, own))
        return STEP_BROKEN;
    place->slot = rule->flags & MIRE_RULE_LINKED ? 0 : cfa + (uint64_t)(int64_t)rule->ra_at;
    place->loose = (rule->flags & MIRE_RULE_GUESSED) && mire__arch.link != MIRE_NO_REG;
    place->exact = false;
    place->pc = ra;
    place->sp = cfa;
    place->fp = rule->fp == RULE_FP_LOST ? 0 : fp;
    return ra == 0 ? STEP_END : STEP_ON;
}

/* Of the remembered frames up to `last`, the innermost from which on everything further out still stands; -1: none. */
MIRE_UNCHECKED static int32_t verify(const struct walk *walk, int32_t last)
{
    int32_t good = 0;

    if (mire__walk_as_stands(walk, (uint32_t)last))
        return last;
    while (good < last && mire__walk_word(walk->frames[good].slot) == walk->frames[good].pc)
        good++;
    good--;
    for (uint32_t w = 0; w < walk->words_count && (int32_t)walk->words[w].frame <= good; w++) {
        if (mire__walk_word(walk->words[w].at) != walk->words[w].value)
            return (int32_t)walk->words[w].frame - 1;
    }
    return good;
}

/*
 * The nodes of the new frames, below that of the remembered one at `known`. Frames that are hidden have the node of the
 * next one further out. False: some have no node of their own.
 */
static bool find_nodes(struct walk *walk, struct heap *heap, int32_t known, uint32_t fresh_count)
{
    uint32_t parent = known >= 0 ? walk->nodes[known] : MIRE_NODE_ROOT, told = 0, left;
    bool all = true;

    for (uint32_t i = 0; i < fresh_count; i++) {
        if (!(walk->fresh[i].rule.flags & MIRE_RULE_HIDDEN))
            walk->places[told++] = walk->places[i];
    }
    walk->fresh_nodes[told] = parent;
    for (left = told; left > 0; left--) {
        uint32_t node = mire__nodes_as_child(heap, parent, walk->places[left - 1]);

        if (node == 0)
            break;
        walk->fresh_nodes[left - 1] = parent = node;
    }
    if (left > 0)
        all = mire__nodes_as_push(walk->fresh_nodes, heap, parent, walk->places, left);
    if (told < fresh_count) { /* spread them: from the outer end, so that none is overwritten before it is read */
        uint32_t at = told, node = walk->fresh_nodes[told];

        for (uint32_t i = fresh_count; i-- > 0;) {
            if (!(walk->fresh[i].rule.flags & MIRE_RULE_HIDDEN))
                node = walk->fresh_nodes[--at];
            walk->places[i] = node;
        }
        for (uint32_t i = 0; i < fresh_count; i++)
            walk->fresh_nodes[i] = (uint32_t)walk->places[i];
    }
    return all;
}

/* Forget the words that tell of frame `known` and of those inside of it. */
static void drop_words(struct walk *walk, int32_t known)
{
    while (walk->words_count > 0 && (int32_t)walk->words[walk->words_count - 1].frame >= known)
        walk->words_count--;
}

/* Beyond the last one they are counted only: then the stack is not remembered. */
static void remember_word(struct walk *walk, uint32_t frame, uint64_t at, uint64_t value)
{
    uint32_t i = walk->words_count++;

    if (i < MIRE_WALK_WORDS)
        walk->words[i] = (struct walk_word){.at = at, .value = value, .frame = frame};
}

/* Put the new frames in place of those inside of `known`. */
static void remember(struct walk *walk, int32_t known, uint32_t fresh_count)
{
    uint32_t i = (uint32_t)(known + 1);

    drop_words(walk, known);
    for (uint32_t left = fresh_count; left-- > 0; i++) {
        const struct rule *rule = &walk->fresh[left].rule;
        const struct walk_frame *frame = &walk->fresh[left].frame;

        if (i > 0 && rule->fp == RULE_FP_AT_CFA && walk->needs_fp[i - 1])
            remember_word(walk, i - 1, walk->frames[i - 1].sp + (uint64_t)(int64_t)rule->fp_at, walk->frames[i - 1].fp);
        if (i > 0 && rule->fp == RULE_FP_AT_BASE && walk->needs_fp[i - 1])
            remember_word(walk, i - 1, frame->fp + (uint64_t)(int64_t)rule->fp_at, walk->frames[i - 1].fp);
        if (i > 0 && rule->kind == RULE_CFA_AT)
            remember_word(walk, i - 1, (rule->from_fp ? frame->fp : frame->sp) + (uint64_t)(int64_t)rule->offset,
                          walk->frames[i - 1].sp - (uint64_t)(int64_t)rule->add);
        walk->needs_fp[i] = mire__rule_needs_fp(rule) || (rule->fp == RULE_FP_SAME && i > 0 && walk->needs_fp[i - 1]);
        walk->frames[i] = *frame;
        walk->nodes[i] = walk->fresh_nodes[left];
    }
    walk->count = i;
}

/* May the thread's next frame be believed, when it was come to by a guess? */
static bool is_plausible(struct code *code, const struct place *place)
{
    return mire__code_as_returns(code, mire__arch_bare(place->pc));
}

/* What a walk came to. */
struct way {
    int32_t known;        /* the innermost remembered frame that still stands, -1 none */
    uint32_t fresh_count; /* new frames inside of it */
    bool keeps;           /* may be remembered */
};

MIRE_UNCHECKED static inline __attribute__((always_inline)) struct way walk_out(struct walk *walk, struct code *code,
                                                                                struct place place, bool own)
{
    struct way way = {.known = own ? (int32_t)walk->count - 1 : -1, .keeps = own};
    const uint64_t floor = place.sp;
    int32_t good = MIRE_WALK_DEPTH; /* not looked at */
    enum step outcome = STEP_ON;

    while (outcome == STEP_ON) {
        struct rule *scratch = &walk->fresh[way.fresh_count].rule;
        const struct rule *rule;
        uint64_t at = mire__arch_bare(place.pc) - (place.exact ? 0 : 1);

        while (way.known >= 0 && walk->frames[way.known].sp < place.sp)
            way.known--;
        if (way.known >= 0 && !place.exact && !place.loose &&
            mire__walk_is_frame(walk, (uint32_t)way.known, place.pc, place.sp, place.fp)) {
            if (good == MIRE_WALK_DEPTH)
                good = verify(walk, way.known);
            if (way.known <= good) {
                if (way.fresh_count > 0)
                    walk->frames[way.known].slot = place.slot;
                return way;
            }
        }
        if (way.fresh_count == MIRE_WALK_DEPTH)
            return (struct way){-1, way.fresh_count, false};
        rule = place.exact ? mire__code_as_learn(code, scratch, at, true) : mire__code_as_rule(code, scratch, at);
        if (!rule)
            return (struct way){-1, way.fresh_count, false}; /* broken now, but maybe not the next time */
        if (rule != scratch)
            *scratch = *rule;
        walk->fresh[way.fresh_count].frame = (struct walk_frame){place.pc, place.sp, place.fp, place.slot};
        walk->places[way.fresh_count++] = at + (rule->kind == RULE_SIGNAL);
        way.keeps = way.keeps && rule->kind != RULE_SIGNAL && !place.loose;
        outcome = step(&place, walk, rule, floor, own);
        if (outcome == STEP_ON && (rule->flags & MIRE_RULE_GUESSED) && !is_plausible(code, &place)) {
            way.keeps = false;
            outcome = STEP_END;
        }
    }
    way.known = -1;
    return way;
}

/* The whole stack is what was remembered up to here. */
static uint32_t fall_back(struct walk *walk, int32_t known)
{
    if (known < 0)
        return MIRE_NODE_ROOT;
    walk->count = (uint32_t)known + 1;
    drop_words(walk, known);
    return walk->nodes[known];
}

MIRE_UNCHECKED static uint32_t walk_own(struct walk *walk, struct heap *heap, struct code *code, struct place place)
{
    struct way way = walk_out(walk, code, place, true);

    if (way.fresh_count == 0)
        return fall_back(walk, way.known);
    if (way.known + 1 + (int32_t)way.fresh_count > MIRE_WALK_DEPTH) { /* cut it where a walk to the end would */
        walk->count = walk->words_count = 0;
        way = walk_out(walk, code, place, true);
    }
    if (find_nodes(walk, heap, way.known, way.fresh_count) && way.keeps) {
        remember(walk, way.known, way.fresh_count);
        if (walk->words_count <= MIRE_WALK_WORDS)
            mire__tails_as_remember(walk);
        else
            walk->count = walk->words_count = 0;
    } else
        walk->count = walk->words_count = 0;
    return walk->fresh_nodes[0];
}

MIRE_UNCHECKED static __attribute__((noinline)) uint32_t walk_foreign(struct walk *walk, struct heap *heap,
                                                                      struct code *code, struct place place)
{
    struct way way;

    walk->window_bytes = 0;
    way = walk_out(walk, code, place, false);
    if (way.fresh_count == 0)
        return MIRE_NODE_ROOT;
    find_nodes(walk, heap, -1, way.fresh_count);
    return walk->fresh_nodes[0];
}

void mire__walk_as_forget(struct walk *walk, uint32_t version)
{
    walk->count = walk->words_count = 0;
    walk->version = version;
    mire__tails_as_forget(walk);
}

MIRE_UNCHECKED uint32_t mire__walk_as_node_else(struct walk *walk, struct heap *heap, struct code *code,
                                                const struct walk_frame *frame)
{
    const struct place place = {.pc = frame->pc, .sp = frame->sp, .fp = frame->fp};
    uint32_t version = atomic_load_explicit(&code->version, memory_order_acquire);

    if (walk->version != version)
        mire__walk_as_forget(walk, version);
    if (++walk->walks >= MIRE_WALK_TAIL_GROWTH || walk->met > walk->tails_mask / 4)
        mire__tails_as_grow(walk);
    if (place.sp < walk->low || place.sp >= walk->high)
        return walk_foreign(walk, heap, code, place);
    return walk_own(walk, heap, code, place);
}
