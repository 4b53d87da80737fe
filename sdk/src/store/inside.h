/*
 * inside.h - what the files of store/ share. Private to store/.
 */
#ifndef MIRE_STORE_INSIDE_H
#define MIRE_STORE_INSIDE_H

#include "store/disk.h"
#include "store/frame.h"

#include <stdatomic.h>

#define MIRE_STORE_LOCK_MS 200u

struct outbox;

struct store_dir {
    struct store_dir *next;
    char dir[];
};

struct store {
    _Atomic(const char *) dir; /* absolute; one of `places`, any thread changes it */
    const char *home;          /* where it was opened, the last of them */
    struct store_dir *places;  /* all its directories so far; the holder of `moving` adds */
    atomic_flag moving;
    mire__store_lost_fn *lost; /* may be NULL */
    void *lost_context;
    _Atomic uint32_t consent; /* as it was known last: enum mire_consent */
    uint32_t pid;             /* whose store it is */
    struct store_caps caps;
    enum mire_store_sync sync;
    atomic_bool rooted;                         /* the directories are known to be on disk; any thread sets it */
    _Atomic uint64_t written_bytes;             /* of sealed reports, since open; any thread adds */
    _Atomic uint64_t sent_count, dropped_count; /* since open; any thread adds */
    /* Losses not yet in the file. Any thread adds; the writer of the file takes them. Relaxed: only sums matter. */
    _Atomic uint64_t own_unsaved[MIRE_DROP_REASONS];
    _Atomic uint64_t *unsaved;       /* these, or words that outlive the process */
    _Atomic int why;                 /* errno of the last report that could not be written */
    _Atomic(struct outbox *) outbox; /* NULL: there is none; see outbox.h */
    char outbox_path[MIRE_STORE_PATH_MAX];
};

/* A report that cannot be written, and tells no losses, goes into the outbox. False: there is none, or no room. */
bool mire__outbox_put(struct store *store, const struct store_report *report);

/* Where it was opened is to be written again? Then go on there. */
void mire__store_go_home(struct store *store);

/* With the store. */
void mire__outbox_close(struct store *store);

/* "<dir>/<name><suffix>"; false if that is too long. */
bool mire__store_path(char out[MIRE_STORE_PATH_MAX], const struct store *store, const char *name, const char *suffix);

/* "<dir>/out/<id>.report", likewise. */
bool mire__store_report_path(char out[MIRE_STORE_PATH_MAX], const struct store *store, const char *id);

/* Drop what is over the caps. id: of the report just put, which is not too old whatever the clock says. */
void mire__store_enforce(struct store *store, const char *id, uint64_t now_ms);

bool mire__store_ends_with(const char *name, const char *end);

/* Is there such a file of the run? See runs.h. */
bool mire__store_run_has(const struct store *store, const char *run, const char *suffix);

/* Delete `name` in `dir` if it is an aside and its writer has ended: nobody holds its lock (disk.h). */
void mire__store_sweep(int dir, const char *name);

/* ---- files with a frame (file.c) ---- */

/*
 * Read a file of the store's directory, without its frame. A damaged file is deleted and counted.
 *
 *   name  "rollout", "after", ...
 *   out   borrowed; room for `cap` bytes, no NUL is put behind them
 *
 * Returns how many bytes, -1: there is no such file, or none that holds or fits.
 */
ssize_t mire__store_load(struct store *store, const char *name, void *out, size_t cap);

/* The same for who holds the lock: nothing is refused, so look once before taking it. */
ssize_t mire__store_load_locked(enum frame_state *state_out, const struct store *store, const char *name, void *out,
                                size_t cap);

/* Write it. Returns MIRE_OK, MIRE_E_STORE. */
enum mire_err mire__store_save(struct store *store, const char *name, const struct disk_part *parts, size_t count);

enum { MIRE_SAVE_PARTS = 4 }; /* at most */

/* The same for what SEAL makes sure of. */
enum mire_err mire__store_save_sealed(struct store *store, const char *name, const struct disk_part *parts,
                                      size_t count);

/* The same for what SEAL makes sure of together with what is sealed first. how: 0 or MIRE_DISK_EXCLUSIVE. */
enum mire_err mire__store_save_early(struct store *store, const char *name, const struct disk_part *parts, size_t count,
                                     unsigned how);

/* How a file is written under the store's policy: enum disk_how. sealed: it is one that SEAL makes sure of. */
unsigned mire__store_how(const struct store *store, bool sealed);

/* Lock of what several files share. Returns a descriptor or -1. */
int mire__store_lock(const struct store *store, uint32_t wait_ms);

/* See that the directories themselves are on disk, and the installation's identifier, once. */
void mire__store_root(struct store *store);

/* Delete a file; surely so if the policy is ALWAYS. False: somebody else did. */
bool mire__store_remove(const struct store *store, const char *path);

/* ---- the loss ledger (drops.c) ---- */

/*
 * The counts, and what is just being done to reports. The intent is written first, so that the process after a
 * kill knows how far it went.
 */
#define MIRE_LEDGER_BATCH 32u

struct ledger {
    int lock;
    uint64_t counts[MIRE_DROP_REASONS];
    uint64_t taken[MIRE_DROP_REASONS]; /* out of memory: given back there if the file cannot be written */
    /* Being sealed: it tells `told`, which is off the counts already, in place of one that told `replaced`. */
    bool telling;
    char id[MIRE_STORE_ID_LENGTH + 1];
    uint64_t told[MIRE_DROP_REASONS], replaced[MIRE_DROP_REASONS];
    /* Being deleted: in the counts already. */
    size_t dropping;
    char ids[MIRE_LEDGER_BATCH][MIRE_STORE_ID_LENGTH + 1];
};

/* Lock and read it, and finish what a killed process began. False: it is locked, or there is no memory. */
bool mire__ledger_open(struct ledger *ledger, struct store *store, uint32_t wait_ms);

/* Write it. sealed: as of mire__store_how. */
enum mire_err mire__ledger_save(struct ledger *ledger, struct store *store, bool sealed);

/*
 * Take off the counts what the report tells, with the word that it does. False: it tells what is not there.
 *   replaced  what the one tells that it takes the place of
 */
bool mire__ledger_tell(struct ledger *ledger, const struct store_report *report,
                       const uint64_t replaced[MIRE_DROP_REASONS]);

/* Do, or undo, what the words say, by what is there. */
void mire__ledger_finish(struct ledger *ledger, const struct store *store);

/* Entries that could not be written wait in memory. */
void mire__ledger_close(struct ledger *ledger, struct store *store);

/* If a killed process left something to be finished, which is looked at without the lock: finish it. */
void mire__store_finish(struct store *store);

/* Its text. The text's room: MIRE_LEDGER_TEXT. False: a line that is none. */
#define MIRE_LEDGER_TEXT (4096 + MIRE_LEDGER_BATCH * 48)
bool mire__ledger_read(struct ledger *ledger, const char *text, size_t size);
size_t mire__ledger_write(char out[MIRE_LEDGER_TEXT], const struct ledger *ledger);

void mire__drops_add(uint64_t to[MIRE_DROP_REASONS], const uint64_t what[MIRE_DROP_REASONS]);

/* Add losses to those that wait in memory. */
void mire__store_keep_drops(struct store *store, const uint64_t add[MIRE_DROP_REASONS]);

/* The facts in the sealed report at `path`; zeros for unknown ones. False: there is no such report. */
bool mire__store_report_told(uint64_t told[MIRE_DROP_REASONS], const char *path);

#endif
