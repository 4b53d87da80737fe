/*
 * key.h - access keys of apps.
 */
#ifndef MIRE_ROWS_KEY_H
#define MIRE_ROWS_KEY_H

#include "base/arena.h"
#include "pg/pg.h"

enum rows_key_outcome { MIRE_KEY_FOUND = 0, MIRE_KEY_UNKNOWN = 1 };

/*
 * The app that a key of this scope ("ingest", "symbols" ...) opens. MIRE_KEY_FOUND, MIRE_KEY_UNKNOWN (unknown, revoked
 * or expired), or a fault.
 */
int rows_key_find(int32_t *app_out, struct pg *pg, const uint8_t hash[MIRE_KEY_HASH], const char *scope);

/* rows_key_create, rows_key_rotate and rows_key_revoke in the caller's transaction, by the number of the app. */
int rows_key_add(int64_t *key_out, char secret_out[MIRE_KEY_TEXT], struct pg_tx *tx, int32_t app, const char *scope,
                 const char *label, int days);
int rows_key_replace(int64_t *key_out, char secret_out[MIRE_KEY_TEXT], struct pg_tx *tx, int32_t app, int64_t key,
                     int64_t overlap_s);
int rows_key_end(struct pg_tx *tx, int32_t app, int64_t key);

/* The key as the audit log tells it: "ingest: shop for Android". "" if the app has none. 0 or a fault. */
int rows_key_tell(const char **out, struct pg_tx *tx, struct arena *arena, int32_t app, int64_t key);

/* Number of the app of a slug; the app is made if there is none. 0 or a fault. */
int rows_app_ensure(int32_t *app_out, struct pg_tx *tx, const char *slug);

/*
 * Make a key that does not expire, and its app if the slug is new. The key's text is returned here only.
 *   slug   must match ^[a-z0-9][a-z0-9-]{0,62}$, otherwise MIRE_FAULT_SQL
 *   label  its purpose; may be ""
 * 0 or a fault.
 */
int rows_key_create(char key_out[MIRE_KEY_TEXT], struct pg *pg, const char *slug, const char *scope, const char *label);

struct rows_key_row {
    int64_t key;
    const char *prefix; /* of the key, to recognise it by */
    const char *scope, *label;
    int64_t created_us, revoked_us; /* revoked: 0 while the key is good */
    int64_t expires_us, used_us;    /* 0: never */
};

/* A key that is not revoked; it may have expired. */
struct rows_key_good {
    struct pg_bytes hash;
    int64_t key, expires_us; /* expires: 0, never */
    int32_t app;
    const char *slug, *scope;
};

/* Hand every key that is not revoked to `take`, which returns 0 to go on. 0, what `take` returned, or a fault. */
int rows_key_each(struct pg *pg, int (*take)(void *context, const struct rows_key_good *key), void *context);

/* Record that keys were just used. 0 or a fault. */
int rows_key_used(struct pg *pg, const int64_t *keys, size_t count);

/* rows_key_list in the caller's transaction, by the number of the app. */
int rows_key_list_of(struct pg_tx *tx, int32_t app, int (*take)(void *context, const struct rows_key_row *row),
                     void *context);

/* Hand the keys of an app to `take`, oldest first; it returns 0 to go on. 0, what `take` returned, or a fault. */
int rows_key_list(struct pg *pg, const char *slug, int (*take)(void *context, const struct rows_key_row *row),
                  void *context);

/*
 * Make a key that replaces another one of the app, with its scope and label. The old key expires in `overlap_s`
 * seconds, unless it expires earlier. MIRE_KEY_FOUND, MIRE_KEY_UNKNOWN (no such valid key), or a fault.
 */
int rows_key_rotate(char key_out[MIRE_KEY_TEXT], struct pg *pg, const char *slug, int64_t key, int64_t overlap_s);

/* Revoke a key. MIRE_KEY_FOUND, MIRE_KEY_UNKNOWN (the app has no such valid key), or a fault. */
int rows_key_revoke(struct pg *pg, const char *slug, int64_t key);

#endif
