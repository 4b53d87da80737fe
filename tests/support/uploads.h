/*
 * uploads.h - a store with reports, and a transport with scripted responses. Include after cmocka.h.
 */
#ifndef MIRE_TESTS_UPLOADS_H
#define MIRE_TESTS_UPLOADS_H

#include "base/base.h"
#include "store/sending.h"
#include "upload/rules.h"
#include "upload/upload.h"

#include <stdio.h>
#include <string.h>

#define NOW  1763685118456ull
#define BOOT 5000000ull /* the boot clock at NOW */
#define DAY  86400000ull

/* The body that was sealed under each id, for the response of mired. */
struct sealed {
    char id[40], body[8];
};
static struct sealed sealed[128];
static unsigned sealed_count;

static inline const char *id_of(const void *body, size_t size)
{
    for (unsigned i = sealed_count; i-- > 0;) /* the newest entry first: tests reuse bodies */
        if (strlen(sealed[i].body) == size && memcmp(sealed[i].body, body, size) == 0)
            return sealed[i].id;
    return "";
}

/* Responses in order; the last one is repeated. */
struct script {
    const struct upload_answer *answers;
    size_t count, used;
    char bodies[64][8];
    const char *types[64];
};

static inline void send_scripted(void *context, struct upload_answer *answer, const struct upload_request *request,
                                 const atomic_bool *cancel)
{
    struct script *script = context;
    size_t at = script->used < script->count ? script->used : script->count - 1;

    assert_false(atomic_load(cancel));
    assert_string_equal(request->path, "/api/v1/reports");
    assert_in_range(request->size, 0, 7);
    memcpy(script->bodies[script->used], request->body, request->size);
    script->types[script->used] = request->type;
    char *text = answer->text;
    size_t cap = answer->cap;
    *answer = script->answers[at];
    answer->text = text;
    answer->cap = cap;
    if (answer->status == 202)
        answer->size = (size_t)snprintf(text, cap, "{\"report_id\":\"%s\"}", id_of(request->body, request->size));
    if (answer->status == 202 && strstr(request->type, "metrickit"))
        answer->size = (size_t)snprintf(text, cap, "{\"report_ids\":[\"one\",\"other\"]}");
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

static inline void scene_open_with(struct scene *scene, const char *dir, const struct upload_answer *answers,
                                   size_t count, struct upload_options options)
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

static inline void scene_open(struct scene *scene, const char *dir, const struct upload_answer *answers, size_t count)
{
    scene_open_with(scene, dir, answers, count, (struct upload_options)MIRE_UPLOAD_OPTIONS_INIT);
}

static inline void scene_close(struct scene *scene)
{
    mire__upload_close(scene->upload);
    mire__store_close(scene->store);
}

static inline void seal_of(struct scene *scene, const char *body, enum store_value value)
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

static inline void seal(struct scene *scene, const char *body)
{
    seal_of(scene, body, MIRE_VALUE_HANG);
}

static inline enum mire_err seal_bytes(struct scene *scene, const void *body, size_t size)
{
    static unsigned serial;
    char id[40];

    snprintf(id, sizeof(id), "%08x-%04x-7000-9000-%012x", (unsigned)(NOW >> 16), (unsigned)(NOW & 0xffff), serial++);
    const struct store_report report = {.id = id, .body = body, .size = size, .value = MIRE_VALUE_HANG};
    return mire__store_put(scene->store, &report, NOW);
}

static inline enum mire_err seal_large(struct scene *scene)
{
    static const char large[MIRE_METERED_BYTES + 1];

    return seal_bytes(scene, large, sizeof(large));
}

/* Run a round; both clocks agree. */
static inline uint64_t round_at(struct scene *scene, uint64_t now_ms)
{
    const struct upload_now now = {.wall_ms = now_ms, .boot_ms = now_ms - NOW + BOOT};

    return mire__upload_round(scene->upload, &scene->tally, &now);
}

/* Run a round after the wall clock has jumped. */
static inline uint64_t round_at_both(struct scene *scene, uint64_t wall_ms, uint64_t since_ms)
{
    const struct upload_now now = {.wall_ms = wall_ms, .boot_ms = BOOT + since_ms};

    return mire__upload_round(scene->upload, &scene->tally, &now);
}

static inline uint64_t dropped(struct scene *scene, enum store_reason reason)
{
    uint64_t counts[MIRE_DROP_REASONS];

    mire__store_drops(counts, scene->store);
    return counts[reason];
}

#endif
