/* Requests for the rollout document: the effect of each response on the stored one, and the next request. */
#include "core/remote.h"

#include "platform/platform.h"
#include "rollout/rollout.h"
#include "store/sending.h"
#include "support/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#define NOW 1763685118456ull

static const struct upload_now now = {.wall_ms = NOW, .boot_ms = 1000000};

/* A server with scripted responses. */
struct server {
    int status;
    const char *etag, *text, *retry_after;
    unsigned asked;
    char path[MIRE_REMOTE_PATH_BYTES], known[MIRE_STORE_ETAG_BYTES];
};

static void answer_as_told(void *context, struct upload_answer *answer, const struct upload_request *request,
                           const atomic_bool *cancel)
{
    struct server *server = context;
    size_t size = server->text ? strlen(server->text) : 0;

    assert_false(atomic_load(cancel));
    assert_null(request->body);
    server->asked++;
    mire__text_copy(server->path, sizeof(server->path), request->path);
    mire__text_copy(server->known, sizeof(server->known), request->etag);
    answer->status = server->status;
    answer->size = size;
    memcpy(answer->text, server->text ? server->text : "", size < answer->cap ? size : answer->cap);
    mire__text_copy(answer->etag, sizeof(answer->etag), server->etag);
    mire__text_copy(answer->retry_after, sizeof(answer->retry_after), server->retry_after);
}

struct scene {
    struct store *store;
    struct upload *upload;
    struct server server;
    struct remote remote;
    uint64_t now_ns;
};

static void scene_open(struct scene *scene, const char *dir)
{
    const struct store_caps caps = MIRE_STORE_CAPS_INIT;
    const struct transport transport = {answer_as_told, &scene->server};
    struct blackbox_facts facts = {.memory_bytes = 6ull << 30};

    memset(scene, 0, sizeof(*scene));
    scene->now_ns = 1000 * MIRE_NS_PER_S;
    mire__text_copy(facts.install, sizeof(facts.install), "00112233445566778899aabbccddeeff");
    mire__text_copy(facts.app_version, sizeof(facts.app_version), "8.0 b&c/\xc3\xa9");
    mire__text_copy(facts.app_channel, sizeof(facts.app_channel), "gray");
    assert_int_equal(mire__store_open(&scene->store, dir, &caps), MIRE_OK);
    struct upload_options options = MIRE_UPLOAD_OPTIONS_INIT;
    options.url = "http://x";
    options.key = "k";
    assert_int_equal(mire__upload_open(&scene->upload, scene->store, &options, &transport), MIRE_OK);
    mire__remote_init(&scene->remote, &facts, scene->store);
}

static void scene_close(struct scene *scene)
{
    mire__upload_close(scene->upload);
    mire__store_close(scene->store);
}

/* Advance to the due time, and ask. Returns the seconds to the next due time. */
static double ask(struct scene *scene)
{
    uint64_t due_ns;

    if (scene->remote.due_ns > scene->now_ns)
        scene->now_ns = scene->remote.due_ns;
    due_ns = mire__remote_step(&scene->remote, scene->upload, scene->store, scene->now_ns, &now);
    return (double)(due_ns - scene->now_ns) / MIRE_NS_PER_S;
}

static void assert_about(double value, double wanted)
{
    if (value < wanted * 0.899 || value > wanted * 1.101)
        fail_msg("%g is not about %g", value, wanted);
}

static uint64_t kept_version(struct scene *scene)
{
    char text[MIRE_WIRE_ROLLOUT_MAX], etag[MIRE_STORE_ETAG_BYTES];
    struct rollout rollout;
    size_t size = mire__store_rollout(etag, text, sizeof(text), scene->store);

    return size > 0 && mire__rollout_read(&rollout, text, size) == MIRE_OK ? rollout.version : 0;
}

static void it_says_what_the_installation_is(void **state)
{
    struct scene scene;

    scene_open(&scene, *state);
    scene.server.status = 404;
    assert_about(ask(&scene), 3600);
    assert_string_equal(scene.server.path,
                        "/api/v1/rollout?install=00112233445566778899aabbccddeeff&version=8.0%20b%26c%2F"
                        "%C3%A9&channel=gray&class=6gb");
    assert_string_equal(scene.server.known, "");
    scene_close(&scene);
}

static void a_good_document_is_kept_and_not_asked_for_twice(void **state)
{
    struct scene scene;

    scene_open(&scene, *state);
    scene.server =
        (struct server){.status = 200, .etag = "\"a\"", .text = "{\"mire_rollout\":1,\"version\":7,\"fetch_s\":900}"};
    assert_about(ask(&scene), 900);
    assert_int_equal(kept_version(&scene), 7);
    assert_int_equal(mire__remote_step(&scene.remote, scene.upload, scene.store, scene.now_ns + MIRE_NS_PER_S, &now),
                     scene.remote.due_ns);
    assert_int_equal(scene.server.asked, 1);
    scene.server = (struct server){.status = 304, .etag = "\"a\""};
    assert_about(ask(&scene), 900);
    assert_string_equal(scene.server.known, "\"a\"");
    assert_int_equal(kept_version(&scene), 7);
    scene.server =
        (struct server){.status = 200, .etag = "\"b\"", .text = "{\"mire_rollout\":1,\"version\":8,\"kill\":true}"};
    ask(&scene);
    assert_true(scene.remote.killed);
    assert_int_equal(kept_version(&scene), 8);
    scene_close(&scene);
}

static void a_bad_one_leaves_the_last_good_one(void **state)
{
    static const char *const bad[] = {"", "<html>", "{\"mire_rollout\":2}", "{\"mire_rollout\":1,\"kill\":tr"};
    struct scene scene;

    scene_open(&scene, *state);
    scene.server =
        (struct server){.status = 200, .etag = "\"a\"", .text = "{\"mire_rollout\":1,\"version\":7,\"kill\":true}"};
    ask(&scene);
    for (size_t i = 0; i < MIRE_COUNT(bad); i++) {
        scene.server = (struct server){.status = 200, .etag = "\"b\"", .text = bad[i]};
        ask(&scene);
        assert_string_equal(scene.server.known, "\"a\"");
        assert_int_equal(kept_version(&scene), 7);
        assert_true(scene.remote.killed);
    }
    scene_close(&scene);
}

static void failures_are_tried_again_ever_later(void **state)
{
    static const double waits_s[] = {60, 120, 240, 480, 960, 1920, 3600, 3600};
    struct scene scene;

    scene_open(&scene, *state);
    scene.server.status = 500;
    for (size_t i = 0; i < MIRE_COUNT(waits_s); i++)
        assert_about(ask(&scene), waits_s[i]);
    scene.server.status = 404;
    assert_about(ask(&scene), 3600);
    scene.server.status = 0;
    assert_about(ask(&scene), 60);
    scene_close(&scene);
}

static void a_server_that_wants_to_be_left_alone_is(void **state)
{
    struct scene scene;

    scene_open(&scene, *state);
    scene.server = (struct server){.status = 503, .retry_after = "600"};
    ask(&scene);
    ask(&scene); /* the wall clock is fixed here */
    ask(&scene);
    assert_int_equal(scene.server.asked, 1);
    struct store_after after;
    mire__store_after(&after, scene.store);
    assert_true(after.until_ms >= NOW + 600000);
    assert_int_equal(mire__remote_step(&scene.remote, NULL, scene.store, scene.now_ns, &now), UINT64_MAX);
    scene_close(&scene);
}

static void nobody_is_asked_before_the_user_agrees(void **state)
{
    struct scene scene;

    scene_open(&scene, *state);
    scene.server.status = 404;
    mire__store_set_consent(scene.store, MIRE_CONSENT_REFUSED);
    assert_int_equal(mire__remote_step(&scene.remote, scene.upload, scene.store, scene.now_ns, &now), UINT64_MAX);
    assert_int_equal(scene.server.asked, 0);
    mire__store_set_consent(scene.store, MIRE_CONSENT_GIVEN);
    assert_about(ask(&scene), 3600);
    assert_int_equal(scene.server.asked, 1);
    scene_close(&scene);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_new, scratch_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(it_says_what_the_installation_is),        TEST(a_good_document_is_kept_and_not_asked_for_twice),
        TEST(a_bad_one_leaves_the_last_good_one),      TEST(failures_are_tried_again_ever_later),
        TEST(a_server_that_wants_to_be_left_alone_is), TEST(nobody_is_asked_before_the_user_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
