/*
 * door.c - adapters: decode's check, the key table and the inbox behind ingest's functions.
 */
#include "daemon/door.h"

#include "base/fault.h"
#include "decode/decode.h"
#include "decode/write.h"
#include "rows/key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOREIGN_PLAIN_MAX   (32u << 20) /* bytes of a foreign body after decompression */
#define FOREIGN_REPORTS_MAX 256         /* of one body */
#define FOREIGN_BYTES_MAX   (8u << 20)  /* of these as they are stored */

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
    case MIRE_DECODE_UNKNOWN:
        problem_set(problem, "report.format", "%s", fault->text);
        return MIRE_CHECK_INVALID;
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

/* ---- foreign formats ---- */

struct converting {
    struct ingest_converted *out;
    struct arena *arena;
    struct decode_fault *fault;
    size_t bytes;
    int rc; /* an enum decode_outcome: why a report was not taken */
};

/* A row for a report: its bytes are checked as those of a device are. MIRE_DECODE_OK, or why not. */
static enum decode_outcome add_row(struct converting *c, const char *encoding, const void *bytes, size_t len)
{
    char id[MIRE_UUID_TEXT];
    struct inbox_row *row = &c->out->rows[c->out->count];
    enum decode_outcome outcome = decode_check(id, c->fault, "mire", encoding, bytes, len);
    if (outcome)
        return outcome;
    *row = (struct inbox_row){.format = "mire", .encoding = encoding, .body_len = len};
    row->body = arena_copy(c->arena, bytes, len);
    if (!row->body || !uuid_parse(&row->report_id, id, strlen(id)))
        return MIRE_DECODE_NO_MEMORY;
    c->out->count++;
    c->bytes += len;
    return MIRE_DECODE_OK;
}

static int take_found(void *context, const struct decode_found *found)
{
    struct converting *c = context;
    unsigned char *bytes = NULL;
    size_t len = 0;
    if (c->out->count == FOREIGN_REPORTS_MAX || c->bytes > FOREIGN_BYTES_MAX) {
        snprintf(c->fault->text, sizeof c->fault->text, "more than %d reports, or %u bytes of them, in one body",
                 FOREIGN_REPORTS_MAX, FOREIGN_BYTES_MAX);
        c->rc = MIRE_DECODE_TOO_BIG;
        return 1;
    }
    if (!c->out->count && found->own[0])
        c->out->own = arena_strdup(c->arena, found->own);
    if (!c->out->own)
        c->rc = MIRE_DECODE_NO_MEMORY;
    else if (!found->report)
        c->rc = (int)add_row(c, "identity", found->text, found->len);
    else if (report_pack(&bytes, &len, found->report))
        c->rc = MIRE_DECODE_NO_MEMORY;
    else
        c->rc = (int)add_row(c, "zstd", bytes, len);
    free(bytes);
    return c->rc;
}

static int convert(void *context, struct ingest_converted *out, struct problem *problem, struct arena *arena,
                   const struct ingest_foreign *foreign)
{
    struct decode_fault fault = {0};
    struct converting c = {.out = out, .arena = arena, .fault = &fault};
    const struct decode_each each = {.format = foreign->format,
                                     .encoding = foreign->encoding,
                                     .plain_max = FOREIGN_PLAIN_MAX,
                                     .context = &c,
                                     .found = take_found};
    (void)context;
    out->rows = arena_array(arena, FOREIGN_REPORTS_MAX, sizeof *out->rows);
    if (!out->rows)
        return MIRE_FAULT_MEMORY;
    enum decode_outcome outcome = decode_each_of(&fault, &each, foreign->body, foreign->len);
    if (outcome == MIRE_DECODE_STOPPED)
        outcome = (enum decode_outcome)c.rc;
    return outcome ? translate(problem, outcome, &fault) : MIRE_CHECK_GOOD;
}

static const char *foreign_format(const char *media_type, size_t len)
{
    const char *format = decode_format_of_media(media_type, len);
    return format && strcmp(format, "mire") != 0 ? format : NULL;
}

/* ---- keys and the store ---- */

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
    return (struct ingest_needs){.check = check,
                                 .foreign_format = foreign_format,
                                 .convert = convert,
                                 .store_context = pg,
                                 .store_batch = store_batch,
                                 .wakeup = wakeup};
}
