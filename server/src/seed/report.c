/*
 * report.c - the documents of inside.h. Names are those that the device knows, so no debug file is needed.
 */
#include "seed/inside.h"
#include "seed/seed.h"

#include "json/write.h"

#include <stdio.h>
#include <stdlib.h>

#define SAMPLE_MS       50
#define LIMIT_BYTES_MAX (3ull << 30)
#define FRAMES          5 /* of a stack: four of the app, one of the C library */

static const char *const verbs[] = {"decode", "load", "sort", "layout", "parse", "compress", "index", "merge"};
static const char *const nouns[] = {"thumbnails", "bookmarks", "messages", "fonts", "history"};
static const char *const scenes[] = {"on_open_document", "on_scroll", "on_search", "on_sync", "on_paste"};
static const char *const leaves[] = {"memcpy", "read", "fsync", "nanosleep"};
static const char *const versions[SEED_VERSIONS] = {"1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0"};

#define COUNT(array) (sizeof(array) / sizeof *(array))

uint32_t seed_roll(uint64_t *state, uint32_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u; /* Knuth, MMIX */
    return (uint32_t)(*state >> 33) % below;
}

const char *seed_planted_version(void)
{
    return versions[SEED_PLANTED];
}

static void name_function(char out[MIRE_SEED_FUNCTION], int hang)
{
    size_t at = (size_t)hang;
    snprintf(out, 64, "%s_%s", verbs[at % COUNT(verbs)], nouns[at / COUNT(verbs) % COUNT(nouns)]);
}

const char *seed_planted(char room[MIRE_SEED_FUNCTION])
{
    name_function(room, 0);
    return room;
}

static const struct model {
    const char *name, *class_name, *os_version;
    uint64_t bytes;
} models[] = {{"ThinkPad X1", "16gb", "6.1", 16ull << 30}, {"XPS 13", "8gb", "6.8", 8ull << 30},
              {"IdeaPad 3", "4gb", "5.15", 4ull << 30},    {"Latitude 5440", "16gb", "6.1", 16ull << 30},
              {"Aspire 5", "8gb", "5.15", 8ull << 30},     {"NUC 11", "32gb", "6.8", 32ull << 30},
              {"Pavilion 15", "8gb", "6.1", 8ull << 30},   {"Chromebook 14", "4gb", "6.1", 4ull << 30}};

static const struct model *model_of(uint32_t install)
{
    uint64_t state = install + 1u;

    return &models[seed_roll(&state, 1 + seed_roll(&state, COUNT(models)))];
}

uint64_t seed_limit_bytes(uint32_t install)
{
    uint64_t quarter = model_of(install)->bytes / 4;

    return quarter < LIMIT_BYTES_MAX ? quarter : LIMIT_BYTES_MAX;
}

static void write_device(struct json_writer *w, uint32_t install)
{
    const struct model *model = model_of(install);
    char id[40];

    snprintf(id, sizeof id, "%08x5eed%020x", install * 2654435761u, install); /* the first digits tell them apart */
    json_write_open(w, "device", '{');
    json_write_text(w, "install", id);
    json_write_text(w, "os", "linux");
    json_write_text(w, "os_version", model->os_version);
    json_write_text(w, "model", model->name);
    json_write_text(w, "class", model->class_name);
    json_write_text(w, "arch", "x86_64");
    json_write_u64(w, "memory_bytes", model->bytes);
    json_write_close(w, '}');
}

void seed_write_head(struct json_writer *w, const char *kind, const char *app, const struct uuid *id,
                     const struct seed_session *session)
{
    char text[MIRE_UUID_TEXT];

    uuid_format(text, id);
    json_write_begin(w);
    json_write_open(w, NULL, '{');
    json_write_u64(w, "mire", 1);
    json_write_text(w, "id", text);
    json_write_text(w, "kind", kind);
    json_write_open(w, "app", '{');
    json_write_text(w, "name", app);
    json_write_text(w, "version", versions[session->version]);
    json_write_text(w, "channel", session->install % 50 ? "public" : "internal");
    json_write_close(w, '}');
    write_device(w, session->install);
}

bool seed_finish(struct text *out, struct json_writer *w)
{
    json_write_close(w, '}');
    bool good = !w->failed;
    if (good)
        text_append(out, w->text, w->len);
    free(w->text);
    return good && !text_failed(out);
}

bool seed_write_session(struct text *out, const char *app, const struct uuid *id, const struct seed_session *session)
{
    static const char *const plugins[] = {"hang", "memory", "exit", "session"};
    struct json_writer w;

    seed_write_head(&w, "session", app, id, session);
    json_write_open(&w, "session", '{');
    json_write_u64(&w, "begin_wall_ms", (uint64_t)session->device_us / 1000);
    json_write_u64(&w, "duration_ms", session->duration_ms);
    json_write_open(&w, "on", '[');
    for (size_t i = 0; i < COUNT(plugins); i++)
        json_write_text(&w, NULL, plugins[i]);
    json_write_close(&w, ']');
    json_write_open(&w, "hangs", '{');
    if (session->hangs) {
        json_write_open(&w, "foreground", '{');
        json_write_u64(&w, "count", session->hangs);
        json_write_u64(&w, "duration_ms", session->hang_ms);
        json_write_close(&w, '}');
    }
    json_write_close(&w, '}');
    json_write_open(&w, "ends", '[');
    json_write_open(&w, NULL, '{');
    json_write_text(&w, "verdict", session->verdict);
    json_write_close(&w, '}');
    json_write_close(&w, ']');
    json_write_u64(&w, "footprint_peak_bytes", session->peak_bytes);
    json_write_close(&w, '}');
    return seed_finish(out, &w);
}

void seed_write_process(struct json_writer *w, const char *app)
{
    json_write_open(w, "process", '{');
    json_write_u64(w, "pid", 4711);
    json_write_text(w, "name", app);
    json_write_close(w, '}');
}

void seed_write_image(struct json_writer *w, const char *path, uint64_t load, bool own)
{
    json_write_open(w, NULL, '{');
    json_write_text(w, "name", path);
    json_write_u64(w, "load", load);
    json_write_bool(w, "own", own);
    json_write_close(w, '}');
}

/* Frame i, from the outermost one: name i, of the app but for the last. */
static void write_frames(struct json_writer *w, const char *const names[FRAMES], int hang)
{
    json_write_open(w, "script", '{');
    json_write_open(w, "texts", '[');
    for (int i = 0; i < FRAMES; i++)
        json_write_text(w, NULL, names[i]);
    json_write_close(w, ']');
    json_write_open(w, "function", '[');
    for (uint64_t i = 0; i < FRAMES; i++)
        json_write_u64(w, NULL, i);
    json_write_close(w, ']');
    json_write_close(w, '}');
    json_write_open(w, "frames", '{');
    json_write_open(w, "image", '[');
    for (int i = 0; i < FRAMES; i++)
        json_write_u64(w, NULL, i == FRAMES - 1);
    json_write_close(w, ']');
    json_write_open(w, "offset", '[');
    for (int i = 0; i < FRAMES; i++)
        json_write_u64(w, NULL, (uint64_t)(4096 + 256 * (i * SEED_HANGS + hang)));
    json_write_close(w, ']');
    json_write_open(w, "name", '[');
    for (uint64_t i = 0; i < FRAMES; i++)
        json_write_u64(w, NULL, i);
    json_write_close(w, ']');
    json_write_close(w, '}');
    json_write_open(w, "nodes", '{');
    json_write_open(w, "up", '[');
    for (int i = 0; i < FRAMES; i++)
        json_write_u64(w, NULL, 1);
    json_write_close(w, ']');
    json_write_open(w, "frame", '[');
    for (uint64_t i = 0; i < FRAMES; i++)
        json_write_u64(w, NULL, i);
    json_write_close(w, ']');
    json_write_close(w, '}');
}

static void write_samples(struct json_writer *w, uint32_t duration_ms)
{
    uint64_t count = duration_ms / SAMPLE_MS;

    count = count > 200 ? 200 : count;
    json_write_open(w, "samples", '{');
    json_write_u64(w, "period_ms", SAMPLE_MS);
    json_write_open(w, "at_ms", '[');
    for (uint64_t i = 0; i < count; i++)
        json_write_u64(w, NULL, i * SAMPLE_MS);
    json_write_close(w, ']');
    json_write_open(w, "weight_ms", '[');
    for (uint64_t i = 0; i < count; i++)
        json_write_u64(w, NULL, SAMPLE_MS);
    json_write_close(w, ']');
    json_write_open(w, "node", '[');
    for (uint64_t i = 0; i < count; i++)
        json_write_u64(w, NULL, i % 6 ? FRAMES : FRAMES - 1);
    json_write_close(w, ']');
    json_write_close(w, '}');
}

bool seed_write_hang(struct text *out, const char *app, const struct uuid *id, const struct seed_session *session,
                     const struct seed_hang *hang)
{
    char function[64], helper[80], path[128];
    const char *scene = scenes[(size_t)hang->number % COUNT(scenes)];
    struct json_writer w;

    name_function(function, hang->number);
    snprintf(helper, sizeof helper, "%s_step", function);
    snprintf(path, sizeof path, "/opt/%s/bin/%s", app, app);
    seed_write_head(&w, "event", app, id, session);
    seed_write_process(&w, app);
    json_write_open(&w, "images", '[');
    seed_write_image(&w, path, 0x555500000000u, true);
    seed_write_image(&w, "/usr/lib/x86_64-linux-gnu/libc.so.6", 0x7f0000000000u, false);
    json_write_close(&w, ']');
    write_frames(
        &w, (const char *const[]){"main", scene, helper, function, leaves[(size_t)hang->number / 5 % COUNT(leaves)]},
        hang->number);
    json_write_open(&w, "event", '{');
    json_write_u64(&w, "begin_ns", 1);
    json_write_u64(&w, "begin_wall_ms", (uint64_t)hang->device_us / 1000);
    json_write_u64(&w, "duration_ms", hang->duration_ms);
    json_write_u64(&w, "threshold_ms", 500);
    json_write_text(&w, "trigger", "busy");
    json_write_bool(&w, "open", false);
    json_write_bool(&w, "foreground", true);
    write_samples(&w, hang->duration_ms);
    json_write_close(&w, '}');
    return seed_finish(out, &w);
}
