/* Every vector of schema/wire/vectors, and compression and limits. */
#include "decode/decode.h"
#include "json/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define VECTORS MIRE_SOURCE_DIR "/schema/wire/vectors"

static char *slurp(size_t *len_out, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("cannot open %s", path);
    char *bytes = malloc(8 << 20);
    *len_out = fread(bytes, 1, 8 << 20, file);
    fclose(file);
    return realloc(bytes, *len_out ? *len_out : 1);
}

static char *vector(size_t *len_out, const char *kind, const char *name, const char *file)
{
    char path[512];
    snprintf(path, sizeof path, VECTORS "/%s/%s/%s", kind, name, file);
    return slurp(len_out, path);
}

static int each_vector(const char *kind, void (*check)(const char *name))
{
    char path[512];
    int count = 0;
    snprintf(path, sizeof path, VECTORS "/%s", kind);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        if (entry->d_name[0] != '.') {
            check(entry->d_name);
            count++;
        }
    closedir(dir);
    return count;
}

static void check_text(const struct json *expect, const char *name, const char *what, const char *got)
{
    uint32_t at = json_member(expect, 0, what);
    if (at && !json_is(expect, at, got))
        fail_msg("%s: %s is %s", name, what, got);
}

static void check_number(const struct json *expect, const char *name, const char *what, uint64_t got)
{
    uint64_t want;
    uint32_t at = json_member(expect, 0, what);
    if (at && (!json_u64(&want, expect, at) || want != got))
        fail_msg("%s: %s is %llu", name, what, (unsigned long long)got);
}

static void check_stacks(const struct json *expect, const char *name, const struct report *report)
{
    uint32_t stacks = json_member(expect, 0, "stacks");
    if (!stacks)
        return;
    bool memory = report->memory.known;
    size_t count = memory ? report->memory.stack_count : report->event.sample_count;
    assert_int_equal(json_size(expect, stacks), count);
    uint32_t stack = stacks + 1;
    for (size_t i = 0; i < count; i++, stack = json_next(expect, stack)) {
        uint32_t node = memory ? report->memory.stacks[i].node : report->event.samples[i].node;
        uint32_t want = stack + 1;
        for (uint32_t k = 0; k < json_size(expect, stack); k++, want = json_next(expect, want)) {
            assert_int_not_equal(node, 0);
            const struct report_frame *frame = &report->frames[report->nodes[node].frame];
            uint64_t offset;
            assert_true(json_u64(&offset, expect, want + 2));
            if (offset != frame->offset ||
                !json_is(expect, want + 1, frame->image < 0 ? "" : report->images[frame->image].name))
                fail_msg("%s: frame %u of sample %zu differs", name, k, i);
            node = report->nodes[node].parent;
        }
        assert_int_equal(node, 0);
    }
}

static void check_row(const struct json *expect, const char *name, uint32_t row, const char *text, size_t count,
                      const uint64_t *numbers)
{
    uint64_t want;
    uint32_t at = row + 1;
    if (text && !json_is(expect, at, text))
        fail_msg("%s: a category is called %s", name, text);
    at = text ? json_next(expect, at) : at;
    for (size_t i = 0; i < count; i++, at = json_next(expect, at))
        if (!json_u64(&want, expect, at) || want != numbers[i])
            fail_msg("%s: %llu in a row", name, (unsigned long long)numbers[i]);
}

static void check_memory(const struct json *expect, const char *name, const struct memory *memory)
{
    uint32_t rows = json_member(expect, 0, "categories");
    check_text(expect, name, "trigger", memory->trigger);
    check_text(expect, name, "mode", memory->sampled ? "sampled" : "exact");
    check_number(expect, name, "taken_ns", memory->taken_ns);
    check_number(expect, name, "live_bytes", memory->live_bytes);
    check_number(expect, name, "live_count", memory->live_count);
    check_number(expect, name, "points", memory->point_count);
    assert_int_equal(json_size(expect, rows), memory->category_count);
    uint32_t row = rows + 1;
    for (size_t i = 0; i < memory->category_count; i++, row = json_next(expect, row)) {
        const struct memory_category *c = &memory->categories[i];
        check_row(expect, name, row, c->name, 3, (const uint64_t[]){c->kind, c->live_count, c->live_bytes});
    }
    rows = json_member(expect, 0, "allocations");
    assert_int_equal(json_size(expect, rows), memory->stack_count);
    row = rows + 1;
    for (size_t i = 0; i < memory->stack_count; i++, row = json_next(expect, row)) {
        const struct memory_stack *s = &memory->stacks[i];
        check_row(expect, name, row, NULL, 3, (const uint64_t[]){s->category, s->count, s->bytes});
    }
    rows = json_member(expect, 0, "errors");
    assert_int_equal(rows != 0, memory->error_bytes.known);
    check_number(expect, name, "error_bytes", memory->error_bytes.value);
    check_number(expect, name, "error_count", memory->error_count.value);
    row = rows + 1;
    for (size_t i = 0; i < memory->stack_count; i++, row = rows ? json_next(expect, row) : row) {
        const struct memory_stack *s = &memory->stacks[i];
        assert_true(s->error_bytes.known == (rows != 0) && s->error_count.known == (rows != 0));
        if (rows)
            check_row(expect, name, row, NULL, 2, (const uint64_t[]){s->error_count.value, s->error_bytes.value});
    }
}

/* In one row: state, scene, user, names and values of tags, breadcrumbs. */
static void check_context(const struct json *expect, const char *name, const struct report_context *context)
{
    const char *fixed[] = {context->state, context->scene, context->user};
    uint32_t row = json_member(expect, 0, "context"), at = row + 1;
    size_t count = 3 + 2 * context->tag_count + context->crumb_count;
    uint64_t sum = 0;
    if (!row)
        return;
    assert_int_equal(json_size(expect, row), count);
    for (size_t i = 0; i < count; i++, at = json_next(expect, at)) {
        size_t tag = (i - 3) / 2, crumb = i - 3 - 2 * context->tag_count;
        const char *got = i < 3                            ? fixed[i]
                          : i < 3 + 2 * context->tag_count ? i % 2 ? context->tags[tag].name : context->tags[tag].value
                                                           : context->crumbs[crumb].text;
        if (!json_is(expect, at, got))
            fail_msg("%s: context %zu is %s", name, i, got);
    }
    for (size_t i = 0; i < context->crumb_count; i++)
        sum += context->crumbs[i].at_ms;
    check_number(expect, name, "crumbs_at_ms", sum);
}

static void check_valid(const char *name)
{
    size_t len, expect_len;
    char *body = vector(&len, "valid", name, "report.json");
    char *text = vector(&expect_len, "valid", name, "expect.json");
    struct arena arena;
    struct report report;
    struct decode_fault fault;
    arena_init(&arena, MIRE_DECODE_ARENA_MAX);
    if (decode_report(&report, &arena, &fault, "mire", "identity", body, len))
        fail_msg("%s: refused at %zu %s: %s", name, fault.position, fault.path, fault.text);
    struct json expect;
    struct json_fault json_fault;
    const struct json_limits limits = MIRE_JSON_LIMITS;
    json_init(&expect);
    assert_int_equal(json_read(&expect, &json_fault, text, expect_len, &limits), MIRE_JSON_OK);
    check_text(&expect, name, "id", report.id);
    check_text(&expect, name, "app", report.app.name);
    check_text(&expect, name, "version", report.app.version);
    check_number(&expect, name, "images", report.image_count);
    check_number(&expect, name, "own", report.image_count && report.images[0].tie == MIRE_TIE_SAME);
    check_number(&expect, name, "base", report.image_count ? report.images[0].base : 0);
    check_number(&expect, name, "frames", report.frame_count);
    check_number(&expect, name, "nodes", report.node_count - 1);
    check_number(&expect, name, "samples", report.event.sample_count);
    check_number(&expect, name, "threads", report.thread_count);
    check_number(&expect, name, "begin_ns", report.event.begin_ns);
    check_number(&expect, name, "duration_ms", report.event.duration_ms);
    check_stacks(&expect, name, &report);
    check_context(&expect, name, &report.context);
    if (report.memory.known)
        check_memory(&expect, name, &report.memory);
    uint32_t open = json_member(&expect, 0, "open");
    if (open)
        assert_int_equal(json_kind(&expect, open) == MIRE_JSON_TRUE, report.event.open);
    json_fini(&expect);
    arena_fini(&arena);
    free(body);
    free(text);
}

static void check_invalid(const char *name)
{
    size_t len, expect_len;
    char *body = vector(&len, "invalid", name, "report.json");
    char *text = vector(&expect_len, "invalid", name, "expect.json");
    char id[37];
    struct decode_fault fault;
    enum decode_outcome outcome = decode_check(id, &fault, "mire", "identity", body, len);
    struct json expect;
    struct json_fault json_fault;
    const struct json_limits limits = MIRE_JSON_LIMITS;
    json_init(&expect);
    assert_int_equal(json_read(&expect, &json_fault, text, expect_len, &limits), MIRE_JSON_OK);
    bool json = json_is(&expect, json_member(&expect, 0, "error"), "json");
    if (outcome != (json ? MIRE_DECODE_MALFORMED : MIRE_DECODE_WRONG))
        fail_msg("%s: outcome %d (%s %s)", name, outcome, fault.path, fault.text);
    uint32_t at = json_member(&expect, 0, json ? "position" : "path");
    uint64_t position;
    if (json && at && (!json_u64(&position, &expect, at) || position != fault.position))
        fail_msg("%s: position %zu (%s)", name, fault.position, fault.text);
    if (!json && !json_is(&expect, at, fault.path))
        fail_msg("%s: path %s (%s)", name, fault.path, fault.text);
    assert_true(fault.text[0]);
    json_fini(&expect);
    free(body);
    free(text);
}

static void every_valid_vector_is_read_as_it_says(void **state)
{
    (void)state;
    assert_true(each_vector("valid", check_valid) >= 10);
}

static void every_invalid_vector_is_refused_where_it_says(void **state)
{
    (void)state;
    assert_true(each_vector("invalid", check_invalid) >= 100);
}

static void absent_fields_have_their_defaults(void **state)
{
    (void)state;
    size_t len;
    char *body = vector(&len, "valid", "smallest", "report.json");
    struct arena arena;
    struct report report;
    struct decode_fault fault;
    arena_init(&arena, MIRE_DECODE_ARENA_MAX);
    assert_int_equal(decode_report(&report, &arena, &fault, "mire", "identity", body, len), MIRE_DECODE_OK);
    assert_string_equal(report.app.build, "");
    assert_string_equal(report.app.channel, "public");
    assert_string_equal(report.event.guess, "");
    assert_string_equal(report.event.trigger, "busy");
    assert_false(report.event.lock.known || report.event.blame.known || report.event.cpu.known);
    assert_false(report.event.thread.cpu_ms.known);
    assert_false(report.event.hot.known);
    assert_true(report_weight(&report) == 1);
    arena_fini(&arena);
    free(body);
}

static void samples_tell_the_system_call_they_slept_in(void **state)
{
    (void)state;
    size_t len;
    char *body = vector(&len, "valid", "every-field", "report.json");
    struct arena arena;
    struct report report;
    struct decode_fault fault;
    arena_init(&arena, MIRE_DECODE_ARENA_MAX);
    assert_int_equal(decode_report(&report, &arena, &fault, "mire", "identity", body, len), MIRE_DECODE_OK);
    assert_int_equal(report.event.samples[1].syscall, 202);
    assert_int_equal(report.event.samples[2].syscall, -1);
    memcpy(strstr(body, "syscall"), "another", 7);
    assert_int_equal(decode_report(&report, &arena, &fault, "mire", "identity", body, len), MIRE_DECODE_OK);
    assert_int_equal(report.event.samples[1].syscall, -1);
    arena_fini(&arena);
    free(body);
}

static void the_end_of_the_process_is_read(void **state)
{
    (void)state;
    size_t len;
    char *body = vector(&len, "valid", "killed-while-stuck", "report.json");
    struct arena arena;
    struct report report;
    struct decode_fault fault;
    arena_init(&arena, MIRE_DECODE_ARENA_MAX);
    assert_int_equal(decode_report(&report, &arena, &fault, "mire", "identity", body, len), MIRE_DECODE_OK);
    const struct report_exit *exit = &report.exit;
    assert_true(exit->known && exit->foreground && exit->foreground_known && !exit->debugger);
    assert_string_equal(exit->verdict, "watchdog_kill");
    assert_int_equal(exit->confidence_ppm, 984615);
    assert_int_equal(exit->speaks_for.count, 2);
    assert_string_equal(exit->speaks_for.words[1], "foreground");
    assert_int_equal(exit->against.count, 0);
    assert_int_equal(exit->excluded.count, 6);
    assert_true(exit->signal.known && exit->signal.value == 9);
    assert_false(exit->depth.known);
    assert_int_equal(exit->limit_bytes.value, 536870912);
    arena_fini(&arena);
    free(body);
}

static void facts_of_the_lag_engine_are_read(void **state)
{
    (void)state;
    size_t len;
    char *body = vector(&len, "valid", "every-field", "report.json");
    struct arena arena;
    struct report report;
    struct decode_fault fault;
    arena_init(&arena, MIRE_DECODE_ARENA_MAX);
    assert_int_equal(decode_report(&report, &arena, &fault, "mire", "identity", body, len), MIRE_DECODE_OK);
    const struct report_event *event = &report.event;
    assert_string_equal(event->trigger, "busy");
    assert_string_equal(event->name, "scroll");
    assert_true(event->foreground_known && event->foreground);
    assert_int_equal(event->suspended_ms, 60000);
    assert_int_equal(event->begin_slack_ms, 450);
    assert_int_equal(event->end_slack_ms, 40);
    assert_int_equal(event->unsure_ms, 100);
    assert_int_equal(event->wait_node, 1);
    assert_true(event->lock.known && event->lock.owner_tid.known);
    assert_int_equal(event->lock.owner_tid.value, 4712);
    assert_int_equal(event->cpu.percent, 31);
    assert_int_equal(event->disk.write_bytes, 8192);
    assert_int_equal(event->frames.dropped, 177);
    assert_int_equal(event->suppressed.count, 4);
    assert_int_equal(event->suppressed.duration_ms.value, 11020);
    assert_true(event->blame.known);
    assert_int_equal(event->blame.node, 2);
    assert_int_equal(event->blame.share_ppm, 1000000);
    assert_int_equal(report.threads[0].state, 'R');
    assert_int_equal(report.threads[0].syscall, -1);
    assert_int_equal(report.cost.wakeups.value, 64);
    assert_int_equal(report.bucket_count, 4);
    assert_int_equal(report.buckets[3].from_ms, 2000);
    assert_int_equal(report.buckets[0].count, 17);
    arena_fini(&arena);
    free(body);
}

static void samples_tell_what_their_stacks_lack(void **state)
{
    (void)state;
    size_t len;
    char *body = vector(&len, "valid", "every-field", "report.json");
    struct arena arena;
    struct report report;
    struct decode_fault fault;
    arena_init(&arena, MIRE_DECODE_ARENA_MAX);
    assert_int_equal(decode_report(&report, &arena, &fault, "mire", "identity", body, len), MIRE_DECODE_OK);
    assert_int_equal(report.event.samples[0].loss, '.');
    assert_int_equal(report.event.samples[1].folded, 4990);
    assert_int_equal(report.event.samples[2].loss, 'c');
    assert_int_equal(report.event.samples[2].skipped, 300);
    memcpy(strstr(body, "\"loss"), "\"more", 5);
    assert_int_equal(decode_report(&report, &arena, &fault, "mire", "identity", body, len), MIRE_DECODE_OK);
    assert_int_equal(report.event.samples[2].loss, '.');
    arena_fini(&arena);
    free(body);
}

static void samples_tell_whose_stack_they_are(void **state)
{
    (void)state;
    size_t len;
    char *body = vector(&len, "valid", "stacks-of-many-threads", "report.json");
    struct arena arena;
    struct report report;
    struct decode_fault fault;
    arena_init(&arena, MIRE_DECODE_ARENA_MAX);
    assert_int_equal(decode_report(&report, &arena, &fault, "mire", "identity", body, len), MIRE_DECODE_OK);
    assert_string_equal(report.event.trigger, "cpu");
    assert_int_equal(report.event.samples[0].thread, 1);
    assert_int_equal(report.event.samples[1].thread, 0);
    assert_int_equal(report.event.samples[2].thread, 2);
    arena_fini(&arena);
    free(body);
}

static void a_text_with_a_nul_reads_as_text(void **state)
{
    (void)state;
    size_t len;
    char *body = vector(&len, "valid", "every-field", "report.json");
    char *name = strstr(body, "mapview");
    memcpy(name, "\\u0000a", 7);
    struct arena arena;
    struct report report;
    struct decode_fault fault;
    arena_init(&arena, MIRE_DECODE_ARENA_MAX);
    assert_int_equal(decode_report(&report, &arena, &fault, "mire", "identity", body, len), MIRE_DECODE_OK);
    assert_string_equal(report.app.name, "\xef\xbf\xbd"
                                         "a");
    assert_true(report_weight(&report) == 4);
    arena_fini(&arena);
    free(body);
}

static size_t zip(unsigned char *out, size_t room, const char *plain, size_t len)
{
    z_stream stream = {
        .next_in = (Bytef *)(uintptr_t)plain, .avail_in = (uInt)len, .next_out = out, .avail_out = (uInt)room};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return room - stream.avail_out;
}

static void compressed_bodies_are_read_and_cut_ones_refused(void **state)
{
    (void)state;
    size_t len;
    char id[37];
    struct decode_fault fault;
    static unsigned char packed[1 << 20];
    char *body = vector(&len, "valid", "every-field", "report.json");
    for (int gzip = 0; gzip < 2; gzip++) {
        const char *encoding = gzip ? "gzip" : "zstd";
        size_t n = gzip ? zip(packed, sizeof packed, body, len) : ZSTD_compress(packed, sizeof packed, body, len, 3);
        assert_string_equal(decode_encoding_of(packed, n), encoding);
        assert_int_equal(decode_check(id, &fault, "mire", encoding, packed, n), MIRE_DECODE_OK);
        assert_string_equal(id, "019aa1b2-c3d4-7e5f-8a6b-0123456789ab");
        for (size_t cut = 0; cut < n; cut++) {
            assert_int_equal(decode_check(id, &fault, "mire", encoding, packed, cut), MIRE_DECODE_MALFORMED);
            assert_true(fault.position <= cut);
        }
        for (size_t i = 0; i < n; i++) {
            packed[i] ^= 0x55;
            (void)decode_check(id, &fault, "mire", encoding, packed, n); /* must only not crash */
            packed[i] ^= 0x55;
        }
        packed[n] = 'x';
        assert_int_equal(decode_check(id, &fault, "mire", encoding, packed, n + 1), MIRE_DECODE_MALFORMED);
    }
    free(body);
}

static void a_compressed_body_sent_as_it_is_gets_a_hint(void **state)
{
    (void)state;
    char id[37];
    struct decode_fault fault;
    unsigned char packed[256];
    size_t len = ZSTD_compress(packed, sizeof packed, "{}", 2, 3);
    assert_int_equal(decode_check(id, &fault, "mire", "identity", packed, len), MIRE_DECODE_MALFORMED);
    assert_string_equal(fault.text, "this is a zstd frame: send Content-Encoding: zstd");
    len = zip(packed, sizeof packed, "{}", 2);
    assert_int_equal(decode_check(id, &fault, "mire", "identity", packed, len), MIRE_DECODE_MALFORMED);
    assert_string_equal(fault.text, "these are gzip data: send Content-Encoding: gzip");
}

static void what_unpacks_to_too_much_is_refused(void **state)
{
    (void)state;
    char id[37];
    struct decode_fault fault;
    size_t len = (size_t)MIRE_DECODE_PLAIN_MAX + 1, half = MIRE_DECODE_PLAIN_MAX / 2;
    char *zeros = calloc(1, len);
    unsigned char *packed = malloc(ZSTD_compressBound(len));
    size_t n = ZSTD_compress(packed, ZSTD_compressBound(len), zeros, len, 1);
    assert_int_equal(decode_check(id, &fault, "mire", "zstd", packed, n), MIRE_DECODE_TOO_BIG);
    ZSTD_CCtx *unsized = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(unsized, ZSTD_c_contentSizeFlag, 0);
    n = ZSTD_compress2(unsized, packed, ZSTD_compressBound(len), zeros, len);
    assert_int_equal(decode_check(id, &fault, "mire", "zstd", packed, n), MIRE_DECODE_TOO_BIG);
    ZSTD_freeCCtx(unsized);
    n = zip(packed, ZSTD_compressBound(len), zeros, len);
    assert_int_equal(decode_check(id, &fault, "mire", "gzip", packed, n), MIRE_DECODE_TOO_BIG);
    assert_int_equal(decode_check(id, &fault, "mire", "identity", zeros, len), MIRE_DECODE_TOO_BIG);
    /* Half of it is allowed, but not from a few hundred bytes. */
    n = ZSTD_compress(packed, ZSTD_compressBound(len), zeros, half, 3);
    assert_true(n < half / MIRE_DECODE_RATIO_MAX);
    assert_int_equal(decode_check(id, &fault, "mire", "zstd", packed, n), MIRE_DECODE_TOO_BIG);
    assert_false(decode_is_small("zstd", packed, n));
    assert_int_equal(decode_check(id, &fault, "mire", "identity", zeros, half), MIRE_DECODE_MALFORMED);
    assert_false(decode_is_small("identity", zeros, half));
    n = ZSTD_compress(packed, ZSTD_compressBound(len), zeros, MIRE_DECODE_SMALL, 3);
    assert_true(decode_is_small("zstd", packed, n));
    assert_false(decode_is_small("gzip", packed, n)); /* nothing at its beginning tells its size */
    memcpy(packed + n, packed, n);
    assert_false(decode_is_small("zstd", packed, 2 * n)); /* a second frame follows the one that tells */
    free(packed);
    free(zeros);
}

static void unknown_formats_and_encodings_are_refused(void **state)
{
    (void)state;
    char id[37];
    struct decode_fault fault;
    assert_int_equal(decode_check(id, &fault, "matrix", "identity", "{}", 2), MIRE_DECODE_UNKNOWN);
    assert_int_equal(decode_check(id, &fault, "mire", "br", "{}", 2), MIRE_DECODE_UNKNOWN);
    assert_true(fault.text[0]);
}

static void a_small_arena_is_an_outcome_not_a_crash(void **state)
{
    (void)state;
    size_t len;
    char *body = vector(&len, "valid", "every-field", "report.json");
    enum decode_outcome got = MIRE_DECODE_NO_MEMORY;
    for (size_t limit = 0; got != MIRE_DECODE_OK; limit += 61) {
        struct arena arena;
        struct report report;
        struct decode_fault fault;
        arena_init(&arena, limit);
        got = decode_report(&report, &arena, &fault, "mire", "identity", body, len);
        if (got != MIRE_DECODE_OK && got != MIRE_DECODE_NO_MEMORY && got != MIRE_DECODE_TOO_BIG)
            fail_msg("%zu bytes: %d, %s %s", limit, got, fault.path, fault.text);
        assert_true(limit < 1 << 20);
        arena_fini(&arena);
    }
    free(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_valid_vector_is_read_as_it_says),
        cmocka_unit_test(every_invalid_vector_is_refused_where_it_says),
        cmocka_unit_test(absent_fields_have_their_defaults),
        cmocka_unit_test(samples_tell_the_system_call_they_slept_in),
        cmocka_unit_test(facts_of_the_lag_engine_are_read),
        cmocka_unit_test(the_end_of_the_process_is_read),
        cmocka_unit_test(samples_tell_what_their_stacks_lack),
        cmocka_unit_test(samples_tell_whose_stack_they_are),
        cmocka_unit_test(a_text_with_a_nul_reads_as_text),
        cmocka_unit_test(compressed_bodies_are_read_and_cut_ones_refused),
        cmocka_unit_test(a_compressed_body_sent_as_it_is_gets_a_hint),
        cmocka_unit_test(what_unpacks_to_too_much_is_refused),
        cmocka_unit_test(unknown_formats_and_encodings_are_refused),
        cmocka_unit_test(a_small_arena_is_an_outcome_not_a_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
