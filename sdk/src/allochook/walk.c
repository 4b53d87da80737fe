/* walk.c - see walk.h. Signal-safe. */
#include "allochook/walk.h"

#include "allochook/stack_cache.h"
#include "heap/stacks.h"
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

/* 0 if the word still holds the return address that was found there. */
MIRE_UNCHECKED MIRE_INLINE uint64_t change_of(const struct walk_frame *frame)
{
    return mire__walk_word(frame->slot) ^ frame->pc;
}

MIRE_UNCHECKED MIRE_INLINE uint64_t change_of_four(const struct walk_frame *four)
{
    return change_of(four) | change_of(four + 1) | change_of(four + 2) | change_of(four + 3);
}

MIRE_UNCHECKED uint32_t mire__walk_as_standing(const struct walk *walk, uint32_t last)
{
    const struct walk_frame *frames = walk->frames;
    uint64_t changed = 0;
    uint32_t i = 0;

    /* Nearly always all of them stand, so it is not looked which before one does not. The last four overlap. */
    if (last >= 4) {
        for (; i + 4 < last; i += 4)
            changed |= change_of_four(frames + i);
        changed |= change_of_four(frames + last - 4);
        i = changed ? 0 : last;
    }
    while (i < last && !change_of(frames + i))
        i++;
    for (uint32_t w = 0; w < walk->words_count && walk->words[w].frame < i; w++) {
        if (mire__walk_word(walk->words[w].at) != walk->words[w].value)
            return walk->words[w].frame;
    }
    return i;
}

/* Add the nodes of the innermost `left` new frames below `parent`; as find_nodes. */
static __attribute__((noinline)) bool add_nodes(struct walk *walk, struct heap *heap, uint32_t parent, uint32_t left)
{
    bool all = true;

    while (left-- > 0) {
        struct walk_fresh *fresh = &walk->fresh[left];

        if (all && !(fresh->rule.flags & MIRE_RULE_HIDDEN))
            all = mire__nodes_as_push(&parent, heap, parent, &fresh->place, 1);
        fresh->node = parent;
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

/*
 * The words, besides its return address, that lead from the new frame `inner` to the remembered one at `outer`.
 *   needs_fp  does the way out of that one depend on its frame pointer?
 * Returns the same of the new frame.
 */
static bool remember_words(struct walk *walk, const struct walk_fresh *inner, int32_t outer, bool needs_fp)
{
    const struct rule brief = mire__rule_of_brief(inner->brief), *rule = inner->brief ? &brief : &inner->rule;
    const struct walk_frame *frame = &inner->frame;

    if (outer >= 0) {
        const struct walk_frame *to = &walk->frames[outer];

        if (needs_fp && rule->fp == RULE_FP_AT_CFA)
            remember_word(walk, (uint32_t)outer, to->sp + (uint64_t)(int64_t)rule->fp_at, to->fp);
        if (needs_fp && rule->fp == RULE_FP_AT_BASE)
            remember_word(walk, (uint32_t)outer, frame->fp + (uint64_t)(int64_t)rule->fp_at, to->fp);
        if (rule->kind == RULE_CFA_AT)
            remember_word(walk, (uint32_t)outer,
                          (rule->from_fp ? frame->fp : frame->sp) + (uint64_t)(int64_t)rule->offset,
                          to->sp - (uint64_t)(int64_t)rule->add);
    }
    return mire__rule_needs_fp(rule) || (rule->fp == RULE_FP_SAME && needs_fp);
}

/*
 * Where it is kept which remembered frame has a stack pointer. Stacks are aligned to sixteen bytes. Where two frames
 * meet in one place, the walk goes on past the one that lost it to the next further out: the answer is the same.
 */
MIRE_INLINE uint32_t by_sp(uint64_t sp)
{
    return (uint32_t)(sp >> 4) % MIRE_WALK_BY_SP;
}

/* Remember a new frame as that of number `i`. needs_fp: as remember_words, of the one outside of it; and of this one */
MIRE_INLINE void remember(struct walk *walk, const struct walk_fresh *fresh, uint32_t i, bool *needs_fp)
{
    if (*needs_fp || !(fresh->rule.flags & MIRE_RULE_BY_SP))
        *needs_fp = remember_words(walk, fresh, (int32_t)i - 1, *needs_fp);
    walk->needs_fp[i] = *needs_fp;
    walk->frames[i] = fresh->frame;
    walk->by_sp[by_sp(fresh->frame.sp)] = (uint8_t)i;
    walk->nodes[i] = fresh->node;
}

/*
 * The nodes of the new frames, below that of the remembered one at `known`. Frames that are hidden have the node of the
 * next one further out.
 *   keeps  they are remembered in place of those inside of `known`
 * False: some have no node of their own.
 */
MIRE_INLINE bool find_nodes(struct walk *walk, struct heap *heap, int32_t known, uint32_t fresh_count, bool keeps)
{
    uint32_t parent = known >= 0 ? walk->nodes[known] : MIRE_NODE_ROOT, i = (uint32_t)(known + 1), left = fresh_count;
    bool needs_fp = known >= 0 && walk->needs_fp[known], all = true;

    if (keeps)
        drop_words(walk, known);
    for (; left > 0; left--, i++) {
        struct walk_fresh *fresh = &walk->fresh[left - 1];

        if (!(fresh->rule.flags & MIRE_RULE_HIDDEN)) {
            uint32_t node = mire__nodes_as_child(heap, parent, fresh->place);

            if (__builtin_expect(node == 0, 0)) {
                all = add_nodes(walk, heap, parent, left);
                break;
            }
            parent = node;
        }
        fresh->node = parent;
        if (keeps)
            remember(walk, fresh, i, &needs_fp);
    }
    for (; keeps && left > 0; left--, i++)
        remember(walk, &walk->fresh[left - 1], i, &needs_fp);
    if (keeps)
        walk->count = i;
    return all;
}

static __attribute__((noinline)) void find_nodes_only(struct walk *walk, struct heap *heap, int32_t known,
                                                      uint32_t fresh_count)
{
    find_nodes(walk, heap, known, fresh_count, false);
}

/* May the thread's next frame be believed, when it was come to by a guess? */
static bool is_plausible(struct code *code, const struct place *place)
{
    return mire__code_as_returns(code, mire__arch_bare(place->pc));
}

/* Does a word lie there that may be read? Aligned words are counted from `base` on. */
MIRE_INLINE bool is_within(uint64_t at, uint64_t base, uint64_t words)
{
    uint64_t bytes = at - base;

    return (bytes >> 3 | bytes << 61) <= words;
}

/* How far a walk has come. */
struct way {
    struct place place;
    uint64_t floor;       /* where it began: nothing is read below */
    int32_t known;        /* the remembered frame that was come to; -1: none */
    uint32_t limit;       /* remembered frames that may be come to, from the outer end */
    uint32_t fresh_count; /* new frames inside of it */
    bool looked;          /* all of those stand */
    bool keeps;           /* may be remembered */
    bool ends;            /* at a frame that stands, or where there is no way on */
};

/* The number of the remembered frame that this is, MIRE_WALK_DEPTH or more if none. */
MIRE_INLINE uint32_t find_known(const struct walk *walk, uint64_t pc, uint64_t sp, uint64_t fp)
{
    uint32_t at = walk->by_sp[by_sp(sp)];
    const struct walk_frame *frame = &walk->frames[at];

    if (((frame->sp ^ sp) | (frame->pc ^ pc)) != 0 || (walk->needs_fp[at] && frame->fp != fp))
        return MIRE_WALK_DEPTH;
    return at;
}

/* Does a remembered frame still stand, with all outside of it? Else only those that do may be come to. */
MIRE_INLINE bool is_standing(const struct walk *walk, uint32_t at, uint32_t *limit, bool *looked)
{
    if (!*looked)
        *limit = mire__walk_as_standing(walk, at) + 1;
    *looked = true;
    return at < *limit;
}

/*
 * Go on as far as plain rules lead, on the thread's own stack and from where a call returns to: nearly always to the
 * end. It stops before a frame that takes another rule, or one that is not known yet.
 */
MIRE_UNCHECKED MIRE_INLINE void go_plainly(struct walk *walk, const struct code *code, struct way *way)
{
    const uint64_t base = (way->floor + 7) & ~7ull, room = (walk->high - 8 - base) / 8;
    struct walk_fresh *fresh = &walk->fresh[way->fresh_count];
    uint64_t pc = way->place.pc, sp = way->place.sp, fp = way->place.fp, slot = way->place.slot;
    uint32_t limit = way->limit;
    bool looked = way->looked;

    for (; fresh < &walk->fresh[MIRE_WALK_DEPTH]; fresh++) {
        uint64_t at = mire__arch_bare(pc) - 1, cfa, ra, saved, word;
        uint32_t known = find_known(walk, pc, sp, fp);
        const struct rule *rule;
        uint32_t found;

        if (known < limit && is_standing(walk, known, &limit, &looked)) {
            way->known = (int32_t)known;
            way->ends = true;
            break;
        }
        found = mire__code_as_find(code, at);
        if (__builtin_expect(found & MIRE_BRIEF, 1)) {
            fresh->frame = (struct walk_frame){pc, sp, fp, slot};
            fresh->rule.flags = MIRE_RULE_PLAIN | MIRE_RULE_BY_SP;
            fresh->brief = found;
            fresh->place = at;
            sp += mire__brief_cfa(found);
            slot = sp - 8;
            if (!is_within(slot, base, room) || (pc = mire__walk_word(slot)) == 0) {
                way->ends = true;
                fresh++;
                break;
            }
            word = mire__walk_word(slot - mire__brief_fp(found));
            fp = mire__brief_moves_fp(found) ? word : fp;
            continue;
        }
        rule = mire__code_rule(code, found);
        if (!(rule->flags & MIRE_RULE_PLAIN))
            break;
        fresh->frame = (struct walk_frame){pc, sp, fp, slot};
        fresh->rule = *rule;
        fresh->brief = 0;
        fresh->place = at;
        cfa = (rule->from_fp ? fp : sp) + (uint64_t)(int64_t)rule->offset;
        slot = ra = cfa + (uint64_t)(int64_t)rule->ra_at;
        saved = cfa + (uint64_t)(int64_t)rule->fp_at;
        if (cfa <= sp || !is_within(ra, base, room) || !is_within(saved, base, room) ||
            (pc = mire__walk_word(ra)) == 0) {
            way->ends = true;
            fresh++;
            break;
        }
        word = mire__walk_word(saved);
        fp = rule->fp == RULE_FP_SAME ? fp : word;
        sp = cfa;
    }
    way->place.pc = pc;
    way->place.sp = sp;
    way->place.fp = fp;
    way->place.slot = slot;
    way->limit = limit;
    way->looked = looked;
    way->fresh_count = (uint32_t)(fresh - walk->fresh);
}

/* One step, of whatever kind. */
MIRE_UNCHECKED static __attribute__((noinline)) void go_on(struct walk *walk, struct code *code, struct way *way,
                                                           bool own)
{
    struct place *place = &way->place;
    struct walk_fresh *fresh = &walk->fresh[way->fresh_count];
    uint64_t at = mire__arch_bare(place->pc) - (place->exact ? 0 : 1);
    const struct rule *rule = &fresh->rule;
    enum step outcome;
    uint32_t found;

    way->ends = true;
    if (own && !place->exact && !place->loose) {
        uint32_t known = find_known(walk, place->pc, place->sp, place->fp);

        if (known < way->limit && is_standing(walk, known, &way->limit, &way->looked)) {
            way->known = (int32_t)known;
            return;
        }
    }
    way->keeps = way->keeps && way->fresh_count < MIRE_WALK_DEPTH;
    if (way->fresh_count == MIRE_WALK_DEPTH)
        return;
    found = place->exact ? 0 : mire__code_as_find(code, at);
    if (found & MIRE_BRIEF)
        fresh->rule = mire__rule_of_brief(found);
    else if (found)
        fresh->rule = *mire__code_rule(code, found);
    else if (!mire__code_as_learn(code, &fresh->rule, at, place->exact)) {
        way->keeps = false; /* of no rule now, maybe of one the next time */
        return;
    }
    fresh->brief = 0;
    fresh->frame = (struct walk_frame){place->pc, place->sp, place->fp, place->slot};
    fresh->place = at + (rule->kind == RULE_SIGNAL);
    way->fresh_count++;
    way->keeps = way->keeps && rule->kind != RULE_SIGNAL && !place->loose;
    outcome = step(place, walk, &fresh->rule, way->floor, own);
    if (outcome == STEP_ON && (fresh->rule.flags & MIRE_RULE_GUESSED) && !is_plausible(code, place)) {
        way->keeps = false;
        outcome = STEP_END;
    }
    way->ends = outcome != STEP_ON;
}

/* On to the end, by whatever rules. */
MIRE_UNCHECKED static __attribute__((noinline)) void go_to_end(struct walk *walk, struct code *code, struct way *way,
                                                               bool own)
{
    do {
        go_on(walk, code, way, own);
        if (!way->ends && own && !way->place.exact && !way->place.loose)
            go_plainly(walk, code, way);
    } while (!way->ends);
}

/* A walk. Nothing is remembered of a stack that is not the thread's own. */
MIRE_UNCHECKED MIRE_INLINE struct way walk_out(struct walk *walk, struct code *code, const struct walk_frame *from,
                                               bool own)
{
    struct way way = {.place = {.pc = from->pc, .sp = from->sp, .fp = from->fp},
                      .floor = from->sp,
                      .known = -1,
                      .limit = own ? walk->count : 0,
                      .keeps = own};

    if (own)
        go_plainly(walk, code, &way);
    if (!way.ends) {
        struct way rest = way; /* so that the way itself, which seldom goes there, may stay in registers */

        go_to_end(walk, code, &rest, own);
        way = rest;
    }
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

/* tails: whether the stack is remembered as one */
MIRE_UNCHECKED MIRE_INLINE uint32_t walk_own(struct walk *walk, struct heap *heap, struct code *code,
                                             const struct walk_frame *frame, bool tails)
{
    struct way way;

    for (;;) {
        way = walk_out(walk, code, frame, true);
        if (way.known + 1 + (int32_t)way.fresh_count <= MIRE_WALK_DEPTH)
            break;
        walk->count = walk->words_count = 0; /* it is cut where a walk to the end would */
    }
    if (way.fresh_count == 0) {
        uint32_t node = fall_back(walk, way.known);

        if (node && tails)
            mire__tails_as_remember(walk);
        return node;
    }
    if (way.known >= 0)
        walk->frames[way.known].slot = way.place.slot;
    if (way.keeps && find_nodes(walk, heap, way.known, way.fresh_count, true)) {
        if (walk->words_count > MIRE_WALK_WORDS)
            walk->count = walk->words_count = 0;
        else if (tails)
            mire__tails_as_remember(walk);
        return walk->fresh[0].node;
    }
    if (!way.keeps)
        find_nodes_only(walk, heap, way.known, way.fresh_count);
    walk->count = walk->words_count = 0;
    return walk->fresh[0].node;
}

MIRE_UNCHECKED static __attribute__((noinline)) uint32_t walk_foreign(struct walk *walk, struct heap *heap,
                                                                      struct code *code, const struct walk_frame *frame)
{
    struct way way;

    walk->window_bytes = 0;
    way = walk_out(walk, code, frame, false);
    if (way.fresh_count == 0)
        return MIRE_NODE_ROOT;
    find_nodes_only(walk, heap, -1, way.fresh_count);
    return walk->fresh[0].node;
}

void mire__walk_as_forget(struct walk *walk, uint32_t version)
{
    walk->count = walk->words_count = 0;
    walk->version = version;
    mire__tails_as_forget(walk);
}

MIRE_INLINE uint32_t walk_from(struct walk *walk, struct heap *heap, struct code *code, const struct walk_frame *frame,
                               bool tails)
{
    if (frame->sp < walk->low || frame->sp >= walk->high || walk->high - frame->sp < 8)
        return walk_foreign(walk, heap, code, frame);
    return walk_own(walk, heap, code, frame, tails);
}

static void forget_old_code(struct walk *walk, const struct code *code)
{
    uint32_t version = atomic_load_explicit(&code->version, memory_order_acquire);

    if (walk->version != version)
        mire__walk_as_forget(walk, version);
}

uint32_t mire__walk_as_node_else(struct walk *walk, struct heap *heap, struct code *code,
                                 const struct walk_frame *frame)
{
    forget_old_code(walk, code);
    if (++walk->walks >= walk->trial || walk->met > walk->tails_mask / 4)
        mire__tails_as_review(walk);
    return walk_from(walk, heap, code, frame, !walk->rests);
}

uint32_t mire__walk_as_node_seldom(struct walk *walk, struct heap *heap, struct code *code,
                                   const struct walk_frame *frame)
{
    forget_old_code(walk, code);
    return walk_from(walk, heap, code, frame, false);
}
