/*
 * bind.c - the table walker. The path is kept as steps and written out only when something is wrong.
 */
#include "json/bind.h"

#include "base/fact.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void bind_enter(struct bind *bind, const char *name, size_t index)
{
    if (bind->depth < MIRE_BIND_DEPTH_MAX)
        bind->path[bind->depth] = (struct bind_step){name, index};
    bind->depth++;
}

void bind_leave(struct bind *bind)
{
    bind->depth--;
}

/* One step of a JSON Pointer, with ~ and / escaped, cut to the room. Returns the bytes written. */
static size_t put_step(char *out, size_t room, const struct bind_step *step)
{
    if (!step->name) {
        int len = snprintf(out, room, "/%zu", step->index);
        return (size_t)len < room ? (size_t)len : room - 1;
    }
    size_t len = 0;
    out[len++] = '/';
    for (const char *p = step->name; *p && len + 2 < room; p++) {
        out[len++] = *p == '~' || *p == '/' ? '~' : *p;
        if (*p == '~' || *p == '/')
            out[len++] = *p == '~' ? '0' : '1';
    }
    out[len] = '\0';
    return len;
}

enum bind_outcome bind_wrong(struct bind *bind, const char *format, ...)
{
    struct bind_fault *fault = bind->fault;
    size_t len = 0;

    fault->path[0] = '\0';
    for (uint32_t i = 0; i < bind->depth && i < MIRE_BIND_DEPTH_MAX && len + 4 < sizeof fault->path; i++)
        len += put_step(fault->path + len, sizeof fault->path - len, &bind->path[i]);
    va_list args;
    va_start(args, format);
    text_vformat(fault->text, sizeof fault->text, format, args);
    va_end(args);
    return MIRE_BIND_WRONG;
}

enum bind_outcome bind_wrong_at(struct bind *bind, const char *name, const char *text)
{
    bind_enter(bind, name, 0);
    return bind_wrong(bind, "%s", text);
}

enum bind_outcome bind_wrong_element(struct bind *bind, const char *name, size_t index, const char *text)
{
    bind_enter(bind, name, 0);
    bind_enter(bind, NULL, index);
    return bind_wrong(bind, "%s", text);
}

enum bind_outcome bind_is_array(struct bind *bind, uint32_t at, uint32_t max)
{
    if (json_kind(bind->json, at) != MIRE_JSON_ARRAY)
        return bind_wrong(bind, "must be an array");
    if (json_size(bind->json, at) > max)
        return bind_wrong(bind, "must have at most %" PRIu32 " elements", max);
    return MIRE_BIND_OK;
}

enum bind_outcome bind_is_object(struct bind *bind, uint32_t at)
{
    return json_kind(bind->json, at) == MIRE_JSON_OBJECT ? MIRE_BIND_OK : bind_wrong(bind, "must be an object");
}

static size_t characters(const char *text, size_t len)
{
    size_t count = 0;
    for (size_t i = 0; i < len; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

/* Every NUL becomes U+FFFD. */
static char *without_nul(struct arena *arena, const char *text, size_t len)
{
    char *clean = arena_alloc(arena, len * 3 + 1);
    if (!clean)
        return NULL;
    char *o = clean;
    for (size_t i = 0; i < len; i++) {
        if (text[i]) {
            *o++ = text[i];
        } else {
            memcpy(o, "\xef\xbf\xbd", 3);
            o += 3;
        }
    }

    return clean;
}

enum bind_outcome bind_text(const char **out, struct bind *bind, uint32_t at, uint64_t max)
{
    if (json_kind(bind->json, at) != MIRE_JSON_STRING)
        return bind_wrong(bind, "must be a text");
    char *text = arena_alloc(bind->arena, (size_t)json_size(bind->json, at) + 1);
    if (!text)
        return MIRE_BIND_NO_MEMORY;
    size_t len = json_text(text, bind->json, at);
    if (len > max && characters(text, len) > max)
        return bind_wrong(bind, "must have at most %" PRIu64 " characters", max);
    if (memchr(text, '\0', len) && !(text = without_nul(bind->arena, text, len)))
        return MIRE_BIND_NO_MEMORY;
    *out = text;
    return MIRE_BIND_OK;
}

enum bind_outcome bind_texts(const char ***out, size_t *count_out, struct bind *bind, uint32_t at, uint32_t most,
                             uint64_t max)
{
    enum bind_outcome outcome = bind_is_array(bind, at, most);
    if (outcome)
        return outcome;
    size_t count = json_size(bind->json, at);
    const char **texts = arena_array(bind->arena, count, sizeof *texts);
    if (!texts)
        return MIRE_BIND_NO_MEMORY;
    uint32_t element = at + 1;
    for (size_t i = 0; i < count; i++, element = json_next(bind->json, element)) {
        bind_enter(bind, NULL, i);
        outcome = bind_text(&texts[i], bind, element, max);
        if (outcome)
            return outcome;
        bind_leave(bind);
    }
    *out = texts;
    *count_out = count;
    return MIRE_BIND_OK;
}

static bool in_range(uint64_t *out, const struct json *json, uint32_t at, int64_t min, uint64_t max)
{
    int64_t negative;
    if (json_u64(out, json, at))
        return *out <= max && (min <= 0 || *out >= (uint64_t)min);
    if (!json_i64(&negative, json, at) || negative < min)
        return false;
    *out = (uint64_t)negative;
    return true;
}

enum bind_outcome bind_number(uint64_t *out, struct bind *bind, uint32_t at, int64_t min, uint64_t max)
{
    if (in_range(out, bind->json, at, min, max))
        return MIRE_BIND_OK;
    return bind_wrong(bind, "must be a whole number from %" PRId64 " to %" PRIu64, min, max);
}

static enum bind_outcome read_column(struct bind_column *out, struct bind *bind, uint32_t at,
                                     const struct bind_field *field)
{
    enum bind_outcome outcome = bind_is_array(bind, at, field->items_max);
    if (outcome)
        return outcome;
    uint32_t count = json_size(bind->json, at);
    uint64_t *values = arena_array(bind->arena, count, sizeof *values);
    if (!values)
        return MIRE_BIND_NO_MEMORY;
    uint32_t element = at + 1;
    for (uint32_t i = 0; i < count; i++, element = json_next(bind->json, element)) {
        if (in_range(&values[i], bind->json, element, field->min, field->max))
            continue;
        bind_enter(bind, NULL, i);
        return bind_wrong(bind, "must be a whole number from %" PRId64 " to %" PRIu64, field->min, field->max);
    }

    *out = (struct bind_column){values, count, true};
    return MIRE_BIND_OK;
}

static enum bind_outcome read_field(struct bind *bind, void *out, uint32_t at, const struct bind_field *field)
{
    void *member = (char *)out + field->offset;
    enum json_kind kind = json_kind(bind->json, at);
    uint64_t number = 0;
    enum bind_outcome outcome;

    switch (field->want) {
    case MIRE_BIND_TEXT:
        return bind_text(member, bind, at, field->max);
    case MIRE_BIND_BOOL:
        if (kind != MIRE_JSON_TRUE && kind != MIRE_JSON_FALSE)
            return bind_wrong(bind, "must be true or false");
        *(bool *)member = kind == MIRE_JSON_TRUE;
        return MIRE_BIND_OK;
    case MIRE_BIND_COLUMN:
        return read_column(member, bind, at, field);
    case MIRE_BIND_OTHER:
        return field->read(bind, out, at);
    default:
        break;
    }
    outcome = bind_number(&number, bind, at, field->min, field->max);
    if (outcome)
        return outcome;
    if (field->want == MIRE_BIND_U32)
        *(uint32_t *)member = (uint32_t)number;
    else if (field->want == MIRE_BIND_U64)
        *(uint64_t *)member = number;
    else
        *(struct fact *)member = (struct fact){number, true};
    return MIRE_BIND_OK;
}

/* Where the object's members of the table stand; 0 where absent. */
static enum bind_outcome find_members(uint32_t *found, struct bind *bind, uint32_t at, const struct bind_field *fields,
                                      size_t count)
{
    uint32_t end = json_next(bind->json, at);

    for (uint32_t name = at + 1; name < end; name = json_next(bind->json, name + 1)) {
        size_t i = 0;
        while (i < count && !json_is(bind->json, name, fields[i].name))
            i++;
        if (i == count)
            continue;
        if (found[i])
            return bind_wrong_at(bind, fields[i].name, "given twice");
        found[i] = name + 1;
    }

    return MIRE_BIND_OK;
}

enum bind_outcome bind_object(struct bind *bind, void *out, uint32_t at, const struct bind_field *fields, size_t count)
{
    uint32_t found[MIRE_BIND_FIELDS_MAX] = {0};

    enum bind_outcome outcome = bind_is_object(bind, at);
    if (!outcome)
        outcome = find_members(found, bind, at, fields, count);
    for (size_t i = 0; i < count && !outcome; i++) {
        if (!found[i] && fields[i].required)
            return bind_wrong_at(bind, fields[i].name, "is missing");
        if (!found[i])
            continue;
        bind_enter(bind, fields[i].name, 0);
        outcome = read_field(bind, out, found[i], &fields[i]);
        if (!outcome)
            bind_leave(bind);
    }

    return outcome;
}
