/* Painting, sorting, and a cache written from random segments, each compared with a naive twin. */
#include "base/paint.h"
#include "base/sort.h"
#include "cache/cache_inside.h"
#include "cache/pack.h"
#include "support/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t seed;

static uint32_t below(uint32_t most)
{
    return test_roll(&seed, most);
}

static int print_seed(void **state)
{
    (void)state;
    seed = test_seed();
    return 0;
}

static void keys_are_sorted_and_equal_ones_keep_their_order(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 200; round++) {
        size_t count = below(round < 100 ? 40 : 3000);
        uint64_t *keys = calloc(2 * count + 1, sizeof *keys);
        for (size_t i = 0; i < count; i++)
            keys[i] = (uint64_t)below(round % 3 ? 500 : UINT32_MAX) << 32 | i;
        sort_keys(keys, keys + count, count);
        for (size_t i = 1; i < count; i++)
            assert_true(keys[i - 1] < keys[i]); /* the row is the lower half: order among equals is order of rows */
        free(keys);
    }
}

static void the_range_of_highest_rank_is_on_top(void **state)
{
    enum { WIDE = 400 };
    struct paint paint = {0};
    (void)state;
    for (int round = 0; round < 300; round++) {
        uint32_t top[WIDE] = {0}; /* number of the range plus one */
        uint32_t rank[WIDE] = {0};
        uint32_t count = below(60);
        struct paint_range piece;
        uint32_t reached = 0;
        paint_reset(&paint);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t low = below(WIDE);
            struct paint_range range = {low, low + below(WIDE - low + 1), below(8), i};
            assert_true(paint_add(&paint, range));
            for (uint32_t at = range.low; at < range.high; at++)
                if (!top[at] || range.rank >= rank[at]) {
                    top[at] = i + 1;
                    rank[at] = range.rank;
                }
        }
        assert_true(paint_begin(&paint));
        while (paint_next(&piece, &paint)) {
            for (; reached < piece.low; reached++)
                assert_int_equal(top[reached], 0);
            assert_true(piece.low == reached && piece.low < piece.high);
            for (; reached < piece.high; reached++)
                assert_int_equal(top[reached], piece.what + 1);
        }
        for (; reached < WIDE; reached++)
            assert_int_equal(top[reached], 0);
    }
    paint_fini(&paint);
}

#define BASE  0x400000u
#define SPAN  300000u
#define NAMES 300u

struct twin { /* expected answers of a cache */
    uint32_t segment[SPAN];
    struct pack_segment segments[40000];
    uint32_t segment_count;
    struct pack_scope scopes[3000];
    uint32_t scope_count;
    char names[NAMES][16];
    char files[NAMES][24];
};

static void make_twin(struct twin *twin, struct pack *pack)
{
    uint32_t texts[NAMES], files[NAMES];
    assert_true(pack_init(pack));
    for (uint32_t i = 0; i < NAMES; i++) {
        snprintf(twin->names[i], sizeof twin->names[i], "name_%u", i);
        snprintf(twin->files[i], sizeof twin->files[i], "/src/file_%u.c", i);
        texts[i] = pack_name(pack, twin->names[i], pack_key(i ? twin->names[i] : ""));
        files[i] = i ? pack_file(pack, twin->files[i]) : 0;
    }
    twin->scope_count = 1;
    while (twin->scope_count < 3000) {
        uint32_t parent = twin->scope_count > 1 && below(3) ? 1 + below(twin->scope_count - 1) : 0;
        struct pack_scope *scope = &twin->scopes[twin->scope_count];
        *scope = (struct pack_scope){.name = texts[below(NAMES)], .parent = parent};
        if (parent) {
            scope->file = files[below(NAMES)];
            scope->line = below(100000);
        } else {
            scope->entry = below(SPAN);
        }
        uint32_t id = pack_scope(pack, scope);
        assert_true(id <= twin->scope_count);
        twin->scope_count += id == twin->scope_count;
    }
    for (uint32_t at = 0; at < SPAN && twin->segment_count < 40000;) {
        uint32_t len = below(20) ? 1 + below(12) : 1 + below(70000);
        struct pack_segment segment = {at, below(6) ? 1 + below(2999) : 0, 0, 0};
        if (segment.scope) {
            segment.file = files[below(NAMES)];
            segment.line = below(5) ? below(5000) : below(1u << 24);
        }
        writer_queue_segment(&pack->queue, segment);
        for (uint32_t i = 0; i < len && at < SPAN; i++)
            twin->segment[at++] = twin->segment_count;
        twin->segments[twin->segment_count++] = segment;
    }
}

static void same_text(const char *got, const char *want)
{
    if (want)
        assert_string_equal(got, want);
    else
        assert_null(got);
}

static void check_chain(const struct twin *twin, const struct pack *pack, const struct symbol_frame *frames,
                        size_t count, uint32_t offset)
{
    struct pack_segment at = twin->segments[twin->segment[offset]];
    const char *names = pack->queue.written.names.rows;
    const char *paths = names + pack->names.bytes;
    for (size_t i = 0; i < count; i++) {
        const struct pack_scope *scope = &twin->scopes[at.scope];
        same_text(frames[i].function, scope->name ? names + scope->name : NULL);
        same_text(frames[i].file, at.file ? paths + pack->paths.rows[at.file].place : NULL);
        assert_int_equal(frames[i].line, at.line);
        assert_int_equal(frames[i].inlined, i + 1 < count);
        if (i + 1 == count && count < MIRE_SYMBOL_CHAIN_MAX) {
            assert_int_equal(scope->parent, 0);
            assert_int_equal(frames[0].start, BASE + scope->entry);
        }
        at = (struct pack_segment){0, scope->parent, scope->file, scope->line};
    }
    if (!count)
        assert_int_equal(at.scope, 0);
}

static void a_cache_answers_as_what_was_packed(void **state)
{
    static struct twin twin;
    static struct symbol_frame frames[4 * MIRE_SYMBOL_ROOM];
    struct symbol_chain chains[100];
    uint64_t addresses[100];
    struct pack pack;
    struct cache_head head = {.base = BASE, .id = {7, 8}, .id_len = 2};
    struct module *module;
    (void)state;
    make_twin(&twin, &pack);
    int fd = memfd_create("cache", 0);
    pack_flush(&pack);
    assert_true(pack_write(&pack, fd, &head, NULL, SPAN));
    assert_non_null(cache_open_fd(&module, fd, (const uint8_t[]){7, 9}, 2, true)); /* another build id */
    assert_null(cache_open_fd(&module, fd, (const uint8_t[]){7, 8}, 2, true));
    for (uint32_t offset = 0; offset < SPAN; offset++) {
        size_t count = module_lookup(frames, module, BASE + offset);
        check_chain(&twin, &pack, frames, count, offset);
    }
    assert_int_equal(module_lookup(frames, module, BASE - 1), 0);
    assert_int_equal(module_lookup(frames, module, BASE + SPAN), 0);
    for (int round = 0; round < 500; round++) {
        size_t count = 1 + below(100);
        for (size_t i = 0; i < count; i++)
            addresses[i] = BASE + below(SPAN);
        for (size_t at = 0; at < count;) {
            size_t done = module_lookup_all(frames, 4 * MIRE_SYMBOL_ROOM, chains, module, addresses + at, count - at);
            assert_true(done > 0);
            for (size_t i = 0; i < done; i++)
                check_chain(&twin, &pack, frames + chains[i].first, chains[i].count,
                            (uint32_t)(addresses[at + i] - BASE));
            at += done;
        }
    }
    cache_close(module);
    close(fd);
    pack_fini(&pack);
}

static uint32_t line_of(uint32_t segment)
{
    return 1 + segment * 2654435761u % 5000;
}

/* Block fronts are in one cache line, so that the first read of a block is one miss. */
static void of_much_data_no_front_of_a_block_is_in_two_lines(void **state)
{
    enum { SEGMENTS = 400000 };
    struct symbol_frame frames[MIRE_SYMBOL_CHAIN_MAX];
    struct pack pack;
    struct cache_head head = {.base = BASE};
    struct module *module;
    uint32_t far = 0;
    (void)state;
    assert_true(pack_init(&pack));
    uint32_t scope = pack_scope(&pack, &(struct pack_scope){.name = pack_name(&pack, "f", pack_key("f"))});
    uint32_t file = pack_file(&pack, "f.c");
    for (uint32_t i = 0; i < SEGMENTS; i++)
        writer_queue_segment(&pack.queue, (struct pack_segment){4 * i, scope, file, line_of(i)});
    int fd = memfd_create("cache", 0);
    pack_flush(&pack);
    assert_true(pack_write(&pack, fd, &head, NULL, 4 * SEGMENTS));
    assert_null(cache_open_fd(&module, fd, NULL, 0, true));
    assert_int_equal((uintptr_t)module->data % MIRE_CACHE_LINE, 0);
    for (uint32_t i = 0; i < head.block_count; i++) {
        uint32_t place = module->blocks[i].place;
        if (place < MIRE_CACHE_NEAR)
            continue;
        assert_int_equal(place / MIRE_CACHE_LINE, (place + MIRE_CACHE_BLOCK - 1) / MIRE_CACHE_LINE);
        far++;
    }
    assert_true(far > 1000);
    for (uint32_t i = 0; i < SEGMENTS; i += 7) {
        assert_int_equal(module_lookup(frames, module, BASE + 4 * i + 3), 1);
        assert_int_equal(frames[0].line, line_of(i));
    }
    cache_close(module);
    close(fd);
    pack_fini(&pack);
}

/* So many names that they are compressed. */
static void add_names(struct pack *pack)
{
    static char names[4000][120];
    for (unsigned i = 0; i < 4000; i++) {
        snprintf(names[i], sizeof names[i], "_ZN4shop4CartINS_4ItemELi%uEE3addERKS1_NSt7__cxx1112basic_stringIcEE", i);
        (void)pack_name(pack, names[i], pack_key(names[i]));
    }
}

/* And uncompressed, in an otherwise equal file. */
static void texts_are_read_packed_or_not(void **state)
{
    static struct twin twin;
    static struct symbol_frame frames[MIRE_SYMBOL_ROOM];
    static uint8_t file[1u << 22];
    struct pack pack;
    struct cache_head head = {.base = BASE};
    struct module *module;
    (void)state;
    memset(&twin, 0, sizeof twin);
    make_twin(&twin, &pack);
    add_names(&pack);
    int fd = memfd_create("cache", 0);
    pack_flush(&pack);
    assert_true(pack_write(&pack, fd, &head, NULL, SPAN));
    assert_null(cache_open_fd(&module, fd, NULL, 0, true));
    for (uint32_t offset = 0; offset < SPAN; offset++) {
        size_t count = module_lookup(frames, module, BASE + offset);
        check_chain(&twin, &pack, frames, count, offset);
    }
    cache_close(module);
    assert_true(head.packed_bytes > 0 && head.packed_bytes < head.text_bytes);
    ssize_t len = pread(fd, file, sizeof file, 0);
    assert_true(len > 0 && (size_t)len + head.text_bytes < sizeof file);
    memcpy(file + len - head.packed_bytes, pack.queue.written.names.rows, head.text_bytes);
    head.file_bytes += head.text_bytes - head.packed_bytes;
    head.packed_bytes = 0;
    head.body_crc = libdeflate_crc32(0, file + sizeof head, head.file_bytes - sizeof head);
    head.head_crc = 0;
    head.head_crc = libdeflate_crc32(0, &head, sizeof head);
    memcpy(file, &head, sizeof head);
    assert_int_equal(pwrite(fd, file, head.file_bytes, 0), head.file_bytes);
    assert_null(cache_open_fd(&module, fd, NULL, 0, true));
    for (uint32_t offset = 0; offset < SPAN; offset++) {
        size_t count = module_lookup(frames, module, BASE + offset);
        check_chain(&twin, &pack, frames, count, offset);
    }
    cache_close(module);
    close(fd);
    pack_fini(&pack);
}

/* Bits are flipped after the header, whose checksum is right: look-ups may be wrong, without any other harm. */
static void a_damaged_cache_is_survived(void **state)
{
    static struct twin twin;
    static struct symbol_frame frames[2 * MIRE_SYMBOL_ROOM];
    struct symbol_chain chains[64];
    uint64_t addresses[64];
    struct pack pack;
    struct cache_head head = {.base = BASE};
    (void)state;
    memset(&twin, 0, sizeof twin);
    make_twin(&twin, &pack);
    add_names(&pack);
    int fd = memfd_create("cache", 0);
    pack_flush(&pack);
    assert_true(pack_write(&pack, fd, &head, NULL, SPAN));
    off_t len = lseek(fd, 0, SEEK_END);
    uint8_t *bytes = mmap(NULL, (size_t)len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    for (int round = 0; round < 200; round++) {
        struct module *module;
        for (int flip = 0; flip < 200; flip++)
            bytes[sizeof head + below((uint32_t)len - (uint32_t)sizeof head - 1)] ^= (uint8_t)(1u << below(8));
        assert_null(cache_open_fd(&module, fd, NULL, 0, false));
        struct module *whole;
        assert_non_null(cache_open_fd(&whole, fd, NULL, 0, true));
        for (int i = 0; i < 64; i++) {
            addresses[i] = BASE + below(SPAN);
            (void)module_lookup(frames, module, addresses[i]);
        }
        (void)module_lookup_all(frames, 2 * MIRE_SYMBOL_ROOM, chains, module, addresses, 64);
        cache_close(module);
    }
    munmap(bytes, (size_t)len);
    close(fd);
    pack_fini(&pack);
}

/* The fuzz target begins with caches that are opened: those of another version would be refused at once. */
static void the_fuzz_corpus_is_of_this_version(void **state)
{
    static const char *const names[] = {"clang5.so", "dwarf4.so", "packed.so", "stripped.so", "system.dylib"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct module *module;
        char path[512];
        snprintf(path, sizeof path, "%s/tests/fuzz/corpus/cache/%s.cache", MIRE_SOURCE_DIR, names[i]);
        const char *wrong = cache_open(&module, path, NULL, 0, true);
        if (wrong)
            fail_msg("%s %s: convert such a file again (symbols_options.cache_dir)", path, wrong);
        assert_int_equal(module_is_system(module), !strcmp(names[i], "system.dylib"));
        assert_int_equal(module_begin(module), 0);
        cache_close(module);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fuzz_corpus_is_of_this_version),
        cmocka_unit_test(keys_are_sorted_and_equal_ones_keep_their_order),
        cmocka_unit_test(the_range_of_highest_rank_is_on_top),
        cmocka_unit_test(a_cache_answers_as_what_was_packed),
        cmocka_unit_test(of_much_data_no_front_of_a_block_is_in_two_lines),
        cmocka_unit_test(texts_are_read_packed_or_not),
        cmocka_unit_test(a_damaged_cache_is_survived),
    };
    return cmocka_run_group_tests(tests, print_seed, NULL);
}
