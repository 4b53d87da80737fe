/* Session records: every vector of schema/wire/vectors/session, the row made from one, and rates with intervals. */
#include "aggregate/aggregate.h"
#include "decode/decode.h"
#include "model/rate.h"
#include "wire/plugin.h"

#include "support/vectors.h"

#include <math.h>
#include <string.h>

struct scene {
    struct arena arena;
    struct report report;
    struct decode_fault fault;
};

static enum decode_outcome decode(struct scene *scene, const char *text, size_t size)
{
    return decode_report(&scene->report, &scene->arena, &scene->fault, "mire", "identity", text, size);
}

static void assert_number(const char *expect, const char *name, long long found)
{
    char want[80];

    snprintf(want, sizeof want, "\"%s\": %lld", name, found);
    if (!strstr(expect, want))
        fail_msg("%s is not in %s", want, expect);
}

static void run_vector(void *context, const char *name, const char *document, size_t size, const char *expect)
{
    struct scene scene = {0};
    unsigned *count = context;
    const char *path = strstr(expect, "\"path\"");

    print_message("%s\n", name);
    arena_init(&scene.arena, 1 << 20);
    enum decode_outcome outcome = decode(&scene, document, size);
    if (strstr(expect, "\"json\"")) {
        assert_int_equal(outcome, MIRE_DECODE_MALFORMED);
    } else if (path) {
        char want[300];
        assert_int_equal(outcome, MIRE_DECODE_WRONG);
        snprintf(want, sizeof want, "\"path\": \"%s\"", scene.fault.path);
        if (!strstr(expect, want))
            fail_msg("%s is not in %s", want, expect);
    } else {
        const struct report_session *s = &scene.report.session;
        long long turns = 0;
        int on = 0;
        assert_int_equal(outcome, MIRE_DECODE_OK);
        for (size_t i = 0; i < s->turn_count; i++)
            turns += s->turns[i].count;
        for (int i = 0; i < MIRE_PLUGINS; i++)
            on += s->plugins >> i & 1;
        assert_number(expect, "duration_ms", (long long)s->duration_ms.value);
        assert_number(expect, "foreground_ms", s->foreground_ms.known ? (long long)s->foreground_ms.value : -1);
        assert_number(expect, "part", (long long)s->part.value);
        if (strcmp(name, "unknown-plugin") != 0)
            assert_number(expect, "on", on);
        assert_number(expect, "hang_count", (long long)s->hang_count);
        assert_number(expect, "hang_ms", (long long)s->hang_ms);
        assert_number(expect, "ends", (long long)s->end_count);
        assert_number(expect, "turns", turns);
        assert_number(expect, "sdk_cpu_us", (long long)s->sdk_cpu_us.value);
        assert_number(expect, "loop", s->loop);
        if (s->cpu_ms.known) { /* one document tells all of them */
            assert_number(expect, "cpu_ms", (long long)s->cpu_ms.value);
            assert_number(expect, "footprint_peak_bytes", (long long)s->footprint_peak_bytes.value);
            assert_number(expect, "launch_ms", (long long)s->launch_ms.value);
            assert_number(expect, "frames_drawn", (long long)s->frames_drawn.value);
            assert_number(expect, "frames_dropped", (long long)s->frames_dropped.value);
        }
    }
    arena_fini(&scene.arena);
    ++*count;
}

static void records_read_as_the_vectors_say(void **state)
{
    unsigned count = 0;
    (void)state;
    vectors_run("session/valid", run_vector, &count);
    assert_in_range(count, 5, 100);
    vectors_run("session/invalid", run_vector, &count);
    assert_in_range(count, 20, 200);
}

#define RECORD(sampling, session)                                                                               \
    "{\"mire\":1,\"id\":\"019aa1b2-c3d4-7e5f-8a6b-010203040506\",\"kind\":\"session\",\"app\":{\"name\":\"a\"," \
    "\"version\":\"1\",\"channel\":\"gray\"},\"device\":{\"install\":\"00112233445566778899aabbccddeeff\","     \
    "\"os\":\"linux\",\"arch\":\"x86_64\"},\"sampling\":" sampling ",\"session\":" session "}"

static void row_of(struct session_row *out, struct scene *scene, const char *text)
{
    const struct aggregate_facts facts = {
        .app_id = 3, .received_us = 86400000000ll * 12, .occurred = {86400000000ll * 10 + 5, true}};

    arena_init(&scene->arena, 1 << 20);
    assert_int_equal(decode(scene, text, strlen(text)), MIRE_DECODE_OK);
    aggregate_session(out, &scene->report, &facts);
    arena_fini(&scene->arena);
}

static void a_row_stands_for_those_that_were_not_drawn(void **state)
{
    struct scene scene = {0};
    struct session_row row;
    (void)state;
    row_of(
        &row, &scene,
        RECORD(
            "{\"session\":0.1,\"hang\":0.05}",
            "{\"duration_ms\":90000,\"foreground_ms\":30000,\"on\":[\"hang\",\"session\"],\"hangs\":{\"foreground\":{"
            "\"count\":2,\"duration_ms\":5000},\"background\":{\"count\":9,\"duration_ms\":90000}}}"));
    assert_true(fabs(row.weight - 10) < 1e-9 && fabs(row.watched_weight - 200) < 1e-9);
    assert_int_equal(row.hangs, 2);
    assert_int_equal(row.hang_ms, 5000);
    assert_true(row.time_ms == 30000);
    assert_int_equal(row.occurred_day, 10);
    assert_int_equal(row.plugins, 1 << MIRE_PLUGIN_HANG | 1 << MIRE_PLUGIN_SESSION);
    /* So many hangs do not fit into their length, nor that into the session's. */
    row_of(&row, &scene,
           RECORD("{}", "{\"duration_ms\":1000,\"on\":[\"hang\"],\"hangs\":{\"foreground\":{\"count\":4000000000,"
                        "\"duration_ms\":604800000}}}"));
    assert_int_equal(row.hang_ms, 64 * 1000);
    assert_int_equal(row.hangs, 6400);
    row_of(&row, &scene,
           RECORD("{}", "{\"duration_ms\":100000,\"on\":[\"hang\"],\"hangs\":{\"foreground\":{\"count\":1000,"
                        "\"duration_ms\":100}}}"));
    assert_int_equal(row.hangs, 10);
    /* Hangs were not watched: the record does not count for them, at any share. */
    row_of(&row, &scene, RECORD("{\"session\":0.5,\"hang\":0.05}", "{\"duration_ms\":90000,\"on\":[\"session\"]}"));
    assert_true(row.weight == 2 && row.watched_weight == 0 && row.time_ms == 90000);
    assert_int_equal(row.foreground_ms, -1);
    assert_true(row.loop);
    /* Neither does a record without a loop. */
    row_of(&row, &scene, RECORD("{\"session\":0.5}", "{\"duration_ms\":90000,\"loop\":false,\"on\":[\"hang\"]}"));
    assert_true(row.weight == 2 && row.watched_weight == 0 && !row.loop);
}

static bool near(double a, double b)
{
    return fabs(a - b) < 5e-4;
}

static void shares_have_wilsons_interval(void **state)
{
    (void)state;
    struct rate rate = rate_share(10, 100, 100);
    assert_true(rate.known && near(rate.value, 0.1) && near(rate.low, 0.0552) && near(rate.high, 0.1744));
    rate = rate_share(0, 50, 50);
    assert_true(rate.value == 0 && rate.low == 0 && near(rate.high, 0.0714));
    rate = rate_share(50, 50, 50);
    assert_true(rate.value == 1 && rate.high == 1 && near(rate.low, 0.9286));
    /* A hundred records with weight ten prove no more than a hundred. */
    rate = rate_share(100, 1000, 10000);
    assert_true(near(rate.value, 0.1) && near(rate.low, 0.0552) && near(rate.high, 0.1744));
    assert_false(rate_share(0, 0, 0).known);
    assert_false(rate_ratio(0, 0, 0, 0, 0).known);
}

/* Of many samples from one world, the interval contains the truth in about 95 of 100. */
static void intervals_hold_the_truth_as_often_as_they_say(void **state)
{
    enum { WORLDS = 2000, SESSIONS = 400 };
    const double share = 0.03, mean_hang = 4;
    uint64_t seed = 88172645463325252u;
    int held_share = 0, held_ratio = 0;
    (void)state;
    for (int world = 0; world < WORLDS; world++) {
        double whole = 0, whole_sq = 0, lagging = 0, y = 0, x = 0, yy = 0, yx = 0, xx = 0;
        for (int i = 0; i < SESSIONS; i++) {
            double u[3];
            for (int k = 0; k < 3; k++) {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                u[k] = (double)(seed >> 11) / 9007199254740992.0;
            }
            double w = i % 2 ? 1 : 10, time = -log(1 - u[1]), hang = u[0] < share ? -mean_hang * log(1 - u[2]) : 0;
            whole += w;
            whole_sq += w * w;
            lagging += hang > 0 ? w : 0;
            y += w * hang;
            x += w * time;
            yy += w * w * hang * hang;
            yx += w * w * hang * time;
            xx += w * w * time * time;
        }
        struct rate a = rate_share(lagging, whole, whole_sq), b = rate_ratio(y, x, yy, yx, xx);
        held_share += a.low <= share && share <= a.high;
        held_ratio += b.low <= share * mean_hang && share * mean_hang <= b.high;
    }
    assert_in_range(held_share, WORLDS * 93 / 100, WORLDS * 98 / 100);
    assert_in_range(held_ratio, WORLDS * 80 / 100,
                    WORLDS * 97 / 100); /* so few hangs are skewed, and it is symmetric */
}

static void losses_are_told_by_known_reasons_in_order(void **state)
{
    const struct report_named_number drops[] = {
        {"who-knows", 2}, {"full", 3}, {"age", UINT64_MAX}, {"other", 4}, {"write", 0}};
    const struct report report = {.drops = drops, .drop_count = 5};
    const struct aggregate_facts facts = {
        .key = {.slot = 7}, .app_id = 3, .version_id = 9, .received_us = 86400000000ll * 20000};
    struct loss_row loss;

    (void)state;
    aggregate_losses(&loss, &report, &facts);
    assert_int_equal(loss.day, 20000);
    assert_int_equal(loss.count, 3);
    assert_string_equal(loss.reasons[0], "age");
    assert_int_equal(loss.lost[0], MIRE_AGGREGATE_LOST_MAX);
    assert_string_equal(loss.reasons[1], "full");
    assert_int_equal(loss.lost[1], 3);
    assert_string_equal(loss.reasons[2], "other");
    assert_int_equal(loss.lost[2], 6);
    const struct report_named_number invented[] = {{"a", UINT64_MAX}, {"b", MIRE_AGGREGATE_LOST_MAX}, {"other", 1}};
    aggregate_losses(&loss, &(struct report){.drops = invented, .drop_count = 3}, &facts);
    assert_int_equal(loss.count, 1);
    assert_int_equal(loss.lost[0], MIRE_AGGREGATE_LOST_MAX);
    aggregate_losses(&loss, &(struct report){.drop_count = 0}, &facts);
    assert_int_equal(loss.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_read_as_the_vectors_say),
        cmocka_unit_test(losses_are_told_by_known_reasons_in_order),
        cmocka_unit_test(a_row_stands_for_those_that_were_not_drawn),
        cmocka_unit_test(shares_have_wilsons_interval),
        cmocka_unit_test(intervals_hold_the_truth_as_often_as_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
