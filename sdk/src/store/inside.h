/*
 * inside.h - declarations that the files of store/ share. Private to store/.
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

/* The identity of a directory, whatever its name. */
struct store_place {
    uint64_t device, inode;
};

struct store {
    _Atomic(const char *) dir; /* absolute; one of `places`; changed by any thread */
    const char *home;          /* the directory in which the store was opened, the last of `places` */
    struct store_dir *places;  /* all directories so far; the holder of `moving` adds */
    atomic_flag moving;
    struct store_place root, boxes; /* "/" and the directory of boxes, at the time of opening */
    mire__store_lost_fn *lost;      /* may be NULL */
    void *lost_context;
    _Atomic uint32_t consent; /* the last known one: enum mire_consent */
    uint32_t pid;             /* of the process that opened the store */
    struct store_caps caps;
    enum mire_store_sync sync;
    atomic_bool rooted;                         /* the directories are surely on disk; set by any thread */
    _Atomic uint64_t written_bytes;             /* of sealed reports, since open; any thread adds */
    _Atomic uint64_t sent_count, dropped_count; /* since open; any thread adds */
    /* Losses that the ledger does not have yet. Any thread adds; the writer of the ledger takes them. Relaxed: only sums
     * matter. */
    _Atomic uint64_t own_unsaved[MIRE_DROP_REASONS];
    _Atomic uint64_t *unsaved;       /* own_unsaved, or words that outlive the process */
    _Atomic int why;                 /* errno of the last report that could not be written */
    _Atomic(struct outbox *) outbox; /* NULL: there is none; see outbox.h */
    char outbox_path[MIRE_STORE_PATH_MAX];
};

/* Put a report that cannot be written, and contains no losses, into the outbox. False: there is no outbox, or no room. */
bool mire__outbox_put(struct store *store, const struct store_report *report);

/* Return to the directory in which the store was opened, if it can be written again. */
void mire__store_go_home(struct store *store);

/*
 * If the store's directory was deleted, create it again, and count its content as one loss, MIRE_DROP_BROKEN. After a
 * chroot the name means another place, and nothing is created. False: the directory exists, or cannot be created.
 */
bool mire__store_remake(struct store *store);

/* Close the outbox; closing the store closes the outbox, too. */
void mire__outbox_close(struct store *store);

/* "<dir>/<name><suffix>"; false if the path is too long. */
bool mire__store_path(char out[MIRE_STORE_PATH_MAX], const struct store *store, const char *name, const char *suffix);

/* "<dir>/out/<id>.report", likewise. */
bool mire__store_report_path(char out[MIRE_STORE_PATH_MAX], const struct store *store, const char *id);

/* Drop reports until the store is within its caps. id: the report just put, which is not too old by any clock. */
void mire__store_enforce(struct store *store, const char *id, uint64_t now_ms);

bool mire__store_ends_with(const char *name, const char *end);

/* Delete `name` in `dir` if the file is an aside whose writer has ended: the lock is free (disk.h). */
void mire__store_sweep(int dir, const char *name);

/* ---- files with a frame (file.c) ---- */

/*
 * Read a file of the store's directory, without its frame. A damaged file is deleted and counted.
 *
 *   name  "rollout", "after", ...
 *   out   borrowed; room for `cap` bytes, no NUL is put behind them
 *
 * Returns the number of bytes. -1: the file does not exist, is damaged, or does not fit.
 */
ssize_t mire__store_load(struct store *store, const char *name, void *out, size_t cap);

/* The same for a holder of the lock. */
ssize_t mire__store_load_locked(enum frame_state *state_out, const struct store *store, const char *name, void *out,
                                size_t cap);

/* Write such a file. Returns MIRE_OK, MIRE_E_STORE. */
enum mire_err mire__store_save(struct store *store, const char *name, const struct disk_part *parts, size_t count);

enum { MIRE_SAVE_PARTS = 4 }; /* at most */

/* The same for a file that the policy SEAL syncs. */
enum mire_err mire__store_save_sealed(struct store *store, const char *name, const struct disk_part *parts,
                                      size_t count);

/* The same for a file that SEAL syncs together with the first sealed report. how: 0 or MIRE_DISK_EXCLUSIVE. */
enum mire_err mire__store_save_early(struct store *store, const char *name, const struct disk_part *parts, size_t count,
                                     unsigned how);

/* The way to write a file under the store's policy: enum disk_how. sealed: the policy SEAL syncs the file. */
unsigned mire__store_how(const struct store *store, bool sealed);

/* Take the lock of the data that several files share. Returns a descriptor or -1. */
int mire__store_lock(const struct store *store, uint32_t wait_ms);

/* Sync, once, the directories themselves and the installation's identifier. */
void mire__store_root(struct store *store);

/* Delete a file; on the disk as well if the policy is ALWAYS. False: another process deleted it. */
bool mire__store_remove(const struct store *store, const char *path);

/* ---- the loss ledger (drops.c) ---- */

/*
 * The counts, and the change to reports that is under way. The intent is written first, so that the process after a
 * kill knows how far the change went.
 */
#define MIRE_LEDGER_BATCH 32u

struct ledger {
    int lock;
    uint64_t counts[MIRE_DROP_REASONS];
    uint64_t taken[MIRE_DROP_REASONS]; /* from store.unsaved; given back if the file cannot be written */
    /* A report that is being sealed with `losses`, which the counts lack already. It replaces a report with the losses
     * `replaced`. */
    bool sealing;
    char id[MIRE_STORE_ID_LENGTH + 1];
    uint64_t losses[MIRE_DROP_REASONS], replaced[MIRE_DROP_REASONS];
    /* Reports that are being deleted; the counts have them already. */
    size_t dropping;
    char ids[MIRE_LEDGER_BATCH][MIRE_STORE_ID_LENGTH + 1];
};

/* Lock and read the ledger, and finish the change that a killed process began. False: it is locked, or no memory. */
bool mire__ledger_open(struct ledger *ledger, struct store *store, uint32_t wait_ms);

/* Write the ledger. sealed: as in mire__store_how. */
enum mire_err mire__ledger_save(struct ledger *ledger, struct store *store, bool sealed);

/*
 * Subtract the report's losses from the counts, and note the step. False: the report has more losses than the ledger.
 *   replaced  losses in the report that is replaced
 */
bool mire__ledger_seal(struct ledger *ledger, const struct store_report *report,
                       const uint64_t replaced[MIRE_DROP_REASONS]);

/* Complete or undo the noted step, by the files that exist. */
void mire__ledger_finish(struct ledger *ledger, const struct store *store);

/* Unlock the ledger. Losses that could not be written wait in memory. */
void mire__ledger_close(struct ledger *ledger, struct store *store);

/* Finish the step that a killed process left, if any; the test for such a step takes no lock. */
void mire__store_finish(struct store *store);

/* The ledger's text. False: a line is malformed. */
#define MIRE_LEDGER_TEXT (4096 + MIRE_LEDGER_BATCH * 48)
bool mire__ledger_read(struct ledger *ledger, const char *text, size_t size);
size_t mire__ledger_write(char out[MIRE_LEDGER_TEXT], const struct ledger *ledger);

void mire__drops_add(uint64_t to[MIRE_DROP_REASONS], const uint64_t what[MIRE_DROP_REASONS]);

/* Add losses to those that wait in memory. */
void mire__store_keep_drops(struct store *store, const uint64_t add[MIRE_DROP_REASONS]);

/* The losses in the sealed report at `path`; zeros for unknown reasons. False: no such report. */
bool mire__store_report_losses(uint64_t losses[MIRE_DROP_REASONS], const char *path);

#endif
