/*
 * envelope.c - a Sentry envelope: a line of JSON for the whole, then for each item a line of JSON and its bytes.
 *
 *     {"event_id": ..., "dsn": ..., "sent_at": ...}
 *     {"type": "event", "length": 41, ...}
 *     <41 bytes>
 *     {"type": "attachment", "length": 5}
 *     hello
 *
 * Without a length an item ends with its line. Events are read; transactions, sessions, attachments and all else are
 * counted and left out. Source: develop.sentry.dev, "Envelopes".
 */
#include "decode/sentry.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define TYPES_MAX 16

struct envelope_item {
    char type[32];
    const char *bytes;
    size_t len, position;
};

struct counts {
    char type[TYPES_MAX][32];
    unsigned count[TYPES_MAX];
    size_t types;
};

/* Is the line the header of an item: an object with a type of its own? */
static bool is_item(const char *line, size_t len)
{
    const struct json_limits limits = {.depth_max = 8, .values_max = 256, .tolerant = true};
    struct json json;
    struct json_fault wrong;
    json_init(&json);
    bool good = len && json_read(&json, &wrong, line, len, &limits) == MIRE_JSON_OK;
    uint32_t type = good ? look_root(&json, "type") : 0;
    good = type && json_kind(&json, type) == MIRE_JSON_STRING && !look_root(&json, "event_id");
    json_fini(&json);
    return good;
}

/* A line of JSON, an object, with a line behind it that has a type. */
bool envelope_begins(const char *head, size_t len)
{
    const char *end = len ? memchr(head, '\n', len) : NULL;
    size_t first = end ? (size_t)(end - head) : 0;
    if (first < 2 || head[0] != '{' || (head[first - 1] != '}' && head[first - 1] != '\r') ||
        memmem(head, first, "\"bug_type\"", 10))
        return false;
    const char *next = end + 1;
    size_t left = len - first - 1;
    const char *next_end = left ? memchr(next, '\n', left) : NULL;
    return is_item(next, next_end ? (size_t)(next_end - next) : left);
}

/* The line at `at`, without its end; *next is behind it. */
static size_t line_at(const char *bytes, size_t len, size_t at, size_t *next)
{
    const char *end = at < len ? memchr(bytes + at, '\n', len - at) : NULL;
    size_t stop = end ? (size_t)(end - bytes) : len;
    *next = end ? stop + 1 : len;
    return stop - at;
}

/* The header of an item, and where its bytes are. */
static enum decode_outcome read_header(struct envelope_item *out, size_t *at, struct foreign *foreign,
                                       struct json *json, const char *bytes, size_t len)
{
    const struct json_limits limits = {.depth_max = 32, .values_max = 4096, .tolerant = true};
    struct json_fault wrong;
    size_t next, line = line_at(bytes, len, *at, &next);
    enum json_outcome outcome = json_read(json, &wrong, bytes + *at, line, &limits);
    if (outcome == MIRE_JSON_NO_MEMORY)
        return MIRE_DECODE_NO_MEMORY;
    if (outcome || json_kind(json, 0) != MIRE_JSON_OBJECT)
        return foreign_malformed(foreign, *at + (outcome ? wrong.at : 0),
                                 "an item of the envelope begins with a line of JSON");
    uint32_t type = look_root(json, "type");
    struct fact length = look_number(json, look_root(json, "length"));
    *out = (struct envelope_item){.bytes = bytes + next, .position = next};
    if (type && json_kind(json, type) == MIRE_JSON_STRING && json_size(json, type) < sizeof out->type)
        out->type[json_text(out->type, json, type)] = '\0';
    if (length.known && length.value > len - next)
        return foreign_malformed(foreign, *at, "the item says that it has more bytes than there are");
    out->len = length.known ? (size_t)length.value : line_at(bytes, len, next, at);
    if (length.known)
        *at = next + out->len + (next + out->len < len && bytes[next + out->len] == '\n');
    return MIRE_DECODE_OK;
}

static void count(struct counts *counts, const char *type)
{
    size_t i = 0;
    while (i < counts->types && strcmp(counts->type[i], type) != 0)
        i++;
    if (i == TYPES_MAX)
        return;
    if (i == counts->types)
        snprintf(counts->type[counts->types++], sizeof counts->type[0], "%s", type[0] ? type : "item");
    counts->count[i]++;
}

static const char *write_left_out(char *out, size_t room, const struct counts *counts)
{
    size_t len = 0;
    out[0] = '\0';
    for (size_t i = 0; i < counts->types && len + 1 < room; i++) {
        int more = snprintf(out + len, room - len, "%s%u %s", i ? ", " : "", counts->count[i], counts->type[i]);
        len += more > 0 ? (size_t)more : 0;
    }
    return out;
}

/* All items: of the first pass only counts, of the second the events. */
static enum decode_outcome each_item(struct foreign *foreign, struct json *json, size_t at, struct counts *counts,
                                     const char *left_out)
{
    const struct json_limits limits = {MIRE_FOREIGN_DEPTH_MAX, 2u << 20, true};
    enum decode_outcome outcome = MIRE_DECODE_OK;
    while (at < foreign->len && !outcome) {
        struct envelope_item item;
        struct json_fault wrong;
        if (foreign->text[at] == '\n' || foreign->text[at] == '\r') {
            at++;
            continue;
        }
        outcome = read_header(&item, &at, foreign, json, foreign->text, foreign->len);
        if (outcome)
            break;
        bool event = !strcmp(item.type, "event");
        if (!event && !left_out)
            count(counts, item.type);
        if (!event || !left_out)
            continue;
        arena_reset(foreign->arena);
        enum json_outcome read = json_read(json, &wrong, item.bytes, item.len, &limits);
        if (read)
            return read == MIRE_JSON_NO_MEMORY ? MIRE_DECODE_NO_MEMORY
                                               : foreign_malformed(foreign, item.position + wrong.at, "%s", wrong.text);
        foreign->position = item.position;
        outcome = sentry_event(foreign, json, left_out);
    }
    return outcome;
}

enum decode_outcome envelope_whole(struct foreign *foreign, const char *bytes, size_t len)
{
    struct counts counts = {.types = 0};
    struct json json;
    char left_out[512];
    size_t items;
    (void)line_at(bytes, len, 0, &items);
    json_init(&json);
    enum decode_outcome outcome = each_item(foreign, &json, items, &counts, NULL);
    if (!outcome)
        outcome = each_item(foreign, &json, items, &counts, write_left_out(left_out, sizeof left_out, &counts));
    json_fini(&json);
    return outcome;
}
