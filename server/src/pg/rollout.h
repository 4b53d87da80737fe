/*
 * rollout.h - the versions of an app's rollout. Text handed out lies in the arena.
 */
#ifndef MIRE_PG_ROLLOUT_H
#define MIRE_PG_ROLLOUT_H

#include "base/arena.h"
#include "pg/pg.h"

#define MIRE_ROLLOUT_HISTORY_MAX 100 /* versions of one answer */

enum pg_rollout_outcome {
    MIRE_ROLLOUT_DONE = 0,
    MIRE_ROLLOUT_NONE = 1,  /* no such key, app or version */
    MIRE_ROLLOUT_MOVED = 2, /* another version was made meanwhile: nothing was changed */
};

struct pg_rollout {
    int64_t version; /* 0: the app has none, the texts are "" */
    int64_t made_us;
    const char *author, *reason, *rules;
};

/* The rollout that holds for the app that a key of scope ingest opens. MIRE_ROLLOUT_DONE, _NONE, or a fault. */
int pg_rollout_of_key(struct pg_rollout *out, struct pg_tx *tx, struct arena *arena, const uint8_t hash[MIRE_KEY_HASH]);

/* The same of an app; version 0 asks for the one that holds. _NONE: there is none of that number. */
int pg_rollout_of_app(struct pg_rollout *out, struct pg_tx *tx, struct arena *arena, int32_t app, int64_t version);

/* The newest versions without their rules, newest first, MIRE_ROLLOUT_HISTORY_MAX at most. 0 or a fault. */
int pg_rollout_history(struct pg_rollout **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app);

/* Number of the app of that slug, if a key of scope rollout opens it. MIRE_ROLLOUT_DONE, _NONE, or a fault. */
int pg_rollout_author(int32_t *app_out, struct pg_tx *tx, const char *slug, const uint8_t hash[MIRE_KEY_HASH]);

/*
 * Make version `base` + 1.
 *   base  the version it was made from: if that no longer holds, MIRE_ROLLOUT_MOVED
 *   row   author, reason and rules
 * MIRE_ROLLOUT_DONE, _MOVED, or a fault. The caller commits.
 */
int pg_rollout_add(struct pg_tx *tx, int32_t app, int64_t base, const struct pg_rollout *row);

#endif
