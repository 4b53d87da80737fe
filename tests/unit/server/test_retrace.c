/* Java frames with short names, and their source names. */
#include "object/object.h"
#include "java/retrace.h"

#include "base/id.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CORPUS MIRE_SOURCE_DIR "/tests/fuzz/corpus/mapping/"

struct opened {
    struct file_bytes file;
    struct object *object;
    struct retrace *retrace;
};

static void open_it(struct opened *out, const char *path)
{
    assert_true(file_bytes_map(&out->file, path));
    assert_null(object_open(&out->object, &out->file, NULL, 0, 1));
    assert_null(retrace_open(&out->retrace, out->object));
}

/* Read a mapping, write it as a file, and open the file in its place. */
static void open_written(struct opened *out, const char *path)
{
    struct retrace *mapped;
    int fd = memfd_create("mapping", MFD_CLOEXEC);
    open_it(out, path);
    assert_true(retrace_write(fd, out->retrace));
    assert_null(retrace_map(&mapped, fd, true));
    retrace_close(out->retrace);
    out->retrace = mapped;
    close(fd);
}

static void close_it(struct opened *opened)
{
    retrace_close(opened->retrace);
    object_close(opened->object);
    file_bytes_unmap(&opened->file);
}

static void open_text(struct opened *out, const char *text)
{
    out->file = (struct file_bytes){(const uint8_t *)text, strlen(text), 0};
    assert_null(object_open(&out->object, &out->file, NULL, 0, 1));
    assert_null(retrace_open(&out->retrace, out->object));
}

static void close_text(struct opened *opened)
{
    retrace_close(opened->retrace);
    object_close(opened->object);
}

/* Frames as one text: Class.method(File:line), " < " after an inlined one, " or " between choices; "-" if left out. */
static const char *told_in(struct opened *opened, struct retrace_carry *carry, const struct retrace_query *query)
{
    static char text[4096];
    static struct retrace_answer answer;
    size_t len = 0;
    retrace_frame(&answer, carry, opened->retrace, query);
    snprintf(text, sizeof text, "%s", answer.left_out ? "-" : "");
    for (size_t i = 0; i < answer.count; i++) {
        const struct retrace_frame *frame = &answer.frames[i];
        bool other = i > 0 && answer.frames[i - 1].choice != frame->choice;
        assert_int_equal(frame->inlined, i + 1 < answer.count && answer.frames[i + 1].choice == frame->choice);
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%.*s.%.*s(%s:%u)",
                                !i      ? ""
                                : other ? " or "
                                        : " < ",
                                (int)frame->class_len, frame->class_name, (int)frame->method_len, frame->method,
                                frame->file, frame->line);
    }
    return text;
}

static const char *given(struct opened *opened, struct retrace_carry *carry, const char *class_name, const char *method,
                         uint32_t line)
{
    return told_in(opened, carry, &(struct retrace_query){class_name, method, "", line});
}

static void lines_of_a_method_are_those_of_the_source(void **state)
{
    (void)state;
    struct opened opened;
    open_it(&opened, CORPUS "proguard.txt");
    assert_string_equal(given(&opened, NULL, "a.a", "<init>", 2), "com.example.Main.<init>(Main.java:32)");
    assert_string_equal(given(&opened, NULL, "a.a", "b", 4), "com.example.Main.outer(Main.java:43)");
    assert_string_equal(given(&opened, NULL, "a.a", "c", 7), "com.example.Main.plain(Main.java:7)");
    assert_string_equal(given(&opened, NULL, "a.b", "run", 12), "com.example.Main$1.run(Main.java:12)");
    close_it(&opened);
}

/* R8's rows for code without lines, and for code whose types differ from the source's. */
static void what_has_no_line_in_the_source_is_given_none(void **state)
{
    (void)state;
    static const char text[] =
        "# {\"id\":\"com.android.tools.r8.mapping\",\"version\":\"2.2\"}\n"
        "# pg_map_id: 0123abc\n"
        "com.example.Made -> a.a:\n"
        "    1:1:com.example.Row lambda$sum$0(com.example.Row):0:0 -> b\n"
        "      # {\"id\":\"com.android.tools.r8.residualsignature\",\"signature\":\"(La/c;)La/c;\"}\n"
        "    2:2:int inner():7:7 -> b\n"
        "    2:2:com.example.Row lambda$sum$0(com.example.Row):0 -> b\n";
    struct opened opened;
    open_text(&opened, text);
    assert_string_equal(given(&opened, NULL, "a.a", "b", 1), "com.example.Made.lambda$sum$0(Made.java:0)");
    assert_string_equal(given(&opened, NULL, "a.a", "b", 2),
                        "com.example.Made.inner(Made.java:7) < com.example.Made.lambda$sum$0(Made.java:0)");
    close_text(&opened);
}

static void rows_with_the_same_lines_are_inlined_calls(void **state)
{
    (void)state;
    struct opened opened;
    open_written(&opened, CORPUS "proguard.txt");
    assert_string_equal(given(&opened, NULL, "a.a", "b", 1),
                        "com.example.Deep$Er.deepest(Deep.java:9) < com.example.Main.middle(Main.java:20) < "
                        "com.example.Main.outer(Main.java:40)");
    close_it(&opened);
}

static void without_a_line_every_method_of_that_name_is_told_once(void **state)
{
    (void)state;
    struct opened opened;
    open_written(&opened, CORPUS "proguard.txt");
    assert_string_equal(given(&opened, NULL, "a.a", "d", 0),
                        "com.example.Main.one(Main.java:0) or com.example.Main.two(Main.java:0)");
    assert_string_equal(given(&opened, NULL, "a.a", "b", 0), "com.example.Main.outer(Main.java:0)");
    close_it(&opened);
}

/* Some editors put a byte order mark in front of UTF-8: before a comment, and before the first class. */
static void a_mark_in_front_is_no_letter(void **state)
{
    static const char *const texts[] = {"\xef\xbb\xbf# compiler: R8\ncom.example.Cart -> a.a:\n    void add() -> b\n",
                                        "\xef\xbb\xbf"
                                        "com.example.Cart -> a.a:\r\n    void add() -> b\r\n"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct opened opened;
        size_t len = 3;
        open_text(&opened, texts[i]);
        assert_int_equal(opened.object->facts.format, MIRE_FORMAT_MAPPING);
        const char *name = retrace_class_name(&len, opened.retrace, "a.a", 3);
        assert_non_null(name);
        assert_int_equal(len, strlen("com.example.Cart"));
        assert_memory_equal(name, "com.example.Cart", len);
        close_text(&opened);
    }
}

static void what_the_mapping_does_not_have_stays_as_it_is(void **state)
{
    (void)state;
    struct opened opened;
    open_written(&opened, CORPUS "proguard.txt");
    assert_string_equal(given(&opened, NULL, "a.c", "b", 1), "");
    assert_string_equal(given(&opened, NULL, "a.a", "z", 1), "com.example.Main.z(Main.java:1)");
    close_it(&opened);
}

static void an_outline_tells_the_line_of_the_frame_around_it(void **state)
{
    (void)state;
    struct opened opened;
    struct retrace_carry carry = {0};
    open_written(&opened, CORPUS "r8.txt");
    assert_string_equal(given(&opened, &carry, "a", "a", 2), "-");
    assert_int_equal(carry.position, 2);
    assert_string_equal(given(&opened, &carry, "b", "s", 27), "some.Class.outlineCaller(Some.kt:100)");
    assert_int_equal(carry.position, 0);
    close_it(&opened);
}

static void an_outline_of_another_method_moves_no_line(void **state)
{
    (void)state;
    struct opened opened;
    struct retrace_carry carry = {.position = 1};
    open_written(&opened, CORPUS "r8.txt");
    assert_string_equal(given(&opened, &carry, "b", "u", 40), "some.Class.plain(Some.kt:70)");
    close_it(&opened);
}

static void what_the_compiler_made_is_left_out(void **state)
{
    (void)state;
    struct opened opened;
    open_written(&opened, CORPUS "r8.txt");
    assert_string_equal(given(&opened, NULL, "b", "t", 30), "some.Class.lambda$x$0(Some.kt:11)");
    close_it(&opened);
}

/* A mapping for each rule of R8's tool; the queries are below. */
static const char rules[] = "# {\"id\":\"com.android.tools.r8.mapping\",\"version\":\"2.2\"}\n"
                            "shop.Cart -> a:\n"
                            "# {\"id\":\"sourceFile\",\"fileName\":\"Baskets.kt\"}\n"
                            "    void one(int) -> o\n"
                            "    void another(int,long) -> o\n"
                            "    void only():17 -> p\n"
                            "    void span():30:32 -> s\n"
                            "    9:9:void shop.Money.round():4:4 -> v\n"
                            "    9:9:void pay(int):50 -> v\n"
                            "    9:9:void shop.Tax.add():6:6 -> v\n"
                            "    9:9:void pay(int,int):60 -> v\n"
                            "    10:12:void pay(int):51:53 -> w\n"
                            "    9:9:void shop.Tax.add():6:6 -> w\n"
                            "    9:9:void pay(int,int):60 -> w\n"
                            "    0:65535:void whole():33:33 -> x\n"
                            "    0:0:void shop.Money.round():8:8 -> y\n"
                            "    0:0:void known():28 -> y\n"
                            "    5:3:void backwards() -> z\n"
                            "    2:5:void askew():5:2 -> q\n"
                            "shop.Cart$$Lambda7 -> b:\n"
                            "    void run(shop.Cart) -> a\n"
                            "      # {'id':'com.android.tools.r8.synthesized'}\n"
                            "    1:1:void shop.Cart.lambda$pay$0():70:70 -> c\n"
                            "    1:1:void bridge():0:0 -> c\n"
                            "    2:2:void bridge():0:0 -> c\n"
                            "      # {\"id\":\"com.android.tools.r8.synthesized\"}\n"
                            "shop.Checked -> d:\n"
                            "    4:4:java.lang.Object java.util.Objects.requireNonNull(java.lang.Object):99:99 -> n\n"
                            "    4:4:void check(java.lang.Object):7 -> n\n"
                            "      # { id: 'com.android.tools.r8.rewriteFrame', conditions: ['throws(La/b/C;)'], "
                            "actions: ['removeInnerFrames(1)'] }\n"
                            "shop.Moved -> e:\n"
                            "    1:2:int shop.Deep.inner():75:76 -> m\n"
                            "    1:2:int moved():0 -> m\n"
                            "      # {\"id\":\"com.android.tools.r8.outline\"}\n"
                            "    3:3:int moved():0:0 -> m\n"
                            "shop.Caller -> f:\n"
                            "    4:5:int around(int):98:99 -> k\n"
                            "    27:27:int around(int):0:0 -> k\n"
                            "      # { 'id': 'com.android.tools.r8.outlineCallsite', 'positions': { '1': 4, '2': 5, "
                            "'3': 5 }, 'outline': 'Le;m()I' }\n"
                            "shop.PricesKt -> g:\n"
                            "    1:1:void sum():3:3 -> a\n";

static void what_a_name_may_be_is_told_choice_by_choice(void **state)
{
    (void)state;
    struct opened opened;
    open_text(&opened, rules);
    assert_string_equal(given(&opened, NULL, "a", "o", 0),
                        "shop.Cart.another(Baskets.kt:0) or shop.Cart.one(Baskets.kt:0)");
    assert_string_equal(given(&opened, NULL, "a", "o", 8),
                        "shop.Cart.another(Baskets.kt:8) or shop.Cart.one(Baskets.kt:8)");
    assert_string_equal(
        given(&opened, NULL, "a", "s", 1),
        "shop.Cart.span(Baskets.kt:30) or shop.Cart.span(Baskets.kt:31) or shop.Cart.span(Baskets.kt:32)");
    assert_string_equal(given(&opened, NULL, "a", "s", 0), "shop.Cart.span(Baskets.kt:0)");
    assert_string_equal(given(&opened, NULL, "a", "w", 9), "shop.Tax.add(Tax.java:6) < shop.Cart.pay(Baskets.kt:60)");
    assert_string_equal(given(&opened, NULL, "a", "w", 11), "shop.Cart.pay(Baskets.kt:52)");
    close_text(&opened);
}

static void rows_without_lines_or_for_all_lines_tell_the_one_they_have(void **state)
{
    (void)state;
    struct opened opened;
    open_text(&opened, rules);
    assert_string_equal(given(&opened, NULL, "a", "p", 0), "shop.Cart.only(Baskets.kt:17)");
    assert_string_equal(given(&opened, NULL, "a", "p", 5), "shop.Cart.only(Baskets.kt:17)");
    assert_string_equal(given(&opened, NULL, "a", "x", 0), "shop.Cart.whole(Baskets.kt:33)");
    assert_string_equal(given(&opened, NULL, "a", "x", 900), "shop.Cart.whole(Baskets.kt:33)");
    assert_string_equal(given(&opened, NULL, "a", "y", 0),
                        "shop.Money.round(Money.java:8) < shop.Cart.known(Baskets.kt:28)");
    assert_string_equal(given(&opened, NULL, "a", "z", 4), "shop.Cart.backwards(Baskets.kt:4)");
    assert_string_equal(given(&opened, NULL, "a", "q", 3), "shop.Cart.askew(Baskets.kt:3)");
    close_text(&opened);
}

static void frames_of_the_compiler_are_left_out_even_alone(void **state)
{
    (void)state;
    struct opened opened;
    open_text(&opened, rules);
    assert_string_equal(given(&opened, NULL, "b", "a", 0), "-");
    assert_string_equal(given(&opened, NULL, "b", "c", 1), "shop.Cart.lambda$pay$0(Baskets.kt:70)");
    assert_string_equal(given(&opened, NULL, "b", "c", 2), "-");
    close_text(&opened);
}

static void calls_below_the_exception_they_throw_are_left_out(void **state)
{
    (void)state;
    struct opened opened;
    struct retrace_carry carry = {.thrown = "a.b.C: text", .thrown_len = 5};
    open_text(&opened, rules);
    assert_string_equal(given(&opened, &carry, "d", "n", 4), "shop.Checked.check(Checked.java:7)");
    assert_string_equal(given(&opened, &carry, "d", "n", 4),
                        "java.util.Objects.requireNonNull(Objects.java:99) < shop.Checked.check(Checked.java:7)");
    carry = (struct retrace_carry){.thrown = "a.b.Cx", .thrown_len = 6};
    assert_string_equal(given(&opened, &carry, "d", "n", 4),
                        "java.util.Objects.requireNonNull(Objects.java:99) < shop.Checked.check(Checked.java:7)");
    close_text(&opened);
}

static void all_lines_of_an_outline_lead_to_its_caller_and_inlined_calls_stay(void **state)
{
    (void)state;
    static const struct {
        uint32_t line;
        const char *outline, *caller;
    } rows[] = {{1, "shop.Deep.inner(Deep.java:75)", "shop.Caller.around(Caller.java:98)"},
                {2, "shop.Deep.inner(Deep.java:76)", "shop.Caller.around(Caller.java:99)"},
                {3, "-", "shop.Caller.around(Caller.java:99)"}};
    struct opened opened;
    open_text(&opened, rules);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct retrace_carry carry = {0};
        assert_string_equal(given(&opened, &carry, "e", "m", rows[i].line), rows[i].outline);
        assert_int_equal(carry.position, rows[i].line);
        assert_string_equal(given(&opened, &carry, "f", "k", 27), rows[i].caller);
        assert_int_equal(carry.position, 0);
    }
    close_text(&opened);
}

static void a_file_is_named_as_its_compiler_would(void **state)
{
    (void)state;
    struct opened opened;
    open_text(&opened, rules);
    assert_string_equal(told_in(&opened, NULL, &(struct retrace_query){"g", "a", "", 1}),
                        "shop.PricesKt.sum(Prices.kt:3)");
    assert_string_equal(told_in(&opened, NULL, &(struct retrace_query){"g", "a", "X.kt", 1}),
                        "shop.PricesKt.sum(Prices.kt:3)");
    assert_string_equal(told_in(&opened, NULL, &(struct retrace_query){"g", "a", "X.java", 1}),
                        "shop.PricesKt.sum(PricesKt.java:3)");
    assert_string_equal(told_in(&opened, NULL, &(struct retrace_query){"d", "n", "X.kt", 9}),
                        "shop.Checked.n(Checked.kt:9)");
    assert_string_equal(told_in(&opened, NULL, &(struct retrace_query){"d", "n", "Native Method", 0}),
                        "shop.Checked.check(Native Method:0)");
    close_text(&opened);
}

static void a_class_is_found_by_its_short_name(void **state)
{
    (void)state;
    struct opened opened;
    size_t len;
    open_text(&opened, rules);
    const char *name = retrace_class_name(&len, opened.retrace, "g: text", 1);
    assert_int_equal(len, strlen("shop.PricesKt"));
    assert_memory_equal(name, "shop.PricesKt", len);
    assert_null(retrace_class_name(&len, opened.retrace, "g: text", 2));
    close_text(&opened);
}

static void a_methodmap_names_methods_by_number(void **state)
{
    (void)state;
    struct opened opened;
    struct retrace_frame frame;
    open_written(&opened, CORPUS "methodmap.txt");
    assert_int_equal(opened.object->facts.format, MIRE_FORMAT_METHODMAP);
    assert_true(retrace_method(&frame, opened.retrace, 7));
    assert_int_equal(frame.class_len, strlen("com.e.Main$1"));
    assert_memory_equal(frame.class_name, "com.e.Main$1", frame.class_len);
    assert_int_equal(frame.method_len, 3);
    assert_memory_equal(frame.method, "run", 3);
    assert_false(retrace_method(&frame, opened.retrace, 2));
    close_it(&opened);
}

static void a_damaged_file_is_refused(void **state)
{
    (void)state;
    struct opened opened;
    struct retrace *mapped;
    uint8_t bytes[64];
    int fd = memfd_create("mapping", MFD_CLOEXEC);
    open_it(&opened, CORPUS "r8.txt");
    assert_true(retrace_write(fd, opened.retrace));
    off_t len = lseek(fd, 0, SEEK_CUR);
    assert_int_equal(pread(fd, bytes, 1, len - 2), 1);
    bytes[0] ^= 1;
    assert_int_equal(pwrite(fd, bytes, 1, len - 2), 1);
    assert_string_equal(retrace_map(&mapped, fd, true), "is damaged");
    assert_int_equal(ftruncate(fd, len - 1), 0);
    assert_string_equal(retrace_map(&mapped, fd, false), "has a header that does not fit it");
    assert_int_equal(ftruncate(fd, 39), 0);
    assert_string_equal(retrace_map(&mapped, fd, false), "is too short");
    assert_int_equal(pwrite(fd, "Mire\x7fSYM", 8, 0), 8);
    assert_int_equal(ftruncate(fd, 128), 0);
    assert_string_equal(retrace_map(&mapped, fd, false), "is no mapping of this version");
    close(fd);
    close_it(&opened);
}

static void assert_id(const char *text, size_t len, const char *hex)
{
    struct object_facts facts;
    char got[2 * MIRE_OBJECT_ID_MAX + 1];
    assert_null(object_look(&facts, text, len, NULL, 0));
    hex_format(got, facts.id, facts.id_len);
    assert_string_equal(got, hex);
}

static void a_mapping_is_known_by_the_id_it_tells_or_by_its_uuid(void **state)
{
    (void)state;
    static const char told_odd[] = "# compiler: R8\n# pg_map_id: 5b46fdc\na.B -> c:\n";
    static const struct {
        size_t len;
        const char *hex;
    } rows[] = {{30, "550cb693e89b502593c87d6495091dfb"},  {47, "256695905358507198e9533ab3d794f9"},
                {48, "ac6f1e78232657a48fe2c193524758bc"},  {55, "4efe438acbee5132b69a8b5a34bf9ce5"},
                {56, "4d0545451a36558a9427546108dbccba"},  {100, "1e8612761ed05881935e5d42bd18e252"},
                {103, "a5390518fe3a5f3484389ee80381ffd1"}, {104, "5a451d867ac85534886b1a6397447fb4"},
                {112, "614eca38777b56da8279661b289b2ab4"}};
    char text[128] = "a.B -> c:\n";
    assert_id(told_odd, sizeof told_odd - 1, "5b46fdc0");
    memset(text + 10, '#', sizeof text - 10);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) /* lengths around those where a block of SHA-1 ends */
        assert_id(text, rows[i].len, rows[i].hex);
}

/* R8's own example of the hash, with DOS line ends. */
static void a_mapping_is_held_against_the_hash_it_tells(void **state)
{
    (void)state;
    static const char good[] = "# compiler: R8\r\n# pg_map_id: 6ef47f7\r\n# pg_map_hash: SHA-256 "
                               "6ef47f7b9b6d5013628073ebdadad27dd2e7e57ef911e9d6cbee0f92c434e48a\r\n"
                               "trivi\303\246l.Trivi\303\245l -> a.\305\223:\r\n"
                               "    void main(java.lang.String[]) -> a\r\n";
    char text[sizeof good];
    for (size_t cut = 0; cut < 3; cut++) { /* unchanged, without its last line, with another name */
        struct opened opened;
        char path[64];
        int fd = memfd_create("mapping", MFD_CLOEXEC);
        memcpy(text, good, sizeof good);
        if (cut == 2)
            *strstr(text, "main") = 'p';
        size_t len = cut == 1 ? (size_t)(strstr(text, "    void") - text) : strlen(text);
        assert_int_equal(write(fd, text, len), len);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        open_written(&opened, path);
        assert_int_equal(retrace_is_whole(opened.retrace), cut == 0);
        close_it(&opened);
        close(fd);
    }
}

static void other_texts_are_no_mappings(void **state)
{
    (void)state;
    static const char *const texts[] = {"a -> b\n",          "1,2,3,4,5\n", "x y -> z:\n",       "    a.B -> c:\n",
                                        "# only a remark\n", ":\n",         "1,2,a.B,c d,(V)\n", " -> a:\n"};
    struct object_facts facts;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_non_null(object_look(&facts, texts[i], strlen(texts[i]), NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_a_method_are_those_of_the_source),
        cmocka_unit_test(what_has_no_line_in_the_source_is_given_none),
        cmocka_unit_test(rows_with_the_same_lines_are_inlined_calls),
        cmocka_unit_test(without_a_line_every_method_of_that_name_is_told_once),
        cmocka_unit_test(a_mark_in_front_is_no_letter),
        cmocka_unit_test(what_the_mapping_does_not_have_stays_as_it_is),
        cmocka_unit_test(an_outline_tells_the_line_of_the_frame_around_it),
        cmocka_unit_test(an_outline_of_another_method_moves_no_line),
        cmocka_unit_test(what_the_compiler_made_is_left_out),
        cmocka_unit_test(what_a_name_may_be_is_told_choice_by_choice),
        cmocka_unit_test(rows_without_lines_or_for_all_lines_tell_the_one_they_have),
        cmocka_unit_test(frames_of_the_compiler_are_left_out_even_alone),
        cmocka_unit_test(calls_below_the_exception_they_throw_are_left_out),
        cmocka_unit_test(all_lines_of_an_outline_lead_to_its_caller_and_inlined_calls_stay),
        cmocka_unit_test(a_file_is_named_as_its_compiler_would),
        cmocka_unit_test(a_class_is_found_by_its_short_name),
        cmocka_unit_test(a_methodmap_names_methods_by_number),
        cmocka_unit_test(a_damaged_file_is_refused),
        cmocka_unit_test(a_mapping_is_known_by_the_id_it_tells_or_by_its_uuid),
        cmocka_unit_test(a_mapping_is_held_against_the_hash_it_tells),
        cmocka_unit_test(other_texts_are_no_mappings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
