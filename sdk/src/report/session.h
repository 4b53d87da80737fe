/*
 * session.h - sessions: added up over the processes they are made of, and told in one record each: JSON as
 * schema/wire/session.schema.json says, sealed into the store as reports are.
 *
 *     box of a process ── of_box ──▶ sum ── fold ──▶ session's file (mire-run's) ── settle ──▶ record
 *                                     '──────────── settle: a process that is a session by itself ───^
 *
 * A box may be a live one, in the hands of the worker or of mire_stop, or one that a killed process left behind.
 * Thread: one at a time per box; uses the heap.  Signal handler: no.
 */
#ifndef MIRE_REPORT_SESSION_H
#define MIRE_REPORT_SESSION_H

#include "ring/blackbox.h"
#include "store/ends.h"
#include "store/sessions.h"

#define MIRE_SESSION_ENDS_MAX 16 /* runs whose end one record tells; more wait for the next */
#define MIRE_SESSION_FOLDED   16 /* parts added last that a file knows by their ids */

/* A session, or a process's share of one. Kept in a file of the machine's own order: `size` tells layouts apart. */
struct session_sum {
    uint64_t size;
    uint8_t id[16];              /* the record's; of a process's share its own */
    struct blackbox_facts facts; /* of the process that began it, once one is added */
    uint64_t begin_ns;           /* CLOCK_MONOTONIC */
    uint64_t begin_wall_ms;
    uint64_t end_ns; /* up to when it is known to have gone on */
    uint32_t part;
    uint32_t over;
    uint32_t front;     /* enum mire__front */
    uint32_t plugins;   /* that ran in each of its processes, bits */
    uint32_t loop;      /* a loop was seen */
    uint32_t processes; /* shares added */
    struct session_counts counts;
    uint32_t waits;        /* it is over, or a part is; a document is to say whether it is told */
    uint32_t apart;        /* a share of the session that has its file in another user's store */
    uint64_t keeper_ticks; /* of the mire-run that ends it: start_ticks */
    uint64_t first_ticks;  /* the same of the process that it started */
    uint32_t keeper_pid;   /* 0: nobody ends it */
    uint32_t first_pid;
    uint32_t folded_count;
    uint8_t folded[MIRE_SESSION_FOLDED][16];
    struct store_end end; /* how it ended: verdict "" where that is not known */
    uint32_t end_rank;    /* among ends of its processes, the highest holds */
    uint32_t service;     /* of what stayed behind: it is a session only if it waits for events */
    uint32_t unused;
};

/* Begin the next part of a process's session: what follows is counted from here on. */
void mire__session_begin(struct blackbox *box, uint64_t now_ns, uint64_t now_wall_ms);

/*
 * A process's share: what it has counted and not told.
 *   end_ns  CLOCK_MONOTONIC of the box's process: up to when it is
 *   lives   the process goes on; else a hang that stands in the box is over with it, and counts
 */
void mire__session_of_box(struct session_sum *out, const struct blackbox *box, uint64_t end_ns, bool lives);

/* The session of the program that a process ran before it executed this one goes on: add its share. Thread: worker. */
void mire__session_carry(struct blackbox *box, const struct session_sum *share);

/* A session that nothing is added to yet. `facts` is what is known before that. */
void mire__session_new(struct session_sum *out, const struct blackbox_facts *facts, uint64_t now_ns,
                       uint64_t now_wall_ms);

/* Add a share to a session. The same share again, if it is one of the last: nothing. Pure. */
void mire__session_add(struct session_sum *to, const struct session_sum *share);

/*
 * Add a share to the session's file.
 *   apart  it may be begun here: the session's own file is in another store
 * Returns MIRE_OK
 *         MIRE_E_STATE   there is no such session, or it is over: what outlives it is no part of it
 *         MIRE_E_STORE   not now
 */
enum mire_err mire__session_fold(struct store *store, const char *name, const struct session_sum *share, bool apart);

/* Who ends it, and which process it is that began it; zeros change nothing. */
struct session_keeper {
    uint32_t keeper_pid, first_pid;
    uint64_t keeper_ticks, first_ticks;
};
void mire__session_keep(struct store *store, const char *name, const struct session_keeper *keeper);

/* Does a session go on that has a file here? */
bool mire__session_goes_on(const struct store *store, const char *name);

/*
 * How a process of the session ended. The session ends as its first process does, unless another one ran out of memory,
 * was killed while it hung, crashed or aborted: then so.
 */
void mire__session_note_end(struct store *store, const char *name, const struct store_end *end, uint32_t pid,
                            uint64_t start_ticks);

/*
 * The session, or a part of it, is to be told now: a record is sealed if the rollout document that is there wants one.
 * Where no document is there yet, the sum becomes a file under `name` and waits.
 *
 * Returns MIRE_OK: done; MIRE_E_FORMAT: damaged, and not told; else what kept the record from being sealed.
 */
enum mire_err mire__session_settle(struct store *store, const char *name, struct session_sum *sum, uint64_t now_ms);

/*
 * The session under `name` ends, or a part of it: settle it. Processes of it that live on count as far as they have
 * come, and are no part of it any more.
 *   next    what goes on under that name: NULL nothing; of part 0 another session, which the processes that live are of
 *           from the begin; else the next part
 *   end_ns  CLOCK_MONOTONIC
 * Returns MIRE_OK
 *         MIRE_E_STATE  there is none, or no process of it was watched
 *         MIRE_E_STORE  not now: something of a dead process is not sealed yet; a later start settles it
 *         or as mire__session_settle
 */
enum mire_err mire__session_finish(struct store *store, const char *name, const struct session_sum *next,
                                   uint64_t end_ns, uint64_t now_ms);

/*
 * Settle the sessions that are over, and those whose mire-run is gone and of which no process lives.
 *   keep  the name of one that goes on; NULL: none
 */
void mire__sessions_recover(struct store *store, const char *keep, uint64_t now_ms);

/* What a record tells besides its session. */
struct session_told {
    uint64_t drops[MIRE_DROP_REASONS]; /* losses that no record tells yet */
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
                                 const struct session_sum *sum, const struct session_told *told);

/*
 * Seal the record, whatever a document says, with how earlier runs ended and the losses that no record tells yet. The
 * same record again replaces the first. Returns as mire__session_json and mire__store_put.
 */
enum mire_err mire__session_seal(struct store *store, const struct session_sum *sum, uint64_t now_ms);

#endif
