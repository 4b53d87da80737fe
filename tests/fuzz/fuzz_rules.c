/* Rule packs, of functions and of memory: a pack that parses can be applied. */
#include "feature/suspects.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void classify(const char *text, size_t size)
{
    struct rules *rules;
    struct rules_fault fault;
    if (rules_parse(&rules, &fault, text, size) != MIRE_RULES_OK)
        return;
    (void)rules_classify(rules, "/usr/lib/libc.so.6", "pthread_mutex_lock");
    (void)rules_classify(rules, "", "");
    rules_free(rules);
}

static void suspect(const char *text, size_t size)
{
    const struct memory_category categories[] = {{.name = "Malloc 48", .held_bytes = UINT64_MAX, .live_count = 9},
                                                 {.name = "", .kind = MIRE_MEMORY_OBJECT, .live_count = UINT64_MAX}};
    struct memory memory = {.categories = categories, .category_count = 2, .held_bytes = 1};
    const struct healthy healthy = {MIRE_HEALTHY_NONE, NULL};
    struct suspect_rules *rules;
    struct rules_fault fault;
    struct arena arena;
    if (suspect_rules_parse(&rules, &fault, text, size) != MIRE_RULES_OK)
        return;
    arena_init(&arena, 1 << 20);
    (void)suspects_find(&memory, &arena, rules, &healthy);
    arena_fini(&arena);
    suspect_rules_free(rules);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    classify((const char *)data, size);
    suspect((const char *)data, size);
    return 0;
}
