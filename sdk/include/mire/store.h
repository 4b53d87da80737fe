/*
 * mire/store.h - limits and durability of the library's files.
 *
 * All files are in one directory (mire_options_set_store); docs/store.md describes them. If a new report does not fit,
 * the library drops reports of lower value first, and of equal value the oldest. It counts every lost report, and sends
 * the counts with the next report.
 *
 * Thread: one at a time per options object.  Signal handler: no.
 */
#ifndef MIRE_STORE_H
#define MIRE_STORE_H

#include "mire/mire.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * When the library syncs files to disk. It never does so on a watched thread. The choice matters only if the whole
 * machine fails, by power loss or a kernel crash. The end of the process alone, even by SIGKILL, loses no file. A file
 * that was damaged by such a failure is found by its checksum, discarded and counted.
 *
 *   MIRE_STORE_SYNC_SEAL    (default) Reports, session records, the user's decision and the identifier of the
 *                           installation are on disk when they are complete. Small files that change often (losses,
 *                           stacks, ends of runs, rollout) may be some seconds old after a failure, but are intact.
 *   MIRE_STORE_SYNC_ALWAYS  Every file and every deletion is on disk when the call that made it returns.
 *   MIRE_STORE_SYNC_NEVER   No sync. Files of the last half minute may be missing or damaged after a failure.
 *
 * The kernel writes mapped files (evidence, open events, memory tables) at times of its own, whatever is chosen.
 */
enum mire_store_sync { MIRE_STORE_SYNC_SEAL = 0, MIRE_STORE_SYNC_ALWAYS = 1, MIRE_STORE_SYNC_NEVER = 2 };

/* Set the sync policy. Returns MIRE_OK, MIRE_E_ARG (options is NULL), MIRE_E_RANGE. */
MIRE_API enum mire_err mire_options_set_store_sync(mire_options *options, enum mire_store_sync sync);

/*
 * Limit the reports that wait in the store. The limits are applied whenever a report is added. Processes that share a
 * store should set the same limits.
 *
 *   kib    total size of the reports in KiB, 64..1048576; default 5120
 *   count  number of reports, 2..1024; default 256
 *   age_s  maximum age of a report in seconds, 60..31536000; default 1209600, two weeks
 *
 * Returns MIRE_OK, MIRE_E_ARG (options is NULL), MIRE_E_RANGE.
 */
MIRE_API enum mire_err mire_options_set_store_caps(mire_options *options, uint32_t kib, uint32_t count, uint32_t age_s);

#ifdef __cplusplus
}
#endif
#endif
