/*
 * sentry_context.c - the context of a Sentry event: user, tags, flags, breadcrumbs and the state of the device.
 */
#include "decode/sentry.h"

#include "decode/build_context.h"

#include <stdio.h>
#include <string.h>

struct fact sentry_time(struct build *b, const struct json *json, uint32_t at)
{
    if (!at)
        return (struct fact){0};
    if (json_kind(json, at) == MIRE_JSON_STRING)
        return read_time(build_string(b, json, at));
    double seconds = json_double(json, at);
    return seconds > 0 && seconds < 1e12 ? (struct fact){(uint64_t)(seconds * 1000 + 0.5), true} : (struct fact){0};
}

uint32_t sentry_values(const struct json *json, uint32_t at)
{
    uint32_t values = at ? look_one(json, at, "values") : 0;
    return values ? values : at;
}

static void read_user(struct build *b, const struct json *json)
{
    static const char *const names[] = {"id", "email", "username"};
    uint32_t user = look_root(json, "user");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint32_t at = look_one(json, user, names[i]);
        struct fact number = look_number(json, at);
        const char *text = look_text(b, json, user, names[i]);
        build_user(b, text[0] || !number.known ? text : build_printf(b, "%llu", (unsigned long long)number.value));
    }
}

/* All members of an object, each with a prefix. */
static void read_members(struct build *b, const struct json *json, uint32_t at, const char *prefix)
{
    uint32_t count = at && json_kind(json, at) == MIRE_JSON_OBJECT ? json_size(json, at) : 0, member = at + 1;
    for (uint32_t i = 0; i < count; i++, member = json_next(json, member + 1))
        build_tag_at(b, build_printf(b, "%s%s", prefix, build_string(b, json, member)), json, member + 1);
}

/* An object, or a list of [name, value]. */
static void read_tags(struct build *b, const struct json *json)
{
    uint32_t tags = look_root(json, "tags"), count = look_count(json, tags), at = tags + 1;
    read_members(b, json, tags, "");
    for (uint32_t i = 0; i < count; i++, at = json_next(json, at))
        if (look_count(json, at) == 2)
            build_tag_at(b, build_string(b, json, at + 1), json, json_next(json, at + 1));
}

/* contexts.flags: {"values": [{"flag": "cart-v2", "result": true}]} */
static void read_flags(struct build *b, const struct json *json, uint32_t contexts)
{
    uint32_t flags = sentry_values(json, look_one(json, contexts, "flags"));
    uint32_t count = look_count(json, flags), at = flags + 1;
    for (uint32_t i = 0; i < count; i++, at = json_next(json, at)) {
        const char *name = look_text(b, json, at, "flag");
        if (name[0])
            build_tag_at(b, build_printf(b, "flag.%s", name), json, look_one(json, at, "result"));
    }
}

static void read_state(struct build *b, const struct json *json, uint32_t contexts)
{
    static const char *const words[][2] = {
        {"battery_level", "battery"}, {"charging", "charging"},       {"connection_type", "network"},
        {"online", "online"},         {"orientation", "orientation"}, {"thermal_state", "thermal"},
        {"low_memory", "low_memory"}, {"simulator", "simulator"},     {"manufacturer", "manufacturer"}};
    static const char *const amounts[][2] = {{"free_memory", "free_memory"}, {"free_storage", "free_disk"}};
    uint32_t device = look_one(json, contexts, "device"), app = look_one(json, contexts, "app");
    uint32_t views = look_one(json, app, "view_names");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        build_tag_at(b, words[i][1], json, look_one(json, device, words[i][0]));
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++)
        build_tag_bytes(b, amounts[i][1], look_number(json, look_one(json, device, amounts[i][0])));
    uint32_t runtime = look_one(json, contexts, "runtime");
    const char *name = look_text(b, json, runtime, "name");
    if (name[0])
        build_tag(b, "runtime", build_printf(b, "%s %s", name, look_text(b, json, runtime, "version")));
    if (look_count(json, views))
        build_scene(b, build_string(b, json, views + 1));
    build_scene(b, build_string(b, json, look_root(json, "transaction")));
}

/* "ui.click: the cart", "http: GET https://example.org/cart 500" */
static void read_crumb(struct build *b, const struct json *json, uint32_t at)
{
    const char *kind = look_text(b, json, at, "category"), *text = look_text(b, json, at, "message");
    uint32_t data = look_one(json, at, "data");
    if (!kind[0])
        kind = look_text(b, json, at, "type");
    if (!text[0] && look_text(b, json, data, "url")[0]) {
        const char *url = look_text(b, json, data, "url");
        text = build_printf(b, "%s %.*s %llu", look_text(b, json, data, "method"), (int)strcspn(url, "?#"), url,
                            (unsigned long long)look_number(json, look_one(json, data, "status_code")).value);
    }
    if (!text[0] && look_text(b, json, data, "to")[0])
        text = build_printf(b, "%s -> %s", look_text(b, json, data, "from"), look_text(b, json, data, "to"));
    build_crumb(b, sentry_time(b, json, look_one(json, at, "timestamp")),
                kind[0] ? build_printf(b, "%s%s%s", kind, text[0] ? ": " : "", text) : text);
}

void sentry_context(struct build *b, const struct json *json)
{
    uint32_t contexts = look_root(json, "contexts");
    uint32_t crumbs = sentry_values(json, look_root(json, "breadcrumbs"));
    uint32_t count = look_count(json, crumbs), at = crumbs + 1;
    read_user(b, json);
    read_state(b, json, contexts);
    read_flags(b, json, contexts);
    read_tags(b, json);
    for (uint32_t i = 0; i < count; i++, at = json_next(json, at))
        read_crumb(b, json, at);
}
