/*
 * edition.h - what an app's people change as a whole, version after version: its rollout, and its rules for blame. The
 * version of the highest number holds; none is ever changed or deleted. Text handed out lies in the arena.
 */
#ifndef MIRE_PG_EDITION_H
#define MIRE_PG_EDITION_H

#include "base/arena.h"
#include "pg/key.h"
#include "pg/pg.h"

#define MIRE_EDITION_HISTORY_MAX 100 /* versions of one answer */

enum pg_edition_of { PG_EDITION_ROLLOUT, PG_EDITION_RULES };

enum pg_edition_outcome {
    MIRE_EDITION_DONE = 0,
    MIRE_EDITION_NONE = 1,  /* no such key, app or version */
    MIRE_EDITION_MOVED = 2, /* another version was made meanwhile: nothing was changed */
};

struct pg_edition {
    int64_t version; /* 0: the app has none, the texts are "" */
    int64_t made_us;
    const char *author, *reason, *rules;
};

/* The rollout that holds for the app that a key of scope ingest opens. MIRE_EDITION_DONE, _NONE, or a fault. */
int pg_rollout_of_key(struct pg_edition *out, struct pg_tx *tx, struct arena *arena, const uint8_t hash[MIRE_KEY_HASH]);

/* What holds for an app (version 0), or held. _NONE: there is none of that number. */
int pg_edition_find(struct pg_edition *out, struct pg_tx *tx, struct arena *arena, enum pg_edition_of what, int32_t app,
                    int64_t version);

/* Number of the version that holds for an app; 0: it has none. 0 or a fault. */
int pg_edition_number(int64_t *out, struct pg_tx *tx, enum pg_edition_of what, int32_t app);

/* The newest versions without their rules, newest first, MIRE_EDITION_HISTORY_MAX at most. 0 or a fault. */
int pg_edition_history(struct pg_edition **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                       enum pg_edition_of what, int32_t app);

/* Number of the app of that slug, if a key of the scope named so opens it. MIRE_EDITION_DONE, _NONE, or a fault. */
int pg_edition_author(int32_t *app_out, struct pg_tx *tx, enum pg_edition_of what, const char *slug,
                      const uint8_t hash[MIRE_KEY_HASH]);

/* The scope of the keys that may change it: "rollout" or "rules"; static. */
const char *pg_edition_scope(enum pg_edition_of what);

/*
 * Make version `base` + 1.
 *   base  the version it was made from: if that no longer holds, MIRE_EDITION_MOVED
 *   row   author, reason and rules
 * MIRE_EDITION_DONE, _MOVED, or a fault. The caller commits.
 */
int pg_edition_add(struct pg_tx *tx, enum pg_edition_of what, int32_t app, int64_t base, const struct pg_edition *row);

#endif
