/*
 * tables.h - the file of a run's memory tables (heap/): a hole for the most part, and written to all the time.
 *
 *     <dir>/box/<run>.heap                 the file, or a link to
 *     /dev/shm/mire-<uid>/<run>.heap       the file in memory
 *
 * A mapped file on a disk is written back every few seconds for as long as its pages change, which wears flash out
 * (docs/adr/0018-where-memory-tables-lie.md). So it lies in memory where the system has a file system for that; it is
 * lost with the machine's power, not with the process. Whoever wants to keep it settles it: copied into the store,
 * holes left out.
 *
 * What is left in memory by runs that nobody asks for is deleted after a day, by whoever recovers what dead runs left.
 */
#ifndef MIRE_STORE_TABLES_H
#define MIRE_STORE_TABLES_H

#include "store/store.h"

#define MIRE_STORE_TABLES_MAX (1u << 30) /* bytes that a file spans */

/*
 * Make the tables' file of zeros, none of it on disk yet: claim pages before they are stored to (mire__pages_claim). It
 * is alive as long as the mapping is, as a blackbox is.
 *
 *   file     for mire__store_box_close, which deletes it; or munmap, which leaves it to be recovered
 *   run      the run's name, as in the name of its blackbox
 *   on_disk  in the store's directory in any case
 *
 * Returns MIRE_OK, MIRE_E_RANGE, MIRE_E_STORE (cannot be made), MIRE_E_SYSTEM (mapping refused).
 */
enum mire_err mire__store_tables_open(struct store_box *file, struct store *store, const char *run, size_t size,
                                      bool on_disk);

/* Delete files in memory that nobody will miss, some at a time. */
void mire__store_tables_sweep(void);

/* Where the file of a run is; false if there is none. The link is followed. */
bool mire__store_tables_path(char out[MIRE_STORE_PATH_MAX], const struct store *store, const char *run);

/*
 * See that a dead run's file is in the store's directory itself: copied from memory, holes left out, synced.
 * Returns MIRE_OK, MIRE_E_STORE: it stays where it is.
 */
enum mire_err mire__store_tables_settle(struct store *store, const char *run);

/* Delete it, wherever it is. */
void mire__store_tables_drop(struct store *store, const char *run);

/*
 * Settle a dead run's file and keep it for whoever wants to look into it: it is <dir>/memory/<run>.heap from now on. Of
 * the files there the ones that came last stay: at most `runs`, and of these as many as take `bytes` on disk together;
 * the newest stays in any case.
 *
 * Returns MIRE_OK, MIRE_E_STORE (not moved).
 */
enum mire_err mire__store_keep(struct store *store, const char *run, uint32_t runs, uint64_t bytes);

/*
 * Keep, as above, the files of runs that are over and left no evidence: nobody else asks for them.
 * Returns how many.
 */
size_t mire__store_keep_orphans(struct store *store, uint32_t runs, uint64_t bytes);

#endif
