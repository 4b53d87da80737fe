/* build_context.c - see build_context.h. */
#include "decode/build_context.h"

#include "base/id.h"
#include "base/text.h"
#include "decode/apple.h"
#include "model/context.h"
#include "wire/limits.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAME_MAX_BYTES  32
#define MEMBERS_DEPTH   3 /* objects within each other that become tags */
#define VALUE_MAX_BYTES 127
#define CRUMB_MAX_BYTES 256

struct crumb { /* as the format has it */
    uint64_t wall_ms;
    uint32_t order;
    const char *text;
};

/* A copy of at most `most` bytes, cut between two characters, with spaces in place of control characters. */
static const char *cut(struct build *b, const char *text, size_t most)
{
    size_t len = text_cut(text, strlen(text), most);
    char copy[CRUMB_MAX_BYTES + 1];
    for (size_t i = 0; i < len; i++)
        copy[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? ' ' : text[i];
    return build_text(b, copy, len);
}

void build_state(struct build *b, const char *state)
{
    static const char *const states[] = {"foreground", "visible", "perceptible", "background"};
    struct report_context *context = &b->report->context;
    for (size_t i = 0; !context->state && i < sizeof states / sizeof *states; i++)
        if (!strcmp(states[i], state))
            context->state = states[i];
}

void build_scene(struct build *b, const char *scene)
{
    if (scene[0] && !b->report->context.scene)
        b->report->context.scene = cut(b, scene, VALUE_MAX_BYTES);
}

void build_user(struct build *b, const char *id)
{
    struct report_context *context = &b->report->context;
    uint8_t hash[MIRE_USER_HASH];
    char hex[2 * MIRE_USER_HASH + 1];
    if (!id[0] || context->user)
        return;
    if (context_hash(hash, b->arena, id)) {
        b->failed = true;
        return;
    }
    hex_format(hex, hash, sizeof hash);
    context->user = build_text(b, hex, 2 * MIRE_USER_HASH);
    context->user_hashed = true;
}

void build_tag(struct build *b, const char *name, const char *value)
{
    const struct report_tag *tags = b->tags.rows;
    char plain[NAME_MAX_BYTES + 1];
    size_t len = 0;
    for (; name[len] && len < NAME_MAX_BYTES; len++)
        plain[len] = isalnum((unsigned char)name[len]) || strchr("_-.", name[len]) ? name[len] : '_';
    plain[len] = '\0';
    if (!len || !value[0])
        return;
    for (uint32_t i = 0; i < b->tags.count; i++)
        if (!strcmp(tags[i].name, plain))
            return;
    struct report_tag *row = build_push(b, &b->tags, sizeof *row, MIRE_BUILD_TAGS);
    if (row)
        *row = (struct report_tag){build_text(b, plain, len), cut(b, value, VALUE_MAX_BYTES)};
}

void build_tag_at(struct build *b, const char *name, const struct json *json, uint32_t at)
{
    char text[64] = "";
    if (!at)
        return;
    switch (json_kind(json, at)) {
    case MIRE_JSON_STRING:
        build_tag(b, name, build_string(b, json, at));
        return;
    case MIRE_JSON_TRUE:
    case MIRE_JSON_FALSE:
        build_tag(b, name, json_kind(json, at) == MIRE_JSON_TRUE ? "true" : "false");
        return;
    case MIRE_JSON_UINT:
    case MIRE_JSON_INT:
    case MIRE_JSON_DOUBLE:
        snprintf(text, sizeof text, "%.15g", json_double(json, at));
        build_tag(b, name, text);
        return;
    default:
        return;
    }
}

void build_tag_bytes(struct build *b, const char *name, struct fact bytes)
{
    if (bytes.known)
        build_tag(b, name, build_printf(b, "%" PRIu64 " MiB", bytes.value >> 20));
}

void build_crumb(struct build *b, struct fact wall_ms, const char *text)
{
    const struct crumb *before = b->crumbs.rows;
    uint64_t last = b->crumbs.count ? before[b->crumbs.count - 1].wall_ms : 0;
    if (!text[0])
        return;
    struct crumb *row = build_push(b, &b->crumbs, sizeof *row, UINT32_MAX - 1);
    if (row)
        *row = (struct crumb){wall_ms.known ? wall_ms.value : last, b->crumbs.count, cut(b, text, CRUMB_MAX_BYTES)};
}

/* ---- members of an object ---- */

/* Names under which apps file who the user is. */
static bool is_user(const char *name)
{
    static const char *const names[] = {"uin", "uid", "user", "userid", "user_id", "username", "email", "openid"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcasecmp(names[i], name))
            return true;
    return false;
}

static bool is_listed(const char *const *names, const char *name)
{
    while (names && *names && strcmp(*names, name) != 0)
        names++;
    return names && *names;
}

struct added_members {
    const struct json *json;
    const char *const *known;
};

static void take_members(struct build *b, const struct added_members *of, uint32_t at, const char *prefix, int depth)
{
    const struct json *json = of->json;
    uint32_t count = json_kind(json, at) == MIRE_JSON_OBJECT ? json_size(json, at) : 0, member = at + 1;
    for (uint32_t i = 0; i < count; i++, member = json_next(json, member + 1)) {
        const char *name = build_string(b, json, member);
        uint32_t value = member + 1;
        if (depth == 1 && is_listed(of->known, name))
            continue;
        if (json_kind(json, value) == MIRE_JSON_OBJECT) {
            if (depth < MEMBERS_DEPTH)
                take_members(b, of, value, build_printf(b, "%s%s.", prefix, name), depth + 1);
        } else if (is_user(name)) {
            struct fact number = look_number(json, value);
            const char *text = build_string(b, json, value);
            build_user(b, text[0] || !number.known ? text : build_printf(b, "%" PRIu64, number.value));
        } else {
            build_tag_at(b, build_printf(b, "%s%s", prefix, name), json, value);
        }
    }
}

void build_members(struct build *b, const struct json *json, uint32_t at, const char *const *known)
{
    const struct added_members of = {json, known};
    take_members(b, &of, at, "", 1);
}

static int by_time(const void *a, const void *b)
{
    const struct crumb *x = a, *y = b;
    if (x->wall_ms != y->wall_ms)
        return x->wall_ms < y->wall_ms ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* The clock of the report: milliseconds of wall time at which it is 0. */
static uint64_t begin_clock(struct report *report, uint64_t first_ms)
{
    struct report_process *process = &report->process;
    bool memory = report->kind == MIRE_REPORT_MEMORY;
    struct fact of_ms = memory ? report->memory.taken_wall_ms : report->event.begin_wall_ms;
    uint64_t *of_ns = memory ? &report->memory.taken_ns : &report->event.begin_ns;
    uint64_t zero_ms = first_ms;
    if (process->start_wall_ms.known && process->start_wall_ms.value < zero_ms)
        zero_ms = process->start_wall_ms.value;
    if (!process->start_ns.known && of_ms.known && of_ms.value >= zero_ms) {
        process->start_ns = (struct fact){0, true};
        *of_ns = (of_ms.value - zero_ms) * 1000000;
    }
    return zero_ms;
}

static void end_crumbs(struct build *b)
{
    struct crumb *crumbs = b->crumbs.rows;
    uint32_t count = b->crumbs.count < MIRE_BUILD_CRUMBS ? b->crumbs.count : MIRE_BUILD_CRUMBS;
    struct report_crumb *rows = arena_array(b->arena, count, sizeof *rows);
    b->failed |= !rows;
    if (!rows || !count)
        return;
    b->crumbs.lost += b->crumbs.count - count;
    b->all_lost += b->crumbs.count - count;
    qsort(crumbs, b->crumbs.count, sizeof *crumbs, by_time);
    crumbs += b->crumbs.count - count;
    uint64_t zero_ms = begin_clock(b->report, crumbs[0].wall_ms);
    for (uint32_t i = 0; i < count; i++)
        rows[i] = (struct report_crumb){crumbs[i].wall_ms - zero_ms, crumbs[i].text};
    b->report->context.crumbs = rows;
    b->report->context.crumb_count = count;
}

void build_end_context(struct build *b)
{
    struct report_context *context = &b->report->context;
    if (!context->state && b->report->event.foreground_known)
        context->state = b->report->event.foreground ? "foreground" : "background";
    context->tags = b->tags.rows;
    context->tag_count = b->tags.count;
    end_crumbs(b);
}
