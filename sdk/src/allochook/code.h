/*
 * code.h - what is known of the program's code: for each place in it the rule that leads to the caller, and which
 * modules there are.
 *
 *     place --> entries[hash]: place | its rule, where sixteen bits have room for it; or where it is --> rules[]
 *                  '- not there: read .eh_frame, once for each place
 *
 * An entry is one word that holds the whole place, so it is right or not there, whoever stores beside. What is read of
 * modules is read as memory that may vanish at any time. The modules' list is read when a place lies in none of those
 * known, and when one may have gone; the tables learn of each (heap/modules.h).
 *
 * One for the process, for ever: memory is the caller's, zeroed. Signal-safe.
 */
#ifndef MIRE_ALLOCHOOK_CODE_H
#define MIRE_ALLOCHOOK_CODE_H

#include "heap/heap.h"
#include "patch/patch.h"
#include "platform/platform.h"
#include "unwind/step.h"

#define MIRE_CODE_ENTRIES_LOG 16
#define MIRE_CODE_ENTRIES     (1u << MIRE_CODE_ENTRIES_LOG)
#define MIRE_CODE_SPAN_LOG    4 /* bytes of code that share an entry and those behind it */
#define MIRE_CODE_WAYS        4u
#define MIRE_CODE_RULES       4096u /* different ones; cc1 has some 900 */
#define MIRE_CODE_RULE_SLOTS  (2 * MIRE_CODE_RULES)

/* A module that the tables know. */
struct code_image {
    uint64_t start, end, identity;
    bool seen; /* at the last reading of the list */
};

struct code {
    _Atomic uint32_t version; /* grows when what was known is void */
    _Atomic uint32_t rules_count;
    struct rule rules[MIRE_CODE_RULES]; /* 0 is RULE_NONE */
    _Atomic uint64_t entries[MIRE_CODE_ENTRIES];

    /* Whoever has the lock. */
    _Atomic uint64_t lock; /* the thread pointer of whoever has it; 0: nobody */
    struct heap *heap;
    const struct hook *hidden; /* functions that are left out of stacks */
    size_t hidden_count;
    uint16_t rule_slots[MIRE_CODE_RULE_SLOTS]; /* hash -> number */
    uint32_t looks;                            /* times that the list may be read now for a place in no module */
    uint64_t looked_ns;                        /* when it was last */
    uint32_t images_count;
    struct code_image images[MIRE_HEAP_IMAGES_MAX];
    struct modules modules;
};

/* Leave functions out of stacks: what `hooks` stand for. Static. Before stacks are walked. */
void mire__code_hide(struct code *code, const struct hook *hooks, size_t count);

/*
 * Begin: with the tables of a run, which learn of the modules there are.
 *   heap  NULL: none learn
 * Thread: one at a time, while no thread uses the code.
 */
void mire__code_open(struct code *code, struct heap *heap);

/*
 * The rule for a place that is not among the entries; there it is kept where it can be.
 * False if somebody else is at work here: nothing is known now.
 */
bool mire__code_as_learn(struct code *code, struct rule *out, uint64_t place, bool exact);

/* A module may have gone, or another taken its place: what is no longer there is forgotten. False: busy. */
bool mire__code_as_look(struct code *code);

/* Visit the mappings of the process (mire__mappings_visit). False: busy. */
bool mire__code_as_mappings(struct code *code, bool (*visit)(void *context, const struct mapping *mapping),
                            void *context);

/* Does control come back to this address from a call? Judged by the bytes before it. */
bool mire__code_as_returns(struct code *code, uint64_t address);

/* Neighbours in the code are neighbours here. */
static inline uint32_t mire__code_slot(uint64_t place)
{
    return (uint32_t)(place >> MIRE_CODE_SPAN_LOG ^ place >> (MIRE_CODE_SPAN_LOG + MIRE_CODE_ENTRIES_LOG)) %
           MIRE_CODE_ENTRIES;
}

/* An entry: the place, and in the low bits the rule in brief, or where it lies among the rules, in bytes. */
static inline uint64_t mire__code_entry(uint64_t place, uint32_t low)
{
    return place << 16 | low;
}
_Static_assert(MIRE_CODE_RULES * sizeof(struct rule) == 1u << 16, "that is what the bits have room for");
_Static_assert(sizeof(struct rule) % (2 * MIRE_BRIEF) == 0, "what is brief is told by a bit that is 0 else");

/* The low bits of the entry for a place that a call returns to; 0 if there is none. */
static inline uint32_t mire__code_as_find(const struct code *code, uint64_t place)
{
    uint32_t slot = mire__code_slot(place);

    for (uint32_t way = 0; way < MIRE_CODE_WAYS; way++) {
        uint64_t entry = atomic_load_explicit(&code->entries[(slot + way) % MIRE_CODE_ENTRIES], memory_order_acquire);

        if (entry >> 16 == place)
            return (uint16_t)entry;
    }
    return 0;
}

/* The rule that such bits name where they are not brief; the one of number 0, RULE_NONE, for 0. */
static inline const struct rule *mire__code_rule(const struct code *code, uint32_t low)
{
    return (const struct rule *)((const char *)code->rules + low);
}

#endif
