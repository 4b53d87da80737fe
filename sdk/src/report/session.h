/*
 * session.h - the record of a session, out of its blackbox: JSON as schema/wire/session.schema.json says, sealed into
 * the store as reports are.
 *
 * The box may be a live one, in the hands of the worker or of mire_stop, or one that a killed process left behind.
 * Thread: one at a time per box; uses the heap.  Signal handler: no.
 */
#ifndef MIRE_REPORT_SESSION_H
#define MIRE_REPORT_SESSION_H

#include "ring/blackbox.h"
#include "store/ends.h"

#define MIRE_SESSION_ENDS_MAX 16 /* runs whose end one record tells; more wait for the next */

/* Begin the next part of the session: what follows is counted from here on. */
void mire__session_begin(struct blackbox *box, uint64_t now_ns, uint64_t now_wall_ms);

/*
 * Seal the record of the part that goes on, with how earlier runs ended and the losses that no record tells yet. The
 * same record again replaces the first.
 *
 *   end_ns  CLOCK_MONOTONIC of the box's process: up to when it is
 *   over    the session has ended
 *   now_ms  wall clock
 *
 * Returns MIRE_OK
 *         MIRE_E_STATE   no record is to be made
 *         MIRE_E_FORMAT  a damaged box
 *         MIRE_E_MEMORY, MIRE_E_STORE, MIRE_E_FULL
 */
enum mire_err mire__session_seal(struct store *store, const struct blackbox *box, uint64_t end_ns, bool over,
                                 uint64_t now_ms);

/* What a record tells besides its session. */
struct session_told {
    uint64_t drops[MIRE_DROP_REASONS]; /* losses that no record tells yet */
    struct store_end ends[MIRE_SESSION_ENDS_MAX];
    size_t end_count;
};

/*
 * The uncompressed text of the same record.
 *
 *   text_out, size_out  owned by the caller (mire__free); NULL, 0 unless MIRE_OK
 *   id                  the record's id and a NUL
 *
 * Returns as mire__session_seal.
 */
enum mire_err mire__session_json(char **text_out, size_t *size_out, char id[MIRE_STORE_ID_LENGTH + 1],
                                 const struct blackbox *box, uint64_t end_ns, bool over,
                                 const struct session_told *told);

#endif
