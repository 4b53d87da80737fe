/* test_heap_read.c - the reader on complete, truncated, damaged and half-written files. */
#include "heap/classes.h"
#include "heap/block_table.h"
#include "heap/inside.h"
#include "heap/mappings.h"
#include "support/heap_walk.h"
#include "support/heaps.h"
#include "support/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define BASE UINT64_C(0x7f0000000000)

static struct heap_walk walk;

/* Tables with some of every kind of data. */
static struct heaps *filled(enum heap_mode mode)
{
    struct heaps *heaps = heaps_new_at(MIRE_HEAP_BUDGET_MIN, mode, 64u << 10);
    uint32_t class = mire__classes_as_find(&heaps->heap, "UIImage");

    heaps_image(heaps, 0x400000, 0x100000, "/usr/bin/mapview");
    for (uint64_t i = 0; i < 600; i++) {
        uint32_t node = heaps_stack(heaps, 4, 0x401000 + i % 3, 0x402000 + i % 7, 0x403000 + i % 31, 0x404000 + i);
        uint64_t address = i < 300 ? BASE + i * 256 : BASE + i * 2048;

        if (mode == MIRE_HEAP_EXACT)
            heaps_set(heaps, address, i < 300 ? i % 250 : i * 3, node);
        else
            mire__block_as_sample(&heaps->heap, heaps->slot, address, i * 3, node, i % 2);
        if (i % 10 == 0)
            mire__block_as_tag(&heaps->heap, heaps->slot, address, class);
        if (i % 60 == 0)
            mire__mappings_as_map(&heaps->heap, BASE + i * 65536, 4096 * (i + 1), MIRE_KIND_STACK, node);
    }
    return heaps;
}

static void everything_is_read(void **state)
{
    struct heaps *heaps = filled(MIRE_HEAP_EXACT);
    struct heap_facts facts;
    size_t extra_bytes;

    (void)state;
    assert_int_equal(heap_walk(&walk, heaps->memory, heaps->bytes), MIRE_READ_OK);
    assert_int_equal(walk.blocks, 600);
    assert_int_equal(walk.regions, 10);
    assert_int_equal(walk.frames, 610 * 4);
    assert_int_equal(walk.torn + walk.impossible, 0);
    mire__read_facts(&facts, &walk.reader);
    assert_int_equal(facts.pid, 4711);
    assert_int_equal(facts.allocated_count, 600);
    assert_int_equal(facts.image_count, 1);
    assert_int_equal(facts.mode, MIRE_HEAP_EXACT);
    assert_false(facts.stopped);
    memcpy(mire__heap_extra(&heaps->heap, MIRE_HEAP_EXTRA_BYTES), "builder", 8);
    assert_string_equal(mire__read_extra(&extra_bytes, &walk.reader), "builder");
    assert_int_equal(extra_bytes, MIRE_HEAP_EXTRA_BYTES);
    mire__heap_close(&heaps->heap); /* the file stays */
    assert_int_equal(heap_walk(&walk, heaps->memory, heaps->bytes), MIRE_READ_OK);
    assert_int_equal(walk.blocks, 600);
    mire__read_facts(&facts, &walk.reader);
    assert_true(facts.stopped);
    heaps_free(heaps);
}

static void what_is_no_such_file_is_told(void **state)
{
    struct heaps *heaps = filled(MIRE_HEAP_EXACT);
    struct heap_header *header = heaps->memory;

    (void)state;
    assert_int_equal(heap_walk(&walk, heaps->memory, MIRE_HEAP_PAGE_BYTES - 1), MIRE_READ_SHORT);
    header->version++;
    assert_int_equal(heap_walk(&walk, heaps->memory, heaps->bytes), MIRE_READ_VERSION);
    header->version--;
    header->sections[MIRE_HEAP_SHADOW].at += 8;
    assert_int_equal(heap_walk(&walk, heaps->memory, heaps->bytes), MIRE_READ_FORMAT);
    header->sections[MIRE_HEAP_SHADOW].at -= 8;
    header->magic = 0;
    assert_int_equal(heap_walk(&walk, heaps->memory, heaps->bytes), MIRE_READ_FORMAT);
    heaps_free(heaps);
}

/* If MIRE_HEAP_CORPUS is set, keep the packed files there, for the fuzzer's corpus. */
static void keep_packed(const uint8_t *bytes, size_t size, const char *name)
{
    const char *dir = getenv("MIRE_HEAP_CORPUS");
    char path[512];
    FILE *file;

    if (!dir)
        return;
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void damage_of_any_kind_is_borne(void **state)
{
    static const enum heap_mode modes[] = {MIRE_HEAP_EXACT, MIRE_HEAP_SAMPLED};
    uint64_t random = test_seed();

    (void)state;
    for (uint32_t m = 0; m < MIRE_COUNT(modes); m++) {
        struct heaps *heaps = filled(modes[m]);
        size_t size;
        uint8_t *packed = heaps_pack(heaps, &size), *copy = malloc(size);

        keep_packed(packed, size, m ? "sampled" : "exact");
        assert_int_equal(heap_walk(&walk, packed, size), MIRE_READ_OK);
        assert_int_equal(walk.blocks, 600);
        assert_int_equal(walk.torn + walk.impossible, 0);
        for (size_t cut = size; cut > MIRE_HEAP_PAGE_BYTES;
             cut -= 1000) { /* its own memory: a sanitizer sees one byte more */
            uint8_t *front = malloc(cut);

            memcpy(front, packed, cut);
            heap_walk(&walk, front, cut);
            assert_int_equal(walk.impossible, 0);
            free(front);
            if (cut < 2 * MIRE_HEAP_PAGE_BYTES)
                break;
        }
        for (int i = 0; i < 3000; i++) {
            memcpy(copy, packed, size);
            for (int j = 0; j < 8; j++) {
                random = random * 6364136223846793005ull + 1442695040888963407ull;
                copy[(random >> 33) % (j < 4 ? MIRE_HEAP_PAGE_BYTES : size)] ^= (uint8_t)(1u << (random >> 20 & 7));
            }
            heap_walk(&walk, copy, size);
            assert_int_equal(walk.impossible, 0);
        }
        free(packed);
        free(copy);
        heaps_free(heaps);
    }
}

/* ---- half written ---- */

static void a_size_without_its_entry_is_no_block(void **state)
{
    struct heaps *heaps = heaps_new(MIRE_HEAP_BUDGET_MIN, MIRE_HEAP_EXACT);

    (void)state;
    for (uint64_t i = 0; i < MIRE_SHADOW_DENSE; i++) /* so that there is a page, with one block in it */
        heaps_set(heaps, 0x8400 + (MIRE_SHADOW_DENSE - i) * 192, 100, 0);
    heaps->heap.shadow[6] = 100u << MIRE_SHADOW_OFFSET_SHIFT;
    heap_walk(&walk, heaps->memory, heaps->bytes);
    assert_int_equal(walk.blocks, MIRE_SHADOW_DENSE);
    assert_int_equal(walk.torn, 0);
    heaps->heap.shadow[5] = MIRE_SHADOW_SIZE_NEXT; /* now it is one */
    heap_walk(&walk, heaps->memory, heaps->bytes);
    assert_int_equal(walk.blocks, MIRE_SHADOW_DENSE + 1);
    heaps->heap.shadow[6] = 17; /* a block within a block */
    heap_walk(&walk, heaps->memory, heaps->bytes);
    assert_int_equal(walk.blocks, MIRE_SHADOW_DENSE + 1);
    assert_int_equal(walk.torn, 1);
    heaps_free(heaps);
}

static void assert_live(const struct heaps *heaps, uint64_t count)
{
    heap_walk(&walk, heaps->memory, heaps->bytes);
    assert_int_equal(walk.blocks, count);
}

/* The state between the two stores of a move, and the state if the block ends in between. */
static void a_block_on_its_way_counts_once(void **state)
{
    struct heaps *heaps = heaps_new(MIRE_HEAP_BUDGET_MIN, MIRE_HEAP_EXACT);
    struct live_block block = {.size = 100}, was;
    bool replaced;

    (void)state;
    for (uint64_t i = 0; i < 200; i++)
        heaps_set(heaps, 0x8000 + i * 128, 100, 0);
    assert_non_null(mire__shadow_page_at(&heaps->heap, 0x8000 + 199 * 128, 0));
    mire__block_table_as_put(&was, &replaced, &heaps->heap, 0x8000 + 199 * 128, &block);
    heaps->heap.header->moving = 0x8000 + 199 * 128;
    assert_live(heaps, 200);
    heaps->heap.shadow[199 * 4] = MIRE_SHADOW_MOVED;
    assert_live(heaps, 200);
    heaps->heap.shadow[199 * 4] = 0; /* its end */
    assert_live(heaps, 199);
    heaps->heap.header->moving = 0; /* it was moved, and the move is over */
    assert_live(heaps, 200);
    heaps_free(heaps);
}

/* The states of a segment between any two stores of its split. */
static void an_entry_counts_once_while_its_segment_is_split(void **state)
{
    struct heaps *heaps = heaps_new(MIRE_HEAP_BUDGET_MIN, MIRE_HEAP_EXACT);
    struct heap_segment *segments = heaps->heap.blocks;
    uint64_t i = 0, blocks, overwritten = 0;

    (void)state;
    while (heaps->heap.header->segments_used < 2)
        heaps_set(heaps, BASE + i++ * 4096, 1000, 0);
    heap_walk(&walk, heaps->memory, heaps->bytes);
    blocks = walk.blocks;
    assert_int_equal(blocks, i);
    for (uint32_t at = 0; at < MIRE_SEGMENT_ENTRIES; at++) { /* as before the old copies were cleared */
        if (segments[1].entries[at].where && segments[0].entries[at].where) {
            overwritten++; /* by the block that made the segment split */
        } else if (segments[1].entries[at].where) {
            segments[0].entries[at].what = segments[1].entries[at].what;
            segments[0].entries[at].where = segments[1].entries[at].where;
        }
    }
    heap_walk(&walk, heaps->memory, heaps->bytes);
    assert_int_equal(walk.blocks, blocks);
    segments[0].covers = 1; /* before the old segment was halved: it is read completely, the new one is not */
    heap_walk(&walk, heaps->memory, heaps->bytes);
    assert_int_equal(walk.blocks, blocks - overwritten);
    segments[1].covers = 0; /* as before the new one was published */
    heap_walk(&walk, heaps->memory, heaps->bytes);
    assert_int_equal(walk.blocks, blocks - overwritten);
    heaps_free(heaps);
}

static void a_node_that_is_being_added_is_none(void **state)
{
    struct heaps *heaps = heaps_new(MIRE_HEAP_BUDGET_MIN, MIRE_HEAP_EXACT);
    uint32_t node = heaps_stack(heaps, 2, UINT64_C(0x401000), UINT64_C(0x402000)), at = node;
    struct heap_frame frame;

    (void)state;
    heaps_set(heaps, 0x8000, 100, node);
    heaps->heap.words[node] = 0;
    heap_walk(&walk, heaps->memory, heaps->bytes);
    assert_int_equal(walk.blocks, 1);
    assert_int_equal(walk.frames, 0);
    assert_false(mire__read_frame(&frame, &walk.reader, &at));
    heaps_free(heaps);
}

static void names_tell_what_is_missing(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < MIRE_HEAP_DROPS; i++)
        assert_true(strlen(mire__read_drop_name((enum heap_drop)i)) > 0);
    assert_string_equal(mire__read_drop_name(MIRE_HEAP_DROPS), "");
}

#define CORPUS MIRE_SOURCE_DIR "/tests/fuzz/corpus/heap/"

/* Write tables without the room that no section uses, as an input for the fuzz targets. */
static void write_small(const char *path, enum heap_mode mode)
{
    struct heaps *heaps = filled(mode);
    const struct heap_header *header = heaps->memory;
    size_t at = (header->header_bytes + MIRE_HEAP_PAGE_BYTES - 1) & ~(size_t)(MIRE_HEAP_PAGE_BYTES - 1);
    char *small = calloc(1, heaps->bytes);
    struct heap_header *head = (void *)small;

    assert_non_null(small);
    memcpy(small, header, header->header_bytes);
    for (int i = 0; i < MIRE_HEAP_SECTIONS; i++) {
        size_t bytes = header->ready[i] ? header->ready[i] : MIRE_HEAP_PAGE_BYTES;
        memcpy(small + at, (const char *)heaps->memory + header->sections[i].at, bytes);
        head->sections[i] = (struct heap_section){at, bytes};
        at += (bytes + MIRE_HEAP_PAGE_BYTES - 1) & ~(size_t)(MIRE_HEAP_PAGE_BYTES - 1);
    }
    head->size_bytes = at;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(small, 1, at, file), at);
    fclose(file);
    free(small);
    heaps_free(heaps);
}

/* The fuzz targets begin with tables that the reader takes. MIRE_RENEW_CORPUS writes them anew after a change of the format. */
static void the_fuzz_corpus_is_of_this_version(void **state)
{
    static const struct {
        const char *path;
        enum heap_mode mode;
    } rows[] = {{CORPUS "exact", MIRE_HEAP_EXACT}, {CORPUS "sampled", MIRE_HEAP_SAMPLED}};
    char *bytes = malloc(1 << 20);

    (void)state;
    assert_non_null(bytes);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (getenv("MIRE_RENEW_CORPUS"))
            write_small(rows[i].path, rows[i].mode);
        FILE *file = fopen(rows[i].path, "rb");
        assert_non_null(file);
        size_t len = fread(bytes, 1, 1 << 20, file);
        fclose(file);
        assert_int_equal(heap_walk(&walk, bytes, len), MIRE_READ_OK);
        assert_int_equal(walk.blocks, 600);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fuzz_corpus_is_of_this_version),
        cmocka_unit_test(everything_is_read),
        cmocka_unit_test(what_is_no_such_file_is_told),
        cmocka_unit_test(damage_of_any_kind_is_borne),
        cmocka_unit_test(a_size_without_its_entry_is_no_block),
        cmocka_unit_test(a_block_on_its_way_counts_once),
        cmocka_unit_test(an_entry_counts_once_while_its_segment_is_split),
        cmocka_unit_test(a_node_that_is_being_added_is_none),
        cmocka_unit_test(names_tell_what_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
