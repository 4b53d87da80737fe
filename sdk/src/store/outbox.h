/*
 * outbox.h - a mapped file for reports of a run that can no longer write the store's directory.
 *
 * A process may lose access to the directory while it runs: it gives up root, or confines itself with chroot. Its
 * mappings stay. So before such a change it maps <dir>/box/<run>.outbox, one of the run's files (runs.h), and puts
 * reports there:
 *
 *     process: out/ cannot be written --> outbox --> out/ :finder, with the rights that the process had
 *
 * The finder is mire-run, twice a second while the process lives, or the process that recovers the run. It treats the
 * content as untrusted, because the process may have been taken over. A report that is put twice, by two finders or
 * after a kill, counts once, because its id is the same.
 *
 * Private to store/ and core/, preload/, report/.
 */
#ifndef MIRE_STORE_OUTBOX_H
#define MIRE_STORE_OUTBOX_H

#include "store/store.h"

#define MIRE_STORE_OUTBOX ".outbox"

/*
 * Create the run's outbox, with 1 MB of reserved disk; no effect if it exists. Closing the store deletes an empty one.
 * Returns MIRE_OK, MIRE_E_STORE, MIRE_E_SYSTEM. Thread: any, one at a time.
 */
enum mire_err mire__outbox_open(struct store *store, const char *run);

/*
 * Move the reports of all outboxes into the store, and delete the outboxes of dead runs. Reports that cannot be moved
 * now stay. Returns the number of outboxes of living runs. Thread: any.
 */
size_t mire__outbox_take_all(struct store *store, uint64_t now_ms);

#endif
