/* code.c - see code.h. Signal-safe. */
#include "allochook/code.h"

#include "heap/modules.h"
#include "platform/apart.h"
#include "platform/arch.h"
#include "platform/platform.h"

#include <string.h>

#define SPINS_MAX 500 /* tries, of some 5 ns each: as long as most look-ups take */
#define NAPS_MAX  400 /* then naps: reading the list of modules may take a millisecond */
#define NAP_NS    50000ull
#define LOOKS_MAX 64u        /* readings of the list at once for places that lie in no module */
#define LOOK_NS   5000000ull /* and one more in this time */

/* Whoever holds it is told by its thread, so that a signal handler does not wait for the thread it interrupted. */
static bool lock_slow(struct code *code, uint64_t self)
{
    _Atomic uint32_t never = 0;

    for (uint32_t i = 0; i < SPINS_MAX + NAPS_MAX; i++) {
        uint64_t holder = 0;

        if (atomic_compare_exchange_weak_explicit(&code->lock, &holder, self, memory_order_acquire,
                                                  memory_order_relaxed))
            return true;
        if (holder == self)
            return false;
        if (i >= SPINS_MAX)
            mire__futex_wait(&never, 0, mire__now_ns() + NAP_NS);
    }
    return false;
}

static bool lock(struct code *code)
{
    uint64_t nobody = 0, self = mire__arch_as_thread_pointer();

    return atomic_compare_exchange_strong_explicit(&code->lock, &nobody, self, memory_order_acquire,
                                                   memory_order_relaxed) ||
           lock_slow(code, self);
}

static void unlock(struct code *code)
{
    atomic_store_explicit(&code->lock, 0, memory_order_release);
}

/* Another file in the same place is another module. */
static uint64_t identify(const struct module *module, const struct module_facts *facts)
{
    uint64_t hash = module->load ^ module->eh_frame_hdr << 1;

    for (const char *at = facts->path; *at; at++)
        hash = (hash ^ (uint8_t)*at) * 0x100000001b3ull;
    for (uint32_t i = 0; i < facts->id_size; i++)
        hash = (hash ^ facts->id[i]) * 0x100000001b3ull;
    return hash;
}

static void see_module(void *context, const struct module *module, const struct module_facts *facts)
{
    struct code *code = context;
    struct code_image image = {
        .start = module->start, .end = module->end, .identity = identify(module, facts), .seen = true};
    const struct heap_image_facts told = {.start = module->start,
                                          .end = module->end,
                                          .load = module->load,
                                          .base = facts->base,
                                          .path = facts->path,
                                          .id = facts->id,
                                          .id_size = facts->id_size};

    for (uint32_t i = 0; i < code->images_count; i++) {
        struct code_image *known = &code->images[i];

        if (known->start == image.start && known->end == image.end && known->identity == image.identity) {
            known->seen = true;
            return;
        }
    }
    if (code->images_count == MIRE_COUNT(code->images))
        return;
    if (code->heap && facts->path[0])
        mire__images_as_add(NULL, code->heap, &told);
    code->images[code->images_count++] = image;
}

static void forget_entries(struct code *code)
{
    bool fresh = atomic_load_explicit(&code->version, memory_order_relaxed) == 0; /* zeros, on no page touched yet */

    for (uint32_t i = 0; !fresh && i < MIRE_CODE_ENTRIES; i++) {
        if (atomic_load_explicit(&code->entries[i], memory_order_relaxed) != 0)
            atomic_store_explicit(&code->entries[i], 0, memory_order_relaxed);
    }
    atomic_fetch_add_explicit(&code->version, 1, memory_order_release);
    if (code->heap) /* only now: whoever sees it sees the version too */
        atomic_fetch_add_explicit(&code->heap->how, MIRE_HOW_CODE, memory_order_release);
}

static void read_now(void *code)
{
    mire__modules_read(&((struct code *)code)->modules, see_module, code);
}

/* With the lock. Modules that have gone are told, and all rules learnt anew. */
static void read_modules(struct code *code)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < code->images_count; i++)
        code->images[i].seen = false;
    mire__apart_run(read_now, code);
    for (uint32_t i = 0; i < code->images_count; i++) {
        if (code->images[i].seen)
            code->images[kept++] = code->images[i];
        else if (code->heap)
            mire__images_as_gone(code->heap, code->images[i].start, code->images[i].end);
    }
    if (kept == code->images_count)
        return;
    code->images_count = kept;
    forget_entries(code);
}

/* With the lock. A place in no module: one may have come since. Not for every place that is none of code. */
static void look_for(struct code *code, uint64_t place)
{
    uint64_t now_ns, gained;

    if (mire__modules_find(&code->modules, place))
        return;
    now_ns = mire__now_coarse_ns();
    gained = (now_ns - code->looked_ns) / LOOK_NS;
    code->looks = code->looks + gained < LOOKS_MAX ? code->looks + (uint32_t)gained : LOOKS_MAX;
    if (code->looks == 0)
        return;
    code->looks--;
    code->looked_ns = now_ns;
    read_modules(code);
}

/* The number of a rule; 0 where it cannot be kept. */
static uint32_t number_of(struct code *code, const struct rule *rule)
{
    uint32_t count = atomic_load_explicit(&code->rules_count, memory_order_relaxed);
    uint64_t words[2];
    uint32_t slot;

    _Static_assert(sizeof(words) == sizeof(*rule), "a rule is two words, without padding");
    memcpy(words, rule, sizeof(words));
    slot = (uint32_t)((words[0] * 0x9e3779b97f4a7c15ull + words[1]) * 0x9e3779b97f4a7c15ull >> 40);
    for (;; slot++) {
        uint16_t *number = &code->rule_slots[slot % MIRE_CODE_RULE_SLOTS];

        if (*number && memcmp(&code->rules[*number], rule, sizeof(*rule)) == 0)
            return *number;
        if (*number)
            continue;
        if (count == MIRE_CODE_RULES)
            return 0;
        code->rules[count] = *rule;
        atomic_store_explicit(&code->rules_count, count + 1, memory_order_release);
        *number = (uint16_t)count;
        return count;
    }
}

/* In a free entry of its set, else instead of the one that its low bits choose. */
static void keep(struct code *code, uint64_t place, uint32_t low)
{
    uint32_t slot = mire__code_slot(place), way = 0;

    while (way < MIRE_CODE_WAYS &&
           atomic_load_explicit(&code->entries[(slot + way) % MIRE_CODE_ENTRIES], memory_order_relaxed) != 0)
        way++;
    if (way == MIRE_CODE_WAYS)
        way = (uint32_t)(place >> 1) % MIRE_CODE_WAYS;
    atomic_store_explicit(&code->entries[(slot + way) % MIRE_CODE_ENTRIES], mire__code_entry(place, low),
                          memory_order_release);
}

/* What MIRE_HIDDEN (hooks.h) put together; nothing where no hook is linked. */
extern const char __start_mire_hidden[] __attribute__((visibility("hidden"), weak));
extern const char __stop_mire_hidden[] __attribute__((visibility("hidden"), weak));

/* Frames of ours, and of functions that are left out. */
static bool is_hidden(const struct code *code, uint64_t place, uint64_t function)
{
    if (place >= (uintptr_t)__start_mire_hidden && place < (uintptr_t)__stop_mire_hidden)
        return true;
    for (size_t i = 0; i < code->hidden_count && function; i++) {
        if ((uintptr_t)atomic_load_explicit(&code->hidden[i].real, memory_order_relaxed) == function)
            return true;
    }
    return false;
}

void mire__code_hide(struct code *code, const struct hook *hooks, size_t count)
{
    code->hidden = hooks;
    code->hidden_count = count;
}

bool mire__code_as_learn(struct code *code, struct rule *out, uint64_t place, bool exact)
{
    uint32_t low = 0;
    uint64_t function;

    if (!lock(code))
        return false;
    look_for(code, place);
    function = mire__rule_make(out, &code->modules, place, exact);
    if (is_hidden(code, place, function))
        out->flags |= MIRE_RULE_HIDDEN;
    mire__rule_mark(out);
    if (!exact && out->kind != RULE_NONE) {
        low = mire__rule_brief(out);
        if (!low)
            low = number_of(code, out) * (uint32_t)sizeof(struct rule);
    }
    if (low)
        keep(code, place, low);
    unlock(code);
    return true;
}

bool mire__code_as_look(struct code *code)
{
    if (!lock(code))
        return false;
    read_modules(code);
    if (code->looks < LOOKS_MAX) /* what was unloaded was loaded before: the next one is to be found */
        code->looks++;
    unlock(code);
    return true;
}

struct visit {
    struct code *code;
    bool (*each)(void *context, const struct mapping *mapping);
    void *context;
};

static void visit_now(void *context)
{
    struct visit *visit = context;
    struct code *code = visit->code;

    mire__mappings_visit(visit->each, visit->context, code->modules.scratch, sizeof(code->modules.scratch));
}

bool mire__code_as_mappings(struct code *code, bool (*visit)(void *context, const struct mapping *mapping),
                            void *context)
{
    struct visit what = {code, visit, context};

    if (!lock(code))
        return false;
    mire__apart_run(visit_now, &what);
    unlock(code);
    return true;
}

bool mire__code_as_returns(struct code *code, uint64_t address)
{
    uint8_t bytes[MIRE_CALL_BYTES];
    uint64_t target;
    bool returns;

    if (!lock(code))
        return false;
    returns = mire__modules_find(&code->modules, address - 1) &&
              mire__peek_cached(bytes, &code->modules.cache, address - sizeof(bytes), sizeof(bytes)) &&
              mire__arch_call_before(&target, address, bytes);
    unlock(code);
    return returns;
}

void mire__code_open(struct code *code, struct heap *heap)
{
    code->heap = heap;
    code->images_count = 0;
    code->looks = LOOKS_MAX;
    if (atomic_load(&code->rules_count) == 0)
        atomic_store(&code->rules_count, 1);
    atomic_store(&code->lock, 0);
    forget_entries(code);
    mire__modules_read(&code->modules, see_module, code);
}
