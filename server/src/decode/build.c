/* build.c - see build.h: lists, tables and texts. Their rows are in build_rows.c. */
#include "decode/build.h"

#include "base/text.h"
#include "wire/limits.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- lists and tables ---- */

void *build_push(struct build *build, struct build_list *list, size_t size, size_t most)
{
    if (list->count >= most) {
        list->lost++;
        build->all_lost++;
        return NULL;
    }
    if (list->count == list->room) {
        size_t room = list->room ? list->room * 2 : 64;
        void *rows = build->failed ? NULL : arena_array(build->arena, room, size);
        if (!rows) {
            build->failed = true;
            return NULL;
        }
        if (list->count)
            memcpy(rows, list->rows, list->count * size);
        list->rows = rows;
        list->room = room;
    }
    return (char *)list->rows + size * list->count++;
}

static void put(struct build_table *table, uint32_t row, uint32_t hash)
{
    size_t at = hash & (table->room - 1);
    while (table->rows[at])
        at = (at + 1) & (table->room - 1);
    table->rows[at] = row + 1;
    table->hashes[at] = hash;
}

void build_insert(struct build *build, struct build_table *table, uint32_t hash, size_t row)
{
    if (table->count * 2 >= table->room) { /* a load of at most a half */
        struct build_table wide = {.room = table->room ? table->room * 2 : 256, .count = table->count};
        wide.rows = build->failed ? NULL : arena_array(build->arena, wide.room, sizeof *wide.rows);
        wide.hashes = wide.rows ? arena_array(build->arena, wide.room, sizeof *wide.hashes) : NULL;
        if (!wide.hashes) {
            build->failed = true;
            return;
        }
        for (size_t i = 0; i < table->room; i++)
            if (table->rows[i])
                put(&wide, table->rows[i] - 1, table->hashes[i]);
        *table = wide;
    }
    put(table, (uint32_t)row, hash);
    table->count++;
}

bool build_seek(size_t *row_out, const struct build_table *table, struct build_seek *seek)
{
    size_t mask = table->room - 1;
    if (!table->room)
        return false;
    seek->at = seek->begun ? (seek->at + 1) & mask : seek->hash & mask;
    seek->begun = true;
    for (; table->rows[seek->at]; seek->at = (seek->at + 1) & mask) {
        if (table->hashes[seek->at] != seek->hash)
            continue;
        *row_out = table->rows[seek->at] - 1;
        return true;
    }
    return false;
}

uint32_t build_hash(const struct build *build, const void *bytes, size_t len)
{
    uint64_t hash = hash_short(build->key, bytes, len);
    return (uint32_t)(hash ^ hash >> 32);
}

/* Multiplied by odd numbers nobody knows. */
uint32_t build_mix(const struct build *build, uint64_t a, uint64_t b)
{
    uint64_t keys[2];
    memcpy(keys, build->key, sizeof keys);
    uint64_t hash = (a + 1) * (keys[0] | 1);
    hash = (hash ^ hash >> 29 ^ b) * (keys[1] | 1);
    return (uint32_t)(hash >> 32);
}

/* ---- texts ---- */

struct interned {
    const char *text;
    size_t len;
};

static const char *find_text(const struct build *build, const char *bytes, size_t len, uint32_t hash)
{
    const struct interned *texts = build->texts.rows;
    size_t row;
    for (struct build_seek seek = {.hash = hash}; build_seek(&row, &build->text_table, &seek);)
        if (texts[row].len == len && !memcmp(texts[row].text, bytes, len))
            return texts[row].text;
    return NULL;
}

static const char *mended(struct build *build, const char *bytes, size_t len)
{
    struct text text = {0};
    text_add_valid(&text, bytes, len);
    text.len = text_cut(text.bytes, text.len, MIRE_WIRE_TEXT_MAX);
    const char *copy = text_failed(&text) ? NULL : arena_copy(build->arena, text.len ? text.bytes : "", text.len);
    text_fini(&text);
    return copy;
}

const char *build_text(struct build *build, const char *bytes, size_t len)
{
    if (!bytes || !len || build->failed)
        return "";
    if (len > MIRE_WIRE_TEXT_MAX)
        len = MIRE_WIRE_TEXT_MAX;
    uint32_t hash = build_hash(build, bytes, len);
    const char *found = find_text(build, bytes, len, hash);
    if (found)
        return found;
    const char *copy = text_is_valid(bytes, len) ? arena_copy(build->arena, bytes, len) : mended(build, bytes, len);
    struct interned *row = copy ? build_push(build, &build->texts, sizeof *row, UINT32_MAX - 1) : NULL;
    if (!row) {
        build->failed = true;
        return "";
    }
    *row = (struct interned){copy, strlen(copy)};
    if (row->len == len && !memcmp(copy, bytes, len)) /* else the same bytes are mended again: they are rare */
        build_insert(build, &build->text_table, hash, build->texts.count - 1);
    return copy;
}

const char *build_string(struct build *build, const struct json *json, uint32_t at)
{
    char few[256];
    if (!at || json_kind(json, at) != MIRE_JSON_STRING)
        return "";
    size_t size = json_size(json, at);
    char *plain = size <= sizeof few ? few : arena_alloc(build->arena, size);
    build->failed |= !plain;
    return plain ? build_text(build, plain, json_text(plain, json, at)) : "";
}

const char *build_printf(struct build *build, const char *format, ...)
{
    char text[MIRE_WIRE_TEXT_MAX];
    va_list args;
    va_start(args, format);
    size_t len = text_vformat(text, sizeof text, format, args);
    va_end(args);
    return build_text(build, text, len);
}
