/*
 * session.h - sessions: sums over their processes, and one record each: JSON by schema/wire/session.schema.json, sealed
 * into the store like a report.
 *
 *     box of a process ── of_box ──▶ sum ── fold ──▶ session's file (mire-run's) ── settle ──▶ record
 *                                     '──────────── settle: a process that is a session by itself ───^
 *
 * A box may be a live one, on the worker or in mire_stop, or that of a killed process.
 * Thread: one at a time per box; uses the heap.  Signal handler: no.
 */
#ifndef MIRE_REPORT_SESSION_H
#define MIRE_REPORT_SESSION_H

#include "ring/blackbox.h"
#include "store/ends.h"
#include "store/sessions.h"

#define MIRE_SESSION_ENDS_MAX 16 /* ends of runs in one record; further ones wait for the next */
#define MIRE_SESSION_FOLDED   16 /* ids of the shares added last, in a file */

/* A session, or a process's share of one. Stored in the machine's byte order; `size` identifies the layout. */
struct session_sum {
    uint64_t size;
    uint8_t id[16];              /* of the record; of a share, its own */
    struct blackbox_facts facts; /* of the first process, once a share is added */
    uint64_t begin_ns;           /* CLOCK_MONOTONIC */
    uint64_t begin_wall_ms;
    uint64_t end_ns; /* the last time at which it was open */
    uint32_t part;
    uint32_t over;
    uint32_t front;     /* enum mire__front */
    uint32_t plugins;   /* plugins that ran in all of its processes, bits */
    uint32_t loop;      /* a loop was seen */
    uint32_t processes; /* shares added */
    struct session_counts counts;
    uint64_t footprint_peak_bytes; /* of the process with the largest; 0: unknown */
    uint64_t launch_ns;            /* of the first process that has one; 0: unknown */
    uint32_t waits;                /* it, or a part of it, has ended and waits for a rollout document */
    uint32_t apart;                /* a share of a session whose file is in another user's store */
    uint64_t runner_ticks;         /* start_ticks of the mire-run that ends it */
    uint64_t first_ticks;          /* start_ticks of the program */
    uint32_t runner_pid;           /* 0: no process ends it */
    uint32_t first_pid;
    uint32_t folded_count;
    uint8_t folded[MIRE_SESSION_FOLDED][16];
    struct store_end end; /* its end; verdict "": unknown */
    uint32_t end_rank;    /* of the end; among its processes the highest holds */
    uint32_t service;     /* of processes that stayed behind: a session only if one waits for events */
    uint32_t unused;
};

/* Begin the next part of a process's session: counts start from here. */
void mire__session_begin(struct blackbox *box, uint64_t now_ns, uint64_t now_wall_ms);

/*
 * A process's share: its counts that are in no record yet.
 *   end_ns  end of the share, CLOCK_MONOTONIC of the box's process
 *   lives   the process continues; false: an open hang in the box has ended with it, and counts
 */
void mire__session_of_box(struct session_sum *out, const struct blackbox *box, uint64_t end_ns, bool lives);

/* Continue the session of the program that the process ran before exec: add its share. Thread: worker. */
void mire__session_carry(struct blackbox *box, const struct session_sum *share);

/* A session without shares. `facts` are those known before its first process. */
void mire__session_new(struct session_sum *out, const struct blackbox_facts *facts, uint64_t now_ns,
                       uint64_t now_wall_ms);

/* Add a share to a session; no effect if it is among the shares added last. Pure. */
void mire__session_add(struct session_sum *to, const struct session_sum *share);

/*
 * Add a share to the session's file.
 *   apart  the file may be created here, because the session's own file is in another store
 * Returns MIRE_OK
 *         MIRE_E_STATE   there is no such session, or it has ended
 *         MIRE_E_STORE   not now; try again
 */
enum mire_err mire__session_fold(struct store *store, const char *name, const struct session_sum *share, bool apart);

/* The process that ends the session, and its first process; zeros change nothing. */
struct session_runner {
    uint32_t runner_pid, first_pid;
    uint64_t runner_ticks, first_ticks;
};
void mire__session_keep(struct store *store, const char *name, const struct session_runner *runner);

/* Is a session with a file here open? */
bool mire__session_goes_on(const struct store *store, const char *name);

/*
 * Set the end of a process of the session. The session ends as its first process does, unless another one ran out of
 * memory, was killed during a hang, crashed or aborted; then that end holds.
 */
void mire__session_note_end(struct store *store, const char *name, const struct store_end *end, uint32_t pid,
                            uint64_t start_ticks);

/*
 * Finish the session, or a part of it: seal a record if the stored rollout document wants one. Without a document the
 * sum is stored as a file `name` and waits.
 *
 * Returns MIRE_OK; MIRE_E_FORMAT (damaged; no record); or the error of sealing.
 */
enum mire_err mire__session_settle(struct store *store, const char *name, struct session_sum *sum, uint64_t now_ms);

/*
 * End the session `name`, or a part of it, and settle it. Living processes count up to now, and leave the session.
 *   next    the continuation under that name. NULL: none; part 0: another session, to which the living processes belong
 *           from its begin; otherwise the next part
 *   end_ns  CLOCK_MONOTONIC
 * Returns MIRE_OK
 *         MIRE_E_STATE  there is no such session, or no process of it was watched
 *         MIRE_E_STORE  not now: a dead process is not sealed yet; a later start settles the session
 *         or as mire__session_settle
 */
enum mire_err mire__session_finish(struct store *store, const char *name, const struct session_sum *next,
                                   uint64_t end_ns, uint64_t now_ms);

/*
 * Settle all ended sessions, and those whose mire-run and processes are all dead.
 *   keep  name of an open session; NULL: none
 */
void mire__sessions_recover(struct store *store, const char *keep, uint64_t now_ms);

/* The content of a record besides its session. */
struct session_attached {
    uint64_t drops[MIRE_DROP_REASONS]; /* losses that are in no record yet */
    struct store_end ends[MIRE_SESSION_ENDS_MAX];
    size_t end_count;
};

/*
 * The uncompressed text of a record.
 *
 *   text_out, size_out  owned by the caller (mire__free); NULL, 0 unless MIRE_OK
 *   id                  the record's id and a NUL
 *
 * Returns MIRE_OK, MIRE_E_FORMAT (a damaged sum), MIRE_E_MEMORY, MIRE_E_FULL.
 */
enum mire_err mire__session_json(char **text_out, size_t *size_out, char id[MIRE_STORE_ID_LENGTH + 1],
                                 const struct session_sum *sum, const struct session_attached *attached);

/*
 * Seal the record, independent of the rollout, with the ends of earlier runs and the losses that are in no record yet.
 * The same record again replaces the first. Returns as mire__session_json and mire__store_put.
 */
enum mire_err mire__session_seal(struct store *store, const struct session_sum *sum, uint64_t now_ms);

#endif
