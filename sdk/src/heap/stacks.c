/* stacks.c - see stacks.h: adding. Signal-safe. */
#include "heap/stacks.h"

#include "heap/inside.h"
#include "heap/modules.h"

/* Words beyond the last used one that a push may read or store. */
#define WORDS_AHEAD 8u

/* The pc of the node that ends at a word, and the word before its first; false: no node ends there. */
static bool pc_of_node(uint32_t *pc, uint32_t *before, const struct heap *heap, uint32_t node)
{
    uint16_t word = mire__word_at(heap, node);

    if (node == 0)
        return false;
    *before = node - 1;
    *pc = word;
    if (mire__word_is_short(word))
        return word != 0;
    if (!mire__word_ends_long(word) || node < 2)
        return false;
    *pc = mire__words_value(mire__word_at(heap, node - 1), word);
    *before = node - 2;
    return true;
}

/* The parent of a node, by the word before it. */
static uint32_t parent_of(const struct heap *heap, uint32_t before)
{
    uint16_t word = before > 0 ? mire__word_at(heap, before) : 0;

    if (before > 0 && mire__word_ends_jump(word))
        return mire__words_value(mire__word_at(heap, before - 1), word);
    return before;
}

bool mire__node_as_is(const struct heap *heap, uint32_t node, uint32_t parent, uint64_t address)
{
    uint32_t pc, before;

    return pc_of_node(&pc, &before, heap, node) && mire__node_pc_is(heap, pc, address) &&
           parent_of(heap, before) == parent;
}

static uint64_t hash_of_node(const struct heap *heap, uint32_t node)
{
    uint32_t pc, before;

    if (!pc_of_node(&pc, &before, heap, node))
        return 0;
    return mire__node_hash(parent_of(heap, before),
                           atomic_load_explicit(&heap->pcs[pc], memory_order_relaxed) & MIRE_HEAP_ADDRESS_MASK);
}

/* ---- pcs ---- */

static uint64_t hash_of_address(uint64_t address)
{
    return mire__index_mix(address * 0xff51afd7ed558ccdull);
}

static uint64_t hash_of_pc(const struct heap *heap, uint32_t pc)
{
    return hash_of_address(atomic_load_explicit(&heap->pcs[pc], memory_order_relaxed) & MIRE_HEAP_ADDRESS_MASK);
}

static uint32_t find_pc(const struct heap *heap, uint64_t address, uint64_t hash)
{
    _Atomic uint32_t *segment = mire__index_segment(&heap->pc_index, hash);
    uint32_t at = mire__index_begin(hash);

    for (uint32_t i = 0; i < MIRE_INDEX_ENTRIES; i++, at++) {
        uint32_t entry = atomic_load_explicit(&segment[at % MIRE_INDEX_ENTRIES], memory_order_relaxed);

        if (entry == 0)
            break;
        if (entry >> 23 == (hash & 0x1ff) && mire__node_pc_is(heap, entry & MIRE_INDEX_NUMBER, address))
            return entry & MIRE_INDEX_NUMBER;
    }
    return 0;
}

/*
 * An address in no module, where a module was in the meantime: the old pc and the new one cannot be told apart, so
 * the old one is used again. An address has at most one such pc, and one for each module that ever lay there. This
 * bounds the pcs of one address, which share a hash: the index has room for so many alone.
 */
static uint32_t revive_pc(struct heap *heap, uint64_t address, uint64_t hash)
{
    const uint64_t gone = mire__pc_make(address, MIRE_HEAP_NO_IMAGE) | MIRE_HEAP_PC_GONE;
    _Atomic uint32_t *segment = mire__index_segment(&heap->pc_index, hash);
    uint32_t at = mire__index_begin(hash);

    for (uint32_t i = 0; i < MIRE_INDEX_ENTRIES; i++, at++) {
        uint32_t entry = atomic_load_explicit(&segment[at % MIRE_INDEX_ENTRIES], memory_order_relaxed);
        uint32_t pc = entry & MIRE_INDEX_NUMBER;

        if (entry == 0)
            break;
        if (atomic_load_explicit(&heap->pcs[pc], memory_order_relaxed) != gone)
            continue;
        atomic_fetch_and_explicit(&heap->pcs[pc], ~MIRE_HEAP_PC_GONE, memory_order_relaxed);
        return pc;
    }
    return 0;
}

/*
 * The pc of an address, added if it is new; 0 if there is no room. Under the lock.
 *   revived  it was gone before, so it may have nodes
 */
static uint32_t number_of_pc(bool *revived, struct heap *heap, uint64_t address)
{
    uint64_t hash = hash_of_address(address);
    uint32_t pc = find_pc(heap, address, hash), image;

    *revived = false;
    if (pc)
        return pc;
    image = mire__images_as_find(heap, address);
    if (image == MIRE_HEAP_NO_IMAGE)
        pc = revive_pc(heap, address, hash);
    *revived = pc != 0;
    if (pc)
        return pc;
    pc = atomic_load_explicit(&heap->header->pcs_used, memory_order_relaxed);
    if (pc == MIRE_HEAP_PCS_MAX || !mire__heap_claim(heap, MIRE_HEAP_PCS, (pc + 1) * sizeof(uint64_t)))
        return 0;
    if (!mire__index_add(heap, &heap->pc_index, hash, pc, hash_of_pc))
        return 0;
    atomic_store_explicit(&heap->header->pcs_used, pc + 1, memory_order_release);
    atomic_store_explicit(&heap->pcs[pc], mire__pc_make(address, image), memory_order_release);
    return pc;
}

/* ---- adding ---- */

static void store_word(struct heap *heap, uint32_t at, uint16_t word)
{
    atomic_store_explicit(&heap->words[at], word, memory_order_release);
}

/*
 * Append one node. The count is stored before the words, for words of 0 are no node: a reader finds the whole node or
 * none. Under the lock. Returns 0 if there is no room.
 */
static uint32_t append(struct heap *heap, uint32_t parent, uint64_t address)
{
    struct heap_header *header = heap->header;
    uint32_t at = atomic_load_explicit(&header->words_used, memory_order_relaxed);
    bool revived;
    uint32_t pc = number_of_pc(&revived, heap, address);
    bool follows = at == parent + 1;
    uint32_t jump = follows ? 0 : 2, node = revived ? mire__nodes_as_child(heap, parent, address) : 0;

    if (node)
        return node;
    if (pc == 0 || at + WORDS_AHEAD > MIRE_HEAP_WORDS_MAX ||
        !mire__heap_claim(heap, MIRE_HEAP_WORDS, (at + WORDS_AHEAD) * sizeof(uint16_t)))
        return 0;
    node = at + jump + (pc < MIRE_HEAP_PC_SHORT ? 0 : 1);
    if (jump && !mire__index_add(heap, &heap->node_index, mire__node_hash(parent, address), node, hash_of_node))
        return 0;
    atomic_store_explicit(&header->words_used, node + 1, memory_order_release);
    atomic_store_explicit(&header->nodes_used, atomic_load_explicit(&header->nodes_used, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    if (jump) {
        store_word(heap, at, mire__word_first(parent));
        store_word(heap, at + 1, mire__word_jump(parent));
        atomic_store_explicit(&header->runs_used, atomic_load_explicit(&header->runs_used, memory_order_relaxed) + 1,
                              memory_order_relaxed);
    }
    if (pc < MIRE_HEAP_PC_SHORT) {
        store_word(heap, node, (uint16_t)pc);
    } else {
        store_word(heap, node - 1, mire__word_first(pc));
        store_word(heap, node, (uint16_t)(0xc000 | (pc & 0x1fff)));
    }
    return node;
}

/* Go inwards as far as nodes exist. Returns the frames left. */
static uint32_t follow(uint32_t *nodes_out, const struct heap *heap, uint32_t *node, const uint64_t *addresses,
                       uint32_t left)
{
    uint32_t child;

    while (left > 0 && (child = mire__nodes_as_child(heap, *node, addresses[left - 1])))
        nodes_out[--left] = *node = child;
    return left;
}

bool mire__nodes_as_push(uint32_t *nodes_out, struct heap *heap, uint32_t parent, const uint64_t *addresses,
                         uint32_t count)
{
    uint32_t node = parent, left = follow(nodes_out, heap, &node, addresses, count), child;

    if (left == 0)
        return true;
    if (mire__heap_lock(&heap->nodes_lock.taken)) {
        left = follow(nodes_out, heap, &node, addresses, left);
        while (left > 0 && (child = append(heap, node, addresses[left - 1])))
            nodes_out[--left] = node = child;
        mire__heap_unlock(&heap->nodes_lock.taken);
        if (left == 0)
            return true;
    }
    while (left > 0)
        nodes_out[--left] = node;
    mire__heap_as_drop(heap, MIRE_HEAP_DROP_STACK);
    return false;
}

/* ---- tags ---- */

uint32_t mire__node_as_class(const struct heap *heap, uint32_t node)
{
    uint32_t pc, before;
    uint64_t address;

    if (!pc_of_node(&pc, &before, heap, node) || pc >= MIRE_HEAP_PCS_MAX)
        return 0;
    address = atomic_load_explicit(&heap->pcs[pc], memory_order_relaxed) & MIRE_HEAP_ADDRESS_MASK;
    return address > MIRE_HEAP_TAG_BASE && address < MIRE_HEAP_TAG_BASE + MIRE_HEAP_CLASSES_MAX
               ? (uint32_t)(address - MIRE_HEAP_TAG_BASE)
               : 0;
}

uint32_t mire__node_as_untagged(const struct heap *heap, uint32_t node)
{
    uint32_t pc, before;

    if (mire__node_as_class(heap, node) == 0 || !pc_of_node(&pc, &before, heap, node))
        return node;
    return parent_of(heap, before);
}
