/*
 * step_cache.h - the steps of all code that walks have met, and the modules that are loaded.
 *
 *     pc --> entries[hash]: pc | packed step, or pc | where the step lies in steps[]
 *               '- not there: read .eh_frame, once for each pc
 *
 * An entry is one word that holds the whole pc, so a reader finds the right step or none, whatever is stored meanwhile.
 * Modules are read as memory that may vanish at any time. The list of modules is read when a pc lies in no known
 * module, and when one may have been unloaded; the owner learns of each change.
 *
 * There is one cache in a process, for its whole life: memory is the caller's, zeroed. Signal-safe.
 */
#ifndef MIRE_UNWIND_STEP_CACHE_H
#define MIRE_UNWIND_STEP_CACHE_H

#include "platform/platform.h"
#include "unwind/step.h"

#define MIRE_STEP_CACHE_LOG     16
#define MIRE_STEP_CACHE_ENTRIES (1u << MIRE_STEP_CACHE_LOG)
#define MIRE_STEP_CACHE_SPAN    4 /* log2 of the bytes of code that share a first entry */
#define MIRE_STEP_CACHE_WAYS    4u
#define MIRE_STEP_CACHE_STEPS   4096u /* different steps that are not packed; cc1 has some 900 */
#define MIRE_STEP_CACHE_SLOTS   (2 * MIRE_STEP_CACHE_STEPS)
#define MIRE_STEP_CACHE_MODULES (2 * MIRE_IMAGES_MAX) /* those of the last reading, and those that replace them */

/* Functions of the cache's owner. Called under the cache's lock; must not call the cache. */
struct step_cache_owner {
    void *context;
    void (*on_module)(void *context, const struct module *module, const struct module_facts *facts);
    void (*on_module_gone)(void *context, uint64_t start, uint64_t end);
    void (*on_forgotten)(void *context); /* all steps are void; `version` has grown already */

    /* Is a frame left out of stacks? function: where the code at `pc` begins, 0 if unknown */
    bool (*is_hidden)(void *context, uint64_t pc, uint64_t function);
};

struct step_cache_module {
    uint64_t start, end, identity;
    bool seen; /* at the last reading of the list */
};

struct step_cache {
    _Atomic uint32_t version; /* grows when all steps become void */
    _Atomic uint32_t steps_count;
    struct step steps[MIRE_STEP_CACHE_STEPS]; /* 0 is STEP_NONE */
    _Atomic uint64_t entries[MIRE_STEP_CACHE_ENTRIES];

    /* The holder of the lock alone uses the rest. */
    _Atomic uint64_t lock;                   /* the holder's thread pointer; 0: free */
    struct step_cache_owner owner;           /* functions that are NULL are not called */
    uint16_t numbers[MIRE_STEP_CACHE_SLOTS]; /* hash -> number of a step */
    uint32_t readings;                       /* of the list that are allowed now for unknown pcs */
    uint64_t read_ns;                        /* time of the last one */
    uint32_t known_count;
    struct step_cache_module known[MIRE_STEP_CACHE_MODULES];
    struct modules modules;
};

/*
 * Begin, again for each owner.
 *   owner  copied; NULL: nobody
 * Thread: one at a time, while no thread uses the cache.
 */
void mire__step_cache_open(struct step_cache *cache, const struct step_cache_owner *owner);

/*
 * Compile the step for a pc without an entry, and make the entry where the step can be kept.
 * Returns false if the lock was not to be had: the step is unknown now.
 */
bool mire__step_cache_as_learn(struct step_cache *cache, struct step *out, uint64_t pc, bool exact);

/* Read the list of modules, for one may have been unloaded. Steps become void if so. Returns false if busy. */
bool mire__step_cache_as_refresh(struct step_cache *cache);

/* Visit the mappings of the process (mire__mappings_visit). Returns false if busy. */
bool mire__step_cache_as_mappings(struct step_cache *cache, bool (*visit)(void *context, const struct mapping *mapping),
                                  void *context);

/* mire__step_is_return, under the lock. Returns false if busy, too. */
bool mire__step_cache_as_is_return(struct step_cache *cache, uint64_t address);

/* Neighbours in the code are neighbours among the entries. */
static inline uint32_t mire__step_cache_slot(uint64_t pc)
{
    return (uint32_t)(pc >> MIRE_STEP_CACHE_SPAN ^ pc >> (MIRE_STEP_CACHE_SPAN + MIRE_STEP_CACHE_LOG)) %
           MIRE_STEP_CACHE_ENTRIES;
}

/* An entry: the pc, and in the low bits the packed step, or the offset of the step within steps[], in bytes. */
static inline uint64_t mire__step_cache_entry(uint64_t pc, uint32_t low)
{
    return pc << 16 | low;
}
_Static_assert(MIRE_STEP_CACHE_STEPS * sizeof(struct step) == 1u << 16, "an offset fits into the low bits");
_Static_assert(sizeof(struct step) % (2 * MIRE_STEP_PACKED) == 0, "the bit of a packed step is 0 in an offset");

/* The low bits of the entry for a pc that a call returns to; 0 if there is none. */
static inline uint32_t mire__step_cache_as_find(const struct step_cache *cache, uint64_t pc)
{
    uint32_t slot = mire__step_cache_slot(pc);

    for (uint32_t way = 0; way < MIRE_STEP_CACHE_WAYS; way++) {
        uint64_t entry =
            atomic_load_explicit(&cache->entries[(slot + way) % MIRE_STEP_CACHE_ENTRIES], memory_order_acquire);

        if (entry >> 16 == pc)
            return (uint16_t)entry;
    }
    return 0;
}

/* The step that low bits name which are not packed; STEP_NONE for 0. */
static inline const struct step *mire__step_cache_step(const struct step_cache *cache, uint32_t low)
{
    return (const struct step *)((const char *)cache->steps + low);
}

#endif
