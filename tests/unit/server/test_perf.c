/* test_perf.c - splits names of code made at run time. */
#include "symbolicate/perf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *name, *function, *file, *image;
    uint32_t line;
} rows[] = {
    {"JS:*price /srv/app.js:2:15", "price", "/srv/app.js", "app.js", 2},
    {"JS:~get total /srv/a b/app.js:3:23", "get total", "/srv/a b/app.js", "app.js", 3},
    {"JS:^ /srv/app.js:4:57", "(anonymous)", "/srv/app.js", "app.js", 4},
    {"LazyCompile:*Shop.run file:///srv/m.mjs:10:3", "Shop.run", "/srv/m.mjs", "m.mjs", 10},
    {"JS:~listOnTimeout node:internal/timers:524:25", "listOnTimeout", "node:internal/timers", "timers", 524},
    {"Eval:~ node:internal/perf/observe:1:1", "(anonymous)", "node:internal/perf/observe", "observe", 1},
    {"Function:~serve app.js:7", "serve", "app.js", "app.js", 7},
    {"JS:~lonely", "lonely", "", "", 0},
    {"JS:", "(anonymous)", "", "", 0},
    {"Builtin:ArrayMap", "Builtin:ArrayMap", "", "v8", 0},
    {"RegExp:^(a+)+$", "RegExp:^(a+)+$", "", "v8", 0},
    {"py::Shop.price:/srv/app.py", "Shop.price", "/srv/app.py", "app.py", 0},
    {"py::_find_and_load:<frozen importlib._bootstrap>", "_find_and_load", "<frozen importlib._bootstrap>",
     "<frozen importlib._bootstrap>", 0},
    {"py::odd", "py::odd", "", "", 0},
    {"long org.x.Spin$Shop.price(int)", "org.x.Spin$Shop.price", "", "", 0},
    {"void Spin.main(java.lang.String[])", "Spin.main", "", "", 0},
    {"Lorg/x/Spin$Shop;::price", "org.x.Spin$Shop.price", "", "", 0},
    {"instance int32 [shop] X.Shop::Price(int32,class [a]B)[OptimizedTier1]", "X.Shop.Price", "", "", 0},
    {"void [shop] X.Program::Main(string[])[QuickJitted]", "X.Program.Main", "", "", 0},
    {"StubRoutines (1)", "StubRoutines", "", "", 0},
    {"Interpreter", "Interpreter", "", "", 0},
    {"$lists:map/2", "lists:map/2", "", "", 0},
    {"TRACE_3::app.lua:12", "TRACE_3::app.lua:12", "", "", 0},
    {"( (", "( (", "", "", 0},
    {" ()", " ()", "", "", 0},
    {"L;::", ".", "", "", 0},
};

static void names_are_taken_apart(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena;
        struct perf_place location;
        arena_init(&arena, 1 << 20);
        assert_int_equal(perf_parse(&location, &arena, rows[i].name), 0);
        assert_string_equal(location.function, rows[i].function);
        assert_string_equal(location.file, rows[i].file);
        assert_string_equal(location.image, rows[i].image);
        assert_int_equal(location.line, rows[i].line);
        arena_fini(&arena);
    }
}

/* Names come from other programs: any bytes are accepted, and the result is never empty. */
static void any_name_has_a_function(void **state)
{
    static const char *const parts[] = {"JS:", "*", "py::", "L", ";::", "::",  "(", ")",
                                        " ",   ":", "/",    "$", "1",   "a.b", "<"};
    char name[64];
    (void)state;
    srand(5);
    for (int round = 0; round < 20000; round++) {
        struct arena arena;
        struct perf_place location;
        name[0] = '\0';
        for (int i = rand() % 8; i >= 0; i--)
            strcat(name, parts[(size_t)rand() % (sizeof parts / sizeof *parts)]);
        arena_init(&arena, 1 << 20);
        assert_int_equal(perf_parse(&location, &arena, name), 0);
        assert_true(location.function[0] && location.file && location.image);
        arena_fini(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_taken_apart),
        cmocka_unit_test(any_name_has_a_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
