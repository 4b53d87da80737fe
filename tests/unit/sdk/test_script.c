/* test_script.c - reads frames of scripts from structures laid out like CPython's. */
#include "script/script.h"

#include "platform/platform.h"
#include "unwind/symbols.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define ARENA_BYTES (1u << 20)
#define FRAMES_MAX  3000
#define CODE_SPACE  1024

static struct script script;
static struct blackbox *box;
static uint8_t *arena;
static uint32_t used;
static uint64_t interpreter, thread, code_type, outer_cframe;

/* Allocate unused bytes of the arena. */
static uint64_t take(uint32_t size)
{
    uint64_t at = (uint64_t)(uintptr_t)(arena + used);

    used += (size + 15) / 16 * 16;
    assert_true(used <= ARENA_BYTES);
    return at;
}

static void put(uint64_t address, uint64_t value, size_t size)
{
    memcpy((void *)(uintptr_t)address, &value, size);
}

static void put_word(uint64_t address, uint64_t value)
{
    put(address, value, 8);
}

static const struct script_layout *layout(void)
{
    return script.layout;
}

/* A str with `kind` bytes per character. */
static uint64_t make_text(const void *characters, uint32_t length, uint32_t kind, bool ascii)
{
    uint32_t data = ascii ? layout()->text_ascii : layout()->text_other;
    uint64_t at = take(data + length * kind + kind);

    put_word(at + 16, length);
    put(at + 32, kind << 2 | 0x20 | (ascii ? 0x40 : 0), 4);
    memcpy((void *)(uintptr_t)(at + data), characters, (size_t)length * kind);
    return at;
}

static uint64_t make_ascii(const char *text)
{
    return make_text(text, (uint32_t)strlen(text), 1, true);
}

/* A code object of 8 units: two of its first line, four of the line 300 further, two of no line. */
static uint64_t make_code(uint64_t name, uint64_t file, uint32_t first_line)
{
    static const uint8_t lines[] = {0x80 | 11 << 3 | 1, 0,         0,           /* one line on: two units */
                                    0x80 | 13 << 3 | 3, 0x40 | 24, 9 << 1 >> 1, /* 300 on: 600 = 24 + 9 * 64 */
                                    0x80 | 15 << 3 | 1};
    uint64_t table = take(32 + sizeof(lines)), code = take(CODE_SPACE);

    put_word(table + 16, sizeof(lines));
    memcpy((void *)(uintptr_t)(table + 32), lines, sizeof(lines));
    put_word(code + 8, code_type);
    put_word(code + 16, 8);
    put(code + layout()->code_first_line, first_line, 4);
    put_word(code + layout()->code_file, file);
    put_word(code + layout()->code_name, name);
    put_word(code + layout()->code_lines, table);
    return code;
}

/* A frame at a unit of its code, called by `outer`. */
static uint64_t make_frame(uint64_t code, uint32_t unit, uint64_t outer)
{
    uint64_t frame = take(MIRE_SCRIPT_FRAME_BYTES + 40);

    put_word(frame + layout()->frame_code, code);
    put_word(frame + layout()->frame_at, code + layout()->code_begin + 2ull * unit);
    put_word(frame + layout()->frame_previous, outer);
    return frame;
}

/* Make the frame the outermost one of an evaluation. Outer frames belong to another one. Returns the mark. */
static uint64_t bound(uint64_t frame)
{
    uint64_t mark;

    if (layout()->frame_entry) {
        put(frame + layout()->frame_entry, 1, 1);
        mark = outer_cframe;
        outer_cframe = take(24);
        put_word(mark + layout()->cframe_previous, outer_cframe);
        put_word(outer_cframe + layout()->cframe_frame, *(uint64_t *)(uintptr_t)(frame + layout()->frame_previous));
        return mark;
    }
    mark = make_frame(0, 0, *(uint64_t *)(uintptr_t)(frame + layout()->frame_previous));
    put(mark + layout()->frame_owner, 3, 1);
    put_word(frame + layout()->frame_previous, mark);
    return mark;
}

/* Let the thread run this frame. Call it before its evaluations are bound. */
static void run(uint64_t frame)
{
    if (layout()->has_cframe) {
        put_word(outer_cframe + layout()->cframe_frame, frame);
        put_word(thread + layout()->thread_frame, outer_cframe);
    } else {
        put_word(thread + layout()->thread_frame, frame);
    }
}

static void begin(uint32_t minor)
{
    memset(&script, 0, sizeof(script));
    memset(arena, 0, ARENA_BYTES);
    used = 0;
    script.layout = mire__script_layout(0x03000000u | minor << 16 | 0x02f0u);
    assert_non_null(script.layout);
    code_type = script.code_type = take(400);
    script.runtime = take(1024);
    interpreter = take(8192);
    thread = take(512);
    outer_cframe = take(24);
    put_word(script.runtime + layout()->interpreters, interpreter);
    put_word(interpreter + layout()->threads, thread);
    put_word(thread + layout()->thread_interpreter, interpreter);
    put_word(thread + layout()->thread_number, mire__tid());
}

static uint32_t read_script(void)
{
    mire__script_aim(&script, mire__tid());
    mire__script_as_copy(&script, (struct script_stack){0});
    mire__script_name(&script, box);
    return script.place_count;
}

static void assert_place(uint32_t place, const char *name, const char *file, uint32_t line)
{
    const char *is_name, *is_file;

    assert_true(place < script.place_count);
    assert_true(mire__is_script(script.places[place].pc));
    assert_true(mire__blackbox_script(&is_name, &is_file, box, mire__script_number(script.places[place].pc)));
    assert_string_equal(is_name, name);
    assert_string_equal(is_file, file);
    assert_int_equal(mire__script_line(script.places[place].pc), line);
    assert_int_equal(script.places[place].into, line);
}

static const uint32_t minors[] = {11, 12, 13};

static void a_chain_has_functions_files_and_lines(void **state)
{
    static const uint16_t two[] = {0x4f5c, 0x308b};
    static const uint32_t four[] = {'a', 0x1f600};

    (void)state;
    for (size_t i = 0; i < MIRE_COUNT(minors); i++) {
        uint64_t file, frames[4], marks[2];

        begin(minors[i]);
        file = make_text("/srv/\xe9t\xe9.py", 11, 1, false);
        frames[3] = make_frame(make_code(make_ascii("<module>"), file, 1), 5, 0);
        frames[2] = make_frame(make_code(make_text(two, 2, 2, false), file, 10), 0, frames[3]);
        frames[1] = make_frame(make_code(make_text(four, 2, 4, false), file, 20), 2, frames[2]);
        frames[0] =
            make_frame(make_code(make_ascii("serve.<locals>.<lambda>"), make_ascii("<made>"), 40), 7, frames[1]);
        run(frames[0]);
        marks[0] = bound(frames[1]);
        marks[1] = bound(frames[3]);
        assert_int_equal(read_script(), 4);
        assert_place(0, "serve.<locals>.<lambda>", "<made>", 40); /* no line of its own: the function's first */
        assert_place(1, "a\xf0\x9f\x98\x80", "/srv/\xc3\xa9t\xc3\xa9.py", 321);
        assert_place(2, "\xe4\xbd\x9c\xe3\x82\x8b", "/srv/\xc3\xa9t\xc3\xa9.py", 11);
        assert_place(3, "<module>", "/srv/\xc3\xa9t\xc3\xa9.py", 302);
        assert_int_equal(script.places[0].mark, 0);
        assert_int_equal(script.places[1].mark, marks[0]);
        assert_int_equal(script.places[2].mark, 0);
        assert_int_equal(script.places[3].mark, marks[1]);
        assert_int_equal(read_script(), 4); /* known by now */
        assert_place(2, "\xe4\xbd\x9c\xe3\x82\x8b", "/srv/\xc3\xa9t\xc3\xa9.py", 11);
    }
}

static void what_cannot_be_takes_all_with_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < MIRE_COUNT(minors); i++) {
        uint64_t code, other, frame, outer;

        begin(minors[i]);
        other = make_code(make_ascii("f"), make_ascii("f.py"), 1);
        code = make_code(make_ascii("g"), make_ascii("g.py"), 1);
        outer = make_frame(other, 1, 0);
        frame = make_frame(code, 1, outer);
        run(frame);
        bound(outer);
        assert_int_equal(read_script(), 2);

        put_word(code + 8, code_type + 8);
        assert_int_equal(read_script(), 0);
        put_word(code + 8, code_type);
        put_word(frame + layout()->frame_at, code + layout()->code_begin + 18);
        assert_int_equal(read_script(), 0);
        put_word(frame + layout()->frame_at, code + layout()->code_begin - 2); /* just called */
        assert_int_equal(read_script(), 2);
        put_word(code + layout()->code_name, 8);
        assert_int_equal(read_script(), 0);
        put_word(code + layout()->code_name, make_ascii("g"));
        put_word(frame + layout()->frame_previous, 0x7fffdeadbe00);
        assert_int_equal(read_script(), 0);
        put_word(frame + layout()->frame_previous, frame); /* a circle */
        assert_int_equal(read_script(), 0);
        put_word(frame + layout()->frame_previous, outer);
        put_word(thread + layout()->thread_number, 1);
        assert_int_equal(read_script(), 0);
    }
}

static void of_a_deep_stack_both_ends_are_kept(void **state)
{
    char name[16];

    (void)state;
    for (size_t i = 0; i < MIRE_COUNT(minors); i++) {
        uint64_t frame = 0, entry, file, codes[10];

        begin(minors[i]);
        file = make_ascii("deep.py");
        for (uint32_t n = 0; n < 10; n++) {
            snprintf(name, sizeof(name), "f%u", n);
            codes[n] = make_code(make_ascii(name), file, n);
        }
        entry = frame = make_frame(codes[9], 1, 0);
        for (uint32_t n = 1; n < 1000; n++)
            frame = make_frame(codes[9 - n % 10], 1, frame);
        run(frame);
        bound(entry);
        assert_int_equal(read_script(), MIRE_SCRIPT_FRAMES_MAX);
        for (uint32_t n = 0; n < MIRE_SCRIPT_FRAMES_MAX; n++) {
            snprintf(name, sizeof(name), "f%u", n < 128 ? n % 10 : (n - 256 + 1000) % 10);
            assert_place(n, name, "deep.py", (n < 128 ? n % 10 : (n - 256 + 1000) % 10) + 1);
        }
        for (uint32_t n = 1000; n < MIRE_SCRIPT_WALK_MAX; n++)
            frame = make_frame(codes[0], 1, frame);
        run(frame);
        if (layout()->has_cframe) { /* bound before: the innermost evaluation has another frame */
            put_word(thread + layout()->thread_frame, take(24));
            put_word(*(uint64_t *)(uintptr_t)(thread + layout()->thread_frame) + layout()->cframe_frame, frame);
            put_word(*(uint64_t *)(uintptr_t)(thread + layout()->thread_frame) + layout()->cframe_previous,
                     outer_cframe);
            put_word(outer_cframe + layout()->cframe_frame, 0);
        }
        assert_int_equal(read_script(), MIRE_SCRIPT_FRAMES_MAX);
        frame = make_frame(codes[0], 1, frame);
        if (layout()->has_cframe)
            put_word(*(uint64_t *)(uintptr_t)(thread + layout()->thread_frame) + layout()->cframe_frame, frame);
        else
            run(frame);
        assert_int_equal(read_script(), 0);
    }
}

/* With arbitrary bytes reading ends, and unmapped memory is not touched. */
static void any_bytes_are_survived(void **state)
{
    static uint8_t whole[ARENA_BYTES];
    uint32_t given = 0;

    (void)state;
    srand(7);
    for (size_t i = 0; i < MIRE_COUNT(minors); i++) {
        uint64_t frame = 0, entry, code;

        begin(minors[i]);
        code = make_code(make_ascii("f"), make_ascii("f.py"), 3);
        entry = frame = make_frame(code, 1, 0);
        for (uint32_t n = 0; n < 20; n++)
            frame = make_frame(code, 2, frame);
        run(frame);
        bound(entry);
        memcpy(whole, arena, used);
        for (uint32_t round = 0; round < 3000; round++) {
            for (uint32_t flips = rand() % 3 + 1; flips > 0; flips--)
                arena[(uint32_t)rand() % used] ^= (uint8_t)(1 << rand() % 8);
            given += read_script() > 0;
            memcpy(arena, whole, used);
            script.tid = rand() % 2 ? script.tid : 0;
        }
    }
    assert_true(given > 1000);
}

static void a_full_table_makes_room_for_the_next_hang(void **state)
{
    struct sample path = {.depth = 2, .pc = {0x1000, 0}};
    uint32_t before = 0;
    const char *name, *file;

    (void)state;
    memset(box, 0, sizeof(*box));
    for (int number = 0; number >= 0; before += number >= 0) {
        char text[32];

        snprintf(text, sizeof(text), "function_%u", before);
        number = mire__blackbox_add_script(box, MIRE_LANGUAGE_PYTHON, text, "a.py");
        assert_true(number < 0 || number == (int)before);
    }
    assert_int_equal(before, MIRE_SCRIPT_FUNCTIONS_MAX);
    assert_int_equal(mire__blackbox_add_script(box, MIRE_LANGUAGE_PYTHON, "function_700", "a.py"), 700);
    path.pc[1] = MIRE_SCRIPT_PC(700, 33);
    mire__blackbox_set_wait(box, 2, 1, &path);
    mire__blackbox_tidy_scripts(box);
    path = *mire__blackbox_wait(box, 2, 1);
    assert_int_equal(path.pc[0], 0x1000);
    assert_int_equal(path.pc[1], MIRE_SCRIPT_PC(0, 33));
    assert_true(mire__blackbox_script(&name, &file, box, 0));
    assert_string_equal(name, "function_700");
    assert_string_equal(file, "a.py");
    assert_false(mire__blackbox_script(&name, &file, box, 1));
    assert_int_equal(mire__blackbox_add_script(box, MIRE_LANGUAGE_PYTHON, "new", "b.py"), 1);
    mire__blackbox_tidy_scripts(box); /* there is room: nothing changes */
    assert_true(mire__blackbox_script(&name, &file, box, 1));
    memset(box, 0, sizeof(*box));
}

static void a_module_tells_where_its_symbols_are(void **state)
{
    static struct modules modules;
    struct module_symbols symbols;
    const struct module *libc;

    (void)state;
    mire__modules_read(&modules, NULL, NULL);
    libc = mire__modules_find(&modules, (uint64_t)(uintptr_t)getpid);
    assert_non_null(libc);
    assert_true(mire__symbols_open(&symbols, &modules.cache, libc));
    assert_int_equal(mire__symbols_find(&symbols, "getpid"), (uint64_t)(uintptr_t)getpid);
#if !defined __SANITIZE_THREAD__ /* whose runtime has a setjmp of its own */
    assert_int_equal(mire__symbols_find(&symbols, "setjmp"), (uint64_t)(uintptr_t)setjmp);
#endif
    assert_int_equal(mire__symbols_find(&symbols, "_PyRuntime"), 0);
    mire__script_look(&script, &modules);
    assert_null(script.layout);
}

static void versions_that_are_not_known_are_left_alone(void **state)
{
    (void)state;
    assert_null(mire__script_layout(0x030a0000));
    assert_null(mire__script_layout(0x030e0000));
    assert_null(mire__script_layout(0x040b0000));
    assert_null(mire__script_layout(0));
    assert_non_null(mire__script_layout(0x030b02f0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_has_functions_files_and_lines),
        cmocka_unit_test(what_cannot_be_takes_all_with_it),
        cmocka_unit_test(of_a_deep_stack_both_ends_are_kept),
        cmocka_unit_test(any_bytes_are_survived),
        cmocka_unit_test(a_full_table_makes_room_for_the_next_hang),
        cmocka_unit_test(a_module_tells_where_its_symbols_are),
        cmocka_unit_test(versions_that_are_not_known_are_left_alone),
    };

    box = calloc(1, sizeof(*box));
    arena = calloc(1, ARENA_BYTES);
    if (!box || !arena)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
