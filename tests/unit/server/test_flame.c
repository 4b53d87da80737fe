/* The flame graph's merge and layout, compared with a twin that scans whole stacks. */
#include "api/flame/flame.h"
#include "support/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NODES   400
#define SAMPLES 60
#define NAMES   9

struct document {
    struct resolved doc;
    struct resolved_location locations[NODES];
    struct resolved_node nodes[NODES];
    struct report_sample samples[SAMPLES];
};

static const char *const names[NAMES] = {
    "main", "a", "b", "c<std::map<int, long>>", "\u6e32\u67d3", "\u202eevil", "<script>x", "other", "all"};
static const char *const images[3] = {"", "app", "libc.so.6"};

static void document_random(struct document *d, size_t nodes, size_t samples)
{
    memset(d, 0, sizeof *d);
    for (size_t i = 0; i < nodes; i++) {
        d->locations[i] =
            (struct resolved_location){.function = names[rand() % NAMES], .image = images[rand() % 3], .file = ""};
        d->nodes[i] = (struct resolved_node){.parent = i ? (uint32_t)((size_t)rand() % i) : 0, .location = (uint32_t)i};
    }
    for (size_t s = 0; s < samples; s++) {
        d->samples[s].node = (uint32_t)((size_t)rand() % nodes);
        d->samples[s].weight_ms = (uint32_t)(rand() % 100);
    }
    d->doc = (struct resolved){MIRE_RESOLVED_NOTHING, .location_count = nodes, .locations = d->locations,
                               .node_count = nodes,   .nodes = d->nodes,       .sample_count = samples,
                               .samples = d->samples};
}

/* The location of samples without a stack. */
static const struct resolved_location nothing = {.function = "(no stack)", .image = "", .file = ""};

/* Time of all samples whose stack contains the path of row `row` of the view, and of those that end there. */
static void twin_time(double *value, double *self, const struct document *docs, size_t count,
                      const struct flame_view *v, size_t row)
{
    uint32_t path[NODES + 1];
    size_t depth = 0;

    for (int32_t r = (int32_t)row; v->parent[r] >= 0; r = v->parent[r])
        path[depth++] = (uint32_t)r;
    *value = *self = 0;
    for (size_t d = 0; d < count; d++) {
        for (size_t s = 0; s < docs[d].doc.sample_count; s++) {
            const struct resolved_location *stack[NODES];
            size_t high = 0, same = 0;
            for (uint32_t n = docs[d].samples[s].node; n; n = docs[d].nodes[n].parent)
                stack[high++] = &docs[d].locations[n];
            if (!high)
                stack[high++] = &nothing;
            while (same < depth && same < high &&
                   strcmp(stack[high - 1 - same]->function, v->names[v->name[path[depth - 1 - same]]]) == 0 &&
                   strcmp(stack[high - 1 - same]->image, v->images[v->image[path[depth - 1 - same]]]) == 0)
                same++;
            if (same == depth) {
                *value += docs[d].samples[s].weight_ms * (double)(d + 1);
                *self += high == depth ? docs[d].samples[s].weight_ms * (double)(d + 1) : 0;
            }
        }
    }
}

static bool is_other(const struct flame_view *v, size_t row)
{
    return row > 0 && v->hash[row] == (uint64_t)~flame_path_hash(v->hash[v->parent[row]], "other", "");
}

static struct flame *merged(const struct document *docs, size_t count)
{
    struct flame *flame = flame_new(MIRE_FLAME_FRAMES_MAX);

    assert_non_null(flame);
    for (size_t d = 0; d < count; d++)
        assert_int_equal(flame_add(flame, &docs[d].doc, (double)(d + 1)), 0);
    return flame;
}

static void check_shape(const struct flame_view *v)
{
    for (size_t i = 0; i < v->count; i++) {
        double below = 0;
        for (size_t c = i + 1; c < v->count; c++)
            below += v->parent[c] == (int32_t)i ? v->value[c] : 0;
        assert_true(v->value[i] - v->self[i] - below < 1e-6 && below + v->self[i] - v->value[i] < 1e-6);
        assert_true(i == 0 ? v->parent[i] == -1 : v->parent[i] >= 0 && v->parent[i] < (int32_t)i);
        if (i > 1)
            assert_true(v->parent[i] >= v->parent[i - 1]);
        if (i > 1 && v->parent[i] == v->parent[i - 1] && !is_other(v, i))
            assert_true(v->value[i] <= v->value[i - 1]);
    }
}

static void a_whole_tree_agrees_with_counting_stacks(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        static struct document docs[4];
        struct flame_view v;
        for (size_t d = 0; d < 4; d++)
            document_random(&docs[d], (size_t)(1 + rand() % 60), (size_t)(rand() % SAMPLES));
        struct flame *flame = merged(docs, 4);
        assert_int_equal(flame_view_init(&v, flame, 200000, NULL), 0);
        assert_int_equal(v.count, flame_count(flame));
        check_shape(&v);
        for (size_t i = 0; i < v.count; i++) {
            double value, self;
            twin_time(&value, &self, docs, 4, &v, i);
            assert_true(value == v.value[i] && self == v.self[i]);
        }
        flame_view_fini(&v);
        flame_free(flame);
    }
}

static void folding_keeps_the_time_and_the_biggest_frames(void **state)
{
    (void)state;
    for (int round = 0; round < 60; round++) {
        static struct document docs[3];
        struct flame_view v, all;
        for (size_t d = 0; d < 3; d++)
            document_random(&docs[d], NODES, SAMPLES);
        struct flame *flame = merged(docs, 3);
        size_t max = (size_t)(2 + rand() % 80);
        assert_int_equal(flame_view_init(&all, flame, 200000, NULL), 0);
        assert_int_equal(flame_view_init(&v, flame, max, NULL), 0);
        assert_true(v.count <= max && (v.count == all.count || v.count * 2 >= max));
        assert_true(v.value[0] == all.value[0]);
        check_shape(&v);
        double least = v.value[0], most = 0;
        for (size_t i = 0; i < v.count; i++)
            if (!is_other(&v, i) && v.value[i] < least)
                least = v.value[i];
        for (size_t i = 0; i < all.count; i++) {
            bool there = false;
            for (size_t k = 0; k < v.count; k++)
                there |= v.hash[k] == all.hash[i];
            if (!there && all.value[i] > most)
                most = all.value[i];
        }
        assert_true(most <= least);
        flame_view_fini(&v);
        flame_view_fini(&all);
        flame_free(flame);
    }
}

static void a_root_shows_what_lies_below_it(void **state)
{
    static struct document docs[2];
    struct flame_view all, part;
    uint64_t nowhere = 1;

    (void)state;
    document_random(&docs[0], NODES, SAMPLES);
    document_random(&docs[1], NODES, SAMPLES);
    struct flame *flame = merged(docs, 2);
    assert_int_equal(flame_view_init(&all, flame, 200000, NULL), 0);
    for (size_t i = 0; i < all.count; i += 7) {
        assert_int_equal(flame_view_init(&part, flame, 200000, &all.hash[i]), 0);
        assert_true(part.hash[0] == all.hash[i] && part.value[0] == all.value[i] && part.parent[0] == -1);
        check_shape(&part);
        flame_view_fini(&part);
    }
    assert_int_equal(flame_view_init(&part, flame, 200000, &nowhere), FLAME_NO_SUCH_ROOT);
    flame_view_fini(&all);
    flame_free(flame);
}

static void a_full_tree_takes_no_more(void **state)
{
    static struct document d;
    struct flame *flame = flame_new(20);

    (void)state;
    document_random(&d, NODES, SAMPLES);
    assert_int_equal(flame_add(flame, &d.doc, 1), FLAME_FULL);
    assert_int_equal(flame_count(flame), 1);
    flame_free(flame);
}

static void a_deep_and_wide_tree_is_laid_out_quickly(void **state)
{
    enum { MANY = 50000 };
    struct resolved_location *locations = calloc(MANY, sizeof *locations);
    struct resolved_node *nodes = calloc(MANY, sizeof *nodes);
    struct report_sample sample[2] = {{.node = MANY - 1, .weight_ms = 5}, {.node = 0, .weight_ms = 2}};
    char(*text)[16] = calloc(MANY, sizeof *text);
    struct flame_view v;

    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        snprintf(text[i], sizeof text[i], "f%zu", i);
        locations[i] = (struct resolved_location){.function = text[i], .image = "app", .file = ""};
        nodes[i] = (struct resolved_node){.parent = i ? (uint32_t)i - 1 : 0, .location = (uint32_t)i};
    }
    struct resolved doc = {MIRE_RESOLVED_NOTHING, .location_count = MANY, .locations = locations, .node_count = MANY,
                           .nodes = nodes,        .sample_count = 2,      .samples = sample};
    struct flame *flame = flame_new(MIRE_FLAME_FRAMES_MAX);
    assert_int_equal(flame_add(flame, &doc, 1), 0);
    assert_int_equal(flame_view_init(&v, flame, 200000, NULL), 0);
    assert_int_equal(v.count, MANY + 1);
    assert_true(v.value[0] == 7 && v.self[0] == 0 && v.value[1] == 5 && v.value[2] == 2 && v.value[MANY] == 5);
    assert_string_equal(v.names[v.name[2]], "(no stack)");
    flame_view_fini(&v);
    assert_int_equal(flame_view_init(&v, flame, 1000, NULL), 0);
    assert_int_equal(v.count, 1000);
    assert_true(is_other(&v, 999) && v.value[999] == 5);
    flame_view_fini(&v);
    flame_free(flame);
    free(text);
    free(nodes);
    free(locations);
}

/* main > a in two pool threads and the watched one: one frame for the pool, one for the watched thread. */
static void threads_are_the_first_level_where_there_are_several(void **state)
{
    const struct resolved_location locations[] = {{.function = "start", .image = "app", .file = ""}};
    const struct resolved_node nodes[] = {{0, 0}, {0, 0}};
    struct report_sample samples[] = {{.weight_ms = 3, .node = 1, .thread = 1},
                                      {.weight_ms = 4, .node = 1, .thread = 2},
                                      {.weight_ms = 5, .node = 1, .thread = 0},
                                      {.weight_ms = 6, .node = 1, .thread = 3}};
    const struct resolved_thread threads[] = {{.name = "pool-1"}, {.name = "pool-12"}, {.name = "42"}};
    struct resolved doc = {MIRE_RESOLVED_NOTHING, .location_count = 1, .locations = locations,
                           .node_count = 2,       .nodes = nodes,      .sample_count = 4,
                           .samples = samples,    .thread_count = 3,   .threads = threads};
    struct flame *flame = flame_new(MIRE_FLAME_FRAMES_MAX);
    struct flame_view v;

    (void)state;
    assert_int_equal(flame_add(flame, &doc, 2), 0);
    assert_int_equal(flame_view_init(&v, flame, 100, NULL), 0);
    assert_int_equal(v.count, 7);
    assert_true(v.value[0] == 36);
    assert_string_equal(v.names[v.name[1]], "pool");
    assert_int_equal(v.role[1], MIRE_ROLE_THREAD);
    assert_true(v.value[1] == 14 && v.self[1] == 0);
    assert_string_equal(v.names[v.name[2]], "42");
    assert_string_equal(v.names[v.name[3]], "watched thread");
    assert_string_equal(v.names[v.name[4]], "start");
    assert_true(v.parent[4] == 1 && v.self[4] == 14);
    flame_view_fini(&v);
    for (size_t i = 0; i < 4; i++)
        samples[i].thread = 0;
    flame_free(flame);
    flame = flame_new(MIRE_FLAME_FRAMES_MAX);
    assert_int_equal(flame_add(flame, &doc, 1), 0);
    assert_int_equal(flame_count(flame), 2); /* one thread alone is no level */
    flame_free(flame);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_tree_agrees_with_counting_stacks),
        cmocka_unit_test(folding_keeps_the_time_and_the_biggest_frames),
        cmocka_unit_test(a_root_shows_what_lies_below_it),
        cmocka_unit_test(a_full_tree_takes_no_more),
        cmocka_unit_test(threads_are_the_first_level_where_there_are_several),
        cmocka_unit_test(a_deep_and_wide_tree_is_laid_out_quickly),
    };
    srand(test_seed());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
