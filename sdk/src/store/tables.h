/*
 * tables.h - the file of a run's memory tables (heap/), which is mostly a hole, and changes all the time.
 *
 *     <dir>/box/<run>.heap                 the file, or a link to
 *     /dev/shm/mire-<uid>/<run>.heap       the file in memory
 *
 * The kernel writes a changing mapped file to its disk every few seconds, which wears out flash
 * (docs/adr/0018-where-memory-tables-lie.md). So the file is in memory if the system has a file system for that; it
 * then survives the process, but not a power loss. To keep it, settle it: copy it into the store, without holes.
 *
 * Files in memory of runs that no store refers to are deleted after a day, at the recovery of dead runs.
 */
#ifndef MIRE_STORE_TABLES_H
#define MIRE_STORE_TABLES_H

#include "store/store.h"

#define MIRE_STORE_TABLES_MAX (1u << 30) /* bytes that a file spans */

/*
 * Create the file, of zeros without reserved memory: claim pages before they are stored to (mire__pages_claim). Like a
 * blackbox it is locked while it is mapped.
 *
 *   file     for mire__store_box_close, which deletes it; or munmap, which leaves it for recovery
 *   run      the run's name, as in the name of its blackbox
 *   on_disk  true: in the store's directory
 *
 * Returns MIRE_OK, MIRE_E_RANGE, MIRE_E_STORE (cannot be made), MIRE_E_SYSTEM (mapping refused).
 */
enum mire_err mire__store_tables_open(struct store_box *file, struct store *store, const char *run, size_t size,
                                      bool on_disk);

/* Delete old files in memory that no store refers to, some at a time. */
void mire__store_tables_sweep(void);

/* The path of a run's file, behind the link; false if there is none. */
bool mire__store_tables_path(char out[MIRE_STORE_PATH_MAX], const struct store *store, const char *run);

/*
 * Move a dead run's file into the store's directory: copied from memory, without holes, synced.
 * Returns MIRE_OK, MIRE_E_STORE (not moved).
 */
enum mire_err mire__store_tables_settle(struct store *store, const char *run);

/* Delete the file of a run. */
void mire__store_tables_drop(struct store *store, const char *run);

/*
 * Settle a dead run's file and keep it as <dir>/memory/<run>.heap, for mire memory. The newest files there stay:
 * at most `runs`, with at most `bytes` on disk together; the newest one always stays.
 *
 * Returns MIRE_OK, MIRE_E_STORE (not moved).
 */
enum mire_err mire__store_keep(struct store *store, const char *run, uint32_t runs, uint64_t bytes);

/*
 * Keep, as above, the files of ended runs without evidence.
 * Returns their number.
 */
size_t mire__store_keep_orphans(struct store *store, uint32_t runs, uint64_t bytes);

#endif
