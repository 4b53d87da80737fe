/* test_jitdump.c - names of code made at run time, from perf's jitdump files. */
#include "report/perf_map.h"
#include "support/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/mire-jitdump-XXXXXX", path[64];

static void put(FILE *file, const void *bytes, size_t size)
{
    assert_int_equal(fwrite(bytes, 1, size, file), size);
}

static FILE *begin_dump(void)
{
    const uint32_t head[10] = {0x4a695444, 1, sizeof(head), 62, 0, 77};
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    put(file, head, sizeof(head));
    return file;
}

static void put_record(FILE *file, uint32_t kind, const uint64_t *numbers, size_t count, const char *name, size_t code)
{
    static const char zeros[256];
    size_t body = count * 8 + (name ? strlen(name) + 1 : 0) + code;
    const uint32_t head[4] = {kind, (uint32_t)(16 + body)};

    put(file, head, sizeof(head));
    put(file, numbers, count * 8);
    if (name)
        put(file, name, strlen(name) + 1);
    put(file, zeros, code);
}

static void load(FILE *file, uint64_t address, uint64_t size, uint64_t number, const char *name)
{
    const uint64_t numbers[] = {77, address, address, size, number};

    put_record(file, 0, numbers, 5, name, size % 256);
}

static void move(FILE *file, uint64_t from, uint64_t to, uint64_t size, uint64_t number)
{
    const uint64_t numbers[] = {77, to, from, to, size, number};

    put_record(file, 1, numbers, 6, NULL, 0);
}

static void read_all(struct perf_map *map, uint32_t pid, const uint64_t *pcs)
{
    assert_true(mire__perf_map_open(map, folder, pid, 0));
    for (; *pcs; pcs++)
        assert_int_equal(mire__perf_map_ask(map, *pcs), MIRE_OK);
    mire__perf_map_read(map);
}

static const char *name_of(const struct perf_map *map, uint64_t pc)
{
    const struct perf_name *name = mire__perf_map_find(map, pc);

    return name ? name->name : "";
}

static void the_last_record_of_an_address_counts(void **state)
{
    static const uint64_t pcs[] = {0x1000, 0x10ff, 0x1100, 0x2000, 0x3010, 0x5008, 0x6008, 0};
    const uint64_t lines[] = {0x1000, 1, 0x1000, 5};
    FILE *file = begin_dump();
    char longer[3000];
    struct perf_map map;

    (void)state;
    memset(longer, 'x', sizeof(longer));
    longer[sizeof(longer) - 1] = '\0';
    load(file, 0x1000, 0x100, 1, "JS:~old /a.js:1:1");
    put_record(file, 2, lines, 4, "a.js", 0); /* lines */
    put_record(file, 4, lines, 3, NULL, 40);  /* unwinding */
    load(file, 0x1000, 0x100, 2, "JS:*new /a.js:2:2");
    load(file, 0x2000, 0x10, 3, longer);
    load(file, 0x4000, 0x20, 4, "moved");
    load(file, 0x3000, 0x20, 5, "was there");
    move(file, 0x4000, 0x3000, 0x20, 4);
    load(file, 0x7000, 0x10, 6, "overwritten");
    move(file, 0x7000, 0x5000, 0x10, 6);
    load(file, 0x5000, 0x10, 7, "over it");
    load(file, ~0ull - 4, 0x10, 8, "wraps");
    load(file, 0x6000, 0x10, 9, "the last");
    fclose(file);
    read_all(&map, 77, pcs);
    assert_string_equal(name_of(&map, 0x1000), "JS:*new /a.js:2:2");
    assert_string_equal(name_of(&map, 0x10ff), "JS:*new /a.js:2:2");
    assert_string_equal(name_of(&map, 0x1100), "");
    assert_int_equal(strspn(name_of(&map, 0x2000), "x"), strlen(name_of(&map, 0x2000)));
    assert_in_range(strlen(name_of(&map, 0x2000)), 100, MIRE_PERF_NAME_MAX);
    assert_string_equal(name_of(&map, 0x3010), "moved");
    assert_string_equal(name_of(&map, 0x5008), "over it");
    assert_string_equal(name_of(&map, 0x6008), "the last");
    mire__perf_map_fini(&map);
}

static void a_cut_or_damaged_file_ends_with_an_answer(void **state)
{
    static const uint64_t pcs[] = {0x1008, 0x2008, 0x3008, 0};
    unsigned seed = test_seed();
    uint8_t bytes[1024];
    size_t size;
    FILE *file = begin_dump();

    (void)state;
    srand(seed);
    load(file, 0x1000, 0x10, 1, "one");
    load(file, 0x2000, 0x10, 2, "two");
    move(file, 0x2000, 0x3000, 0x10, 2);
    fclose(file);
    file = fopen(path, "r");
    size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    for (int turn = 0; turn < 300; turn++) {
        uint8_t damaged[1024];
        struct perf_map map;

        memcpy(damaged, bytes, size);
        for (int i = rand() % 3; i > 0; i--)
            damaged[(size_t)rand() % size] = (uint8_t)rand();
        file = fopen(path, "w");
        put(file, damaged, turn % 2 ? size : (size_t)rand() % size);
        fclose(file);
        read_all(&map, 77, pcs);
        mire__perf_map_fini(&map);
    }
}

/* The file may be in any directory: the process has mapped its first page. */
static void a_living_process_tells_where_the_file_is(void **state)
{
    static const uint64_t pcs[] = {0x1008, 0};
    char elsewhere[96], other[64];
    struct perf_map map;
    FILE *file;
    void *page;

    (void)state;
    file = begin_dump();
    load(file, 0x1000, 0x10, 1, "one");
    fclose(file);
    snprintf(elsewhere, sizeof(elsewhere), "%s/jit-%d.dump", folder, getpid());
    strcpy(other, "/nowhere");
    assert_int_equal(rename(path, elsewhere), 0);
    assert_false(mire__perf_map_open(&map, other, (uint32_t)getpid(), 0));
    mire__perf_map_fini(&map);
    file = fopen(elsewhere, "r");
    page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), 0);
    assert_ptr_not_equal(page, MAP_FAILED);
    fclose(file);
    assert_true(mire__perf_map_open(&map, other, (uint32_t)getpid(), 0));
    mire__perf_map_fini(&map);
    read_all(&map, (uint32_t)getpid(), pcs);
    assert_string_equal(name_of(&map, 0x1008), "one");
    mire__perf_map_fini(&map);
    munmap(page, 4096);
    unlink(elsewhere);
}

static int begin(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/jit-77.dump", folder);
    return 0;
}

static int end(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_record_of_an_address_counts),
        cmocka_unit_test(a_cut_or_damaged_file_ends_with_an_answer),
        cmocka_unit_test(a_living_process_tells_where_the_file_is),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
