/* test_context.c - what the app tells of the moment: texts, tags and breadcrumbs that are whole at any instant. */
#include "base/sha256.h"
#include "mire/context.h"
#include "platform/platform.h"
#include "report/left_out.h"
#include "ring/context.h"
#include "support/boxes.h"
#include "support/documents.h"
#include "support/scratch.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct context *map_context(void)
{
    struct context *context = mmap(NULL, sizeof(*context), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    assert_ptr_not_equal(context, MAP_FAILED);
    return context;
}

/* ---- texts ---- */

static void check_clean(const char *want, size_t cap, const char *text)
{
    char out[256];

    memset(out, 'x', sizeof(out));
    mire__context_as_clean(out, cap, text);
    assert_string_equal(out, want);
}

static void texts_are_cut_between_characters_and_have_no_control_characters(void **state)
{
    (void)state;
    check_clean("", 8, "");
    check_clean("cart", 8, "cart");
    check_clean("1234567", 8, "12345678");
    check_clean("a b c ", 8, "a\tb\nc\x7f");
    check_clean("ab\xc3\xa4 ", 6, "ab\xc3\xa4\n");
    check_clean("abc", 5, "abc\xc3\xa4");                           /* two bytes where one is left */
    check_clean("ab\xe2\x82\xac", 6, "ab\xe2\x82\xac\xe2\x82\xac"); /* three */
    check_clean("a", 5, "a\xf0\x9f\x98\x80");                       /* four */
    check_clean("\xf0\x9f\x98\x80", 5, "\xf0\x9f\x98\x80z");
    check_clean("\xff\xff", 3, "\xff\xff\xff\xff"); /* not UTF-8: the report's writer replaces it */
}

static void tags_are_set_replaced_and_removed(void **state)
{
    char name[MIRE_CONTEXT_NAME_BYTES], value[MIRE_CONTEXT_TEXT_BYTES];
    struct context *context = map_context();

    (void)state;
    for (int i = 0; i < MIRE_TAGS_MAX; i++) {
        snprintf(name, sizeof(name), "tag%d", i);
        assert_true(mire__context_as_set_tag(context, name, "a"));
    }
    assert_false(mire__context_as_set_tag(context, "one-more", "a"));
    assert_true(mire__context_as_set_tag(context, "one-more", "")); /* there is none to remove */
    assert_true(mire__context_as_set_tag(context, "tag7", "b"));
    assert_true(mire__context_as_tag(name, value, context, 7));
    assert_string_equal(name, "tag7");
    assert_string_equal(value, "b");
    assert_true(mire__context_as_set_tag(context, "tag3", ""));
    assert_false(mire__context_as_tag(name, value, context, 3));
    assert_true(mire__context_as_set_tag(context, "one-more", "c")); /* in its row */
    assert_true(mire__context_as_tag(name, value, context, 3));
    assert_string_equal(name, "one-more");
    munmap(context, sizeof(*context));
}

static void only_plain_words_are_names_of_tags(void **state)
{
    static const char *const bad[] = {"", "a b", "a\"", "\xc3\xa4", "a/b", "123456789012345678901234567890123"};

    (void)state;
    assert_true(mire__context_is_name("a"));
    assert_true(mire__context_is_name("Ab.c_9-"));
    assert_true(mire__context_is_name("12345678901234567890123456789012"));
    for (size_t i = 0; i < MIRE_COUNT(bad); i++) {
        assert_false(mire__context_is_name(bad[i]));
        assert_int_equal(mire_set_tag(bad[i], "x"), MIRE_E_ARG);
    }
    assert_int_equal(mire_set_tag(NULL, "x"), MIRE_E_ARG);
}

static void flags_and_conditions_are_within_their_bounds(void **state)
{
    (void)state;
    assert_int_equal(mire_set_flag("123456789012345678901234567", "on"), MIRE_OK);
    assert_int_equal(mire_set_flag("123456789012345678901234567", NULL), MIRE_OK);
    assert_int_equal(mire_set_flag("1234567890123456789012345678", "on"), MIRE_E_ARG);
    assert_int_equal(mire_set_flag("", "on"), MIRE_E_ARG);
    assert_int_equal(mire_set_flag(NULL, "on"), MIRE_E_ARG);
    assert_int_equal(mire_set_flag("a b", "on"), MIRE_E_ARG);
    assert_int_equal(mire_set_battery(101, 1), MIRE_OK);
    assert_int_equal(mire_set_battery(-1, 0), MIRE_OK);
    assert_int_equal(mire_set_thermal((enum mire_thermal)5), MIRE_E_RANGE);
    assert_int_equal(mire_set_thermal((enum mire_thermal) - 1), MIRE_E_RANGE);
    assert_int_equal(mire_set_orientation((enum mire_orientation)3), MIRE_E_RANGE);
    assert_int_equal(mire_set_orientation(MIRE_ORIENTATION_UNKNOWN), MIRE_OK);
}

/* ---- breadcrumbs ---- */

static void the_last_breadcrumbs_are_kept_oldest_first(void **state)
{
    char text[MIRE_CRUMB_BYTES], want[16];
    struct context *context = map_context();
    uint64_t at_ns, first;

    (void)state;
    assert_false(mire__context_as_crumb(text, &at_ns, context, mire__context_as_first(context)));
    for (uint64_t i = 1; i <= 1000; i++) {
        snprintf(text, sizeof(text), "step %d", (int)i);
        mire__context_as_add(context, text, i * 10);
    }
    first = mire__context_as_first(context);
    assert_int_equal(first, 1000 - MIRE_CRUMBS_MAX + 1);
    for (uint64_t number = first; number <= 1000; number++) {
        assert_true(mire__context_as_crumb(text, &at_ns, context, number));
        snprintf(want, sizeof(want), "step %d", (int)number);
        assert_string_equal(text, want);
        assert_int_equal(at_ns, number * 10);
    }
    assert_false(mire__context_as_crumb(text, &at_ns, context, 1001));
    munmap(context, sizeof(*context));
}

/* A text that shows whether it is whole: one letter, as often as its place in the alphabet says, and a half more. */
static void put_letters(char *out, unsigned i)
{
    size_t length = 10 + i % 26 * 3;

    memset(out, 'a' + (int)(i % 26), length);
    out[length] = '\0';
}

static bool is_whole(const char *text)
{
    size_t length = strlen(text);

    return length == 0 || (length == 10 + (size_t)(text[0] - 'a') * 3 && strspn(text, (char[]){text[0], 0}) == length);
}

/* Whole, and each of a tag's texts the one that belongs to its name. */
static void check_all(const struct context *context)
{
    char name[MIRE_CONTEXT_NAME_BYTES], text[MIRE_CONTEXT_TEXT_BYTES];
    uint64_t first = mire__context_as_first(context), at_ns;

    mire__context_as_text(text, &context->scene);
    assert_true(is_whole(text));
    for (uint32_t row = 0; row < MIRE_TAGS_MAX; row++) {
        if (!mire__context_as_tag(name, text, context, row))
            continue;
        assert_true(is_whole(text));
        assert_int_equal(name[0], text[0]);
    }
    for (uint64_t i = 0; i < MIRE_CRUMBS_MAX; i++)
        if (mire__context_as_crumb(text, &at_ns, context, first + i))
            assert_true(is_whole(text) && at_ns % 26 == (uint64_t)(text[0] - 'a'));
}

static void write_all(struct context *context, unsigned i)
{
    char text[MIRE_CONTEXT_TEXT_BYTES], before[2] = {(char)('a' + (i - 3) % 26), '\0'};

    put_letters(text, i);
    mire__context_as_set(&context->scene, text);
    mire__context_as_set_tag(context, (char[]){text[0], '\0'}, text);
    mire__context_as_set_tag(context, before, "");
    mire__context_as_add(context, text, i);
}

static void a_process_killed_at_any_instant_leaves_whole_texts(void **state)
{
    struct context *context = map_context();
    unsigned seed = 7;

    (void)state;
    for (int round = 0; round < 200; round++) {
        pid_t child = fork();
        int status;

        if (child == 0)
            for (unsigned i = 3;; i++)
                write_all(context, i);
        usleep((useconds_t)(rand_r(&seed) % 2000));
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        check_all(context);
        for (uint32_t row = 0; row < MIRE_TAGS_MAX; row++) /* of the dead writer */
            mire__context_as_set(&context->tags[row].value, "");
        for (uint32_t i = 0; i < MIRE_CRUMBS_MAX; i++)
            atomic_store(&context->crumbs[i].writing, 0);
    }
    assert_true(atomic_load(&context->crumb_count) > 1000);
    munmap(context, sizeof(*context));
}

struct racing {
    struct context *context;
    _Atomic bool stop;
};

static void *add_crumbs(void *context)
{
    struct racing *racing = context;
    char text[MIRE_CRUMB_BYTES];

    for (unsigned i = 0; !atomic_load(&racing->stop); i++) {
        put_letters(text, i);
        mire__context_as_add(racing->context, text, i);
    }
    return NULL;
}

static void *set_texts(void *context)
{
    struct racing *racing = context;

    for (unsigned i = 3; !atomic_load(&racing->stop); i++)
        write_all(racing->context, i);
    return NULL;
}

static void readers_see_whole_texts_while_threads_write(void **state)
{
    struct racing racing = {.context = map_context()};
    pthread_t threads[3];

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, i ? add_crumbs : set_texts, &racing), 0);
    for (int i = 0; i < 3000; i++)
        check_all(racing.context);
    atomic_store(&racing.stop, true);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    munmap(racing.context, sizeof(*racing.context));
}

/* ---- the report ---- */

static void the_report_has_the_section_context(void **state)
{
    struct blackbox *box = box_new();
    char *text = json(box, NULL);

    (void)state;
    assert_null(strstr(text, "\"context\""));
    free(text);
    atomic_store(&box->context.state, MIRE_APP_VISIBLE);
    mire__context_as_set(&box->context.scene, "Cart \"2\"");
    mire__context_as_set(&box->context.user, "p4711");
    mire__context_as_set_tag(&box->context, "plan", "trial");
    mire__context_as_set_tag(&box->context, "gone", "x");
    mire__context_as_set_tag(&box->context, "gone", "");
    mire__context_as_add(&box->context, "before the start", 2 * MIRE_NS_PER_S);
    mire__context_as_add(&box->context, "opened", 7 * MIRE_NS_PER_S);
    mire__context_as_add(&box->context, "out of order", 6 * MIRE_NS_PER_S);
    assert_says(
        box, "\"context\":{\"state\":\"visible\",\"scene\":\"Cart \\\"2\\\"\",\"user\":\"4711\",\"user_hashed\":false,"
             "\"tags\":{\"plan\":\"trial\"},\"crumbs\":{\"at_ms\":[0,2000,2000],\"texts\":[\"before the start\","
             "\"opened\",\"out of order\"]}}");
    mire__context_as_set(&box->context.user, "h0123");
    assert_says(box, "\"user\":\"0123\",\"user_hashed\":true");
    free(box);
}

/* Parts that the rollout leaves out are in no report; other words have no effect. */
static void what_is_left_out_is_in_no_report(void **state)
{
    static const struct {
        const char *words, *context;
    } rows[] = {
        {"", "{\"state\":\"visible\",\"scene\":\"Cart\",\"user\":\"4711\",\"user_hashed\":false,"
             "\"tags\":{\"plan\":\"trial\",\"flag.new\":\"on\"},\"crumbs\":{"},
        {"user", "{\"state\":\"visible\",\"scene\":\"Cart\",\"tags\":{"},
        {"state scene", "{\"user\":\"4711\",\"user_hashed\":false,\"tags\":{"},
        {"user  scene flags", "{\"state\":\"visible\",\"tags\":{\"plan\":\"trial\"},\"crumbs\":{"},
        {" user scene tag:plan ", "{\"state\":\"visible\",\"tags\":{\"flag.new\":\"on\"},\"crumbs\":{"},
        {"user scene crumbs tag:plan flags", "{\"state\":\"visible\"}"},
        {"state scene user tags", "{\"crumbs\":{"},
        {"use users tag:pla tag:planes tag flag user.", "{\"state\":\"visible\",\"scene\":\"Cart\",\"user\":\"4711\","},
    };
    struct blackbox *box = box_new();
    char want[256];

    (void)state;
    atomic_store(&box->context.state, MIRE_APP_VISIBLE);
    mire__context_as_set(&box->context.scene, "Cart");
    mire__context_as_set(&box->context.user, "p4711");
    mire__context_as_set_tag(&box->context, "plan", "trial");
    mire__context_as_set_tag(&box->context, "flag.new", "on");
    mire__context_as_add(&box->context, "opened", 7 * MIRE_NS_PER_S);
    for (size_t i = 0; i < MIRE_COUNT(rows); i++) {
        mire__left_out_set(rows[i].words);
        snprintf(want, sizeof(want), "\"context\":%s", rows[i].context);
        assert_says(box, want);
    }
    mire__left_out_set("tags crumbs user scene state");
    char *text = json(box, NULL);
    assert_null(strstr(text, "\"context\""));
    free(text);
    mire__left_out_set("");
    free(box);
}

/* The names in a damaged file are no names, or twice the same: the server would refuse the report. */
static void a_damaged_blackbox_makes_a_report_all_the_same(void **state)
{
    struct blackbox *box = box_new();

    (void)state;
    mire__context_as_set_tag(&box->context, "a", "1");
    mire__context_as_set_tag(&box->context, "b", "2");
    mire__context_as_set_tag(&box->context, "c", "3");
    atomic_store(&box->context.tags[1].name[0], 'a');
    atomic_store(&box->context.tags[2].name[0], '"');
    atomic_store(&box->context.state, UINT32_MAX - 1); /* a multiple of five, less one */
    atomic_store(&box->context.crumb_count, UINT64_MAX);
    assert_says(box, "\"tags\":{\"a\":\"1\"}}");
    for (size_t i = 0; i < sizeof(box->context); i++)
        ((unsigned char *)&box->context)[i] = 0xff;
    free(json(box, NULL));
    free(box);
}

/* ---- SHA-256: FIPS 180-4's examples and those of NIST's CAVP ---- */

static void check_hash(const char *want, const char *text, size_t times)
{
    uint8_t hash[MIRE_SHA256_BYTES];
    char hex[2 * MIRE_SHA256_BYTES + 1];
    struct sha256 sha;

    mire__sha256_begin(&sha);
    for (size_t i = 0; i < times; i++)
        mire__sha256_add(&sha, text, strlen(text));
    mire__sha256_end(hash, &sha);
    for (size_t i = 0; i < sizeof(hash); i++)
        snprintf(hex + 2 * i, 3, "%02x", hash[i]);
    assert_string_equal(hex, want);
}

static void sha256_is_that_of_the_standard(void **state)
{
    (void)state;
    check_hash("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "", 1);
    check_hash("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "abc", 1);
    check_hash("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
               "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1);
    check_hash("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0", "a", 1000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_cut_between_characters_and_have_no_control_characters),
        cmocka_unit_test(tags_are_set_replaced_and_removed),
        cmocka_unit_test(flags_and_conditions_are_within_their_bounds),
        cmocka_unit_test(only_plain_words_are_names_of_tags),
        cmocka_unit_test(the_last_breadcrumbs_are_kept_oldest_first),
        cmocka_unit_test(a_process_killed_at_any_instant_leaves_whole_texts),
        cmocka_unit_test(readers_see_whole_texts_while_threads_write),
        cmocka_unit_test(the_report_has_the_section_context),
        cmocka_unit_test(what_is_left_out_is_in_no_report),
        cmocka_unit_test(a_damaged_blackbox_makes_a_report_all_the_same),
        cmocka_unit_test(sha256_is_that_of_the_standard),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
