/*
 * stack_cache.h - whole stacks that a thread has walked before, recognised by their words.
 *
 * A program goes to and fro between some dozens of stacks. A stack follows from the registers of its innermost frame
 * and from words of the stack alone. An entry holds these words: where each of them is unchanged, a walk would find the
 * same stack again. Nothing is concluded from a hash; hashes say only where to look.
 *
 *     innermost frame (pc, sp) --> bucket: where discriminators lie --> read them --> set of four entries
 *                                                                                    '- compare every word
 *
 * Entries of one innermost frame differ in some word further out. When one displaces another, the bucket learns where
 * the first such word lies: a discriminator, which becomes part of the key of both. A discriminator that lies further
 * out may be no word of a frame to another stack. So it counts only where the values of those further in have led
 * to it.
 *
 * An entry covers a stack as far out as its words allow. The rest of a deeper stack is the base: a frame of the
 * last stack (unwind/self.h), which is checked as well.
 *
 * Thread: the owner of the state. Signal-safe.
 */
#ifndef MIRE_ALLOCHOOK_STACK_CACHE_H
#define MIRE_ALLOCHOOK_STACK_CACHE_H

#include "heapread/read.h"
#include "unwind/unwind.h"

#define MIRE_STACK_WAYS           4u  /* entries, or buckets, in a set: all are looked at */
#define MIRE_STACK_WORDS          36u /* of an entry; a multiple of four. Most stacks are whole within so many */
#define MIRE_STACK_DISCRIMINATORS 6u  /* of a bucket */

/* A cache begins with few sets. After so many walks it uses many, where the state has room for them. */
#define MIRE_STACK_FEW       2u
#define MIRE_STACK_FEW_WALKS 64u
#define MIRE_STACK_SETS      512u
#define MIRE_STACK_BUCKETS   128u

/*
 * A thread that wanders through its program, as a compiler's does, comes to few stacks twice before their entries are
 * displaced: the cache costs it more than it saves. So the cache is switched off for MIRE_STACK_OFF_WALKS walks where
 * in MIRE_STACK_TRIAL_WALKS walks fewer than two calls in three went without one.
 */
#define MIRE_STACK_TRIAL_WALKS 512u
#define MIRE_STACK_TRIAL_CALLS 3u /* calls for each walk */
#define MIRE_STACK_OFF_WALKS   32768u

/*
 * Words by fours with their offsets from the innermost frame's sp, in bytes. They are read one line of the cache after
 * the other and compared by twos. 16 bits an offset, because the lines of all entries in use do not fit into the
 * nearest caches: fewer bytes are fewer lines.
 */
typedef uint64_t stack_pair __attribute__((vector_size(16), aligned(8)));

struct stack_four {
    uint16_t at[4];
    stack_pair values[2];
};
_Static_assert(sizeof(struct stack_four) == 40, "no padding");

struct stack_entry {
    uint64_t pc, sp, fp;  /* of the innermost frame; pc 0: free */
    uint32_t node;        /* of the whole stack */
    uint16_t words_bytes; /* of the fours in use; the last one repeats the first word where it is not full */
    uint8_t based;        /* the base is not the thread's first frame */
    uint8_t needs_fp;     /* fp matters */
    struct stack_four words[MIRE_STACK_WORDS / 4];
    uint64_t base_pc, base_sp, base_fp;
    uint32_t base_node;
    uint32_t base_at;         /* the base's number among the remembered frames */
    struct stack_entry *next; /* the one that was found after it the last time */
    uint64_t unused[2];
};
_Static_assert(sizeof(struct stack_entry) % 128 == 64, "an odd number of lines of the cache");

struct stack_bucket {
    uint64_t pc, sp;                        /* of the innermost frame; pc 0: free */
    uint32_t set;                           /* of its entries; with discriminators, from where on they are spread */
    uint16_t count;                         /* of discriminators, innermost first */
    uint16_t at[MIRE_STACK_DISCRIMINATORS]; /* offsets from sp, bytes */
    uint16_t unused;
    uint32_t leads[MIRE_STACK_DISCRIMINATORS]; /* a bit for 1/32 of all values: after these the next one counts too */
};
_Static_assert(sizeof(struct stack_bucket) == 64, "a line of the cache");

struct stack_few { /* a page */
    struct stack_bucket buckets[MIRE_STACK_FEW][MIRE_STACK_WAYS];
    struct stack_entry entries[MIRE_STACK_FEW][MIRE_STACK_WAYS];
};
struct stack_many {
    struct stack_bucket buckets[MIRE_STACK_BUCKETS][MIRE_STACK_WAYS];
    struct stack_entry entries[MIRE_STACK_SETS][MIRE_STACK_WAYS];
};

struct stack_cache {
    struct stack_bucket (*buckets)[MIRE_STACK_WAYS]; /* in use: those of `few` or of `many` */
    struct stack_entry (*entries)[MIRE_STACK_WAYS];
    uint32_t buckets_mask, entries_mask; /* sets in use - 1 */
    struct stack_entry *last;            /* that was found; NULL: none */
    struct stack_entry *expected;        /* that was found after it the last time; an empty one if unknown */
    bool off;                            /* nothing is looked for, nor remembered */
    uint32_t victim;                     /* the way that is displaced next */
    uint32_t walks;                      /* until the next review */
    uint32_t calls;                      /* allocations at the last review, the lower half of their number */
    const struct heap_slot *slot;        /* where the thread's allocations are counted; NULL: unknown */
    struct stack_few *few;               /* the caller's, zeroed */
    struct stack_many *many;             /* the same, or NULL: the cache stays with few */
};

/* Forget all, and use few sets. Call it first: a cache begins with this. */
void mire__stack_cache_as_forget(struct stack_cache *cache);

/* Remember the last stack, of which walk->tags are the nodes. */
void mire__stack_cache_as_add(struct stack_cache *cache, const struct self_walk *walk);

/* The rest of mire__stack_cache_as_count. */
void mire__stack_cache_as_review(struct stack_cache *cache);

/* A stack is about to be walked. */
static inline void mire__stack_cache_as_count(struct stack_cache *cache)
{
    if (--cache->walks == 0)
        mire__stack_cache_as_review(cache);
}

/* ---- looking for a stack ---- */

/* The set of an innermost frame's bucket; the upper bits of the hash are the best. */
MIRE_INLINE struct stack_bucket *mire__stack_buckets(const struct stack_cache *cache, uint64_t pc, uint64_t sp)
{
    const uint32_t hash = ((uint32_t)pc + (uint32_t)sp * 0x85ebca6bu) * 0x9e3779b1u;

    return cache->buckets[hash >> 24 & cache->buckets_mask];
}

/* The bucket of an innermost frame, NULL if there is none. */
MIRE_INLINE struct stack_bucket *mire__stack_bucket(const struct stack_cache *cache, uint64_t pc, uint64_t sp)
{
    struct stack_bucket *bucket = mire__stack_buckets(cache, pc, sp);

    for (uint32_t i = 0; i < MIRE_STACK_WAYS; i++, bucket++) {
        if (bucket->pc == pc && bucket->sp == sp)
            return bucket;
    }
    return NULL;
}

/* The bit of `leads` for a value. */
MIRE_INLINE uint32_t mire__stack_lead(uint32_t word)
{
    return word * 0x9e3779b1u >> 27;
}

/* The entries among which an innermost frame's stack is, as the stack's words are now. */
MIRE_UNCHECKED MIRE_INLINE struct stack_entry *mire__stack_entries(const struct stack_cache *cache,
                                                                   const struct stack_bucket *bucket, uint64_t sp)
{
    uint32_t key = 0, word, i = 0;

    if (bucket->count > 0) {
        do { /* the last one leads nowhere */
            word = (uint32_t)mire__self_word(sp + bucket->at[i]);
            key = (key ^ word) * 0x9e3779b1u;
        } while (bucket->leads[i++] >> mire__stack_lead(word) & 1);
    }
    return cache->entries[(bucket->set + (key >> 16)) & cache->entries_mask];
}

/* Are all words of an entry unchanged? It has one at least. */
MIRE_UNCHECKED MIRE_INLINE bool mire__stack_words_stand(const struct stack_entry *entry, uint64_t sp)
{
    const struct stack_four *four = entry->words;
    const void *end = (const char *)four + entry->words_bytes;
    stack_pair changed = {0, 0};

    do {
        stack_pair one = {mire__self_word(sp + four->at[0]), mire__self_word(sp + four->at[1])};
        stack_pair other = {mire__self_word(sp + four->at[2]), mire__self_word(sp + four->at[3])};

        changed |= (one ^ four->values[0]) | (other ^ four->values[1]);
    } while ((const void *)++four < end);
    return (changed[0] | changed[1]) == 0;
}

/* Is it the entry of this stack? The base is not checked. */
MIRE_UNCHECKED MIRE_INLINE bool mire__stack_is(const struct stack_entry *entry, uint64_t pc, uint64_t sp, uint64_t fp)
{
    return entry->pc == pc && entry->sp == sp && !(entry->needs_fp && entry->fp != fp) &&
           mire__stack_words_stand(entry, sp);
}

/* The entry of the stack from an innermost frame on, NULL if there is none. Its base is not checked. */
MIRE_UNCHECKED MIRE_INLINE struct stack_entry *mire__stack_cache_as_find(const struct stack_cache *cache, uint64_t pc,
                                                                         uint64_t sp, uint64_t fp)
{
    const struct stack_bucket *bucket = cache->off ? NULL : mire__stack_bucket(cache, pc, sp);
    struct stack_entry *entry;

    if (!bucket)
        return NULL;
    entry = mire__stack_entries(cache, bucket, sp);
    for (uint32_t i = 0; i < MIRE_STACK_WAYS; i++, entry++) {
        if (mire__stack_is(entry, pc, sp, fp))
            return entry;
    }
    return NULL;
}

/* This entry was found, as expected. The next expected one begins to come to the nearest cache. */
MIRE_INLINE void mire__stack_cache_follow(struct stack_cache *cache, struct stack_entry *entry)
{
    cache->last = entry;
    cache->expected = entry->next;
    __builtin_prefetch(cache->expected);
}

/* This entry was found, and not expected. */
MIRE_INLINE void mire__stack_cache_learn(struct stack_cache *cache, struct stack_entry *entry)
{
    if (cache->last)
        cache->last->next = entry;
    mire__stack_cache_follow(cache, entry);
}

/* The node of an entry that was found, if its base stands too; otherwise 0. */
uint32_t mire__stack_cache_as_node(const struct stack_entry *entry, const struct self_walk *walk);

#endif
