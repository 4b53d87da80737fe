/*
 * document.h - versions of the documents that an app's team changes as a whole: its rollout, and its rules for blame.
 * The highest version is in force; no version is ever changed or deleted. Texts lie in the arena.
 */
#ifndef MIRE_ROWS_DOCUMENT_H
#define MIRE_ROWS_DOCUMENT_H

#include "base/arena.h"
#include "rows/key.h"
#include "pg/pg.h"

#define MIRE_DOCUMENT_HISTORY_MAX 100 /* versions of one answer */

enum rows_document { ROWS_DOCUMENT_ROLLOUT, ROWS_DOCUMENT_RULES };

enum rows_document_outcome {
    MIRE_DOCUMENT_DONE = 0,
    MIRE_DOCUMENT_NONE = 1,  /* no such key, app or version */
    MIRE_DOCUMENT_MOVED = 2, /* another version was made meanwhile; nothing was changed */
};

struct rows_document_version {
    int64_t version; /* 0: the app has none, the texts are "" */
    int64_t made_us;
    const char *author, *reason, *rules;
};

/* The rollout in force for the app of an ingest key. MIRE_DOCUMENT_DONE, _NONE, or a fault. */
int rows_rollout_of_key(struct rows_document_version *out, struct pg_tx *tx, struct arena *arena,
                        const uint8_t hash[MIRE_KEY_HASH]);

/* A version of an app's document; version 0: the one in force. _NONE: there is no such version. */
int rows_document_find(struct rows_document_version *out, struct pg_tx *tx, struct arena *arena,
                       enum rows_document what, int32_t app, int64_t version);

/* Number of the version in force for an app; 0: it has none. 0 or a fault. */
int rows_document_number(int64_t *out, struct pg_tx *tx, enum rows_document what, int32_t app);

/* The newest versions without their rules, newest first, MIRE_DOCUMENT_HISTORY_MAX at most. 0 or a fault. */
int rows_document_history(struct rows_document_version **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                          enum rows_document what, int32_t app);

/* Versions of an app's rollout above `after`, oldest first, at most `most`: number, time, rules. 0 or a fault. */
int rows_rollouts_since(struct pg_rows **rows_out, struct pg_tx *tx, int32_t app, int64_t after, int64_t most);

/* The scope of keys that may change the document: "rollout" or "rules"; static. */
const char *rows_document_scope(enum rows_document what);

/*
 * Make version `base` + 1.
 *   base  the version that it was made from; MIRE_DOCUMENT_MOVED if that is no longer in force
 *   row   author, reason and rules
 * MIRE_DOCUMENT_DONE, _MOVED, or a fault. The caller commits.
 */
int rows_document_add(struct pg_tx *tx, enum rows_document what, int32_t app, int64_t base,
                      const struct rows_document_version *row);

#endif
