/* Excess memory of a process by rules, and the function that allocated it. */
#include "feature/memory.h"
#include "support/stacks.h"
#include "document/document.h"

struct held { /* a memory report */
    struct stacks *s;
    struct suspect_rules *suspects;
    struct population healthy;
    bool has_healthy;
    struct memory_category categories[32];
    struct memory_stack stacks[64];
};

static struct held *held_new(void)
{
    struct rules_fault fault;
    struct held *h = calloc(1, sizeof *h);
    h->s = stacks_new();
    h->s->report.kind = MIRE_REPORT_MEMORY;
    h->s->report.memory = (struct memory){.known = true, .trigger = "foom", .name = ""};
    h->s->doc.memory = h->s->report.memory;
    h->s->doc.memory.categories = h->categories;
    h->s->doc.memory.stacks = h->stacks;
    population_init(&h->healthy, &h->s->arena);
    assert_int_equal(suspect_rules_builtin(&h->suspects, &fault), MIRE_RULES_OK);
    return h;
}

static void held_free(struct held *h)
{
    suspect_rules_free(h->suspects);
    stacks_free(h->s);
    free(h);
}

static void use_rules(struct held *h, const char *text)
{
    struct rules_fault fault;
    suspect_rules_free(h->suspects);
    h->suspects = NULL;
    if (suspect_rules_parse(&h->suspects, &fault, text, strlen(text)) != MIRE_RULES_OK)
        fail_msg("line %u: %s", fault.line, fault.text);
}

static struct memory_category *category(struct held *h, enum memory_kind kind, const char *name, uint64_t bytes,
                                        uint64_t count)
{
    struct memory *memory = &h->s->doc.memory;
    struct memory_category *c = &h->categories[memory->category_count++];
    *c = (struct memory_category){
        .name = name, .kind = kind, .live_bytes = bytes, .held_bytes = bytes, .live_count = count};
    memory->held_bytes += bytes;
    return c;
}

/* Add a stack to the last category, outermost first: "main@/opt/app run@/opt/app". */
static void stack(struct held *h, uint64_t bytes, uint64_t count, const char *text)
{
    struct memory *memory = &h->s->doc.memory;
    sample(h->s, 0, '?', text);
    uint32_t node = h->s->samples[--h->s->doc.sample_count].node;
    h->stacks[memory->stack_count++] = (struct memory_stack){
        .category = (uint32_t)memory->category_count - 1, .node = node, .bytes = bytes, .count = count, .caller1 = -1};
}

static struct feature look(struct held *h)
{
    const struct memory_packs packs = {
        .rules = h->s->rules,
        .suspects = h->suspects,
        .healthy = {h->has_healthy ? MIRE_HEALTHY_VERSION : MIRE_HEALTHY_NONE, h->has_healthy ? &h->healthy : NULL},
    };
    struct feature feature;
    assert_int_equal(feature_find_memory(&feature, &h->s->arena, &h->s->doc, &h->s->report, &packs), 0);
    return feature;
}

/* Add so many healthy processes with exactly that memory. */
static void healthy(struct held *h, enum memory_kind kind, const char *name, uint64_t bytes, uint64_t count)
{
    struct memory_category c = {.name = name, .kind = kind, .held_bytes = bytes, .live_count = count};
    const struct memory memory = {.known = true, .categories = &c, .category_count = 1};
    h->has_healthy = true;
    for (int i = 0; i < 10; i++)
        assert_int_equal(population_add(&h->healthy, &memory, 1), 0);
    h->healthy.reports = h->healthy.weight = 10;
}

#define MIB (1ull << 20)
#define APP "@/opt/map/mapview "

static void the_feature_is_callers_category_and_reason(void **state)
{
    struct held *h = held_new();
    (void)state;
    category(h, MIRE_MEMORY_HEAP, "Malloc 48.00 KiB", 412 * MIB, 8800);
    stack(h, 320 * MIB, 6800,
          "main" APP "g_main_context_dispatch@/usr/lib/libglib-2.0.so.0 onScroll" APP "drawPanel" APP "decodeTile" APP
          "std::vector<int>::_M_realloc_insert" APP "malloc" LIBC);
    stack(h, 90 * MIB, 2000, "main" APP "fetchThumbnail" APP "malloc" LIBC);
    struct feature f = look(h);
    assert_string_equal(f.caller1.function, "decodeTile");
    assert_string_equal(f.caller2.function, "onScroll");
    assert_string_equal(f.subject, "Malloc 48.00 KiB");
    assert_int_equal(f.category, MIRE_CATEGORY_FOOM);
    assert_int_equal(f.reason, MIRE_REASON_BYTES);
    assert_non_null(strstr(f.why, "78 %"));
    assert_int_equal(h->s->doc.memory.stacks[0].caller1, 2);
    assert_int_equal(h->s->doc.memory.stacks[1].caller1, 1);
    held_free(h);
}

static void what_several_stacks_hold_together_is_to_blame(void **state)
{
    struct held *h = held_new();
    (void)state;
    category(h, MIRE_MEMORY_HEAP, "Malloc 48 B", 100 * MIB, 1000);
    stack(h, 40 * MIB, 400, "main" APP "once" APP "malloc" LIBC);
    stack(h, 30 * MIB, 300, "main" APP "leaks" APP "strdup" LIBC "malloc" LIBC);
    stack(h, 29 * MIB, 299, "main" APP "other" APP "leaks" APP "malloc" LIBC);
    struct feature f = look(h);
    assert_string_equal(f.caller1.function, "leaks");
    assert_non_null(strstr(f.why, "59 %"));
    held_free(h);
}

static void objects_are_blamed_by_their_number(void **state)
{
    struct held *h = held_new();
    (void)state;
    category(h, MIRE_MEMORY_OBJECT, "MapViewController", MIB, 214);
    stack(h, MIB / 2 + 1, 14, "main" APP "fewLarge" APP "malloc" LIBC);
    stack(h, MIB / 2 - 1, 200, "main" APP "manySmall" APP "malloc" LIBC);
    struct feature f = look(h);
    assert_string_equal(f.caller1.function, "manySmall");
    assert_int_equal(f.reason, MIRE_REASON_OBJECTS);
    held_free(h);
}

static void growth_alone_is_a_reason(void **state)
{
    struct held *h = held_new();
    (void)state;
    category(h, MIRE_MEMORY_HEAP, "Malloc 1.00 KiB", 30 * MIB, 30720)->grown =
        (struct memory_growth){true, 20 * MIB, 9};
    stack(h, 20 * MIB, 20480, "main" APP "old" APP "malloc" LIBC);
    stack(h, 10 * MIB, 10240, "main" APP "young" APP "malloc" LIBC);
    h->stacks[0].grown = (struct memory_growth){true, -5, -5};
    h->stacks[1].grown = (struct memory_growth){true, 20 * MIB, 9};
    struct feature f = look(h);
    assert_int_equal(f.reason, MIRE_REASON_GROWTH);
    assert_string_equal(f.caller1.function, "young");
    held_free(h);
}

static void what_healthy_processes_hold_too_is_no_suspect(void **state)
{
    struct held *h = held_new();
    (void)state;
    category(h, MIRE_MEMORY_HEAP, "Malloc 4.00 KiB", 60 * MIB, 15360);
    healthy(h, MIRE_MEMORY_HEAP, "Malloc 4.00 KiB", 50 * MIB, 12800);
    assert_int_equal(look(h).reason, MIRE_REASON_UNKNOWN);
    h->categories[0].held_bytes = h->s->doc.memory.held_bytes = 120 * MIB;
    struct feature f = look(h);
    assert_int_equal(f.reason, MIRE_REASON_BYTES);
    const struct memory_found *found = &h->s->doc.memory.found[0];
    assert_true(found->healthy_bytes.known && found->rank == 1 && found->rule);
    assert_in_range(found->healthy_bytes.value, 48 * MIB, 52 * MIB);
    assert_int_equal(h->s->doc.memory.healthy_scope, MIRE_HEALTHY_VERSION);
    assert_int_equal(h->s->doc.memory.healthy_reports, 10);
    held_free(h);
}

static void what_no_healthy_process_has_is_beyond_any_median(void **state)
{
    struct held *h = held_new();
    (void)state;
    category(h, MIRE_MEMORY_VM, "VM: anonymous", 80 * MIB, 2);
    healthy(h, MIRE_MEMORY_HEAP, "Malloc 16 B", 1, 1);
    assert_int_equal(look(h).reason, MIRE_REASON_BYTES);
    assert_int_equal(h->s->doc.memory.found[0].healthy_bytes.value, 0);
    held_free(h);
}

static void suspects_are_ranked_by_what_they_hold_beyond_the_median(void **state)
{
    struct held *h = held_new();
    (void)state;
    category(h, MIRE_MEMORY_HEAP, "big but usual", 500 * MIB, 1);
    stack(h, 1, 1, "main" APP "malloc" LIBC);
    category(h, MIRE_MEMORY_HEAP, "no stacks", 400 * MIB, 1);
    category(h, MIRE_MEMORY_HEAP, "unusual", 300 * MIB, 1);
    stack(h, 1, 1, "main" APP "culprit" APP "malloc" LIBC);
    healthy(h, MIRE_MEMORY_HEAP, "big but usual", 240 * MIB, 1);
    struct feature f = look(h);
    assert_string_equal(f.subject, "unusual");
    assert_string_equal(f.caller1.function, "culprit");
    assert_int_equal(h->s->doc.memory.found[0].rank, 2);
    assert_int_equal(h->s->doc.memory.found[1].rank, 3);
    held_free(h);
}

static void without_a_suspect_the_largest_category_with_stacks_stands_for_it(void **state)
{
    struct held *h = held_new();
    (void)state;
    category(h, MIRE_MEMORY_VM, "VM: file", 900 * MIB, 4);
    category(h, MIRE_MEMORY_HEAP, "Malloc 32 B", MIB, 32768);
    stack(h, MIB, 32768, "main" APP "caches" APP "malloc" LIBC);
    struct feature f = look(h);
    assert_int_equal(f.reason, MIRE_REASON_UNKNOWN);
    assert_string_equal(f.subject, "Malloc 32 B");
    assert_string_equal(f.caller1.function, "caches");
    held_free(h);
}

static void what_no_rule_lets_be_suspect_is_never_the_subject(void **state)
{
    struct held *h = held_new();
    (void)state;
    category(h, MIRE_MEMORY_VM, "VM: file", 900 * MIB, 4);
    stack(h, 900 * MIB, 4, "main" APP "maps" APP "mmap" LIBC);
    category(h, MIRE_MEMORY_HEAP, "Malloc 64 B", 2 * MIB, 32768);
    category(h, MIRE_MEMORY_HEAP, "Malloc 32 B", MIB, 32768);
    stack(h, MIB, 32768, "main" APP "caches" APP "malloc" LIBC);
    struct feature f = look(h);
    assert_string_equal(f.subject, "Malloc 32 B"); /* the largest whose stacks are known */
    assert_string_equal(f.caller1.function, "caches");
    h->s->doc.memory.category_count = h->s->doc.memory.stack_count = 1;
    f = look(h);
    assert_string_equal(f.subject, "(nothing)");
    assert_string_equal(f.caller1.function, "(no stack)");
    held_free(h);
}

/* Caller1 of the stack with that number. */
static const char *blamed(const struct held *h, size_t at)
{
    const struct resolved *doc = &h->s->doc;
    uint32_t node = doc->memory.stacks[at].node;
    for (int32_t i = 0; i < doc->memory.stacks[at].caller1; i++)
        node = doc->nodes[node].parent;
    return doc->locations[doc->nodes[node].location].function;
}

static void an_allocator_of_the_app_is_known_by_its_name_and_place(void **state)
{
    struct held *h = held_new();
    (void)state;
    category(h, MIRE_MEMORY_HEAP, "Malloc 112 B", 80 * MIB, 700000);
    stack(h, 60 * MIB, 500000, "main" APP "loop" APP "on_publish" APP "broker__calloc" APP);
    stack(h, 10 * MIB, 100000, "main" APP "loop" APP "on_connect" APP "broker__strdup" APP "strdup" LIBC);
    stack(h, 5 * MIB, 50000, "main" APP "loop" APP "on_subscribe" APP "pool_alloc" APP "Xsafemalloc" APP);
    stack(h, 4 * MIB, 40000, "main" APP "loop" APP "on_will" APP "pool_alloc" APP "Xsafemalloc" APP "malloc" LIBC);
    stack(h, 1 * MIB, 10000, "main" APP "on_start" APP "alloc_screen" APP "broker__calloc" APP);
    struct feature f = look(h);
    assert_string_equal(f.caller1.function, "on_publish");
    assert_string_equal(blamed(h, 1), "on_connect");
    assert_string_equal(blamed(h, 2), "on_subscribe"); /* a wrapper of a wrapper */
    assert_string_equal(blamed(h, 3), "on_will");
    assert_string_equal(blamed(h, 4), "alloc_screen"); /* a general name, and a single caller */
    held_free(h);
}

static void a_rule_of_the_apps_team_keeps_its_allocator_to_blame(void **state)
{
    static const char text[] = "version 1\napp mapview tile_alloc*\n";
    struct held *h = held_new();
    struct rules_fault fault;
    (void)state;
    rules_free(h->s->rules);
    assert_int_equal(rules_parse(&h->s->rules, &fault, text, strlen(text)), MIRE_RULES_OK);
    category(h, MIRE_MEMORY_HEAP, "Malloc 112 B", 80 * MIB, 700000);
    stack(h, 60 * MIB, 500000, "main" APP "draw" APP "tile_alloc" APP);
    stack(h, 60 * MIB, 500000, "main" APP "scroll" APP "tile_alloc" APP);
    assert_string_equal(look(h).caller1.function, "tile_alloc");
    held_free(h);
}

static void an_allocator_without_a_telling_name_hands_out_blocks_of_any_size(void **state)
{
    struct held *h = held_new();
    (void)state;
    category(h, MIRE_MEMORY_HEAP, "Malloc 112 B", 80 * MIB, 700000);
    stack(h, 60 * MIB, 500000, "main" APP "parse" APP "getmem" APP);
    stack(h, 20 * MIB, 100, "main" APP "parse" APP "new_node" APP);
    category(h, MIRE_MEMORY_HEAP, "Malloc 4 KiB", 20 * MIB, 5000);
    stack(h, 20 * MIB, 5000, "main" APP "draw" APP "getmem" APP "malloc" LIBC);
    category(h, MIRE_MEMORY_HEAP, "Malloc 48 B", 9 * MIB, 5000);
    stack(h, 9 * MIB, 5000, "main" APP "draw" APP "getmem" APP);
    category(h, MIRE_MEMORY_HEAP, "Malloc 80 B", 9 * MIB, 5000);
    stack(h, 8 * MIB, 5000, "main" APP "draw" APP "new_node" APP);
    stack(h, MIB, 5000, "main" APP "draw" APP "keeps" APP "new_node" APP);
    (void)look(h);
    assert_string_equal(blamed(h, 0), "parse");
    assert_string_equal(blamed(h, 2), "draw");
    assert_string_equal(blamed(h, 1), "parse"); /* three callers, two sizes */
    assert_string_equal(blamed(h, 5), "keeps");
    held_free(h);
}

static void a_constructor_stays_to_blame_and_so_does_the_only_function_there_is(void **state)
{
    struct held *h = held_new();
    (void)state;
    category(h, MIRE_MEMORY_HEAP, "Malloc 112 B", 80 * MIB, 700000);
    stack(h, 40 * MIB, 500000, "main" APP "parse" APP "new_node" APP);
    stack(h, 30 * MIB, 500000, "main" APP "copy" APP "new_node" APP);
    stack(h, 9 * MIB, 500000, "main" APP "load_alloc_table" APP "read_row" APP);
    stack(h, MIB, 500000, "thread_start" LIBC "xmalloc_forever" APP);
    (void)look(h);
    assert_string_equal(blamed(h, 0), "new_node");
    assert_string_equal(blamed(h, 1), "new_node");
    assert_string_equal(blamed(h, 2), "read_row");
    assert_string_equal(blamed(h, 3), "xmalloc_forever");
    held_free(h);
}

static void an_empty_report_has_a_feature_too(void **state)
{
    struct held *h = held_new();
    (void)state;
    struct feature f = look(h);
    assert_string_equal(f.caller1.function, "(no stack)");
    assert_string_equal(f.subject, "(nothing)");
    category(h, MIRE_MEMORY_HEAP, "Malloc 16 B", 16, 1);
    f = look(h);
    assert_string_equal(f.caller1.function, "(no stack)");
    assert_string_equal(f.subject, "Malloc 16 B");
    held_free(h);
}

static void the_kind_follows_the_trigger_and_parts_the_keys(void **state)
{
    static const struct {
        const char *trigger;
        enum event_category category;
    } rows[] = {{"foom", MIRE_CATEGORY_FOOM},        {"demand", MIRE_CATEGORY_MEMORY},
                {"pressure", MIRE_CATEGORY_MEMORY},  {"footprint", MIRE_CATEGORY_MEMORY},
                {"moonlight", MIRE_CATEGORY_MEMORY}, {"test", MIRE_CATEGORY_TEST}};
    uint8_t foom[MIRE_FEATURE_KEY], other[MIRE_FEATURE_KEY];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct held *h = held_new();
        h->s->report.memory.trigger = rows[i].trigger;
        category(h, MIRE_MEMORY_HEAP, "Malloc 16 B", 16, 1);
        struct feature f = look(h);
        assert_int_equal(f.category, rows[i].category);
        if (i == 0)
            memcpy(foom, f.key, sizeof foom);
        else
            assert_memory_not_equal(foom, f.key, sizeof foom);
        held_free(h);
    }
    struct held *h = held_new();
    category(h, MIRE_MEMORY_HEAP, "Malloc 32 B", 16, 1);
    memcpy(other, look(h).key, sizeof other);
    assert_memory_not_equal(foom, other, sizeof foom); /* another category of memory is another feature */
    held_free(h);
}

static enum memory_reason under(const char *rules, enum memory_kind kind, const char *name, uint64_t bytes,
                                uint64_t count)
{
    struct held *h = held_new();
    use_rules(h, rules);
    category(h, kind, name, bytes, count);
    category(h, MIRE_MEMORY_HEAP, "the rest", 100 * MIB - bytes, 1);
    (void)look(h);
    enum memory_reason reason = h->s->doc.memory.found[0].reason;
    held_free(h);
    return reason;
}

static void what_allocators_mapped_is_never_to_blame(void **state)
{
    struct held *h = held_new();
    (void)state;
    category(h, MIRE_MEMORY_VM, "VM: allocator", 200 * MIB, 16);
    stack(h, 200 * MIB, 16, "main" APP "malloc" LIBC);
    category(h, MIRE_MEMORY_VM, "VM: brk", 200 * MIB, 1);
    stack(h, 200 * MIB, 1, "main" APP "malloc" LIBC);
    category(h, MIRE_MEMORY_HEAP, "Malloc 8 KiB", 160 * MIB, 20000);
    stack(h, 160 * MIB, 20000, "main" APP "grows" APP "malloc" LIBC);
    assert_true(memory_is_of_allocator(&h->categories[0]) && memory_is_of_allocator(&h->categories[1]));
    assert_false(memory_is_of_allocator(&h->categories[2]));
    assert_string_equal(look(h).caller1.function, "grows");
    assert_int_equal(h->s->doc.memory.found[0].rank, 0);
    assert_int_equal(h->s->doc.memory.found[1].rank, 0);
    held_free(h);
}

static void of_a_mapping_each_stack_holds_its_share_of_what_lies_in_memory(void **state)
{
    const struct memory_stack stack = {.bytes = 6 * MIB}, all = {.bytes = UINT64_MAX};
    (void)state;
    assert_int_equal(memory_stack_held(&(struct memory_category){.live_bytes = 8 * MIB, .held_bytes = 4 * MIB}, &stack),
                     3 * MIB);
    assert_int_equal(memory_stack_held(&(struct memory_category){.live_bytes = 8 * MIB, .held_bytes = 8 * MIB}, &stack),
                     6 * MIB);
    assert_int_equal(memory_stack_held(&(struct memory_category){.live_bytes = 8 * MIB}, &stack), 0);
    assert_int_equal(memory_stack_held(&(struct memory_category){0}, &stack), 6 * MIB);
    assert_true(memory_stack_held(&(struct memory_category){.live_bytes = 2, .held_bytes = 1}, &all) == 1ull << 63);
    assert_true(memory_stack_held(&(struct memory_category){.live_bytes = UINT64_MAX, .held_bytes = UINT64_MAX - 1},
                                  &all) == UINT64_MAX); /* as good as all */
}

static void the_first_rule_that_fits_decides(void **state)
{
    static const char rules[] = "version 3\n"
                                "# a comment\n"
                                "  -     -  - - -  heap   Malloc 16 B\n"
                                "  10MiB -  - - -  heap   Malloc *\r\n"
                                "  1KiB  5  - - 50 *      *\n";
    (void)state;
    assert_int_equal(under(rules, MIRE_MEMORY_HEAP, "Malloc 16 B", 90 * MIB, 99), MIRE_MEMORY_NOT_SUSPECT);
    assert_int_equal(under(rules, MIRE_MEMORY_HEAP, "Malloc 32 B", 10 * MIB, 99), MIRE_MEMORY_TOO_MANY_BYTES);
    assert_int_equal(under(rules, MIRE_MEMORY_HEAP, "Malloc 32 B", 10 * MIB - 1, 99), MIRE_MEMORY_NOT_SUSPECT);
    assert_int_equal(under(rules, MIRE_MEMORY_VM, "Malloc 32 B", 10 * MIB, 4), MIRE_MEMORY_NOT_SUSPECT); /* share */
    assert_int_equal(under(rules, MIRE_MEMORY_VM, "VM: stack", 50 * MIB, 4), MIRE_MEMORY_TOO_MANY_BYTES);
    assert_int_equal(under(rules, MIRE_MEMORY_OBJECT, "Tile", MIB, 5), MIRE_MEMORY_TOO_MANY_OBJECTS);
    assert_int_equal(under("version 1\n", MIRE_MEMORY_OBJECT, "Tile", 90 * MIB, 5), MIRE_MEMORY_NOT_SUSPECT);
}

static void bad_rules_are_refused_with_their_line(void **state)
{
    static const struct {
        const char *text;
        unsigned line;
    } bad[] = {{"", 1},
               {"1 2 3 4 5 heap *\n", 1},
               {"version 0\n", 1},
               {"version 1 2\n", 1},
               {"version 1\n1 2 3 4 heap *\n", 2},
               {"version 1\n\n1 2 3 4 5 heap\n", 3},
               {"version 1\n1 2 3 4 5 stack *\n", 2},
               {"version 1\n1MB 2 3 4 5 heap *\n", 2},
               {"version 1\n-1 2 3 4 5 heap *\n", 2},
               {"version 1\n1 2 99999999999999999999 4 5 heap *\n", 2},
               {"version 1\n1 2 18014398509481984KiB 4 5 heap *\n", 2}};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct suspect_rules *rules = NULL;
        struct rules_fault fault = {0};
        assert_int_equal(suspect_rules_parse(&rules, &fault, bad[i].text, strlen(bad[i].text)), MIRE_RULES_WRONG);
        assert_int_equal(fault.line, bad[i].line);
        assert_true(fault.text[0]);
    }
    struct suspect_rules *rules = NULL;
    struct rules_fault fault = {0};
    assert_int_equal(suspect_rules_load(&rules, &fault, "/nonexistent"), MIRE_RULES_WRONG);
    assert_int_equal(fault.line, 0);
    assert_int_equal(suspect_rules_load(&rules, &fault, ""), MIRE_RULES_OK);
    assert_int_equal(suspect_rules_version(rules), 4);
    suspect_rules_free(rules);
}

static void check_what_survives_the_document(bool sampled)
{
    struct held *h = held_new();
    struct memory *memory = &h->s->doc.memory;
    struct resolved back;
    unsigned char *bytes;
    size_t len;
    struct memory_category *c = category(h, MIRE_MEMORY_HEAP, "Malloc 48.00 KiB", 412 * MIB, 8800);
    c->grown = (struct memory_growth){true, -7, INT64_MIN};
    c->peak_bytes = c->peak_count = (struct fact){UINT64_MAX, true};
    stack(h, 320 * MIB, 6800, "main" APP "decodeTile" APP "malloc" LIBC);
    category(h, MIRE_MEMORY_OBJECT, "地图", 9, 1);
    h->stacks[memory->stack_count++] = (struct memory_stack){.category = 1, .caller1 = -1};
    memory->trail = (const struct memory_point[]){{0, 5, {0}}, {9, 7, {3, true}}};
    memory->point_count = 2;
    memory->limit_bytes = (struct fact){1, true};
    memory->error_bytes = (struct fact){70, true};
    for (size_t i = 0; sampled && i < memory->stack_count; i++)
        h->stacks[i].error_count = h->stacks[i].error_bytes = (struct fact){UINT64_MAX - i, true};
    healthy(h, MIRE_MEMORY_HEAP, "Malloc 48.00 KiB", MIB, 20);
    (void)look(h);
    h->s->doc.hot = (struct resolved_hot){.caller1 = -1, .caller2 = -1};
    assert_int_equal(resolved_encode(&bytes, &len, &h->s->doc), 0);
    assert_int_equal(resolved_decode(&back, &h->s->arena, bytes, len), 0);
    assert_true(back.memory.known && back.memory.limit_bytes.known && !back.memory.explained_bytes.known);
    assert_int_equal(back.memory.category_count, 2);
    assert_string_equal(back.memory.categories[1].name, "地图");
    assert_int_equal(back.memory.categories[0].grown.count, INT64_MIN);
    assert_true(back.memory.categories[0].peak_count.value == UINT64_MAX);
    assert_false(back.memory.categories[0].total_bytes.known || back.memory.categories[1].grown.known);
    assert_int_equal(back.memory.found[0].reason, MIRE_MEMORY_TOO_MANY_BYTES);
    assert_int_equal(back.memory.found[0].healthy_bytes.value, memory->found[0].healthy_bytes.value);
    assert_int_equal(back.memory.healthy_scope, MIRE_HEALTHY_VERSION);
    assert_int_equal(back.memory.stacks[0].caller1, 1);
    assert_int_equal(back.memory.stacks[1].caller1, -1);
    assert_true(back.memory.error_bytes.value == 70 && !back.memory.error_count.known);
    for (size_t i = 0; i < memory->stack_count; i++) {
        assert_true(back.memory.stacks[i].error_bytes.known == sampled);
        assert_true(!sampled || back.memory.stacks[i].error_count.value == UINT64_MAX - i);
    }
    assert_true(back.memory.trail[1].available_bytes.known && !back.memory.trail[0].available_bytes.known);
    free(bytes);
    held_free(h);
}

static void what_is_found_survives_the_document(void **state)
{
    (void)state;
    check_what_survives_the_document(false);
}

static void how_sure_the_stacks_are_survives_the_document_and_older_ones_are_read_without(void **state)
{
    (void)state;
    check_what_survives_the_document(true);
}

static void a_report_is_put_in_order(void **state)
{
    struct arena arena;
    const struct memory_category categories[] = {
        {.name = "b", .held_bytes = 1}, {.name = "c", .held_bytes = 9}, {.name = "a", .held_bytes = 1}};
    const struct memory_stack stacks[] = {{.category = 0, .node = 1, .bytes = 1},
                                          {.category = 1, .node = 2, .bytes = 3},
                                          {.category = 1, .node = 3, .bytes = 6},
                                          {.category = 2, .node = 4}};
    struct memory memory = {.categories = categories, .category_count = 3, .stacks = stacks, .stack_count = 4};
    (void)state;
    arena_init(&arena, 1 << 20);
    assert_int_equal(memory_arrange(&memory, &arena), 0);
    assert_string_equal(memory.categories[0].name, "c");
    assert_string_equal(memory.categories[1].name, "a");
    assert_string_equal(memory.categories[2].name, "b");
    assert_int_equal(memory_stacks_of(&memory, 0).count, 2);
    assert_int_equal(memory.stacks[0].node, 3);
    assert_int_equal(memory.stacks[2].node, 4);
    assert_int_equal(memory_stacks_of(&memory, 2).first, 3);
    assert_int_equal(memory_stacks_of(&memory, 3).count, 0);
    arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_feature_is_callers_category_and_reason),
        cmocka_unit_test(what_several_stacks_hold_together_is_to_blame),
        cmocka_unit_test(objects_are_blamed_by_their_number),
        cmocka_unit_test(growth_alone_is_a_reason),
        cmocka_unit_test(what_healthy_processes_hold_too_is_no_suspect),
        cmocka_unit_test(what_no_healthy_process_has_is_beyond_any_median),
        cmocka_unit_test(suspects_are_ranked_by_what_they_hold_beyond_the_median),
        cmocka_unit_test(without_a_suspect_the_largest_category_with_stacks_stands_for_it),
        cmocka_unit_test(what_no_rule_lets_be_suspect_is_never_the_subject),
        cmocka_unit_test(an_allocator_of_the_app_is_known_by_its_name_and_place),
        cmocka_unit_test(a_rule_of_the_apps_team_keeps_its_allocator_to_blame),
        cmocka_unit_test(an_allocator_without_a_telling_name_hands_out_blocks_of_any_size),
        cmocka_unit_test(a_constructor_stays_to_blame_and_so_does_the_only_function_there_is),
        cmocka_unit_test(an_empty_report_has_a_feature_too),
        cmocka_unit_test(the_kind_follows_the_trigger_and_parts_the_keys),
        cmocka_unit_test(what_allocators_mapped_is_never_to_blame),
        cmocka_unit_test(of_a_mapping_each_stack_holds_its_share_of_what_lies_in_memory),
        cmocka_unit_test(the_first_rule_that_fits_decides),
        cmocka_unit_test(bad_rules_are_refused_with_their_line),
        cmocka_unit_test(what_is_found_survives_the_document),
        cmocka_unit_test(how_sure_the_stacks_are_survives_the_document_and_older_ones_are_read_without),
        cmocka_unit_test(a_report_is_put_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
