/*
 * store.h - the files that survive the process: one directory, shared by all processes of an app.
 *
 *     <dir>/install          32 hex digits, random, made once
 *           drops            the ledger of losses: lost records by reason that are in no report yet
 *           stacks           reports and suppressed events of today, by stack
 *           after, spent, consent   state of sending, see sending.h
 *           rollout          the last valid rollout document, after its ETag
 *           lock             held briefly while several files change
 *           ends             the ends of the last runs, see ends.h
 *           box/<n>.<...>    files of a running process, or of a dead one: see runs.h
 *           session/<n>      sessions without a record yet, see sessions.h
 *           memory/<n>.heap  memory tables of the last runs, for mire memory
 *           out/<id>.report  sealed report, zstd; waits to be sent
 *
 * A file appears under its name only when it is complete: written aside, synced, renamed, directory synced. The app
 * sets the sync policy (enum mire_store_sync). Each file that is not mapped begins with one frame (frame.h): version,
 * lengths and a checksum. A damaged file is deleted and counted once, as MIRE_DROP_BROKEN. Files of an older version,
 * without frames, are read; files of a newer version are counted as MIRE_DROP_FORMAT. No descriptor stays open between
 * calls, because some programs close unknown descriptors. Directories are 0700, files 0600.
 *
 * Invariant: every loss is counted either in the ledger, or in one sealed report, whose frame has the counts of its
 * body. So a lost report returns its counts, and no loss is missing or counted twice, whenever the process is killed.
 * Two exceptions. While the ledger cannot be written, or is locked for 200 ms, counts wait in memory or in the run's
 * blackbox. And a report that was sent, and is then sealed again at the recovery of its process, is at the server
 * already, with its first counts.
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
#define MIRE_STORE_LIST_MAX  1024        /* reports in one list; the maximum of caps.count */
#define MIRE_STORE_BOX_MAX   (64u << 20) /* bytes */
#define MIRE_STORE_STACKS    128         /* stacks in the file `stacks` */

/*
 * Why a record was lost. mire__store_reason_name has the names in a report's `drops`. The numbers are in files, so new
 * ones are added at the end.
 */
enum store_reason {
    MIRE_DROP_FULL,       /* dropped for newer reports: bytes or count */
    MIRE_DROP_AGE,        /* older than caps.age_ms */
    MIRE_DROP_WRITE,      /* could not be written: disk full, read-only, no memory */
    MIRE_DROP_REFUSED,    /* the server answered 4xx */
    MIRE_DROP_BROKEN,     /* a blackbox or report that cannot be read */
    MIRE_DROP_BIG,        /* larger than a report may be */
    MIRE_DROP_SHORT,      /* rate limiter: its stacks are too short to be telling */
    MIRE_DROP_SUPPRESSED, /* rate limiter: the same stack as just before */
    MIRE_DROP_DAILY,      /* rate limiter: the daily cap of its stack is reached */
    MIRE_DROP_FORMAT,     /* written by a newer version of the library, in an unknown format */
    MIRE_DROP_CONSENT,    /* the user has refused reports */
    MIRE_DROP_FILTERED,   /* the app's before_send has refused it */
    MIRE_DROP_REASONS
};

struct store_caps {
    uint64_t bytes;  /* of all sealed reports together */
    uint32_t count;  /* sealed reports, 1..MIRE_STORE_LIST_MAX */
    uint64_t age_ms; /* of a sealed report, by the time in its id */
};

/* A user does not notice 5 MB; a device may be without network for two weeks. */
#define MIRE_STORE_CAPS_INIT                                                \
    {                                                                       \
        .bytes = 5u << 20, .count = 256, .age_ms = 14ull * 24 * 3600 * 1000 \
    }

/*
 * The value of a sealed report: at the limits, reports of the lowest value are dropped first, of equals the oldest. The
 * numbers are in files.
 *
 * Session records are tiny, and are the denominator of every rate, so they are dropped last. They are at most half of
 * caps.count, so that a device that starts often and is never online keeps other reports.
 */
enum store_value {
    MIRE_VALUE_BASELINE = 1, /* memory of a healthy process */
    MIRE_VALUE_CAPTURE = 2,  /* requested, or other events than hangs: CPU, disk, frames, pressure */
    MIRE_VALUE_HANG = 3,     /* also all reports of an older version of the library */
    MIRE_VALUE_DEATH = 4,    /* of a run that was killed during a hang, ran out of memory or crashed */
    MIRE_VALUE_SESSION = 5
};

/* The format of a sealed report. The numbers are in files. */
enum store_format {
    MIRE_FORMAT_OWN = 0,
    MIRE_FORMAT_METRICKIT = 1 /* a payload of MetricKit as the system made it, for the server to read */
};

struct store;

/*
 * Open the store at `dir`, creating missing directories.
 *
 *   store_out  owned by the caller; NULL unless MIRE_OK
 *   dir        made absolute, so that a later chdir has no effect
 *
 * Returns MIRE_OK, MIRE_E_MEMORY, MIRE_E_STORE (cannot be made or written).
 */
enum mire_err mire__store_open(struct store **store_out, const char *dir, const struct store_caps *caps);

/*
 * Continue in another directory, created if necessary. Mapped files and sealed reports stay in the first one; counts in
 * memory and the user's decision move along. mire__store_put returns to the first directory as soon as it can be
 * written again.
 *
 * Returns MIRE_OK, MIRE_E_MEMORY, MIRE_E_STORE, MIRE_E_STATE (another thread moves it). Thread: any.
 */
enum mire_err mire__store_move(struct store *store, const char *dir);

/*
 * Set the callback of mire__store_put for a report that cannot be written. It may call mire__store_move, and returns
 * whether it has moved the store. Call this before a second thread uses the store.
 */
typedef bool mire__store_lost_fn(void *context, struct store *store);
void mire__store_on_lost(struct store *store, mire__store_lost_fn *lost, void *context);

/* Free the store; the directory stays. NULL is fine. */
void mire__store_close(struct store *store);

/* caps.age_ms */
uint64_t mire__store_age_ms(const struct store *store);

/* Absolute path of the current directory. Borrowed until close. */
const char *mire__store_dir(const struct store *store);

/*
 * The installation's identifier, created on first use.
 *
 *   install  32 lower-case hex digits and a NUL
 *
 * Returns MIRE_OK, MIRE_E_STORE (nothing written to `install`).
 */
enum mire_err mire__store_install(char install[33], struct store *store);

/*
 * Set the sync policy, see mire/store.h; MIRE_STORE_SYNC_SEAL until then. Call this before a second thread uses the
 * store.
 */
void mire__store_set_sync(struct store *store, enum mire_store_sync sync);

/* A report to be sealed. Borrowed for the call. */
struct store_report {
    const char *id; /* UUIDv7, lower case */
    const void *body;
    size_t size;
    enum store_value value;
    enum store_format format;
    const uint64_t *losses; /* MIRE_DROP_REASONS counts in the body, from mire__store_drops; NULL: none */
};

/*
 * Seal a report; the counts in it leave the ledger. A second report with the same id replaces the first, whose counts
 * return. Then reports are dropped until the limits hold: those beyond the age limit, except the new one; then those of
 * the lowest value, of equals the oldest. A report that cannot be written goes into the outbox if there is one
 * (outbox.h). A directory that was deleted is made again. A report that cannot be stored at all is not counted: the
 * caller knows whether it is lost.
 *
 *   now_ms  wall clock, for the age of other reports
 *
 * Returns MIRE_OK
 *         MIRE_E_STATE  the counts cannot leave the ledger: another report took them meanwhile, or the ledger cannot be
 *                       written. Nothing is sealed. Impossible for a report without counts
 *         MIRE_E_FULL   larger than caps.bytes, counted as MIRE_DROP_BIG; or all reports have a higher value, counted
 *                       as MIRE_DROP_FULL
 *         MIRE_E_STORE  not written, no trace left
 */
enum mire_err mire__store_put(struct store *store, const struct store_report *report, uint64_t now_ms);

/* Bytes of the reports sealed since the store was opened. */
uint64_t mire__store_written(const struct store *store);

/* Counts of reports by this process, since the store was opened. */
struct store_balance {
    uint64_t sent;    /* mire__store_done */
    uint64_t dropped; /* all reasons but those of the rate limiter */
};
void mire__store_balance(struct store_balance *out, const struct store *store);

/* One sealed report. */
struct store_item {
    char id[MIRE_STORE_ID_LENGTH + 1];
    enum store_value value;
    enum store_format format;
    uint64_t bytes; /* on disk */
};

/*
 * List the sealed reports, oldest first. With more than `cap`, the newest are left out.
 *
 *   items  borrowed; room for `cap`
 *
 * Returns their number.
 */
size_t mire__store_list(struct store_item *items, size_t cap, struct store *store);

/*
 * Read a sealed report's body.
 *
 *   body_out, size_out  owned by the caller (mire__free); NULL, 0 unless MIRE_OK
 *
 * Returns MIRE_OK, MIRE_E_MEMORY, MIRE_E_STORE (no longer there), MIRE_E_FORMAT (damaged; it is dropped and counted
 * now).
 */
enum mire_err mire__store_get(void **body_out, size_t *size_out, struct store *store, const char *id);

/* The server has the report and its counts: delete it. */
void mire__store_done(struct store *store, const char *id);

/* The report will never be sent: delete it, count it, and return its counts to the ledger. */
void mire__store_drop(struct store *store, const char *id, enum store_reason reason);

/* Count a loss. A count that cannot be written waits in memory for the next one. */
void mire__store_count_drop(struct store *store, enum store_reason reason);

/* Count several losses. */
void mire__store_count_drops(struct store *store, const uint64_t counts[MIRE_DROP_REASONS]);

/*
 * Set the memory for counts that cannot be written: MIRE_DROP_REASONS words, borrowed until they are replaced. Waiting
 * counts move into them. NULL: the store's own memory; counts in the words stay there. Thread: while no other one uses
 * the store.
 */
void mire__store_wait_in(struct store *store, _Atomic uint64_t *words);

/* The directory in which it was opened has been deleted or replaced since, and with it all that was in it. Thread:
 * any. */
bool mire__store_was_removed(const struct store *store);

/* errno of the last report that could not be written; 0: none. */
int mire__store_why(const struct store *store);

/* Write the counts that wait in memory; closing does too. Returns MIRE_OK (none waits any more), MIRE_E_STORE. */
enum mire_err mire__store_save_drops(struct store *store);

/* Counts of losses that are in no sealed report. */
void mire__store_drops(uint64_t counts[MIRE_DROP_REASONS], struct store *store);

/* "full", "age", ... Static. */
const char *mire__store_reason_name(enum store_reason reason);

/* Suppressed events of a stack. */
struct store_held {
    uint64_t count;
    uint64_t duration_ms; /* of all of them together */
};

/*
 * May one more report of a stack be sent today? If so, count it as sent, and take the suppressed events of the stack
 * since the last report, by any process of the app, in any run.
 *
 *   held_out  zeros unless MIRE_OK
 *   stack     its number, mire__signature_number
 *   now_ms    wall clock; days are those of UTC
 *   cap       reports of one stack in a day, >= 1
 *
 * Returns MIRE_OK
 *         MIRE_E_FULL   enough for today
 *         MIRE_E_STORE  the file cannot be read or written
 */
enum mire_err mire__store_stack_send(struct store_held *held_out, struct store *store, uint64_t stack, uint64_t now_ms,
                                     uint32_t cap);

/*
 * Count suppressed events of a stack. The file has the MIRE_STORE_STACKS latest stacks; counts of others are lost (but
 * they are in the drops as well).
 *
 * Returns MIRE_OK, MIRE_E_STORE: not counted.
 */
enum mire_err mire__store_stack_hold(struct store *store, uint64_t stack, uint64_t now_ms,
                                     const struct store_held *held);

/*
 * Read or replace the last valid rollout document. Other processes of the app may replace it at any time.
 *
 *   etag  of its answer, with quotes; a longer one is stored as ""
 *   text  borrowed; room for `cap` bytes, without a NUL
 *
 * Reading returns the document's bytes, 0 if there is none that fits; replacing MIRE_OK or MIRE_E_STORE.
 */
#define MIRE_STORE_ETAG_BYTES 72 /* with its NUL */
size_t mire__store_rollout(char etag[MIRE_STORE_ETAG_BYTES], char *text, size_t cap, struct store *store);
enum mire_err mire__store_set_rollout(struct store *store, const char *etag, const char *text, size_t size);

/* A number that changes with the document; 0: there is none. Cost: one stat. */
uint64_t mire__store_rollout_mark(struct store *store);

/*
 * A blackbox: memory whose content the kernel keeps when the process is killed. Its blocks are reserved on disk before
 * they are stored to, so that no store fails. The mapping holds the file's lock, which shows that the owner is alive;
 * no descriptor stays open. A forked child does not inherit the mapping and must not access it.
 */
struct store_box {
    void *memory;
    size_t size;
    char path[MIRE_STORE_PATH_MAX];
};

/* ---- messages ---- */

#define MIRE_STORE_WORDS_BYTES 256

/*
 * Leave a message for mire-run, such as why this process is not watched. It replaces the process's last message.
 * Returns MIRE_OK, MIRE_E_STORE.
 */
enum mire_err mire__store_say(struct store *store, const char *words);

/* Give every message to `hear`, and delete it. Returns their number. */
size_t mire__store_hear(struct store *store, void (*hear)(void *context, const char *words), void *context);

/* ---- blackboxes ---- */

/*
 * Create a file of zeros and map it. It replaces an existing file of the same run and suffix.
 *
 *   run       name of the run, from mire__store_run_name
 *   suffix    of the file, see runs.h: MIRE_STORE_BOX is a blackbox
 *   size      bytes, 1..MIRE_STORE_BOX_MAX
 *   reserved  bytes at the front that may be stored to, 1..size; others need mire__store_box_reserve
 *
 * Returns MIRE_OK, MIRE_E_RANGE, MIRE_E_STORE (cannot be made, disk full), MIRE_E_SYSTEM (mapping refused).
 */
enum mire_err mire__store_box_open(struct store_box *box, struct store *store, const char *run, const char *suffix,
                                   size_t size, size_t reserved);

/*
 * Reserve disk for `size` more bytes at `at`, inside the box. May be repeated.
 * Returns MIRE_OK, MIRE_E_STORE (disk full, or the file cannot be opened any more).
 */
enum mire_err mire__store_box_reserve(const struct store_box *box, size_t at, size_t size);

/* Unmap and delete the file. A zeroed box has no effect. */
void mire__store_box_close(struct store_box *box);

/* Unmap the file and leave it for the recovery of dead boxes. A zeroed box has no effect. */
void mire__store_box_leave(struct store_box *box);

/*
 * Handles a dead box. Returns true if its reports are sealed, or it has none; the box is then deleted.
 *   memory      a private copy, which may be changed
 *   written_ms  wall clock of the last write; for a process with a mark of its end (mire__thread_mark_end) the time of
 *               its death
 */
typedef bool mire__store_box_fn(void *context, void *memory, size_t size, uint64_t written_ms);

/*
 * Give every blackbox of a dead process that has no evidence (runs.h) to `take`, each to one caller at a time. Empty
 * ones are deleted and counted as MIRE_DROP_BROKEN.
 *
 * Returns the number of deleted boxes.
 */
size_t mire__store_recover(struct store *store, mire__store_box_fn *take, void *context);

#endif
