/*
 * decode.c - the way from a body to a model, whatever the format.
 */
#include "decode/decode.h"
#include "decode/formats.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define VALUES_MAX (1u << 20) /* a report with every list full has 760 thousand */
#define DEPTH_MAX  32

static enum decode_outcome read_json(struct json *json, struct decode_fault *fault, const char *plain, size_t len)
{
    const struct json_limits limits = {.depth_max = DEPTH_MAX, .values_max = VALUES_MAX};
    struct json_fault wrong;

    switch (json_read(json, &wrong, plain, len, &limits)) {
    case MIRE_JSON_OK:
        return MIRE_DECODE_OK;
    case MIRE_JSON_NO_MEMORY:
        return MIRE_DECODE_NO_MEMORY;
    case MIRE_JSON_MALFORMED:
    case MIRE_JSON_TOO_BIG:
        break;
    }
    fault->position = wrong.at;
    snprintf(fault->text, sizeof fault->text, "%s", wrong.text);
    return MIRE_DECODE_MALFORMED;
}

static enum decode_outcome read_model(struct report *out, struct arena *arena, struct decode_fault *fault,
                                      const struct json *json)
{
    struct bind_fault wrong;
    struct bind bind = {.json = json, .arena = arena, .fault = &wrong};

    switch (mire_read(out, &bind)) {
    case MIRE_BIND_OK:
        return MIRE_DECODE_OK;
    case MIRE_BIND_NO_MEMORY:
        break;
    case MIRE_BIND_WRONG:
        snprintf(fault->path, sizeof fault->path, "%s", wrong.path);
        snprintf(fault->text, sizeof fault->text, "%s", wrong.text);
        return MIRE_DECODE_WRONG;
    }
    if (arena->used_bytes < arena->limit_bytes / 2)
        return MIRE_DECODE_NO_MEMORY;
    snprintf(fault->text, sizeof fault->text, "too big once it is read");
    return MIRE_DECODE_TOO_BIG;
}

enum decode_outcome decode_report(struct report *out, struct arena *arena, struct decode_fault *fault,
                                  const char *format, const char *encoding, const void *body, size_t len)
{
    *fault = (struct decode_fault){0};
    if (strcmp(format, MIRE_FORMAT_MIRE) != 0) { /* every other one is written as Mire's own before it is stored */
        snprintf(fault->text, sizeof fault->text, "unknown format %.*s", TEXT_CUT(format, 40));
        return MIRE_DECODE_UNKNOWN;
    }
    char *plain;
    size_t plain_len;
    enum decode_outcome outcome = decode_plain(&plain, &plain_len, arena, fault, encoding, body, len);
    if (outcome)
        return outcome;
    struct json json;
    json_init(&json);
    outcome = read_json(&json, fault, plain, plain_len);
    if (!outcome)
        outcome = read_model(out, arena, fault, &json);
    json_fini(&json);
    return outcome;
}

enum decode_outcome decode_check(char id_out[37], struct decode_fault *fault, const char *format, const char *encoding,
                                 const void *body, size_t len)
{
    struct arena arena;
    struct report report;
    arena_init(&arena, MIRE_DECODE_ARENA_MAX);
    enum decode_outcome outcome = decode_report(&report, &arena, fault, format, encoding, body, len);
    if (!outcome)
        memcpy(id_out, report.id, sizeof report.id);
    arena_fini(&arena);
    return outcome;
}
