/* Sending: what each answer does to a report, and when the next try comes. The transport is a script. */
#include "upload/upload.h"

#include "base/base.h"
#include "store/sending.h"
#include "support/scratch.h"
#include "upload/rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>
#include <cmocka.h>
#include <zstd.h>

#define NOW  1763685118456ull
#define BOOT 5000000ull /* the boot clock at NOW */
#define DAY  86400000ull

/* Which body was sealed under which id: what mired would find in it. */
struct sealed {
    char id[40], body[8];
};
static struct sealed sealed[128];
static unsigned sealed_count;

static const char *id_of(const void *body, size_t size)
{
    for (unsigned i = sealed_count; i-- > 0;) /* each test begins anew with its words */
        if (strlen(sealed[i].body) == size && memcmp(sealed[i].body, body, size) == 0)
            return sealed[i].id;
    return "";
}

/* Answers in turn; the last one for ever. */
struct script {
    const struct upload_answer *answers;
    size_t count, used;
    char bodies[64][8];
};

static void send_scripted(void *context, struct upload_answer *answer, const struct upload_request *request,
                          const atomic_bool *cancel)
{
    struct script *script = context;
    size_t at = script->used < script->count ? script->used : script->count - 1;

    assert_false(atomic_load(cancel));
    assert_string_equal(request->path, "/api/v1/reports");
    assert_in_range(request->size, 0, 7);
    memcpy(script->bodies[script->used], request->body, request->size);
    char *text = answer->text;
    size_t cap = answer->cap;
    *answer = script->answers[at];
    answer->text = text;
    answer->cap = cap;
    if (answer->status == 202)
        answer->size = (size_t)snprintf(text, cap, "{\"report_id\":\"%s\"}", id_of(request->body, request->size));
    if (answer->status == 200) /* a captive portal */
        answer->size = (size_t)snprintf(text, cap, "<html>Welcome to the hotel's network. Please log in.</html>");
    script->used++;
}

struct scene {
    struct store *store;
    struct upload *upload;
    struct script script;
    struct upload_tally tally;
    _Atomic uint32_t network;
};

static void scene_open_with(struct scene *scene, const char *dir, const struct upload_answer *answers, size_t count,
                            struct upload_options options)
{
    const struct store_caps caps = MIRE_STORE_CAPS_INIT;
    const struct transport transport = {send_scripted, &scene->script};

    memset(scene, 0, sizeof(*scene));
    scene->script.answers = answers;
    scene->script.count = count;
    options.url = "http://x";
    options.key = "k";
    options.network = &scene->network;
    assert_int_equal(mire__store_open(&scene->store, dir, &caps), MIRE_OK);
    assert_int_equal(mire__upload_open(&scene->upload, scene->store, &options, &transport), MIRE_OK);
}

static void scene_open(struct scene *scene, const char *dir, const struct upload_answer *answers, size_t count)
{
    scene_open_with(scene, dir, answers, count, (struct upload_options)MIRE_UPLOAD_OPTIONS_INIT);
}

static void scene_close(struct scene *scene)
{
    mire__upload_close(scene->upload);
    mire__store_close(scene->store);
}

static void seal_of(struct scene *scene, const char *body, enum store_value value)
{
    static unsigned serial;

    assert_true(sealed_count < MIRE_COUNT(sealed));
    struct sealed *entry = &sealed[sealed_count++];

    snprintf(entry->id, sizeof(entry->id), "%08x-%04x-7000-8000-%012x", (unsigned)(NOW >> 16), (unsigned)(NOW & 0xffff),
             serial++);
    snprintf(entry->body, sizeof(entry->body), "%s", body);
    const struct store_report report = {.id = entry->id, .body = body, .size = strlen(body), .value = value};
    assert_int_equal(mire__store_put(scene->store, &report, NOW), MIRE_OK);
}

static void seal(struct scene *scene, const char *body)
{
    seal_of(scene, body, MIRE_VALUE_HANG);
}

static enum mire_err seal_bytes(struct scene *scene, const void *body, size_t size)
{
    static unsigned serial;
    char id[40];

    snprintf(id, sizeof(id), "%08x-%04x-7000-9000-%012x", (unsigned)(NOW >> 16), (unsigned)(NOW & 0xffff), serial++);
    const struct store_report report = {.id = id, .body = body, .size = size, .value = MIRE_VALUE_HANG};
    return mire__store_put(scene->store, &report, NOW);
}

static enum mire_err seal_large(struct scene *scene)
{
    static const char large[MIRE_METERED_BYTES + 1];

    return seal_bytes(scene, large, sizeof(large));
}

/* Both clocks agree. */
static uint64_t round_at(struct scene *scene, uint64_t now_ms)
{
    const struct upload_now now = {.wall_ms = now_ms, .boot_ms = now_ms - NOW + BOOT};

    return mire__upload_round(scene->upload, &scene->tally, &now);
}

/* The wall clock has jumped. */
static uint64_t round_at_both(struct scene *scene, uint64_t wall_ms, uint64_t since_ms)
{
    const struct upload_now now = {.wall_ms = wall_ms, .boot_ms = BOOT + since_ms};

    return mire__upload_round(scene->upload, &scene->tally, &now);
}

static uint64_t dropped(struct scene *scene, enum store_reason reason)
{
    uint64_t counts[MIRE_DROP_REASONS];

    mire__store_drops(counts, scene->store);
    return counts[reason];
}

static void upload_judges_every_status(void **state)
{
    (void)state;
    for (int status = 0; status < 700; status++) {
        enum upload_verdict want = UPLOAD_LATER;
        if (status >= 200 && status <= 299)
            want = UPLOAD_SENT;
        else if (status >= 400 && status <= 499 && status != 408 && status != 425 && status != 429)
            want = UPLOAD_REFUSED;
        assert_int_equal(mire__upload_verdict(status), want);
    }
}

static void upload_reads_retry_after_in_all_forms(void **state)
{
    static const struct {
        const char *text;
        uint64_t at_ms;
    } rows[] = {
        {"0", NOW},
        {"120", NOW + 120000},
        {"99999999999999999999", 0}, /* any moment far away */
        {"Sun, 06 Nov 1994 08:49:37 GMT", 784111777000},
        {"Sunday, 06-Nov-94 08:49:37 GMT", 784111777000},
        {"Sun Nov  6 08:49:37 1994", 784111777000},
        {"Thu, 01 Jan 1970 00:00:00 GMT", 0},
        {"Thu, 29 Feb 2024 23:59:60 GMT", 1709251200000},
        {"Fri, 31 Dec 2099 00:00:00 GMT", 4102358400000},
        {"Wednesday, 01-Jan-70 00:00:00 GMT", 3155760000000},
    };
    uint64_t at;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_true(mire__upload_parse_retry_after(&at, rows[i].text, NOW));
        if (i == 2)
            assert_true(at > NOW + 1000ull * 3600 * 24 * 365);
        else
            assert_int_equal(at, rows[i].at_ms);
    }
}

static void upload_ignores_a_retry_after_that_is_none(void **state)
{
    static const char *const texts[] = {"",
                                        "soon",
                                        "-5",
                                        "12x",
                                        "1.5",
                                        "Sun, 06 Nov 1994",
                                        "Sun, 32 Nov 1994 08:49:37 GMT",
                                        "Sun, 06 Nix 1994 08:49:37 GMT",
                                        "Sun, 06 Nov 1994 24:49:37 GMT",
                                        "Sun, 06 Nov 1994 08:49:37 GMT+1",
                                        "Sun, 06 Nov 1960 08:49:37 GMT"};
    uint64_t at = 7;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_false(mire__upload_parse_retry_after(&at, texts[i], NOW));
        assert_int_equal(at, 7);
    }
}

static void upload_backs_off_with_jitter_up_to_a_quarter_of_an_hour(void **state)
{
    (void)state;
    assert_int_equal(mire__upload_backoff_ms(1, 2000, 900000, 0), 1000);
    assert_int_equal(mire__upload_backoff_ms(1, 2000, 900000, UINT32_MAX), 2000);
    assert_int_equal(mire__upload_backoff_ms(3, 2000, 900000, UINT32_MAX), 8000);
    assert_int_equal(mire__upload_backoff_ms(100, 2000, 900000, 0), 450000);
    assert_int_equal(mire__upload_backoff_ms(UINT32_MAX, 2000, 900000, UINT32_MAX), 900000);
}

static void upload_deletes_only_what_was_taken(void **state)
{
    static const struct upload_answer answers[] = {{.status = 202}, {.status = 500}};
    struct scene scene;

    scene_open(&scene, *state, answers, 2);
    seal(&scene, "one");
    seal(&scene, "two");
    seal(&scene, "three");
    uint64_t wait = round_at(&scene, NOW);
    assert_in_range(wait, 1000, 2000);
    assert_int_equal(scene.tally.sent, 1);
    assert_int_equal(scene.tally.waiting, 2);
    assert_int_equal(scene.script.used, 2);
    assert_int_equal(round_at(&scene, NOW + wait - 1), 1);
    assert_int_equal(scene.script.used, 2);
    scene_close(&scene);
}

static void upload_drops_and_counts_what_is_refused(void **state)
{
    static const struct upload_answer answers[] = {{.status = 413}, {.status = 401}, {.status = 202}};
    struct scene scene;

    scene_open(&scene, *state, answers, 3);
    seal(&scene, "one");
    seal(&scene, "two");
    seal(&scene, "three");
    assert_true(round_at(&scene, NOW) == UINT64_MAX);
    assert_int_equal(scene.tally.refused, 2);
    assert_int_equal(scene.tally.sent, 1);
    assert_int_equal(dropped(&scene, MIRE_DROP_REFUSED), 2);
    scene_close(&scene);
}

static void upload_keeps_retry_after_over_a_restart(void **state)
{
    static const struct upload_answer answers[] = {{.status = 503, .retry_after = "3600"}, {.status = 202}};
    struct scene scene;
    uint64_t wait;

    scene_open(&scene, *state, answers, 2);
    seal(&scene, "one");
    wait = round_at(&scene, NOW);
    assert_in_range(wait, 3600000, 3602000);
    scene_close(&scene);
    scene_open(&scene, *state, answers + 1, 1);
    assert_int_equal(round_at(&scene, NOW + 1000), wait - 1000);
    assert_int_equal(scene.script.used, 0);
    assert_true(round_at(&scene, NOW + wait) == UINT64_MAX);
    assert_int_equal(scene.tally.sent, 1);
    scene_close(&scene);
}

static void upload_is_not_silenced_for_more_than_a_day(void **state)
{
    static const struct upload_answer answers[] = {{.status = 503, .retry_after = "Fri, 31 Dec 2099 00:00:00 GMT"},
                                                   {.status = 202}};
    struct scene scene;

    scene_open(&scene, *state, answers, 2);
    seal(&scene, "one");
    uint64_t wait = round_at(&scene, NOW);
    assert_in_range(wait, DAY, DAY + 2000);
    scene_close(&scene);
    /* Another start; the clock has gone back by a year meanwhile. What was asked for is still the most to wait. */
    scene_open(&scene, *state, answers + 1, 1);
    assert_int_equal(round_at(&scene, NOW - 365 * DAY), DAY);
    assert_true(round_at(&scene, NOW - 365 * DAY + wait) == UINT64_MAX);
    assert_int_equal(scene.tally.sent, 1);
    scene_close(&scene);
}

static void upload_waits_as_long_however_the_clock_jumps(void **state)
{
    static const struct upload_answer answers[] = {{.status = 503, .retry_after = "600"}, {.status = 202}};
    static const uint64_t walls[] = {0, NOW - 20 * 365 * DAY, NOW - 3600000, NOW + 300000, NOW + 100 * 365 * DAY};
    struct scene scene;

    for (size_t i = 0; i < MIRE_COUNT(walls); i++) {
        scene_open(&scene, *state, answers, 2);
        seal(&scene, "one");
        uint64_t wait = round_at(&scene, NOW);
        assert_in_range(wait, 600000, 602000);
        assert_int_equal(round_at_both(&scene, walls[i], 1), wait - 1);
        assert_int_equal(scene.script.used, 1);
        assert_true(round_at_both(&scene, walls[i], wait) == UINT64_MAX);
        assert_int_equal(scene.tally.sent, 1);
        assert_int_equal(mire__store_set_after(scene.store, &(struct store_after){0}), MIRE_OK);
        scene_close(&scene);
    }
}

static void upload_takes_a_date_by_the_servers_clock(void **state)
{
    /* The device lives a year ahead, or behind. */
    static const char *const now = "Sun, 06 Nov 1994 08:49:37 GMT", *const then = "Sun, 06 Nov 1994 08:51:37 GMT";
    uint64_t wait;

    (void)state;
    assert_true(mire__upload_asked_ms(&wait, then, now, 784111777000 + 365 * DAY));
    assert_int_equal(wait, 120000);
    assert_true(mire__upload_asked_ms(&wait, then, now, 784111777000 - 365 * DAY));
    assert_int_equal(wait, 120000);
    assert_true(mire__upload_asked_ms(&wait, then, "", 784111777000));
    assert_int_equal(wait, 120000);
    assert_true(mire__upload_asked_ms(&wait, then, "yesterday", 784111777000 - 365 * DAY));
    assert_int_equal(wait, DAY);
    assert_true(mire__upload_asked_ms(&wait, "30", now, NOW));
    assert_int_equal(wait, 30000);
    assert_true(mire__upload_asked_ms(&wait, now, then, NOW));
    assert_int_equal(wait, 0);
    assert_false(mire__upload_asked_ms(&wait, "later", now, NOW));
}

static void upload_knows_an_ack_by_the_reports_id(void **state)
{
    static const char *const id = "0123abcd-ef01-7000-8000-000000000001";
    static const char *const good[] = {"{\"report_id\":\"0123abcd-ef01-7000-8000-000000000001\"}",
                                       " { \"x\" : 1 , \"report_id\" \t: \"0123abcd-ef01-7000-8000-000000000001\" }"};
    static const char *const bad[] = {"",
                                      "{}",
                                      "ok",
                                      "<html>0123abcd-ef01-7000-8000-000000000001</html>",
                                      "{\"report_id\":\"0123abcd-ef01-7000-8000-000000000002\"}",
                                      "{\"report_id\":\"0123abcd-ef01-7000-8000-00000000000",
                                      "{\"report_id\":0123abcd-ef01-7000-8000-000000000001}",
                                      "{\"report_id\":",
                                      "{\"report_id\""};

    (void)state;
    for (size_t i = 0; i < MIRE_COUNT(good); i++)
        assert_true(mire__upload_is_ack(good[i], strlen(good[i]), id));
    for (size_t i = 0; i < MIRE_COUNT(bad); i++)
        assert_false(mire__upload_is_ack(bad[i], strlen(bad[i]), id));
    for (size_t size = 0; size < strlen(good[0]) - 1; size++)
        assert_false(mire__upload_is_ack(good[0], size, id));
}

static void upload_does_not_take_a_portals_answer_for_the_servers(void **state)
{
    static const struct upload_answer answers[] = {{.status = 200}, {.status = 202}};
    struct scene scene;

    scene_open(&scene, *state, answers, 2);
    seal(&scene, "one");
    assert_in_range(round_at(&scene, NOW), 1000, 2000);
    assert_int_equal(scene.tally.sent, 0);
    assert_string_not_equal(scene.tally.last.problem, "");
    assert_true(round_at(&scene, NOW + 3600000) == UINT64_MAX);
    assert_int_equal(scene.tally.sent, 1);
    scene_close(&scene);
}

static void upload_sends_the_most_valuable_first(void **state)
{
    static const struct upload_answer answers[] = {{.status = 202}};
    struct scene scene;

    scene_open(&scene, *state, answers, 1);
    seal_of(&scene, "base", MIRE_VALUE_BASELINE);
    seal_of(&scene, "hang", MIRE_VALUE_HANG);
    seal_of(&scene, "later", MIRE_VALUE_HANG);
    seal_of(&scene, "death", MIRE_VALUE_DEATH);
    round_at(&scene, NOW);
    assert_string_equal(scene.script.bodies[0], "death");
    assert_string_equal(scene.script.bodies[1], "hang");
    assert_string_equal(scene.script.bodies[2], "later");
    assert_string_equal(scene.script.bodies[3], "base");
    scene_close(&scene);
}

static void upload_sends_nothing_without_the_users_consent(void **state)
{
    static const struct upload_answer answers[] = {{.status = 202}};
    struct upload_options options = MIRE_UPLOAD_OPTIONS_INIT;
    struct upload_answer answer = {0};
    struct scene scene;

    options.consent_required = true;
    scene_open_with(&scene, *state, answers, 1, options);
    seal(&scene, "one");
    assert_true(round_at(&scene, NOW) == UINT64_MAX);
    assert_int_equal(mire__upload_fetch(scene.upload, &answer, "/x", "", &(struct upload_now){NOW, BOOT}), FETCH_LATER);
    assert_int_equal(scene.script.used, 0);
    assert_int_equal(scene.tally.waiting, 1);
    mire__store_set_consent(scene.store, MIRE_CONSENT_GIVEN);
    scene_close(&scene);
    scene_open_with(&scene, *state, answers, 1, options); /* it is remembered */
    round_at(&scene, NOW);
    assert_int_equal(scene.tally.sent, 1);
    scene_close(&scene);
}

static void upload_deletes_and_counts_what_the_user_refuses(void **state)
{
    static const struct upload_answer answers[] = {{.status = 202}};
    struct scene scene;

    for (int required = 0; required < 2; required++) {
        struct upload_options options = MIRE_UPLOAD_OPTIONS_INIT;

        options.consent_required = required;
        scene_open_with(&scene, *state, answers, 1, options);
        seal(&scene, "one");
        seal(&scene, "two");
        mire__store_set_consent(scene.store, MIRE_CONSENT_REFUSED);
        assert_true(round_at(&scene, NOW) == UINT64_MAX);
        assert_int_equal(scene.script.used, 0);
        assert_int_equal(scene.tally.waiting, 0);
        assert_int_equal(dropped(&scene, MIRE_DROP_CONSENT), 2 + 2 * (unsigned)required);
        scene_close(&scene);
    }
}

static void upload_tries_nothing_without_a_network(void **state)
{
    static const struct upload_answer answers[] = {{.status = 202}};
    struct scene scene;

    scene_open(&scene, *state, answers, 1);
    scene.network = MIRE_NETWORK_NONE;
    seal(&scene, "one");
    assert_true(round_at(&scene, NOW) == UINT64_MAX);
    assert_int_equal(scene.script.used, 0);
    scene.network = MIRE_NETWORK_UNMETERED;
    round_at(&scene, NOW);
    assert_int_equal(scene.tally.sent, 1);
    scene_close(&scene);
}

static void upload_sends_only_what_is_small_or_matters_where_bytes_cost(void **state)
{
    (void)state;
    assert_true(mire__upload_on_metered(MIRE_METERED_BYTES, MIRE_VALUE_BASELINE));
    assert_false(mire__upload_on_metered(MIRE_METERED_BYTES + 1, MIRE_VALUE_HANG));
    assert_true(mire__upload_on_metered(1u << 20, MIRE_VALUE_DEATH));
}

static void upload_keeps_what_is_large_for_a_network_that_costs_nothing(void **state)
{
    static const struct upload_answer answers[] = {{.status = 202}};
    struct scene scene;

    scene_open(&scene, *state, answers, 1);
    scene.network = MIRE_NETWORK_METERED;
    seal(&scene, "one");
    assert_int_equal(seal_large(&scene), MIRE_OK);
    assert_true(round_at(&scene, NOW) == UINT64_MAX);
    assert_int_equal(scene.tally.sent, 1);
    assert_int_equal(scene.tally.waiting, 1);
    scene_close(&scene);
}

static void upload_keeps_to_the_days_bytes_over_restarts(void **state)
{
    static const struct upload_answer answers[] = {{.status = 500}, {.status = 202}};
    struct upload_options options = MIRE_UPLOAD_OPTIONS_INIT;
    const uint64_t end_of_day = DAY - NOW % DAY;
    struct scene scene;

    options.daily_bytes = 2 * (MIRE_REQUEST_BYTES + 3);
    scene_open_with(&scene, *state, answers, 2, options);
    seal(&scene, "one");
    seal(&scene, "two");
    seal(&scene, "six");
    round_at(&scene, NOW); /* fails, and costs all the same */
    round_at(&scene, NOW + 5000);
    assert_int_equal(scene.tally.sent, 1);
    scene_close(&scene);
    scene_open_with(&scene, *state, answers + 1, 1, options);
    uint64_t wait = round_at(&scene, NOW + 10000);
    assert_in_range(wait, end_of_day - 10000, end_of_day - 10000 + 900000);
    assert_int_equal(scene.script.used, 0);
    assert_true(round_at(&scene, NOW + 10000 + wait) == UINT64_MAX);
    assert_int_equal(scene.tally.sent, 2);
    scene_close(&scene);
}

static void upload_drops_what_no_day_has_bytes_for(void **state)
{
    static const struct upload_answer answers[] = {{.status = 202}};
    struct upload_options options = MIRE_UPLOAD_OPTIONS_INIT;
    struct scene scene;

    options.daily_bytes = MIRE_REQUEST_BYTES + 2;
    scene_open_with(&scene, *state, answers, 1, options);
    seal(&scene, "one");
    assert_true(round_at(&scene, NOW) == UINT64_MAX);
    assert_int_equal(dropped(&scene, MIRE_DROP_BIG), 1);
    scene_close(&scene);
}

/* What before_send saw, and what it says. */
struct look {
    char seen[64];
    int answer;
};

static int look_at(void *context, const char *json, size_t size)
{
    struct look *look = context;

    assert_true(size < sizeof(look->seen));
    memcpy(look->seen, json, size);
    look->seen[size] = '\0';
    return look->answer;
}

static void upload_shows_each_report_to_the_app_which_may_keep_it(void **state)
{
    static const char *const json = "{\"kind\":\"hang\"}";
    char packed[128];
    size_t size = ZSTD_compress(packed, sizeof(packed), json, strlen(json), 3);
    static const struct upload_answer answers[] = {{.status = 202}};
    struct upload_options options = MIRE_UPLOAD_OPTIONS_INIT;
    struct look look = {.answer = 1};
    struct scene scene;

    options.before_send = look_at;
    options.before_send_context = &look;
    scene_open_with(&scene, *state, answers, 1, options);
    assert_int_equal(seal_bytes(&scene, packed, size), MIRE_OK);
    assert_true(round_at(&scene, NOW) == UINT64_MAX);
    assert_string_equal(look.seen, json);
    assert_int_equal(scene.script.used, 0);
    assert_int_equal(scene.tally.filtered, 1);
    assert_int_equal(dropped(&scene, MIRE_DROP_FILTERED), 1);
    seal(&scene, "one"); /* no zstd */
    assert_true(round_at(&scene, NOW) == UINT64_MAX);
    assert_int_equal(dropped(&scene, MIRE_DROP_BROKEN), 1);
    scene_close(&scene);
}

static void upload_is_not_held_up_by_one_report(void **state)
{
    static const struct upload_answer answers[] = {{.status = 500}, {.status = 202}, {.status = 202}, {.status = 500}};
    struct scene scene;

    scene_open(&scene, *state, answers, 4);
    seal(&scene, "bad");
    seal(&scene, "two");
    seal(&scene, "three");
    round_at(&scene, NOW);
    round_at(&scene, NOW + 3600000);
    assert_string_equal(scene.script.bodies[0], "bad");
    assert_string_equal(scene.script.bodies[1], "two");
    assert_string_equal(scene.script.bodies[2], "three");
    assert_string_equal(scene.script.bodies[3], "bad");
    assert_int_equal(scene.tally.waiting, 1);
    scene_close(&scene);
}

static void upload_sends_again_what_was_not_answered(void **state)
{
    static const struct upload_answer answers[] = {{.status = 0, .problem = "connection lost"}, {.status = 202}};
    struct scene scene;

    scene_open(&scene, *state, answers, 2);
    seal(&scene, "one");
    round_at(&scene, NOW);
    assert_string_equal(scene.tally.last.problem, "connection lost");
    round_at(&scene, NOW + 3600000);
    assert_string_equal(scene.script.bodies[0], scene.script.bodies[1]);
    assert_int_equal(scene.tally.sent, 1);
    scene_close(&scene);
}

static void upload_drops_a_damaged_report(void **state)
{
    static const struct upload_answer answers[] = {{.status = 202}};
    struct store_item item;
    struct scene scene;
    char path[512];

    scene_open(&scene, *state, answers, 1);
    seal(&scene, "one");
    assert_int_equal(mire__store_list(&item, 1, scene.store), 1);
    snprintf(path, sizeof(path), "%s/out/%s.report", (char *)*state, item.id);
    assert_int_equal(truncate(path, 3), 0);
    assert_true(round_at(&scene, NOW) == UINT64_MAX);
    assert_int_equal(scene.tally.broken, 1);
    assert_int_equal(dropped(&scene, MIRE_DROP_BROKEN), 1);
    scene_close(&scene);
}

static void upload_does_nothing_once_cancelled(void **state)
{
    static const struct upload_answer answers[] = {{.status = 202}};
    struct scene scene;

    scene_open(&scene, *state, answers, 1);
    seal(&scene, "one");
    mire__upload_cancel(scene.upload, true);
    round_at(&scene, NOW);
    assert_int_equal(scene.script.used, 0);
    mire__upload_cancel(scene.upload, false);
    round_at(&scene, NOW);
    assert_int_equal(scene.tally.sent, 1);
    scene_close(&scene);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_new, scratch_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(upload_judges_every_status),
        cmocka_unit_test(upload_reads_retry_after_in_all_forms),
        cmocka_unit_test(upload_ignores_a_retry_after_that_is_none),
        cmocka_unit_test(upload_backs_off_with_jitter_up_to_a_quarter_of_an_hour),
        TEST(upload_deletes_only_what_was_taken),
        TEST(upload_drops_and_counts_what_is_refused),
        TEST(upload_keeps_retry_after_over_a_restart),
        TEST(upload_is_not_silenced_for_more_than_a_day),
        TEST(upload_waits_as_long_however_the_clock_jumps),
        cmocka_unit_test(upload_takes_a_date_by_the_servers_clock),
        cmocka_unit_test(upload_knows_an_ack_by_the_reports_id),
        TEST(upload_does_not_take_a_portals_answer_for_the_servers),
        TEST(upload_sends_the_most_valuable_first),
        TEST(upload_sends_nothing_without_the_users_consent),
        TEST(upload_deletes_and_counts_what_the_user_refuses),
        TEST(upload_tries_nothing_without_a_network),
        cmocka_unit_test(upload_sends_only_what_is_small_or_matters_where_bytes_cost),
        TEST(upload_keeps_what_is_large_for_a_network_that_costs_nothing),
        TEST(upload_keeps_to_the_days_bytes_over_restarts),
        TEST(upload_drops_what_no_day_has_bytes_for),
        TEST(upload_shows_each_report_to_the_app_which_may_keep_it),
        TEST(upload_is_not_held_up_by_one_report),
        TEST(upload_sends_again_what_was_not_answered),
        TEST(upload_drops_a_damaged_report),
        TEST(upload_does_nothing_once_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
