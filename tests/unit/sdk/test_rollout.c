/* Rollout: parsing of documents, membership in shares, and the draw of a million installations. */
#include "rollout/rollout.h"

#include "support/vectors.h"
#include "wire/bucket.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define INSTALLS 1000000u

/* Installation ids as on devices: 128 random bits. */
static void install_of(char out[33], uint64_t number)
{
    uint64_t x = number * 0x9e3779b97f4a7c15ull, y;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x ^= x >> 31;
    y = x * 0x94d049bb133111ebull;
    snprintf(out, 33, "%016llx%016llx", (unsigned long long)x, (unsigned long long)(y ^ y >> 29));
}

/* Consecutive ids, unlike those of devices. */
static void install_in_order(char out[33], uint64_t number)
{
    snprintf(out, 33, "%032llx", (unsigned long long)number);
}

/* The distance of `found` of `count` from a share, in standard deviations. */
static double distance(uint64_t found, uint64_t count, double share)
{
    return fabs((double)found - (double)count * share) / sqrt((double)count * share * (1 - share));
}

static void share(struct rollout *rollout, enum mire__plugin plugin, uint32_t ppm, const char *salt)
{
    mire__rollout_init(rollout);
    rollout->plugins[plugin] = (struct rollout_plugin){.known = true, .ppm = ppm};
    mire__text_copy(rollout->plugins[plugin].salt, MIRE_ROLLOUT_SALT_BYTES, salt);
}

static void buckets_never_change(void **state)
{
    (void)state;
    /* Equal to any other SipHash-2-4. A change would redraw every share of every app. */
    assert_int_equal(mire__bucket("0123456789abcdef0123456789abcdef", "hang", ""), 550820);
    assert_int_equal(mire__bucket("00000000000000000000000000000000", "memory", "spring"), 103697);
    assert_int_equal(mire__bucket(NULL, NULL, NULL), 932608);
}

static void shares_of_a_million_are_as_asked_and_raising_one_keeps_who_was_in(void **state)
{
    static const uint32_t shares[] = {100, 1000, 10000, 50000, 200000, 500000, 990000};
    static void (*const kinds[])(char *, uint64_t) = {install_of, install_in_order};
    (void)state;
    for (size_t k = 0; k < MIRE_COUNT(kinds); k++) {
        uint64_t in[MIRE_COUNT(shares)] = {0};

        for (uint32_t i = 0; i < INSTALLS; i++) {
            char install[33];
            bool before = false;

            kinds[k](install, i);
            for (size_t s = 0; s < MIRE_COUNT(shares); s++) {
                struct rollout rollout;
                uint32_t ppm;
                share(&rollout, MIRE_PLUGIN_HANG, shares[s], "");
                bool on = mire__rollout_decide(&ppm, &rollout, MIRE_PLUGIN_HANG, install, 0);
                if (before)
                    assert_true(on);
                before = on;
                in[s] += on;
            }
        }
        for (size_t s = 0; s < MIRE_COUNT(shares); s++)
            assert_true(distance(in[s], INSTALLS, shares[s] / 1e6) < 4.5);
    }
}

static void plugins_and_salts_draw_independently(void **state)
{
    static const char *const draws[][2] = {{"hang", ""},    {"memory", ""},  {"exit", ""},
                                           {"session", ""}, {"hang", "two"}, {"session", "two"}};
    enum { COUNT = sizeof(draws) / sizeof(draws[0]) };
    const uint32_t ppm = 100000;
    uint64_t both[COUNT][COUNT] = {{0}};
    (void)state;
    for (uint32_t i = 0; i < INSTALLS; i++) {
        bool on[COUNT];
        char install[33];

        install_of(install, i);
        for (size_t a = 0; a < COUNT; a++)
            on[a] = mire__bucket(install, draws[a][0], draws[a][1]) < ppm;
        for (size_t a = 0; a < COUNT; a++)
            for (size_t b = 0; b < a; b++)
                both[a][b] += on[a] && on[b];
    }
    for (size_t a = 0; a < COUNT; a++)
        for (size_t b = 0; b < a; b++)
            assert_true(distance(both[a][b], INSTALLS, 0.1 * 0.1) < 4.5);
}

static void buckets_are_even(void **state)
{
    uint64_t cells[1000] = {0};
    double chi2 = 0;
    (void)state;
    for (uint32_t i = 0; i < INSTALLS; i++) {
        char install[33];

        install_of(install, i);
        uint32_t bucket = mire__bucket(install, "hang", "");
        assert_true(bucket < MIRE_BUCKETS);
        cells[bucket / 1000]++;
    }
    for (size_t i = 0; i < MIRE_COUNT(cells); i++)
        chi2 += ((double)cells[i] - 1000) * ((double)cells[i] - 1000) / 1000;
    assert_true(chi2 > 800 && chi2 < 1200); /* 999 degrees of freedom: 4.5 standard deviations of 45 */
}

static void what_a_document_is_silent_about_is_the_apps_own(void **state)
{
    const char *install = "0123456789abcdef0123456789abcdef";
    struct rollout rollout;
    uint32_t ppm;
    (void)state;
    mire__rollout_init(&rollout);
    assert_true(mire__rollout_decide(&ppm, &rollout, MIRE_PLUGIN_HANG, install, 1000000));
    assert_int_equal(ppm, 1000000);
    assert_false(mire__rollout_decide(&ppm, &rollout, MIRE_PLUGIN_HANG, install, 0));
    share(&rollout, MIRE_PLUGIN_MEMORY, 0, "");
    assert_true(mire__rollout_decide(&ppm, &rollout, MIRE_PLUGIN_HANG, install, 1000000));
    assert_false(mire__rollout_decide(&ppm, &rollout, MIRE_PLUGIN_MEMORY, install, 1000000));
    assert_int_equal(ppm, 0);
    share(&rollout, MIRE_PLUGIN_HANG, 1000000, "");
    rollout.kill = true;
    for (int plugin = 0; plugin < MIRE_PLUGINS; plugin++)
        assert_false(mire__rollout_decide(&ppm, &rollout, plugin, install, 1000000));
}

static void assert_number(const char *expect, const char *name, uint64_t found)
{
    char want[80];

    snprintf(want, sizeof(want), "\"%s\": %llu", name, (unsigned long long)found);
    if (!strstr(expect, want))
        fail_msg("%s is not in %s", want, expect);
}

static void assert_reads_as(const struct rollout *rollout, const char *expect)
{
    static const char *const modes[] = {"", "\"off\"", "\"sampled\"", "\"exact\""};

    assert_number(expect, "version", rollout->version);
    char left_out[MIRE_LEAVE_OUT_BYTES + 32];

    assert_number(expect, "fetch_s", rollout->fetch_s);
    snprintf(left_out, sizeof(left_out), "\"leave_out\": \"%s\"", rollout->leave_out);
    assert_true(rollout->leave_out[0] ? strstr(expect, left_out) != NULL : strstr(expect, "leave_out") == NULL);
    assert_non_null(strstr(expect, rollout->kill ? "\"kill\": true" : "\"kill\": false"));
    for (int plugin = 0; plugin < MIRE_PLUGINS; plugin++) {
        char quoted[16];
        snprintf(quoted, sizeof(quoted), "\"%s\": ", mire__plugin_name(plugin));
        if (rollout->plugins[plugin].known)
            assert_number(expect, mire__plugin_name(plugin), rollout->plugins[plugin].ppm);
        else if (plugin != MIRE_PLUGIN_MEMORY)
            assert_null(strstr(expect, quoted));
    }
    for (uint32_t i = 0; i < rollout->number_count; i++)
        assert_number(expect, rollout->numbers[i].name, rollout->numbers[i].value);
    assert_true((rollout->number_count == 0) == (strstr(expect, "\"numbers\": {}") != NULL));
    assert_non_null(strstr(expect, modes[rollout->memory.mode]));
    if (rollout->memory.interval_bytes)
        assert_number(expect, "interval_bytes", rollout->memory.interval_bytes);
    if (rollout->memory.budget_bytes)
        assert_number(expect, "budget_bytes", rollout->memory.budget_bytes);
}

static void run_vector(void *context, const char *name, const char *document, size_t size, const char *expect)
{
    unsigned *count = context;
    struct rollout rollout;
    enum mire_err want = strstr(expect, "\"error\"") ? MIRE_E_FORMAT : MIRE_OK;

    print_message("%s\n", name);
    assert_int_equal(mire__rollout_read(&rollout, document, size), want);
    if (want == MIRE_OK)
        assert_reads_as(&rollout, expect);
    else
        assert_false(rollout.plugins[MIRE_PLUGIN_HANG].known || rollout.kill || rollout.version);
    ++*count;
}

static void documents_read_as_the_vectors_say(void **state)
{
    unsigned count = 0;
    (void)state;
    vectors_run("rollout/valid", run_vector, &count);
    assert_in_range(count, 5, 100);
    vectors_run("rollout/invalid", run_vector, &count);
    assert_in_range(count, 20, 200);
}

/* A truncated or changed document is read or refused; values that are read are within bounds. */
static void a_damaged_document_is_refused_or_within_bounds(void **state)
{
    static const char good[] =
        "{\"mire_rollout\":1,\"version\":17,\"fetch_s\":900,\"kill\":false,\"plugins\":{\"hang\":"
        "{\"ppm\":20000,\"salt\":\"s1\",\"parameters\":{\"foreground_ms\":3000}},\"memory\":"
        "{\"ppm\":1,\"parameters\":{\"mode\":\"exact\",\"interval_bytes\":9}}}}";
    char text[sizeof(good)];
    struct rollout rollout;
    (void)state;
    assert_int_equal(mire__rollout_read(&rollout, good, strlen(good)), MIRE_OK);
    for (size_t cut = 0; cut < strlen(good); cut++)
        assert_int_equal(mire__rollout_read(&rollout, good, cut), MIRE_E_FORMAT);
    for (size_t at = 0; at < strlen(good); at++) {
        for (int byte = 0; byte < 256; byte++) {
            memcpy(text, good, sizeof(good));
            text[at] = (char)byte;
            mire__rollout_read(&rollout, text, strlen(good));
            assert_in_range(rollout.fetch_s, MIRE_ROLLOUT_FETCH_MIN_S, MIRE_ROLLOUT_FETCH_MAX_S);
            assert_in_range(rollout.plugins[MIRE_PLUGIN_HANG].ppm, 0, 1000000);
            assert_true(rollout.memory.interval_bytes == 0 ||
                        rollout.memory.interval_bytes >= MIRE_MEMORY_INTERVAL_MIN);
        }
    }
}

static void a_document_beyond_its_size_is_refused(void **state)
{
    static char text[MIRE_WIRE_ROLLOUT_MAX + 1];
    struct rollout rollout;
    (void)state;
    memset(text, ' ', sizeof(text));
    memcpy(text, "{\"mire_rollout\":1}", 18);
    assert_int_equal(mire__rollout_read(&rollout, text, MIRE_WIRE_ROLLOUT_MAX), MIRE_OK);
    assert_int_equal(mire__rollout_read(&rollout, text, MIRE_WIRE_ROLLOUT_MAX + 1), MIRE_E_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_never_change),
        cmocka_unit_test(shares_of_a_million_are_as_asked_and_raising_one_keeps_who_was_in),
        cmocka_unit_test(plugins_and_salts_draw_independently),
        cmocka_unit_test(buckets_are_even),
        cmocka_unit_test(what_a_document_is_silent_about_is_the_apps_own),
        cmocka_unit_test(documents_read_as_the_vectors_say),
        cmocka_unit_test(a_damaged_document_is_refused_or_within_bounds),
        cmocka_unit_test(a_document_beyond_its_size_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
