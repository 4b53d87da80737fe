/*
 * sessions.h - sessions without a record yet: <dir>/session/<name>, one small file each.
 *
 * A file exists while its session is open, and afterwards until a rollout document decides whether a record is wanted.
 * Several processes add to one file: each reads, changes and writes it while it holds the lock.
 *
 * Thread: any; calls on one store may run in parallel, in several processes too.  Signal handler: no.
 */
#ifndef MIRE_STORE_SESSIONS_H
#define MIRE_STORE_SESSIONS_H

#include "store/runs.h"

#define MIRE_STORE_SESSIONS 64 /* files in one list; further ones wait */

/* Lock all session files. Returns a descriptor for unlock, -1 after a second. No other call of the store meanwhile. */
int mire__store_sessions_lock(const struct store *store);
void mire__store_sessions_unlock(int lock);

/*
 * Read a file.
 *   name  32 hex digits, as mire__store_run_name makes them
 *   out   borrowed; `size` bytes
 * Returns MIRE_OK, MIRE_E_STATE (missing, damaged, or of another size).
 */
enum mire_err mire__store_session_load(void *out, size_t size, const struct store *store, const char *name);

/* Are the files accessible? Not for a process that has given up its rights, or has another root directory. */
bool mire__store_sessions_seen(const struct store *store);

/* Is there a session of this name? One that cannot be read, for lack of memory or descriptors, is there. */
bool mire__store_session_is_there(const struct store *store, const char *name);

/* Replace a file atomically; synced by MIRE_STORE_SYNC_ALWAYS only. Returns MIRE_OK, MIRE_E_STORE. */
enum mire_err mire__store_session_save(struct store *store, const char *name, const void *bytes, size_t size);

void mire__store_session_forget(const struct store *store, const char *name);

/* The names, in no order. Returns their number, at most MIRE_STORE_SESSIONS. */
size_t mire__store_session_list(char names[MIRE_STORE_SESSIONS][MIRE_STORE_RUN_BYTES], const struct store *store);

/*
 * Visit all blackboxes.
 *   visit  memory: `size` bytes, read-only; lives: its process is alive. Returns false to stop
 */
typedef bool mire__store_visit_fn(void *context, const void *memory, size_t size, bool lives);
void mire__store_visit_boxes(const struct store *store, mire__store_visit_fn *visit, void *context);

#endif
