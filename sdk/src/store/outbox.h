/*
 * outbox.h - where a run keeps reports that it may not write to the store's directory any more.
 *
 * A process may lose its way to the directory while it runs: it gives up root, or confines itself with chroot. What it
 * has mapped stays. So before such a change it maps <dir>/box/<run>.outbox, one of the run's files (runs.h), and a
 * report that cannot be written is put there:
 *
 *     process: out/ cannot be written --> outbox --> out/ :finder, with the rights that the process had
 *
 * The finder is mire-run, twice a second while the process lives, or whoever recovers the run. It believes nothing that
 * it reads there: the process may be anybody's by now. A report that is put twice, by two finders or after a kill, is
 * one report, for its id is the same.
 *
 * Private to store/ and core/, preload/, report/.
 */
#ifndef MIRE_STORE_OUTBOX_H
#define MIRE_STORE_OUTBOX_H

#include "store/store.h"

#define MIRE_STORE_OUTBOX ".outbox"

/*
 * Make the run's outbox, with all of its disk: 1 MB, deleted with the store's closing if nothing is in it. Again does
 * nothing. Returns MIRE_OK, MIRE_E_STORE, MIRE_E_SYSTEM. Thread: any, one at a time.
 */
enum mire_err mire__outbox_open(struct store *store, const char *run);

/*
 * Put reports of all outboxes into the store, and delete the outboxes of dead runs. What cannot be put now stays.
 * Returns how many outboxes of living runs there are. Thread: any.
 */
size_t mire__outbox_take_all(struct store *store, uint64_t now_ms);

#endif
