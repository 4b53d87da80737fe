/* Invented reports of memory: decodable, of the asked size, and the same for the same number. */
#include "decode/decode.h"
#include "seed/inside.h"
#include "seed/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define INSTALLS 60

static const struct uuid id = {{1, 2, 3, 4, 5, 6, 0x77, 8, 0x89, 10, 11, 12, 13, 14, 15, 16}};

static void make(struct text *out, struct seed_memory *memory, uint32_t install, int leak, uint64_t state)
{
    struct seed_session session = {.install = install, .version = SEED_PLANTED, .device_us = 1763685000000000};

    *memory = (struct seed_memory){.trigger = leak == SEED_NO_LEAK ? "baseline" : "foom",
                                   .killed = leak != SEED_NO_LEAK,
                                   .leak = leak,
                                   .device_us = session.device_us,
                                   .run_ms = 60000,
                                   .footprint_bytes = seed_limit_bytes(install) / 100 * 97};
    assert_true(seed_write_memory(out, "shop", &id, &session, memory, &state));
}

/* The bytes of the function that leaks, by all stacks that have it. */
static uint64_t bytes_of(const struct report *report, const char *function)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < report->memory.stack_count; i++) {
        bool has = false;
        for (uint32_t node = report->memory.stacks[i].node; node; node = report->nodes[node].parent)
            has |= !strcmp(report->frames[report->nodes[node].frame].names->function, function);
        bytes += has ? report->memory.stacks[i].bytes : 0;
    }
    return bytes;
}

static void check(const struct report *report, const struct seed_memory *memory, uint32_t install)
{
    uint64_t limit = seed_limit_bytes(install), planted = bytes_of(report, seed_planted_leak());

    assert_int_equal(report->kind, memory->killed ? MIRE_REPORT_MEMORY : MIRE_REPORT_BASELINE);
    assert_int_equal(report->memory.footprint_bytes.value, memory->footprint_bytes);
    assert_int_equal(report->memory.held_bytes, memory->footprint_bytes);
    assert_int_equal(report->exit.known, memory->killed);
    assert_in_range(report->memory.live_bytes, 1, memory->footprint_bytes);
    for (size_t i = 1; i < report->memory.point_count; i++)
        assert_true(report->memory.trail[i].footprint_bytes >= report->memory.trail[i - 1].footprint_bytes);
    if (memory->killed)
        assert_in_range(memory->footprint_bytes, limit / 100 * 96, limit / 100 * 98);
    else
        assert_in_range(memory->footprint_bytes, 60 << 20, 250 << 20);
    if (memory->leak == 0)
        assert_in_range(planted, limit / 2, limit);
    else
        assert_in_range(planted, 1, 60 << 20);
}

static void test_every_leak(void **context)
{
    struct arena arena;
    struct decode_fault fault;
    struct report report;
    struct text body = {0};
    int sampled = 0;

    (void)context;
    arena_init(&arena, 64 << 20);
    for (uint32_t install = 0; install < INSTALLS; install++)
        for (int leak = SEED_NO_LEAK; leak < SEED_LEAKS; leak++) {
            struct seed_memory memory;
            body.len = 0;
            make(&body, &memory, install, leak, install * 31u + 7);
            arena_reset(&arena);
            if (decode_report(&report, &arena, &fault, "mire", "identity", body.bytes, body.len) != MIRE_DECODE_OK)
                fail_msg("install %u, leak %d: %s", install, leak, body.bytes);
            check(&report, &memory, install);
            sampled += report.memory.sampled;
        }
    assert_in_range(sampled, INSTALLS / 2, INSTALLS * SEED_LEAKS / 2);
    text_fini(&body);
    arena_fini(&arena);
}

static void test_the_same_number(void **context)
{
    struct seed_memory memory;
    struct text one = {0}, same = {0}, other = {0};

    (void)context;
    make(&one, &memory, 5, 0, 1);
    make(&same, &memory, 5, 0, 1);
    make(&other, &memory, 5, 0, 2);
    assert_int_equal(one.len, same.len);
    assert_memory_equal(one.bytes, same.bytes, one.len);
    assert_true(one.len != other.len || memcmp(one.bytes, other.bytes, one.len) != 0);
    text_fini(&one);
    text_fini(&same);
    text_fini(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_leak), cmocka_unit_test(test_the_same_number)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
