#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

static void pieces_are_zeroed_and_aligned(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    for (size_t size = 1; size < 5000; size += 37) {
        unsigned char *piece = arena_alloc(&arena, size);
        assert_non_null(piece);
        assert_int_equal((uintptr_t)piece % 16, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(piece[i], 0);
        memset(piece, 0xff, size);
    }
    arena_fini(&arena);
}

static void the_limit_holds_and_reset_lifts_it(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 1000);
    assert_non_null(arena_alloc(&arena, 600));
    assert_null(arena_alloc(&arena, 401));
    assert_non_null(arena_alloc(&arena, 400));
    assert_null(arena_alloc(&arena, 1));
    arena_reset(&arena);
    unsigned char *again = arena_alloc(&arena, 1000);
    assert_non_null(again);
    assert_int_equal(again[0], 0);
    arena_fini(&arena);
}

/* Pieces of all sizes, round after round: kept memory is no other piece's, and zeroed again. */
static void blocks_are_kept_for_the_next_round(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 64u << 20);
    arena.keep_bytes = 2u << 20;
    unsigned char *first = NULL;
    for (int round = 0; round < 5; round++) {
        unsigned char *pieces[60];
        for (size_t i = 0; i < 60; i++) {
            size_t size = 1000 + i * i * 100 * (size_t)(1 + round % 2);
            pieces[i] = arena_alloc(&arena, size);
            assert_non_null(pieces[i]);
            for (size_t k = 0; k < size; k += 97)
                assert_int_equal(pieces[i][k], 0);
            memset(pieces[i], (int)i + 1, size);
        }
        for (size_t i = 0; i < 60; i++)
            assert_int_equal(pieces[i][999], i + 1);
        if (round)
            assert_ptr_equal(pieces[0], first);
        first = pieces[0];
        arena_reset(&arena);
    }
    arena_fini(&arena);
}

static void sizes_that_overflow_are_refused(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, SIZE_MAX);
    assert_null(arena_alloc(&arena, SIZE_MAX - 3));
    assert_null(arena_array(&arena, SIZE_MAX / 2, 4));
    assert_null(arena_copy(&arena, "", SIZE_MAX));
    arena_fini(&arena);
}

static void text_is_copied_and_printed(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 1000);
    assert_string_equal(arena_copy(&arena, "abcdef", 3), "abc");
    assert_string_equal(arena_strdup(&arena, "x"), "x");
    assert_string_equal(arena_printf(&arena, "%s+0x%x", "libc", 255), "libc+0xff");
    arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_zeroed_and_aligned),      cmocka_unit_test(the_limit_holds_and_reset_lifts_it),
        cmocka_unit_test(blocks_are_kept_for_the_next_round), cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(text_is_copied_and_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
