/* Numbering and writing of the parts of a cache. */
#include "cache/pack.h"
#include "support/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#define NAMES 20000

/* More of every kind than the queue holds, and a part that is not full. */
static void fill(struct pack *pack, char (*names)[16], uint64_t seed)
{
    for (uint32_t i = 0, at = 0; i < 100003; i++, at += 1 + test_roll(&seed, 40)) {
        uint32_t name = test_roll(&seed, NAMES);
        struct pack_scope scope = {.name = pack_name(pack, names[name], pack_key(names[name])), .entry = at};
        writer_queue_segment(&pack->queue, (struct pack_segment){at, pack_scope(pack, &scope),
                                                                 pack_file(pack, names[test_roll(&seed, 200)]),
                                                                 test_roll(&seed, 70000)});
    }
}

static void a_thread_of_its_own_writes_the_same(void **state)
{
    static char names[NAMES][16];
    struct pack here, there, left;
    uint64_t seed = test_seed();
    (void)state;
    for (unsigned i = 0; i < NAMES; i++)
        snprintf(names[i], sizeof names[i], "name_%u", i);
    assert_true(pack_init(&here) && pack_init(&there) && pack_init(&left));
    writer_queue_begin_thread(&there.queue);
    writer_queue_begin_thread(&left.queue);
    assert_non_null(there.queue.ring);
    fill(&here, names, seed);
    fill(&there, names, seed);
    fill(&left, names, seed);
    pack_flush(&here);
    pack_flush(&there);
    assert_false(here.failed || there.failed);
    const struct written *a = &here.queue.written;
    const struct written *b = &there.queue.written;
    assert_int_equal(b->blocks.places.count, a->blocks.places.count);
    assert_memory_equal(b->blocks.places.rows, a->blocks.places.rows,
                        a->blocks.places.count * sizeof *a->blocks.places.rows);
    assert_int_equal(b->blocks.data.count, a->blocks.data.count);
    assert_memory_equal(b->blocks.data.rows, a->blocks.data.rows, a->blocks.data.count);
    assert_int_equal(a->scopes.count, here.scope_count);
    assert_int_equal(b->scopes.count, a->scopes.count);
    assert_memory_equal(b->scopes.rows, a->scopes.rows, a->scopes.count * sizeof *a->scopes.rows);
    assert_int_equal(a->names.count, here.names.bytes + here.paths.bytes);
    assert_int_equal(b->names.count, a->names.count);
    assert_memory_equal(b->names.rows, a->names.rows, a->names.count);
    pack_fini(&here);
    pack_fini(&there);
    pack_fini(&left); /* given up halfway */
}

/* At any address; different texts with the same key are kept apart. */
static void equal_texts_are_kept_once(void **state)
{
    static const char twice[] = "one\0two\0one";
    const struct pack_key same = {7, 3};
    struct pack pack;
    (void)state;
    assert_true(pack_init(&pack));
    uint32_t one = pack_name(&pack, twice, same);
    uint32_t two = pack_name(&pack, twice + 4, same);
    assert_int_equal(pack_name(&pack, twice + 8, same), one);
    assert_int_equal(pack_name(&pack, twice + 4, same), two);
    assert_int_not_equal(one, two);
    assert_int_equal(pack_name(&pack, twice, pack_key("")), 0);
    assert_int_equal(pack_file(&pack, NULL), 0);
    assert_int_equal(pack_file(&pack, twice + 8), pack_file(&pack, twice));
    pack_flush(&pack);
    assert_string_equal(pack.queue.written.names.rows + one, "one");
    assert_string_equal(pack.queue.written.names.rows + two, "two");
    pack_fini(&pack);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_of_its_own_writes_the_same),
        cmocka_unit_test(equal_texts_are_kept_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
