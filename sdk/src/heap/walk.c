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

MIRE_UNCHECKED static __attribute__((noinline)) enum step step(struct place *place, struct walk *walk,
                                                               const struct rule *rule, uint64_t floor, bool own)
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

static bool is_told(const struct walk *walk, uint32_t fresh)
{
    return !(walk->fresh[fresh].rule.flags & MIRE_RULE_HIDDEN);
}

/* Add the nodes of the innermost `left` new frames below `parent`; as find_nodes. */
static __attribute__((noinline)) bool add_nodes(struct walk *walk, struct heap *heap, uint32_t parent, uint32_t left)
{
    uint32_t told = 0;
    bool all;

    for (uint32_t i = 0; i < left; i++) {
        if (is_told(walk, i))
            walk->places[told++] = walk->places[i];
    }
    all = mire__nodes_as_push(walk->fresh_nodes, heap, parent, walk->places, told);
    for (uint32_t i = left; i-- > 0;) { /* from the outer end, so that none is overwritten before it is read */
        if (is_told(walk, i))
            parent = walk->fresh_nodes[--told];
        walk->fresh_nodes[i] = parent;
    }
    return all;
}

/*
 * The nodes of the new frames, below that of the remembered one at `known`. Frames that are hidden have the node of the
 * next one further out. False: some have no node of their own.
 */
static bool find_nodes(struct walk *walk, struct heap *heap, int32_t known, uint32_t fresh_count)
{
    uint32_t parent = known >= 0 ? walk->nodes[known] : MIRE_NODE_ROOT;

    for (uint32_t left = fresh_count; left > 0; left--) {
        if (is_told(walk, left - 1)) {
            uint32_t node = mire__nodes_as_child(heap, parent, walk->places[left - 1]);

            if (node == 0)
                return add_nodes(walk, heap, parent, left);
            parent = node;
        }
        walk->fresh_nodes[left - 1] = parent;
    }
    return true;
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
    bool needs_fp = known >= 0 && walk->needs_fp[known];

    drop_words(walk, known);
    for (uint32_t left = fresh_count; left-- > 0; i++) {
        const struct rule *rule = &walk->fresh[left].rule;
        const struct walk_frame *frame = &walk->fresh[left].frame;

        if (needs_fp && rule->fp == RULE_FP_AT_CFA)
            remember_word(walk, i - 1, walk->frames[i - 1].sp + (uint64_t)(int64_t)rule->fp_at, walk->frames[i - 1].fp);
        if (needs_fp && rule->fp == RULE_FP_AT_BASE)
            remember_word(walk, i - 1, frame->fp + (uint64_t)(int64_t)rule->fp_at, walk->frames[i - 1].fp);
        if (i > 0 && rule->kind == RULE_CFA_AT)
            remember_word(walk, i - 1, (rule->from_fp ? frame->fp : frame->sp) + (uint64_t)(int64_t)rule->offset,
                          walk->frames[i - 1].sp - (uint64_t)(int64_t)rule->add);
        needs_fp = mire__rule_needs_fp(rule) || (rule->fp == RULE_FP_SAME && needs_fp);
        walk->needs_fp[i] = needs_fp;
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

/* How far a walk has come. */
struct way {
    struct place place;
    uint64_t floor;       /* where it began: nothing is read below */
    int32_t known;        /* the innermost remembered frame that may still be come to, -1 none */
    int32_t good;         /* the innermost that stands; MIRE_WALK_DEPTH: not looked at yet */
    uint32_t fresh_count; /* new frames inside of it */
    bool keeps;           /* may be remembered */
    bool ends;            /* at a frame that stands, or where there is no way on */
};

/* Has a remembered frame been come to that still stands, with all outside of it? */
MIRE_UNCHECKED MIRE_INLINE bool is_met(struct walk *walk, struct way *way, uint64_t pc, uint64_t sp, uint64_t fp)
{
    while (way->known >= 0 && walk->frames[way->known].sp < sp)
        way->known--;
    if (way->known < 0 || !mire__walk_is_frame(walk, (uint32_t)way->known, pc, sp, fp))
        return false;
    if (way->good == MIRE_WALK_DEPTH)
        way->good = verify(walk, way->known);
    return way->known <= way->good;
}

/* The place's rule, among the new frames; `at` is where it is looked up. NULL: it is not known now. */
MIRE_INLINE const struct rule *find_rule(struct walk *walk, struct code *code, uint32_t fresh, uint64_t at)
{
    struct rule *rule = &walk->fresh[fresh].rule;
    const struct rule *found = mire__code_as_rule(code, rule, at);

    if (found && found != rule)
        *rule = *found;
    return found ? rule : NULL;
}

/*
 * Go on as far as plain rules lead, on the thread's own stack and from where a call returns to: nearly always to the
 * end. It stops before a frame that takes another rule.
 */
MIRE_UNCHECKED MIRE_INLINE void go_plainly(struct walk *walk, struct code *code, struct way *way)
{
    const uint64_t floor = way->floor, room = walk->high - 8 - floor;
    uint64_t pc = way->place.pc, sp = way->place.sp, fp = way->place.fp, slot = way->place.slot;

    while (way->fresh_count < MIRE_WALK_DEPTH) {
        uint64_t at = mire__arch_bare(pc) - 1, cfa, ra;
        const struct rule *rule;

        if (is_met(walk, way, pc, sp, fp)) {
            way->ends = true;
            break;
        }
        rule = find_rule(walk, code, way->fresh_count, at);
        if (!rule || !(rule->flags & MIRE_RULE_PLAIN))
            break;
        walk->fresh[way->fresh_count].frame = (struct walk_frame){pc, sp, fp, slot};
        walk->places[way->fresh_count++] = at;
        cfa = (rule->from_fp ? fp : sp) + (uint64_t)(int64_t)rule->offset;
        ra = cfa + (uint64_t)(int64_t)rule->ra_at;
        way->ends = cfa <= sp || ra % 8 != 0 || ra - floor > room;
        if (!way->ends && rule->fp == RULE_FP_AT_CFA) {
            uint64_t saved = cfa + (uint64_t)(int64_t)rule->fp_at;

            way->ends = saved % 8 != 0 || saved - floor > room;
            fp = way->ends ? 0 : mire__walk_word(saved);
        }
        if (!way->ends)
            way->ends = (pc = mire__walk_word(ra)) == 0;
        sp = cfa;
        slot = ra;
        if (way->ends) {
            way->known = -1;
            break;
        }
    }
    way->place = (struct place){.pc = pc, .sp = sp, .fp = fp, .slot = slot};
}

/* One step, of whatever kind. */
MIRE_UNCHECKED static __attribute__((noinline)) void go_on(struct walk *walk, struct code *code, struct way *way,
                                                           bool own)
{
    struct place *place = &way->place;
    uint64_t at = mire__arch_bare(place->pc) - (place->exact ? 0 : 1);
    struct rule *scratch = &walk->fresh[way->fresh_count].rule;
    const struct rule *rule;
    enum step outcome;

    way->ends = true;
    if (!place->exact && !place->loose && is_met(walk, way, place->pc, place->sp, place->fp))
        return;
    if (way->fresh_count == MIRE_WALK_DEPTH || !(rule = place->exact ? mire__code_as_learn(code, scratch, at, true)
                                                                     : find_rule(walk, code, way->fresh_count, at))) {
        way->known = -1; /* of no rule now, maybe of one the next time */
        way->keeps = false;
        return;
    }
    if (rule != scratch)
        *scratch = *rule;
    walk->fresh[way->fresh_count].frame = (struct walk_frame){place->pc, place->sp, place->fp, place->slot};
    walk->places[way->fresh_count++] = at + (rule->kind == RULE_SIGNAL);
    way->keeps = way->keeps && rule->kind != RULE_SIGNAL && !place->loose;
    outcome = step(place, walk, scratch, way->floor, own);
    if (outcome == STEP_ON && (scratch->flags & MIRE_RULE_GUESSED) && !is_plausible(code, place)) {
        way->keeps = false;
        outcome = STEP_END;
    }
    way->ends = outcome != STEP_ON;
    if (way->ends)
        way->known = -1;
}

MIRE_UNCHECKED MIRE_INLINE struct way walk_out(struct walk *walk, struct code *code, const struct place *from, bool own)
{
    struct way way = {.place = *from,
                      .floor = from->sp,
                      .known = own ? (int32_t)walk->count - 1 : -1,
                      .good = MIRE_WALK_DEPTH,
                      .keeps = own};

    while (!way.ends) {
        if (own && !way.place.exact && !way.place.loose)
            go_plainly(walk, code, &way);
        if (!way.ends)
            go_on(walk, code, &way, own);
    }
    if (way.known >= 0 && way.fresh_count > 0)
        walk->frames[way.known].slot = way.place.slot;
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
    struct way way = walk_out(walk, code, &place, true);

    if (way.fresh_count == 0) {
        uint32_t node = fall_back(walk, way.known);

        if (node && !walk->rests)
            mire__tails_as_remember(walk);
        return node;
    }
    if (way.known + 1 + (int32_t)way.fresh_count > MIRE_WALK_DEPTH) { /* cut it where a walk to the end would */
        walk->count = walk->words_count = 0;
        way = walk_out(walk, code, &place, true);
    }
    if (find_nodes(walk, heap, way.known, way.fresh_count) && way.keeps) {
        remember(walk, way.known, way.fresh_count);
        if (walk->words_count > MIRE_WALK_WORDS)
            walk->count = walk->words_count = 0;
        else if (!walk->rests)
            mire__tails_as_remember(walk);
    } else
        walk->count = walk->words_count = 0;
    return walk->fresh_nodes[0];
}

MIRE_UNCHECKED static __attribute__((noinline)) uint32_t walk_foreign(struct walk *walk, struct heap *heap,
                                                                      struct code *code, struct place place)
{
    struct way way;

    walk->window_bytes = 0;
    way = walk_out(walk, code, &place, false);
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
    if (++walk->walks >= walk->trial || walk->met > walk->tails_mask / 4)
        mire__tails_as_review(walk);
    if (place.sp < walk->low || place.sp >= walk->high)
        return walk_foreign(walk, heap, code, place);
    return walk_own(walk, heap, code, place);
}
