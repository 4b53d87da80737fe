/*
 * store.h - what survives the process: one directory, shared by all processes of an app.
 *
 *     <dir>/install          32 hex digits, random, made once
 *           drops            the loss ledger: records lost, by reason, that no report tells yet
 *           stacks           what was sent today and what was held back, by stack
 *           after, spent, consent   about sending, see sending.h
 *           rollout          the last good rollout document, behind the ETag it came with
 *           lock             held briefly while several files change
 *           ends             how the last runs ended, see ends.h
 *           box/<n>.<...>    what a running process keeps, or one that ended left behind: see runs.h
 *           session/<n>      sessions that are not told yet, see sessions.h
 *           memory/<n>.heap  memory tables of the last runs, for whoever looks into them
 *           out/<id>.report  sealed report, zstd; waits to be sent
 *
 * A file appears under its name only when complete: written aside, synced, renamed, directory synced. When it is synced
 * is the app's to say (enum mire_store_sync). Each file that is not mapped begins with one frame (frame.h): version,
 * lengths and a checksum. What does not hold is deleted and counted, once, as MIRE_DROP_BROKEN; what an older version
 * of the library wrote, without frames, is read; what a newer one wrote is MIRE_DROP_FORMAT. No descriptor is kept
 * between calls, for hosts that close what they do not know. Directories are 0700, files 0600.
 *
 * Every loss is in exactly one place: in the ledger, or in one sealed report, whose frame says what its body tells. So
 * a report that is lost gives its counts back, and none is lost or told twice, whenever the process is killed. The two
 * ways round: while the ledger cannot be written, or is locked for 200 ms, counts wait in memory, or in the run's
 * blackbox; and a report that was sent, and is then sealed again by whoever recovers its process, is at the server
 * already, with what it told then.
 *
 * Thread: any; calls on one store may run in parallel.  Signal handler: no.
 */
#ifndef MIRE_STORE_STORE_H
#define MIRE_STORE_STORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mire/mire.h"
#include "mire/store.h"

#define MIRE_STORE_PATH_MAX  4096
#define MIRE_STORE_ID_LENGTH 36          /* characters of a report's UUID */
#define MIRE_STORE_LIST_MAX  1024        /* reports looked at; caps.count is not above */
#define MIRE_STORE_BOX_MAX   (64u << 20) /* bytes */
#define MIRE_STORE_STACKS    128         /* stacks known to the ledger of what was sent today */

/*
 * Why a record was lost. The names are what the report's `drops` says; see mire__store_reason_name. The numbers stand
 * in files: new ones come last.
 */
enum store_reason {
    MIRE_DROP_FULL,       /* made room for newer reports: bytes or count */
    MIRE_DROP_AGE,        /* older than caps.age_ms */
    MIRE_DROP_WRITE,      /* could not be written: disk full, read-only, no memory */
    MIRE_DROP_REFUSED,    /* the server answered 4xx */
    MIRE_DROP_BROKEN,     /* a blackbox or report that cannot be read */
    MIRE_DROP_BIG,        /* larger than a report may be */
    MIRE_DROP_SHORT,      /* restraint: its stacks are too short to mean anything */
    MIRE_DROP_SUPPRESSED, /* restraint: the same stack as just before */
    MIRE_DROP_DAILY,      /* restraint: its stack was sent often enough today */
    MIRE_DROP_FORMAT,     /* written by a newer version of the library, in a format this one does not know */
    MIRE_DROP_CONSENT,    /* the user does not agree to reports */
    MIRE_DROP_FILTERED,   /* the app's before_send said no */
    MIRE_DROP_REASONS
};

struct store_caps {
    uint64_t bytes;  /* of all sealed reports together */
    uint32_t count;  /* sealed reports, 1..MIRE_STORE_LIST_MAX */
    uint64_t age_ms; /* of a sealed report, by the time in its id */
};

/* 5 MB is below what an app's user would notice; two weeks is how long a device may be without network. */
#define MIRE_STORE_CAPS_INIT                                                \
    {                                                                       \
        .bytes = 5u << 20, .count = 256, .age_ms = 14ull * 24 * 3600 * 1000 \
    }

/*
 * What a sealed report is worth when there is no room for all: the least goes first, the oldest among equals. The
 * numbers stand in files.
 *
 * Records of sessions are tiny, and every rate is divided by them: they go last. Not to push out everything else on a
 * device that starts often and is never on line, they are at most half of caps.count.
 */
enum store_value {
    MIRE_VALUE_BASELINE = 1, /* memory of a healthy process */
    MIRE_VALUE_CAPTURE = 2,  /* asked for, or noticed beside hangs: CPU, disk, frames, pressure */
    MIRE_VALUE_HANG = 3,     /* also whatever an older version of the library sealed */
    MIRE_VALUE_DEATH = 4,    /* of a run that was killed stuck, ran out of memory or crashed */
    MIRE_VALUE_SESSION = 5
};

struct store;

/*
 * Open the store at `dir`, making what is missing.
 *
 *   store_out  owned by the caller; NULL unless MIRE_OK
 *   dir        made absolute, so that a later chdir does not matter
 *
 * Returns MIRE_OK, MIRE_E_MEMORY, MIRE_E_STORE (cannot be made or written).
 */
enum mire_err mire__store_open(struct store **store_out, const char *dir, const struct store_caps *caps);

/*
 * Go on in another directory, made if it is missing: reports, counts, and all that is written by its name from now on.
 * What is mapped stays where it is, and so does what was sealed; what waits in memory comes along, and what the user
 * has said. As soon as the first directory can be written again, mire__store_put goes back there.
 *
 * Returns MIRE_OK, MIRE_E_MEMORY, MIRE_E_STORE, MIRE_E_STATE (another thread is at it). Thread: any.
 */
enum mire_err mire__store_move(struct store *store, const char *dir);

/*
 * A report cannot be written: whoever knows of another place moves the store there, and returns whether that was done.
 * Called by mire__store_put. Before the store is used by a second thread.
 */
typedef bool mire__store_lost_fn(void *context, struct store *store);
void mire__store_on_lost(struct store *store, mire__store_lost_fn *lost, void *context);

/* Free the store; the directory stays. NULL is fine. */
void mire__store_close(struct store *store);

/* caps.age_ms */
uint64_t mire__store_age_ms(const struct store *store);

/* Absolute path of the directory that it is at. Borrowed until close. */
const char *mire__store_dir(const struct store *store);

/*
 * This installation's identifier, made on first use.
 *
 *   install  32 lower-case hex digits and a NUL
 *
 * Returns MIRE_OK, MIRE_E_STORE (nothing written to `install`).
 */
enum mire_err mire__store_install(char install[33], struct store *store);

/*
 * When files are synced; MIRE_STORE_SYNC_SEAL until this is called. See mire/store.h for what each keeps. Before the
 * store is used by a second thread.
 */
void mire__store_set_sync(struct store *store, enum mire_store_sync sync);

/* A report to be sealed. Borrowed for the call. */
struct store_report {
    const char *id; /* UUIDv7, lower case */
    const void *body;
    size_t size;
    enum store_value value;
    const uint64_t *told; /* MIRE_DROP_REASONS counts that the body tells, from mire__store_drops; NULL: none */
};

/*
 * Seal a report: the counts it tells leave the ledger. Sealing one id again replaces it, and gives back what the
 * replaced one told. Afterwards reports are dropped until the caps hold: those too old, but for the one sealed now;
 * then those of least value, the oldest among equals. One that cannot be written goes into the outbox if there is one
 * (outbox.h). One that nothing takes is not counted: its caller knows whether that loses it.
 *
 *   now_ms  wall clock, for the age of others
 *
 * Returns MIRE_OK
 *         MIRE_E_STATE  the counts cannot leave the ledger: another report told them meanwhile, or the ledger cannot be
 *                       written. Nothing is sealed. One that tells none does not meet this
 *         MIRE_E_FULL   larger than caps.bytes, counted as MIRE_DROP_BIG; or all that is there is worth more,
 *                       counted as MIRE_DROP_FULL
 *         MIRE_E_STORE  not written, no trace left
 */
enum mire_err mire__store_put(struct store *store, const struct store_report *report, uint64_t now_ms);

/* Bytes of the reports sealed since the store was opened. */
uint64_t mire__store_written(const struct store *store);

/* What became of reports since the store was opened, by this process. */
struct store_balance {
    uint64_t sent;    /* mire__store_done */
    uint64_t dropped; /* all reasons but those of restraint */
};
void mire__store_balance(struct store_balance *out, const struct store *store);

/* One sealed report. */
struct store_item {
    char id[MIRE_STORE_ID_LENGTH + 1];
    enum store_value value;
    uint64_t bytes; /* on disk */
};

/*
 * The sealed reports, oldest first. At most `cap`, the newest are left out.
 *
 *   items  borrowed; room for `cap`
 *
 * Returns how many.
 */
size_t mire__store_list(struct store_item *items, size_t cap, struct store *store);

/*
 * Read a sealed report's body.
 *
 *   body_out, size_out  owned by the caller (mire__free); NULL, 0 unless MIRE_OK
 *
 * Returns MIRE_OK, MIRE_E_MEMORY, MIRE_E_STORE (no longer there), MIRE_E_FORMAT (not as it was sealed: it is dropped
 * and counted now).
 */
enum mire_err mire__store_get(void **body_out, size_t *size_out, struct store *store, const char *id);

/* The server has it, with the counts it tells: forget it. */
void mire__store_done(struct store *store, const char *id);

/* It will never be sent: forget it, count it and give back the counts it tells. */
void mire__store_drop(struct store *store, const char *id, enum store_reason reason);

/* Count a loss. What cannot be written now is kept in memory and written with the next one. */
void mire__store_count_drop(struct store *store, enum store_reason reason);

/* The same for many. */
void mire__store_count_drops(struct store *store, const uint64_t counts[MIRE_DROP_REASONS]);

/*
 * Where counts wait that cannot be written: MIRE_DROP_REASONS words, borrowed until they are replaced, into which goes
 * all that waits already; NULL: in memory of the store's own, and what waits in the words stays there. Thread: while no
 * other one uses the store.
 */
void mire__store_wait_in(struct store *store, _Atomic uint64_t *words);

/* Why the last report that could not be written was not: errno, 0 where there was none. */
int mire__store_why(const struct store *store);

/* Write the counts that wait in memory. Returns MIRE_OK: none does any more; MIRE_E_STORE. Closing tries it too. */
enum mire_err mire__store_save_drops(struct store *store);

/* Counts of losses that no sealed report tells. */
void mire__store_drops(uint64_t counts[MIRE_DROP_REASONS], struct store *store);

/* "full", "age", ... Static. */
const char *mire__store_reason_name(enum store_reason reason);

/* Records held back: counted, not sent. */
struct store_held {
    uint64_t count;
    uint64_t duration_ms; /* of all of them together */
};

/*
 * May one more record of a stack be sent today? If so it is counted as sent, and takes along what was held back of that
 * stack since the last one, by any process of the app, in any run.
 *
 *   held_out  zeros unless MIRE_OK
 *   stack     a number for it, mire__signature_number
 *   now_ms    wall clock; days are those of UTC
 *   cap       records of one stack in a day, >= 1
 *
 * Returns MIRE_OK
 *         MIRE_E_FULL   enough for today
 *         MIRE_E_STORE  the ledger cannot be read or written: nothing is known of that stack
 */
enum mire_err mire__store_stack_send(struct store_held *held_out, struct store *store, uint64_t stack, uint64_t now_ms,
                                     uint32_t cap);

/*
 * Hold back records of a stack. The MIRE_STORE_STACKS held or sent last are known; of others the counts are forgotten
 * (they stand in the drops too).
 *
 * Returns MIRE_OK, MIRE_E_STORE: not counted.
 */
enum mire_err mire__store_stack_hold(struct store *store, uint64_t stack, uint64_t now_ms,
                                     const struct store_held *held);

/*
 * The rollout document that came last and was good. Other processes of the app may replace it at any time.
 *
 *   etag  of the answer it came with, quotes and all; one that is longer is kept as ""
 *   text  borrowed; room for `cap` bytes, no NUL is put behind them
 *
 * Reading returns the document's bytes, 0 if there is none that fits; setting MIRE_OK or MIRE_E_STORE.
 */
#define MIRE_STORE_ETAG_BYTES 72 /* with its NUL */
size_t mire__store_rollout(char etag[MIRE_STORE_ETAG_BYTES], char *text, size_t cap, struct store *store);
enum mire_err mire__store_set_rollout(struct store *store, const char *etag, const char *text, size_t size);

/* A number that changes when the document does; 0 if there is none. One look at the file's entry. */
uint64_t mire__store_rollout_mark(struct store *store);

/*
 * A blackbox: memory whose content the kernel keeps when the process is killed. The blocks that are stored to are
 * reserved on disk first, so that storing cannot fail. It is alive as long as the mapping is: the file is locked
 * through it, no descriptor stays open. A forked child does not inherit the mapping and must not touch it.
 */
struct store_box {
    void *memory;
    size_t size;
    char path[MIRE_STORE_PATH_MAX];
};

/* ---- words ---- */

#define MIRE_STORE_WORDS_BYTES 256

/*
 * Leave a sentence for whoever serves the store, such as why this process is not watched; in place of the last one it
 * left. Returns MIRE_OK, MIRE_E_STORE.
 */
enum mire_err mire__store_say(struct store *store, const char *words);

/* Hand every such sentence to `hear`, once each, and delete it. Returns how many there were. */
size_t mire__store_hear(struct store *store, void (*hear)(void *context, const char *words), void *context);

/* ---- blackboxes ---- */

/*
 * Make a file of zeros and map it; one of that run and suffix that is there is replaced.
 *
 *   run       the run's name, from mire__store_run_name or the run's first file
 *   suffix    which of the run's files, see runs.h: MIRE_STORE_BOX makes a blackbox
 *   size      bytes, 1..MIRE_STORE_BOX_MAX
 *   reserved  of these, from the front, may be stored to, 1..size; the rest only where mire__store_box_reserve said so
 *
 * Returns MIRE_OK, MIRE_E_RANGE, MIRE_E_STORE (cannot be made, disk full), MIRE_E_SYSTEM (mapping refused).
 */
enum mire_err mire__store_box_open(struct store_box *box, struct store *store, const char *run, const char *suffix,
                                   size_t size, size_t reserved);

/*
 * Reserve disk for `size` more bytes at `at`, all of it inside the box. Again does no harm.
 * Returns MIRE_OK, MIRE_E_STORE (disk full, or the file cannot be opened any more).
 */
enum mire_err mire__store_box_reserve(const struct store_box *box, size_t at, size_t size);

/* Unmap and delete it: nothing in it is left to tell. A zeroed box is fine. */
void mire__store_box_close(struct store_box *box);

/* Unmap it and let it lie: whoever recovers dead boxes tells what is in it. A zeroed box is fine. */
void mire__store_box_leave(struct store_box *box);

/*
 * What to do with a dead box: `true` when all it tells is sealed, or it tells nothing, so that it is deleted.
 *   memory      a copy of it, which may be changed
 *   written_ms  when its process last wrote to it; wall clock. Of a process with a mark of its end
 *               (mire__thread_mark_end) the instant of its death
 */
typedef bool mire__store_box_fn(void *context, void *memory, size_t size, uint64_t written_ms);

/*
 * Hand every blackbox whose process is gone, and that has no evidence beside it (runs.h), to `take`, each to one caller
 * at a time. Empty ones are deleted and counted as MIRE_DROP_BROKEN.
 *
 * Returns how many were deleted.
 */
size_t mire__store_recover(struct store *store, mire__store_box_fn *take, void *context);

#endif
