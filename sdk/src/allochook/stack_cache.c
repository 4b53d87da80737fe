/* stack_cache.c - see stack_cache.h. Signal-safe. */
#include "allochook/stack_cache.h"

#include "heap/heap.h"

#include <string.h>

/* Expected where nothing is known: its pc is no frame's. In no thread's page, for a thread may never need one. */
static struct stack_entry nothing;

/* ---- discriminators ---- */

/* The number of a discriminator, which is added if it is new. MIRE_STACK_DISCRIMINATORS: there is no room. */
static uint32_t place_of(struct stack_bucket *bucket, uint32_t offset)
{
    uint32_t at = 0, count = bucket->count;

    while (at < count && bucket->at[at] < offset)
        at++;
    if (at < count && bucket->at[at] == offset)
        return at;
    if (count == MIRE_STACK_DISCRIMINATORS)
        return count;
    memmove(&bucket->at[at + 1], &bucket->at[at], (count - at) * sizeof(bucket->at[0]));
    memmove(&bucket->leads[at + 1], &bucket->leads[at], (count - at) * sizeof(bucket->leads[0]));
    bucket->at[at] = (uint16_t)offset;
    bucket->leads[at] = 0;
    bucket->count++;
    return at;
}

/*
 * Find the first word in which an entry with the same innermost frame differs from the present stack. All words further
 * in are equal, so both stacks depend on this word, and the values of the inner discriminators lead to it. Returns
 * whether the word separates the two, and was unknown before.
 */
MIRE_UNCHECKED static bool learn(struct stack_bucket *bucket, const struct stack_entry *entry)
{
    uint32_t words = entry->words_bytes / sizeof(struct stack_four) * 4, at;
    bool learnt;

    for (uint32_t i = 0; i < words; i++) {
        const struct stack_four *four = &entry->words[i / 4];
        uint32_t offset = four->at[i % 4], count = bucket->count;

        if (mire__self_word(entry->sp + offset) == four->values[i % 4 / 2][i % 2])
            continue;
        at = place_of(bucket, offset);
        if (at == MIRE_STACK_DISCRIMINATORS)
            return false;
        learnt = bucket->count > count;
        while (at-- > 0) {
            uint32_t lead = 1u << mire__stack_lead((uint32_t)mire__self_word(bucket->sp + bucket->at[at]));

            learnt |= !(bucket->leads[at] & lead);
            bucket->leads[at] |= lead;
        }
        return learnt;
    }
    return false;
}

/* ---- adding an entry ---- */

/* The bucket of an innermost frame, made if it is missing. */
static struct stack_bucket *make_bucket(struct stack_cache *cache, const struct self_frame *frame)
{
    struct stack_bucket *bucket = mire__stack_bucket(cache, frame->pc, frame->sp);
    struct stack_bucket *set = mire__stack_buckets(cache, frame->pc, frame->sp);
    uint32_t way = 0;

    if (bucket)
        return bucket;
    while (way < MIRE_STACK_WAYS && set[way].pc)
        way++;
    bucket = &set[way < MIRE_STACK_WAYS ? way : cache->victim++ % MIRE_STACK_WAYS];
    *bucket = (struct stack_bucket){
        .pc = frame->pc, .sp = frame->sp, .set = ((uint32_t)frame->pc ^ (uint32_t)frame->sp >> 4) * 0x9e3779b1u >> 12};
    return bucket;
}

/*
 * Choose the entry for a stack that begins at `frame`: the entry with the same words, of which only the base has
 * changed; otherwise a free one; otherwise the set's next victim. The word that separates it from an entry with the
 * same innermost frame is learnt first.
 */
MIRE_UNCHECKED static struct stack_entry *choose(struct stack_cache *cache, const struct self_frame *frame)
{
    struct stack_bucket *bucket = make_bucket(cache, frame);
    struct stack_entry *set = mire__stack_entries(cache, bucket, frame->sp);

    for (uint32_t i = 0; i < MIRE_STACK_WAYS; i++) {
        if (set[i].based && mire__stack_is(&set[i], frame->pc, frame->sp, frame->fp))
            return &set[i];
    }
    for (uint32_t i = 0; i < MIRE_STACK_WAYS; i++) {
        if (set[i].pc == frame->pc && set[i].sp == frame->sp && learn(bucket, &set[i])) {
            set = mire__stack_entries(cache, bucket, frame->sp);
            break;
        }
    }
    for (uint32_t i = 0; i < MIRE_STACK_WAYS; i++) {
        if (set[i].pc == 0)
            return &set[i];
    }
    return &set[cache->victim++ % MIRE_STACK_WAYS];
}

/* The words of a stack on their way into an entry. */
struct stack_words {
    uint32_t count;
    uint16_t at[MIRE_STACK_WORDS];
    uint64_t values[MIRE_STACK_WORDS];
};

/* at: bytes from the innermost frame's sp. False: there is no room, or it lies too far out. */
MIRE_INLINE bool add_word(struct stack_words *words, uint64_t at, uint64_t value)
{
    if (words->count == MIRE_STACK_WORDS || at > UINT16_MAX)
        return false;
    words->at[words->count] = (uint16_t)at;
    words->values[words->count++] = value;
    return true;
}

/*
 * The words that the last stack follows from, from the innermost frame outwards, as far as there is room.
 * Returns the base: the outermost frame that follows from these words.
 */
MIRE_INLINE uint32_t gather(struct stack_words *words, const struct self_walk *walk)
{
    uint32_t base = walk->count - 1, left = walk->words_count, whole = 0;
    const uint64_t sp = walk->frames[base].sp;

    for (words->count = 0; base > 0; base--, whole = words->count) {
        const struct self_frame *outer = &walk->frames[base - 1];
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

void mire__stack_cache_as_add(struct stack_cache *cache, const struct self_walk *walk)
{
    const uint32_t inner = walk->count - 1;
    const struct self_frame *frame = &walk->frames[inner];
    struct stack_entry *entry;
    struct stack_words words;
    uint32_t base;

    if (cache->off)
        return;
    entry = choose(cache, frame);
    base = gather(&words, walk);
    entry->pc = 0;
    if (words.count == 0)
        return;
    for (uint32_t i = 0; i < words.count; i += 4) {
        memcpy(entry->words[i / 4].at, &words.at[i], sizeof(entry->words[0].at));
        memcpy(entry->words[i / 4].values, &words.values[i], sizeof(entry->words[0].values));
    }
    entry->words_bytes = (uint16_t)(words.count / 4 * sizeof(struct stack_four));
    entry->based = base > 0;
    entry->needs_fp = walk->needs_fp[inner];
    entry->sp = frame->sp;
    entry->fp = frame->fp;
    entry->node = walk->tags[inner];
    entry->base_pc = walk->frames[base].pc;
    entry->base_sp = walk->frames[base].sp;
    entry->base_fp = walk->frames[base].fp;
    entry->base_node = walk->tags[base];
    entry->base_at = base;
    if (!entry->next)
        entry->next = entry;
    entry->pc = frame->pc;
    mire__stack_cache_learn(cache, entry);
}

MIRE_UNCHECKED uint32_t mire__stack_cache_as_node(const struct stack_entry *entry, const struct self_walk *walk)
{
    bool stands =
        !entry->based || (entry->base_at < walk->count && walk->tags[entry->base_at] == entry->base_node &&
                          mire__self_is_frame(walk, entry->base_at, entry->base_pc, entry->base_sp, entry->base_fp) &&
                          mire__self_as_standing(walk, entry->base_at) == entry->base_at);

    return stands ? entry->node : 0;
}

/* ---- size, on and off ---- */

/* The thread's allocations so far; the lower half of their number. */
static uint32_t count_calls(const struct stack_cache *cache)
{
    int64_t count = 0;

    for (uint32_t i = 0; cache->slot && i < MIRE_HEAP_SIZES; i++)
        count += mire__slot_get(&cache->slot->counts[i].count);
    return (uint32_t)count;
}

static void begin_period(struct stack_cache *cache, uint32_t walks)
{
    cache->walks = walks;
    cache->calls = count_calls(cache);
}

/* Free sets of buckets and of entries. A page that was never used is not stored to, so it takes no memory. */
static void clear(struct stack_bucket (*buckets)[MIRE_STACK_WAYS], uint32_t bucket_sets,
                  struct stack_entry (*entries)[MIRE_STACK_WAYS], uint32_t entry_sets)
{
    for (uint32_t i = 0; i < bucket_sets * MIRE_STACK_WAYS; i++)
        if (buckets[i / MIRE_STACK_WAYS][i % MIRE_STACK_WAYS].pc)
            buckets[i / MIRE_STACK_WAYS][i % MIRE_STACK_WAYS].pc = 0;
    for (uint32_t i = 0; i < entry_sets * MIRE_STACK_WAYS; i++)
        if (entries[i / MIRE_STACK_WAYS][i % MIRE_STACK_WAYS].pc)
            entries[i / MIRE_STACK_WAYS][i % MIRE_STACK_WAYS].pc = 0;
}

void mire__stack_cache_as_forget(struct stack_cache *cache)
{
    clear(cache->few->buckets, MIRE_STACK_FEW, cache->few->entries, MIRE_STACK_FEW);
    if (cache->many && cache->entries == cache->many->entries)
        clear(cache->many->buckets, MIRE_STACK_BUCKETS, cache->many->entries, MIRE_STACK_SETS);
    cache->buckets = cache->few->buckets;
    cache->entries = cache->few->entries;
    cache->buckets_mask = cache->entries_mask = MIRE_STACK_FEW - 1;
    cache->off = false;
    cache->last = NULL;
    cache->expected = &nothing;
    begin_period(cache, MIRE_STACK_FEW_WALKS);
}

/* Entries of the few sets are left behind: some stacks are walked once more. */
static void use_many(struct stack_cache *cache)
{
    cache->buckets = cache->many->buckets;
    cache->entries = cache->many->entries;
    cache->buckets_mask = MIRE_STACK_BUCKETS - 1;
    cache->entries_mask = MIRE_STACK_SETS - 1;
}

/* Did two calls in three go without a walk? A count of calls that hardly moved is no measure: sampled mode. */
static bool is_worth_it(const struct stack_cache *cache)
{
    const uint32_t calls = count_calls(cache) - cache->calls;

    return calls < MIRE_STACK_TRIAL_WALKS || calls >= MIRE_STACK_TRIAL_WALKS * MIRE_STACK_TRIAL_CALLS;
}

void mire__stack_cache_as_review(struct stack_cache *cache)
{
    if (cache->entries == cache->few->entries && cache->many)
        use_many(cache);
    else
        cache->off = !cache->off && !is_worth_it(cache);
    begin_period(cache, cache->off ? MIRE_STACK_OFF_WALKS : MIRE_STACK_TRIAL_WALKS);
}
