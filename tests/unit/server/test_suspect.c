/* test_suspect.c - paths of a repository beside the files of frames, and the formats of a git log. */
#include "cli/gitlog.h"
#include "model/suspect.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

static bool same(const char *file, const char *path)
{
    return suspect_matches(file, path, strlen(path));
}

static void the_last_two_parts_decide(void **state)
{
    (void)state;
    assert_true(same("/home/ci/shop/src/cart.c", "src/cart.c"));
    assert_true(same("src/cart.c", "client/src/cart.c"));
    assert_true(same("/build/../src/cart.c", "a/src/cart.c"));
    assert_true(same("cart.c", "src/cart.c"));
    assert_true(same("/src/cart.c", "cart.c"));
    assert_true(same("cart.c", "cart.c"));
    assert_false(same("lib/cart.c", "src/cart.c"));
    assert_false(same("src/mycart.c", "src/cart.c"));
    assert_false(same("src/cart.c", "mysrc/cart.c"));
    assert_false(same("mycart.c", "cart.c"));
    assert_false(same("cart.cc", "cart.c"));
    assert_false(same("cart.c", ""));
}

static void a_length_ends_the_path(void **state)
{
    (void)state;
    assert_true(suspect_matches("src/cart.c", "src/cart.c\nsrc/other.c\n", strlen("src/cart.c")));
}

static void packages_are_the_folders_of_java(void **state)
{
    struct arena arena;
    static const char *const all[][3] = {
        {"com.acme.CartStore.lock", "CartStore.java", "com/acme/CartStore.java"},
        {"com.acme.CartStore$1.run(int)", "CartStore.java", "com/acme/CartStore.java"},
        {"com.acme.CartKt.lock", "Cart.kt", "com/acme/Cart.kt"},
        {"Main.main", "Main.java", "Main.java"},
        {"acme::Cart::lock", "cart.cc", "cart.cc"},
        {"com.acme.Cart.lock", "app/Cart.java", "app/Cart.java"},
    };

    (void)state;
    arena_init(&arena, 1 << 16);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_string_equal(suspect_path(&arena, &(struct suspect_frame){all[i][0], all[i][1]}), all[i][2]);
    arena_fini(&arena);
}

/* The array that a log reads as, or why it is none. */
static void reads(const char *log, size_t most, const char *expected, size_t more)
{
    struct text out = {0};
    struct gitlog_counts counts;
    FILE *file = fmemopen((void *)(uintptr_t)log, strlen(log), "r");
    const char *wrong = gitlog_read(&out, &counts, file, most);

    fclose(file);
    assert_string_equal(wrong ? wrong : out.bytes, expected);
    assert_int_equal(counts.more, more);
    text_fini(&out);
}

#define HEAD "commit 1a2b3c4d (HEAD -> main, tag: v2)\nMerge: 1 2\nAuthor: Kim <kim@shop.example>\n"
#define READ(author, when, files)                                                                                   \
    "[{\"commit\":\"1a2b3c4d\",\"author\":\"" author "\",\"subject\":\"cart: wait\",\"committed_at\":\"" when "\"," \
    "\"files\":[" files "]}]"

static void a_log_is_read_in_the_formats_of_git(void **state)
{
    (void)state;
    reads(HEAD "Date:   Thu Nov 26 10:00:00 2026 +0200\n\n    cart: wait\n\n    Files:\n    src/no.c\n\nsrc/cart.c\n",
          9, READ("Kim", "2026-11-26T08:00:00Z", "\"src/cart.c\""), 0);
    reads(HEAD "Date:   2026-11-26T10:00:00+02:00\n\n    cart: wait\n\nM\tsrc/a b.c\nR100\told.c\tnew.c\n", 9,
          READ("Kim", "2026-11-26T08:00:00Z", "\"src/a b.c\",\"old.c\",\"new.c\""), 0);
    reads(HEAD "Date:   2026-11-26 10:00:00 +0200\n\n    cart: wait\n\n\"s/\\303\\244\\\"\\t.c\"\n", 9,
          READ("Kim", "2026-11-26T08:00:00Z", "\"s/ä\\\"\\t.c\""), 0);
}

static void more_commits_than_are_kept_are_counted(void **state)
{
    (void)state;
    reads(HEAD
          "Date: 2026-11-26T10:00:00Z\n\n    cart: wait\n\ncommit 2222222\nDate: 2026-11-25T10:00:00Z\n\n    old\n",
          1, READ("Kim", "2026-11-26T10:00:00Z", ""), 1);
}

static void what_is_no_log_is_refused(void **state)
{
    (void)state;
    reads("1a2b3c4d cart: wait\n", 9, "it does not begin with a commit: give it the output of git log --name-only", 0);
    reads(HEAD "Date: yesterday\n", 9, "a commit has no date that is known: try git log --date=iso-strict", 0);
    reads(HEAD "Date: yesterday\n\ncommit 2222222\n", 9,
          "a commit has no date that is known: try git log --date=iso-strict", 0);
    reads("\n", 9, "[]", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_two_parts_decide),
        cmocka_unit_test(a_length_ends_the_path),
        cmocka_unit_test(packages_are_the_folders_of_java),
        cmocka_unit_test(a_log_is_read_in_the_formats_of_git),
        cmocka_unit_test(more_commits_than_are_kept_are_counted),
        cmocka_unit_test(what_is_no_log_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
