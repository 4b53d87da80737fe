/* seals.c - see seals.h. */
#include "daemon/seals.h"

#include "base/fault.h"
#include "rows/secret.h"

#define ARENA_BYTES (256u << 20)

/* 1: it was sealed anew, 0: it stays, below zero a fault. *lost is increased if it cannot be opened. */
static int renew(struct pg_tx *tx, const struct vault *vault, struct arena *arena, const struct secret_row *secret,
                 int64_t *lost)
{
    const char *plain = secret->text;
    int rc = 0;

    if (vault_is_current(vault, secret->text))
        return 0;
    if (vault_is_sealed(secret->text))
        rc = vault_unseal(&plain, vault, arena, secret->purpose, secret->app, secret->text);
    if (rc) {
        *lost += rc > 0;
        return rc < 0 ? rc : 0;
    }
    const char *sealed = vault_seal(vault, arena, secret->purpose, secret->app, plain);
    rc = sealed ? rows_secret_replace(tx, secret, sealed) : MIRE_FAULT_MEMORY;
    return rc ? rc : 1;
}

static int renew_all(struct pg *pg, const struct vault *vault, struct arena *arena, const struct log *log)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    struct secret_row *all;
    size_t count = 0;
    int64_t renewed = 0, lost = 0;
    int rc = pg_begin(&tx, pg, MIRE_PG_WRITE);

    if (!rc)
        rc = rows_secret_list(&all, &count, tx, arena);
    for (size_t i = 0; rc >= 0 && i < count; i++) {
        rc = renew(tx, vault, arena, &all[i], &lost);
        renewed += rc > 0;
    }
    if (rc >= 0)
        rc = pg_commit(&tx);
    if (rc)
        return rc;
    if (renewed)
        log_event(log, MIRE_LOG_INFO, "secrets.sealed", LOG_NUMBER("n", renewed));
    if (lost)
        log_event(log, MIRE_LOG_ERROR, "secrets.lost", LOG_NUMBER("n", lost),
                  LOG_TEXT("why", "They are sealed by a key that secret_key_file does not have, or were changed."),
                  LOG_TEXT("next", "Add the line of that key to the file, or set tracker and channels again."));
    return 0;
}

int seals_renew(struct pg *pg, const struct vault *vault, const struct log *log)
{
    struct arena arena;

    arena_init(&arena, ARENA_BYTES);
    int rc = renew_all(pg, vault, &arena, log);
    arena_fini(&arena);
    return rc;
}
