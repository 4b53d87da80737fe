/*
 * store.h - what the library keeps on disk: how much of it, and how surely.
 *
 * Everything lies in one directory (mire_options_set_store). docs/store.md tells what is in it and what survives what.
 * A report that finds no room pushes out those of less value, the oldest first among equals; every report that is lost,
 * for whatever reason, is counted, and the counts are sent with the next one.
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
 * When the library waits for the disk. It never does so on a watched thread. Whatever is chosen, the end of the process
 * loses nothing that was stored, SIGKILL included: the kernel has it. This is about the end of the machine: its power,
 * or its kernel. What was being written then is recognised by its checksum, refused and counted.
 *
 *   MIRE_STORE_SYNC_SEAL    (default) A report, a session's record and the user's word are on disk at once: file
 *                           synced, renamed, directory synced; the installation's identifier with the first of them.
 *                           Small files that change often (losses, stacks, ends of runs, rollout) are synced before
 *                           they are renamed and may be as they were some seconds before.
 *   MIRE_STORE_SYNC_ALWAYS  Every file is on disk when the library is done with it, and every deletion too.
 *   MIRE_STORE_SYNC_NEVER   Nothing is waited for. Files of the last half minute may be missing, or be refused.
 *
 * Mapped files (evidence, open hangs, memory tables) are left to the kernel always, which writes them now and then.
 */
enum mire_store_sync { MIRE_STORE_SYNC_SEAL = 0, MIRE_STORE_SYNC_ALWAYS = 1, MIRE_STORE_SYNC_NEVER = 2 };

/* Returns MIRE_OK, MIRE_E_ARG (options is NULL), MIRE_E_RANGE. */
MIRE_API enum mire_err mire_options_set_store_sync(mire_options *options, enum mire_store_sync sync);

/*
 * How much may wait in the store: held whenever a report is sealed. Processes that share a store should say the same.
 *
 *   kib    KiB of all sealed reports together, 64..1048576; default 5120
 *   count  of sealed reports, 2..1024; default 256
 *   age_s  seconds after which a report is not worth sending, 60..31536000; default 1209600, two weeks
 *
 * Returns MIRE_OK, MIRE_E_ARG (options is NULL), MIRE_E_RANGE: the options are as before.
 */
MIRE_API enum mire_err mire_options_set_store_caps(mire_options *options, uint32_t kib, uint32_t count, uint32_t age_s);

#ifdef __cplusplus
}
#endif
#endif
