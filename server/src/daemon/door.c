/*
 * door.c - adapters: decode's check, the key table and the inbox behind ingest's functions.
 */
#include "daemon/door.h"

#include "base/fault.h"
#include "base/log.h"
#include "decode/decode.h"
#include "decode/write.h"
#include "rows/door.h"
#include "rows/account.h"
#include "rows/audit.h"
#include "rows/credential.h"
#include "rows/key.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOREIGN_PLAIN_MAX   (32u << 20) /* bytes of a foreign body after decompression */
#define FOREIGN_REPORTS_MAX 256         /* of one body */
#define FOREIGN_BYTES_MAX   (8u << 20)  /* of these as they are stored */

/* The result of decode as a problem and as an outcome of ingest. */
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

static int take_key(void *context, const struct rows_key_good *good)
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

static int take_account(void *context, const struct account_row *row)
{
    struct access_account account = {.account_id = row->account, .is_server_admin = row->is_server_admin};
    snprintf(account.name, sizeof account.name, "%s", row->name);
    return access_keys_add_account(context, &account) ? 0 : MIRE_FAULT_MEMORY;
}

static int take_member(void *context, const struct member_row *row)
{
    struct access_member member = {.account_id = row->account, .role = access_role_parse(row->role)};
    snprintf(member.slug, sizeof member.slug, "%s", row->slug);
    return access_keys_add_member(context, &member) ? 0 : MIRE_FAULT_MEMORY;
}

/* The upper bound of a token; its person may have less. */
static enum access_role most_of(const char *scope)
{
    if (!strcmp(scope, "read"))
        return MIRE_ACCESS_VIEWER;
    return !strcmp(scope, "triage") ? MIRE_ACCESS_TRIAGER : MIRE_ACCESS_SERVER;
}

static int take_credential(void *context, const struct credential_good *good)
{
    struct access_key key = {.key_id = good->credential,
                             .account_id = good->account,
                             .expires_us = good->expires_us,
                             .is_sign_in = !strcmp(good->kind, "sign-in"),
                             .most = most_of(good->scope)};
    if (good->hash.len != MIRE_KEY_HASH || !good->account)
        return 0;
    memcpy(key.hash, good->hash.bytes, MIRE_KEY_HASH);
    return access_keys_add(context, &key) ? 0 : MIRE_FAULT_MEMORY;
}

int door_load_keys(void *context, struct access_keys *keys)
{
    const struct door_people *people = context;
    const struct people_take take = {
        .context = keys, .account = take_account, .member = take_member, .credential = take_credential};
    int rc = rows_key_each(people->pg, take_key, keys);
    return rc ? rc : rows_people_each(people->pg, &take);
}

int door_keys_used(void *context, bool are_of_people, const int64_t *keys, size_t count)
{
    const struct door_people *people = context;
    return are_of_people ? rows_credential_used(people->pg, keys, count) : rows_key_used(people->pg, keys, count);
}

/* A name as accounts have it. False: it cannot be one. */
static bool fold_name(char out[MIRE_ACCESS_NAME], const char *name)
{
    size_t len = strlen(name);
    if (len >= MIRE_ACCESS_NAME)
        return false;
    for (size_t i = 0; i <= len; i++)
        out[i] = (char)tolower((unsigned char)name[i]);
    return rows_account_is_name(out);
}

int door_arrive(void *context, const char *sent)
{
    const struct door_people *people = context;
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    MIRE_SCOPED(arena_fini) struct arena arena;
    char name[MIRE_ACCESS_NAME];
    const char *before;
    int64_t account;
    arena_init(&arena, 1 << 16);
    if (!fold_name(name, sent))
        return 0;
    int rc = pg_begin(&tx, people->pg, MIRE_PG_WRITE);
    if (!rc)
        rc = rows_account_add(&account, tx, name, "proxy", "", false);
    if (rc == ACCOUNT_THERE)
        return 0;
    if (!rc && strcmp(people->default_role, "none") != 0)
        rc = rows_member_set(&before, tx, &arena, account, MIRE_EVERY_APP, people->default_role);
    if (!rc)
        rc = rows_audit_add(tx, &(struct audit_row){.who = name,
                                                    .via = "proxy",
                                                    .action = "account.added",
                                                    .subject = name,
                                                    .after = people->default_role});
    return rc ? rc : pg_commit(&tx);
}

#define FIRST_LINK_S (24 * 3600)

int door_invite_first_admin(struct pg *pg, const struct log *log, const char *base)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    char secret[MIRE_KEY_TEXT], link[MIRE_KEY_TEXT + 300];
    int64_t count;
    int rc = pg_begin(&tx, pg, MIRE_PG_WRITE);
    if (!rc)
        rc = rows_account_count(&count, tx);
    if (rc || count)
        return rc;
    rc = rows_credential_add(secret, tx, &(struct credential_new){.kind = "link", .lasts_s = FIRST_LINK_S});
    if (!rc)
        rc = pg_commit(&tx);
    if (rc)
        return rc;
    snprintf(link, sizeof link, "%.250s/-/welcome#%s", base, secret);
    log_event(
        log, MIRE_LOG_WARN, "mired.first_admin", LOG_TEXT("link", link),
        LOG_TEXT("what", "There is no account yet. This link creates the first admin's account, once, within a day."));
    return 0;
}

static int store_batch(void *context, const struct inbox_row *rows, size_t count, int64_t *stored_out)
{
    const struct door_store *store = context;
    return inbox_store_counted(store->pg, rows, count, stored_out);
}

/* All counts of the apps as rows; returns their number. */
static size_t door_rows(struct rows_door *out, const struct ingest_app *apps, size_t count)
{
    size_t used = 0;

    for (size_t i = 0; i < count * MIRE_INGEST_OUTCOMES; i++) {
        const struct ingest_app *app = &apps[i / MIRE_INGEST_OUTCOMES];
        size_t k = i % MIRE_INGEST_OUTCOMES;
        if (app->reports[k])
            out[used++] = (struct rows_door){app->app_id, ingest_outcomes[k], app->reports[k], app->bytes[k]};
    }
    return used;
}

static int read_budgets(struct ingest_app *apps, size_t count, struct pg_tx *tx, struct arena *arena,
                        const struct door_store *store)
{
    struct rows_budget *budgets = arena_array(arena, count, sizeof *budgets);

    if (!budgets)
        return MIRE_FAULT_MEMORY;
    for (size_t i = 0; i < count; i++)
        budgets[i] = (struct rows_budget){.app_id = apps[i].app_id};
    int rc = rows_budgets_read(budgets, count, tx, arena, store->quota_reports, store->quota_bytes);
    for (size_t i = 0; !rc && i < count; i++) {
        apps[i].quota_reports = budgets[i].quota_reports;
        apps[i].quota_bytes = budgets[i].quota_bytes;
        apps[i].today_reports = budgets[i].reports;
        apps[i].today_bytes = budgets[i].bytes;
    }
    return rc;
}

static int tally(void *context, struct ingest_app *apps, size_t count)
{
    const struct door_store *store = context;
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    MIRE_SCOPED(arena_fini) struct arena arena;
    arena_init(&arena, 16u << 20);
    struct rows_door *rows = arena_array(&arena, count * MIRE_INGEST_OUTCOMES, sizeof *rows);
    int rc = rows ? pg_begin(&tx, store->pg, MIRE_PG_WRITE) : MIRE_FAULT_MEMORY;

    if (!rc)
        rc = rows_door_add(tx, &arena, rows, door_rows(rows, apps, count));
    if (!rc)
        rc = read_budgets(apps, count, tx, &arena, store);
    return rc ? rc : pg_commit(&tx);
}

struct ingest_needs door_needs(struct door_store *store, struct inbox_wakeup *wakeup)
{
    return (struct ingest_needs){.tally = tally,
                                 .is_small = decode_is_small,
                                 .check = check,
                                 .foreign_format = foreign_format,
                                 .convert = convert,
                                 .store_context = store,
                                 .store_batch = store_batch,
                                 .wakeup = wakeup};
}
