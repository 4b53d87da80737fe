/*
 * key.h - apps and the access keys that open them.
 */
#ifndef MIRE_ROWS_KEY_H
#define MIRE_ROWS_KEY_H

#include "pg/pg.h"

enum pg_key_outcome { MIRE_KEY_FOUND = 0, MIRE_KEY_UNKNOWN = 1 };

/* App that a key opens in a scope ("ingest", "symbols", "rollout" or "rules"). MIRE_KEY_FOUND, MIRE_KEY_UNKNOWN (or
 * revoked), or a fault.
 */
int pg_key_find(int32_t *app_out, struct pg *pg, const uint8_t hash[MIRE_KEY_HASH], const char *scope);

/*
 * Make a key for an app, creating the app if there is none of that slug. The key is told once, here.
 *   slug   must match ^[a-z0-9][a-z0-9-]{0,62}$, else MIRE_FAULT_SQL
 *   label  what it is for; may be ""
 * 0 or a fault.
 */
int pg_key_create(char key_out[MIRE_KEY_TEXT], struct pg *pg, const char *slug, const char *scope, const char *label);

struct pg_key_row {
    int64_t key;
    const char *prefix; /* of the key, to recognise it by */
    const char *scope, *label;
    int64_t created_us, revoked_us; /* revoked: 0 while the key is good */
};

/* Hand the keys of an app to `take`, oldest first; it returns 0 to go on. 0, what `take` returned, or a fault. */
int pg_key_list(struct pg *pg, const char *slug, int (*take)(void *context, const struct pg_key_row *row),
                void *context);

/* Refuse a key from now on. MIRE_KEY_FOUND, MIRE_KEY_UNKNOWN (no such good key of that app), or a fault. */
int pg_key_revoke(struct pg *pg, const char *slug, int64_t key);

#endif
