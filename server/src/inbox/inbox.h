/*
 * inbox.h - the queue of reports for the workers.
 *
 *     ingest: inbox_store_batch()  report + inbox row, one transaction a batch
 *     work:   begin; inbox_claim(); derive ...; inbox_finish() or inbox_fail(); commit
 *
 * A claim is row locks of the worker's transaction. If the worker dies, PostgreSQL releases the rows, and nothing that
 * the worker derived is stored. Therefore each report is counted once, however often a worker began with it.
 */
#ifndef MIRE_INBOX_INBOX_H
#define MIRE_INBOX_INBOX_H

#include "base/arena.h"
#include "base/id.h"
#include "pg/pg.h"

#include <stdint.h>

#define MIRE_INBOX_ATTEMPTS_MAX 5 /* after so many failures a report becomes a dead letter */

/* A report as received. */
struct inbox_row {
    struct uuid report_id; /* of version 7, or 8 (uuid_of_app) */
    int32_t app_id;
    int64_t key_id;       /* key of the request; 0: none */
    const char *format;   /* "mire" */
    const char *encoding; /* "identity", "zstd", "gzip" */
    const void *body;     /* borrowed */
    size_t body_len;
    int64_t received_us;     /* 0: now */
    bool clock_known;        /* the device sent the time of its clock with the report */
    int64_t clock_behind_ms; /* lag of the device's clock behind the server's; negative: the clock is ahead */
    const char *country;     /* country of the sender: "DE"; "" or NULL: unknown */
};

/*
 * Store `count` rows durably, all or none, in one transaction on one connection. Rows that are stored already do not
 * change. 0 means committed; after MIRE_FAULT_AWAY the rows may be committed or not, and the caller stores them again.
 */
int inbox_store_batch(struct pg *pg, const struct inbox_row *rows, size_t count);

/* The same; stored_out has `count` entries: 1 for a new row, 0 for a row that was stored already. */
int inbox_store_counted(struct pg *pg, const struct inbox_row *rows, size_t count, int64_t *stored_out);

/* One claimed report; texts and body live in the arena given to inbox_claim. */
struct inbox_claim {
    struct uuid report_id;
    int16_t slot;
    int32_t day;
    int32_t app_id;
    int64_t received_us;
    const char *format;
    const char *encoding;
    const uint8_t *body;
    size_t body_len;
    bool clock_known; /* as in struct inbox_row */
    int64_t clock_behind_ms;
    const char *country; /* "" if unknown */
    int attempts;        /* failed attempts so far */
};

#define MIRE_INBOX_CLAIM_MAX 256 /* reports claimed at once */

/* The turn among apps and slots; zeros at first. The caller keeps the struct for its next claim. */
struct inbox_turn {
    int32_t app_id; /* served last */
    int16_t slot;   /* served last */
    bool by_slot;   /* claim reports of one slot at a time: a slot is on one machine of several */
};

/*
 * Claim up to `cap` due reports of one app, oldest first, inside the caller's write transaction; until its end other
 * workers skip these reports. Apps take turns, so that a flood of one does not delay the others. Rows without a report
 * are removed.
 *   cap        1..MIRE_INBOX_CLAIM_MAX
 *   max_bytes  limit for all bodies; the first report is claimed in any case
 *   got_out    reports claimed; 0: nothing is due
 * 0 or a fault.
 */
int inbox_claim(struct inbox_claim *out, size_t cap, size_t max_bytes, size_t *got_out, struct pg_tx *tx,
                struct arena *arena, struct inbox_turn *turn);

/*
 * Claim one report, due or not, by slot, day and report_id; fills in app_id and attempts. Waits while a worker has the
 * report. 1 claimed, 0 not in the inbox, below zero a fault.
 */
int inbox_find(struct inbox_claim *claim, struct pg_tx *tx);

/* Remove reports whose derived rows are written, in the transaction of the claim. 0 or a fault. */
int inbox_finish(struct pg_tx *tx, const struct inbox_claim *const *claims, size_t count);

/*
 * Count a failed attempt. After MIRE_INBOX_ATTEMPTS_MAX attempts, or at once if `is_final` (the report itself is at
 * fault), the report becomes a dead letter; otherwise it is due again after 2, 4, 8, 16 seconds.
 *   stage   decode, symbolicate, feature, cluster, aggregate
 *   reason  the stage's message
 * 0 or a fault.
 */
int inbox_fail(struct pg_tx *tx, const struct inbox_claim *claim, const char *stage, const char *reason, bool is_final);

struct inbox_depth {
    int64_t waiting;      /* rows */
    int64_t oldest_us;    /* age of the oldest, microseconds; 0 if none */
    int64_t dead_letters; /* rows */
};

int inbox_depth(struct inbox_depth *out, struct pg *pg);

/*
 * A wake-up between ingest and the workers of one process: inbox_wake() wakes a waiting worker. The wake-up is a hint;
 * workers of other processes poll. Any thread.
 */
struct inbox_wakeup;
int inbox_wakeup_new(struct inbox_wakeup **out);
void inbox_wakeup_free(struct inbox_wakeup *wakeup);
void inbox_wake(struct inbox_wakeup *wakeup); /* NULL is fine */

/* Wait for a wake-up since `*seen` (start with 0), at most `timeout_ms`. True after a wake-up. */
bool inbox_wait(struct inbox_wakeup *wakeup, uint64_t *seen, int timeout_ms);

#endif
