/* step_cache.c - see step_cache.h. Signal-safe. */
#include "unwind/step_cache.h"

#include "base/hash.h"
#include "platform/apart.h"
#include "platform/arch.h"

#include <string.h>

#define SPINS_MAX    500 /* tries of some 5 ns each: most look-ups take no longer */
#define NAPS_MAX     400 /* then naps: reading the list of modules may take a millisecond */
#define NAP_NS       50000ull
#define READINGS_MAX 64u        /* of the list in a row for pcs that lie in no module */
#define READING_NS   5000000ull /* one more is allowed after each such time */

/* ---- the lock ---- */

static bool lock_slow(struct step_cache *cache, uint64_t self)
{
    _Atomic uint32_t never = 0;

    for (uint32_t i = 0; i < SPINS_MAX + NAPS_MAX; i++) {
        uint64_t holder = 0;

        if (atomic_compare_exchange_weak_explicit(&cache->lock, &holder, self, memory_order_acquire,
                                                  memory_order_relaxed))
            return true;
        if (holder == self) /* a signal handler interrupted the holder: waiting would never end */
            return false;
        if (i >= SPINS_MAX)
            mire__futex_wait(&never, 0, mire__now_ns() + NAP_NS);
    }
    return false;
}

static bool lock(struct step_cache *cache)
{
    uint64_t nobody = 0, self = mire__arch_as_thread_pointer();

    return atomic_compare_exchange_strong_explicit(&cache->lock, &nobody, self, memory_order_acquire,
                                                   memory_order_relaxed) ||
           lock_slow(cache, self);
}

static void unlock(struct step_cache *cache)
{
    atomic_store_explicit(&cache->lock, 0, memory_order_release);
}

/* ---- modules ---- */

/* Another file at the same addresses is another module. */
static uint64_t identify(const struct module *module, const struct module_facts *facts)
{
    uint64_t hash = module->load ^ module->eh_frame_hdr << 1;

    return mire__hash_bytes(mire__hash_text(hash, facts->path), facts->id, facts->id_size);
}

static void see_module(void *context, const struct module *module, const struct module_facts *facts)
{
    struct step_cache *cache = context;
    struct step_cache_module seen = {
        .start = module->start, .end = module->end, .identity = identify(module, facts), .seen = true};

    for (uint32_t i = 0; i < cache->known_count; i++) {
        struct step_cache_module *known = &cache->known[i];

        if (known->start == seen.start && known->end == seen.end && known->identity == seen.identity) {
            known->seen = true;
            return;
        }
    }
    if (cache->known_count == MIRE_COUNT(cache->known))
        return;
    if (cache->owner.on_module && facts->path[0])
        cache->owner.on_module(cache->owner.context, module, facts);
    cache->known[cache->known_count++] = seen;
}

static void forget_entries(struct step_cache *cache)
{
    bool fresh = atomic_load_explicit(&cache->version, memory_order_relaxed) == 0; /* zeros, in untouched pages */

    for (uint32_t i = 0; !fresh && i < MIRE_STEP_CACHE_ENTRIES; i++) {
        if (atomic_load_explicit(&cache->entries[i], memory_order_relaxed) != 0)
            atomic_store_explicit(&cache->entries[i], 0, memory_order_relaxed);
    }
    atomic_fetch_add_explicit(&cache->version, 1, memory_order_release);
    if (cache->owner.on_forgotten) /* after the version: a thread that sees the owner's mark sees the version too */
        cache->owner.on_forgotten(cache->owner.context);
}

static void read_now(void *cache)
{
    mire__modules_read(&((struct step_cache *)cache)->modules, see_module, cache);
}

/* Under the lock. The owner learns which modules have gone; then all steps become void. */
static void read_modules(struct step_cache *cache)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < cache->known_count; i++)
        cache->known[i].seen = false;
    mire__apart_run(read_now, cache);
    for (uint32_t i = 0; i < cache->known_count; i++) {
        if (cache->known[i].seen)
            cache->known[kept++] = cache->known[i];
        else if (cache->owner.on_module_gone)
            cache->owner.on_module_gone(cache->owner.context, cache->known[i].start, cache->known[i].end);
    }
    if (kept == cache->known_count)
        return;
    cache->known_count = kept;
    forget_entries(cache);
}

/* Under the lock. Reads the list if `pc` lies in no module, as one may have come; not for every address without code.
 */
static void look_for(struct step_cache *cache, uint64_t pc)
{
    uint64_t now_ns, gained;

    if (mire__modules_find(&cache->modules, pc))
        return;
    now_ns = mire__now_coarse_ns();
    gained = (now_ns - cache->read_ns) / READING_NS;
    cache->readings = cache->readings + gained < READINGS_MAX ? cache->readings + (uint32_t)gained : READINGS_MAX;
    if (cache->readings == 0)
        return;
    cache->readings--;
    cache->read_ns = now_ns;
    read_modules(cache);
}

/* ---- steps ---- */

/* The number of a step, 0 if there is no room. */
static uint32_t number_of(struct step_cache *cache, const struct step *step)
{
    uint32_t count = atomic_load_explicit(&cache->steps_count, memory_order_relaxed);
    uint64_t words[2];
    uint32_t slot;

    _Static_assert(sizeof(words) == sizeof(*step), "a step is two words, without padding");
    memcpy(words, step, sizeof(words));
    slot = (uint32_t)((words[0] * 0x9e3779b97f4a7c15ull + words[1]) * 0x9e3779b97f4a7c15ull >> 40);
    for (;; slot++) {
        uint16_t *number = &cache->numbers[slot % MIRE_STEP_CACHE_SLOTS];

        if (*number && memcmp(&cache->steps[*number], step, sizeof(*step)) == 0)
            return *number;
        if (*number)
            continue;
        if (count == MIRE_STEP_CACHE_STEPS)
            return 0;
        cache->steps[count] = *step;
        atomic_store_explicit(&cache->steps_count, count + 1, memory_order_release);
        *number = (uint16_t)count;
        return count;
    }
}

/* In a free entry of the set, otherwise in place of the entry that the pc's low bits choose. */
static void keep(struct step_cache *cache, uint64_t pc, uint32_t low)
{
    uint32_t slot = mire__step_cache_slot(pc), way = 0;

    while (way < MIRE_STEP_CACHE_WAYS &&
           atomic_load_explicit(&cache->entries[(slot + way) % MIRE_STEP_CACHE_ENTRIES], memory_order_relaxed) != 0)
        way++;
    if (way == MIRE_STEP_CACHE_WAYS)
        way = (uint32_t)(pc >> 1) % MIRE_STEP_CACHE_WAYS;
    /* Released: the step that `low` may name is there before the entry. */
    atomic_store_explicit(&cache->entries[(slot + way) % MIRE_STEP_CACHE_ENTRIES], mire__step_cache_entry(pc, low),
                          memory_order_release);
}

bool mire__step_cache_as_learn(struct step_cache *cache, struct step *out, uint64_t pc, bool exact)
{
    uint32_t low = 0;
    uint64_t function;

    if (!lock(cache))
        return false;
    look_for(cache, pc);
    function = mire__step_make(out, &cache->modules, pc, exact);
    if (cache->owner.is_hidden && cache->owner.is_hidden(cache->owner.context, pc, function))
        out->flags |= MIRE_STEP_HIDDEN;
    mire__step_mark(out);
    if (!exact && out->kind != STEP_NONE) {
        low = mire__step_pack(out);
        if (!low)
            low = number_of(cache, out) * (uint32_t)sizeof(struct step);
    }
    if (low)
        keep(cache, pc, low);
    unlock(cache);
    return true;
}

bool mire__step_cache_as_refresh(struct step_cache *cache)
{
    if (!lock(cache))
        return false;
    read_modules(cache);
    if (cache->readings < READINGS_MAX) /* for the module that may be loaded next */
        cache->readings++;
    unlock(cache);
    return true;
}

struct mappings_visit {
    struct step_cache *cache;
    bool (*each)(void *context, const struct mapping *mapping);
    void *context;
};

static void visit_now(void *context)
{
    struct mappings_visit *visit = context;
    struct modules *modules = &visit->cache->modules;

    mire__mappings_visit(visit->each, visit->context, modules->scratch, sizeof(modules->scratch));
}

bool mire__step_cache_as_mappings(struct step_cache *cache, bool (*visit)(void *context, const struct mapping *mapping),
                                  void *context)
{
    struct mappings_visit what = {cache, visit, context};

    if (!lock(cache))
        return false;
    mire__apart_run(visit_now, &what);
    unlock(cache);
    return true;
}

bool mire__step_cache_as_is_return(struct step_cache *cache, uint64_t address)
{
    uint64_t target;
    bool is_return;

    if (!lock(cache))
        return false;
    is_return = mire__step_is_return(&target, &cache->modules, address);
    unlock(cache);
    return is_return;
}

void mire__step_cache_open(struct step_cache *cache, const struct step_cache_owner *owner)
{
    cache->owner = owner ? *owner : (struct step_cache_owner){0};
    cache->known_count = 0;
    cache->readings = READINGS_MAX;
    if (atomic_load(&cache->steps_count) == 0)
        atomic_store(&cache->steps_count, 1);
    atomic_store(&cache->lock, 0);
    forget_entries(cache);
    mire__modules_read(&cache->modules, see_module, cache);
}
