/* Java frames with short names, and what the source called them. */
#include "object/object.h"
#include "symbols/retrace.h"

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

/* Read it, write it down, and open what was written in its place. */
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

/* Frames as one text: Class.method(File:line), " < " where one is inlined, " or " where it could be another. */
static const char *told(struct opened *opened, struct retrace_carry *carry, const char *class_name, const char *method,
                        uint32_t line)
{
    static char text[1024];
    struct retrace_frame frames[MIRE_RETRACE_CHAIN];
    size_t len = 0;
    size_t count = retrace_frame(frames, carry, opened->retrace, class_name, method, line);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%.*s.%.*s(%s:%u)%s", (int)frames[i].class_len,
                                frames[i].class_name, (int)frames[i].method_len, frames[i].method, frames[i].file,
                                frames[i].line,
                                frames[i].inlined     ? " < "
                                : frames[i].ambiguous ? " or "
                                                      : "");
    return text;
}

static void lines_of_a_method_are_those_of_the_source(void **state)
{
    (void)state;
    struct opened opened;
    open_it(&opened, CORPUS "proguard.txt");
    assert_string_equal(told(&opened, NULL, "a.a", "<init>", 2), "com.example.Main.<init>(Main.java:32)");
    assert_string_equal(told(&opened, NULL, "a.a", "b", 4), "com.example.Main.outer(Main.java:43)");
    assert_string_equal(told(&opened, NULL, "a.a", "c", 7), "com.example.Main.plain(Main.java:7)");
    assert_string_equal(told(&opened, NULL, "a.b", "run", 12), "com.example.Main$1.run(Main.java:12)");
    close_it(&opened);
}

/* What R8 writes of code that has no lines, and of one whose types are others than the source's. */
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
    struct opened opened = {.file = {(const uint8_t *)text, sizeof text - 1, 0}};
    assert_null(object_open(&opened.object, &opened.file, NULL, 0, 1));
    assert_null(retrace_open(&opened.retrace, opened.object));
    assert_string_equal(told(&opened, NULL, "a.a", "b", 1), "com.example.Made.lambda$sum$0(Made.java:0)");
    assert_string_equal(told(&opened, NULL, "a.a", "b", 2),
                        "com.example.Made.inner(Made.java:7) < com.example.Made.lambda$sum$0(Made.java:0)");
    retrace_close(opened.retrace);
    object_close(opened.object);
}

static void rows_with_the_same_lines_are_inlined_calls(void **state)
{
    (void)state;
    struct opened opened;
    open_written(&opened, CORPUS "proguard.txt");
    assert_string_equal(told(&opened, NULL, "a.a", "b", 1),
                        "com.example.Deep$Er.deepest(Deep.java:9) < com.example.Main.middle(Main.java:20) < "
                        "com.example.Main.outer(Main.java:40)");
    close_it(&opened);
}

static void without_a_line_every_method_of_that_name_is_told_once(void **state)
{
    (void)state;
    struct opened opened;
    open_written(&opened, CORPUS "proguard.txt");
    assert_string_equal(told(&opened, NULL, "a.a", "d", 0),
                        "com.example.Main.one(Main.java:0) or com.example.Main.two(Main.java:0) or ");
    assert_string_equal(told(&opened, NULL, "a.a", "b", 0), "com.example.Main.outer(Main.java:0)");
    close_it(&opened);
}

static void what_the_mapping_does_not_have_stays_as_it_is(void **state)
{
    (void)state;
    struct opened opened;
    open_written(&opened, CORPUS "proguard.txt");
    assert_string_equal(told(&opened, NULL, "a.c", "b", 1), "");
    assert_string_equal(told(&opened, NULL, "a.a", "z", 1), "");
    close_it(&opened);
}

static void an_outline_tells_the_line_of_the_frame_around_it(void **state)
{
    (void)state;
    struct opened opened;
    struct retrace_carry carry = {0};
    open_written(&opened, CORPUS "r8.txt");
    assert_string_equal(told(&opened, &carry, "a", "a", 2), "");
    assert_int_equal(carry.position, 2);
    assert_string_equal(told(&opened, &carry, "b", "s", 27), "some.Class.outlineCaller(Some.kt:100)");
    assert_int_equal(carry.position, 0);
    close_it(&opened);
}

static void an_outline_of_another_method_moves_no_line(void **state)
{
    (void)state;
    struct opened opened;
    struct retrace_carry carry = {.position = 1};
    open_written(&opened, CORPUS "r8.txt");
    assert_string_equal(told(&opened, &carry, "b", "u", 40), "some.Class.plain(Some.kt:70)");
    close_it(&opened);
}

static void what_the_compiler_made_is_left_out(void **state)
{
    (void)state;
    struct opened opened;
    open_written(&opened, CORPUS "r8.txt");
    assert_string_equal(told(&opened, NULL, "b", "t", 30), "some.Class.lambda$x$0(Some.kt:11)");
    close_it(&opened);
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

/* R8's own example of the hash, with the ends of lines that DOS writes. */
static void a_mapping_is_held_against_the_hash_it_tells(void **state)
{
    (void)state;
    static const char good[] = "# compiler: R8\r\n# pg_map_id: 6ef47f7\r\n# pg_map_hash: SHA-256 "
                               "6ef47f7b9b6d5013628073ebdadad27dd2e7e57ef911e9d6cbee0f92c434e48a\r\n"
                               "trivi\303\246l.Trivi\303\245l -> a.\305\223:\r\n"
                               "    void main(java.lang.String[]) -> a\r\n";
    char text[sizeof good];
    for (size_t cut = 0; cut < 3; cut++) { /* as it is, without its last line, with another name */
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
        cmocka_unit_test(what_the_mapping_does_not_have_stays_as_it_is),
        cmocka_unit_test(an_outline_tells_the_line_of_the_frame_around_it),
        cmocka_unit_test(an_outline_of_another_method_moves_no_line),
        cmocka_unit_test(what_the_compiler_made_is_left_out),
        cmocka_unit_test(a_methodmap_names_methods_by_number),
        cmocka_unit_test(a_damaged_file_is_refused),
        cmocka_unit_test(a_mapping_is_known_by_the_id_it_tells_or_by_its_uuid),
        cmocka_unit_test(a_mapping_is_held_against_the_hash_it_tells),
        cmocka_unit_test(other_texts_are_no_mappings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
