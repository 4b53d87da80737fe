/* Rules of Apple's compact encodings, body and edges, for both processors; and tables that are broken. */
#include "unwind/compact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define CODE_AT 0x1000 /* the function, from the image's begin */

static struct peek_cache cache;
static struct cfi_scratch scratch;
static struct cfi_row row;

/* An image in memory: one function with an encoding, and its code. */
static struct {
    _Alignas(4096) uint32_t info[64];
    uint8_t pad[CODE_AT - sizeof(uint32_t[64])];
    uint8_t code[256];
} image;

static struct compact_info describe(uint32_t encoding, const void *code, size_t size)
{
    /* version; commons: offset, count; personalities; index: offset, count */
    const uint32_t head[] = {1, 28, 1, 32, 0, 32, 2, encoding};
    const uint32_t index[] = {CODE_AT, 64, 0, CODE_AT + (uint32_t)size, 0, 0};
    const uint32_t page[] = {3, 12 | 1 << 16, 16, 0}; /* compressed: one entry, no encodings of its own */

    memset(&image, 0, sizeof(image));
    memset(&cache, 0, sizeof(cache));
    memcpy(image.info, head, sizeof(head));
    memcpy(image.info + 8, index, sizeof(index));
    memcpy(image.info + 16, page, sizeof(page));
    memcpy(image.code, code, size);
    const struct compact_info info = {
        .image = (uintptr_t)&image, .unwind_info = (uintptr_t)image.info, .unwind_info_bytes = sizeof(image.info)};
    return info;
}

static bool read_at(const struct compact_info *info, enum compact_processor processor, size_t offset, bool exact)
{
    return mire__compact_read(&row, &scratch, &cache, info, processor, (uintptr_t)image.code + offset, exact);
}

static void assert_row(uint32_t cfa_register, int64_t cfa, uint32_t ra, int64_t ra_at)
{
    assert_int_equal(row.cfa_register, cfa_register);
    assert_int_equal(row.cfa.value, cfa);
    assert_int_equal(row.rules[ra].kind, ra_at ? CFI_AT_OFFSET : CFI_SAME);
    assert_int_equal(row.rules[ra].value, ra_at);
}

/* push rbp; mov rbp, rsp; push rbx; push rax; nop; add rsp, 8; pop rbx; pop rbp; ret */
static void rbp_frames_are_left_from_everywhere(void **state)
{
    static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0x53, 0x50, 0x90, 0x48, 0x83, 0xc4, 0x08, 0x5b, 0x5d, 0xc3};
    static const struct {
        size_t at;
        uint32_t base;
        int64_t cfa;
        int64_t rbp_at; /* 0: still in the register */
    } places[] = {{0, 7, 8, 0},    {1, 7, 16, -16},  {4, 6, 16, -16},  {6, 6, 16, -16},
                  {7, 7, 32, -16}, {11, 7, 24, -16}, {12, 7, 16, -16}, {13, 7, 8, 0}};
    const struct compact_info info = describe(0x01010001, code, sizeof(code));

    (void)state;
    for (size_t i = 0; i < MIRE_COUNT(places); i++) {
        assert_true(read_at(&info, COMPACT_X86_64, places[i].at, true));
        assert_row(places[i].base, places[i].cfa, 16, -8);
        assert_int_equal(row.rules[6].value, places[i].rbp_at);
        assert_int_equal(row.function, 0);
    }
    assert_true(read_at(&info, COMPACT_X86_64, 6, false));
    assert_row(6, 16, 16, -8);
    assert_int_equal(row.rules[3].value, -24); /* rbx */
}

/* Frameless: five pushes of rbx, r14, r15 among others; the permutation names them. */
static void saved_registers_are_unpacked(void **state)
{
    static const uint8_t code[] = {0x90, 0x90, 0xc3};
    /* size 5 words, 3 registers: rbx r14 r15: digits 0, 2, 2 of radix 6, 5, 4 */
    const uint32_t permutation = 0 * 20 + 2 * 4 + 2;
    const struct compact_info info = describe(0x02000000u | 5u << 16 | 3u << 10 | permutation, code, sizeof(code));

    (void)state;
    assert_true(read_at(&info, COMPACT_X86_64, 1, false));
    assert_row(7, 40, 16, -8);
    assert_int_equal(row.rules[3].value, -32);
    assert_int_equal(row.rules[14].value, -24);
    assert_int_equal(row.rules[15].value, -16);
}

/* sub sp, #48; stp x20, x19, [sp, #16]; stp x29, x30, [sp, #32]; add x29, sp, #32; bl; ldp ...; add sp, #48; ret */
static const uint32_t framed[] = {0xd100c3ff, 0xa9014ff4, 0xa9027bfd, 0x910083fd, 0x94000010,
                                  0xa9427bfd, 0xa9414ff4, 0x9100c3ff, 0xd65f03c0};

static void arm_frames_are_left_from_everywhere(void **state)
{
    static const int64_t by_link[] = {0, 48, 48, 48, -1, -1, 48, 48, 0}; /* -1: by x29 */
    const struct compact_info info = describe(0x04000001, framed, sizeof(framed));

    (void)state;
    for (size_t i = 0; i < MIRE_COUNT(by_link); i++) {
        assert_true(read_at(&info, COMPACT_ARM64, 4 * i, true));
        if (by_link[i] < 0)
            assert_row(29, 16, 30, -8);
        else
            assert_row(31, by_link[i], 30, 0);
    }
    assert_true(read_at(&info, COMPACT_ARM64, 4 * 5 - 1, false));
    assert_row(29, 16, 30, -8);
    assert_int_equal(row.rules[29].value, -16);
    assert_int_equal(row.rules[19].value, -24);
    assert_int_equal(row.rules[20].value, -32);
}

/* stp x29, x30, [sp, #-16]!; mov x29, sp; nop; ldp x29, x30, [sp], #16; b elsewhere */
static void arm_tail_calls_return_by_the_link_register(void **state)
{
    static const uint32_t code[] = {0xa9bf7bfd, 0x910003fd, 0xd503201f, 0xa8c17bfd, 0x14001000};
    const struct compact_info info = describe(0x04000000, code, sizeof(code));

    (void)state;
    assert_true(read_at(&info, COMPACT_ARM64, 0, true));
    assert_row(31, 0, 30, 0);
    assert_true(read_at(&info, COMPACT_ARM64, 4, true));
    assert_row(31, 16, 30, 0);
    assert_true(read_at(&info, COMPACT_ARM64, 12, true));
    assert_row(29, 16, 30, -8);
    assert_true(read_at(&info, COMPACT_ARM64, 16, true));
    assert_row(31, 0, 30, 0);
}

/* sub sp, #32; str; add sp, #32; ret, without a frame */
static void arm_leaves_keep_their_size(void **state)
{
    static const uint32_t code[] = {0xd10083ff, 0xf90003e0, 0x910083ff, 0xd65f03c0};
    static const int64_t lowered[] = {0, 32, 32, 0};
    const struct compact_info info = describe(0x02000000u | 2u << 12, code, sizeof(code));

    (void)state;
    for (size_t i = 0; i < MIRE_COUNT(lowered); i++) {
        assert_true(read_at(&info, COMPACT_ARM64, 4 * i, true));
        assert_row(31, lowered[i], 30, 0);
    }
}

static void code_without_a_row_is_a_leaf_where_it_was_interrupted(void **state)
{
    static const uint32_t code[] = {0xd65f03c0};
    struct compact_info info = describe(0, code, sizeof(code));

    (void)state;
    assert_true(read_at(&info, COMPACT_ARM64, 0, true));
    assert_row(31, 0, 30, 0);
    assert_false(read_at(&info, COMPACT_ARM64, 0, false));
    info.unwind_info = 0;
    assert_true(read_at(&info, COMPACT_X86_64, 0, true));
    assert_row(7, 8, 16, -8);
}

/* Every word of the table changed, and the table cut at each byte: no row, or one, and nothing else. */
static void broken_tables_are_survived(void **state)
{
    const struct compact_info info = describe(0x04000001, framed, sizeof(framed));
    struct compact_info cut = info;

    (void)state;
    for (size_t word = 0; word < 20; word++) {
        for (unsigned bit = 0; bit < 32; bit++) {
            image.info[word] ^= 1u << bit;
            memset(&cache, 0, sizeof(cache));
            read_at(&info, COMPACT_ARM64, 16, true);
            read_at(&info, COMPACT_X86_64, 16, false);
            image.info[word] ^= 1u << bit;
        }
    }
    for (cut.unwind_info_bytes = 0; cut.unwind_info_bytes < 80; cut.unwind_info_bytes++) {
        memset(&cache, 0, sizeof(cache));
        assert_false(read_at(&cut, COMPACT_ARM64, 16, false));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rbp_frames_are_left_from_everywhere),
        cmocka_unit_test(saved_registers_are_unpacked),
        cmocka_unit_test(arm_frames_are_left_from_everywhere),
        cmocka_unit_test(arm_tail_calls_return_by_the_link_register),
        cmocka_unit_test(arm_leaves_keep_their_size),
        cmocka_unit_test(code_without_a_row_is_a_leaf_where_it_was_interrupted),
        cmocka_unit_test(broken_tables_are_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
