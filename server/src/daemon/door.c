/*
 * door.c - adapters: decode's check, the key table and the inbox behind ingest's functions.
 */
#include "daemon/door.h"

#include "base/fault.h"
#include "decode/decode.h"
#include "rows/key.h"

#include <stdio.h>
#include <string.h>

/* What decode found, as a problem and an outcome of the door. */
static int translate(struct problem *problem, enum decode_outcome outcome, const struct decode_fault *fault)
{
    switch (outcome) {
    case MIRE_DECODE_MALFORMED:
        problem_set(problem, "report.malformed", "%s", fault->text);
        problem->position = (long long)fault->position;
        return MIRE_CHECK_MALFORMED;
    case MIRE_DECODE_WRONG:
        problem_set(problem, "report.schema", "%s", fault->text);
        snprintf(problem->path, sizeof problem->path, "%s", fault->path);
        problem->has_path = 1;
        return MIRE_CHECK_INVALID;
    case MIRE_DECODE_TOO_BIG:
        problem_set(problem, "report.too_large", "%s", fault->text);
        return MIRE_CHECK_TOO_LARGE;
    case MIRE_DECODE_NO_MEMORY:
        return MIRE_FAULT_MEMORY;
    default:
        return MIRE_FAULT_BROKEN;
    }
}

static int check(void *context, struct ingest_verdict *out, struct problem *problem, const void *body, size_t len,
                 const char *encoding)
{
    struct decode_fault fault = {0};
    char id[MIRE_UUID_TEXT];
    (void)context;
    out->format = "mire";
    enum decode_outcome outcome = decode_check(id, &fault, out->format, encoding, body, len);
    if (outcome != MIRE_DECODE_OK)
        return translate(problem, outcome, &fault);
    return uuid_parse(&out->report_id, id, strlen(id)) ? MIRE_CHECK_GOOD : MIRE_FAULT_BROKEN;
}

static int take_key(void *context, const struct pg_key_good *good)
{
    struct access_key key = {.key_id = good->key,
                             .app_id = good->app,
                             .expires_us = good->expires_us,
                             .scope = access_scope_parse(good->scope)};
    if (good->hash.len != MIRE_KEY_HASH || !key.scope)
        return 0;
    memcpy(key.hash, good->hash.bytes, MIRE_KEY_HASH);
    snprintf(key.slug, sizeof key.slug, "%s", good->slug);
    return access_keys_add(context, &key) ? 0 : MIRE_FAULT_MEMORY;
}

int door_load_keys(void *context, struct access_keys *keys)
{
    return pg_key_each(context, take_key, keys);
}

int door_keys_used(void *context, const int64_t *keys, size_t count)
{
    return pg_key_used(context, keys, count);
}

static int store_batch(void *context, const struct inbox_row *rows, size_t count, int64_t *stored_out)
{
    return inbox_store_counted(context, rows, count, stored_out);
}

struct ingest_needs door_needs(struct pg *pg, struct inbox_wakeup *wakeup)
{
    return (struct ingest_needs){.check = check, .store_context = pg, .store_batch = store_batch, .wakeup = wakeup};
}
