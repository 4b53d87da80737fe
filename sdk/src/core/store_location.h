/*
 * store_location.h - the directory of an app's store. Private to core/ and mire-run.
 */
#ifndef MIRE_CORE_STORE_LOCATION_H
#define MIRE_CORE_STORE_LOCATION_H

#include "core/options.h"
#include "store/store.h"

/*
 * Open the store in the first of these directories that can be created and written:
 *
 *   a directory is set   that one; under mire-run, after a change of the user, mire__store_location_of_user
 *   else                 $XDG_STATE_HOME/mire/<app>, ~/.local/state/mire/<app>, /var/tmp/mire-<uid>/<app>
 *
 * A directory in /var/tmp is used only if this user owns it.
 *
 *   store_out  owned by the caller; NULL unless MIRE_OK
 *   dir        the opened directory, otherwise the last one tried
 *
 * Returns MIRE_OK, MIRE_E_MEMORY, MIRE_E_STORE.
 */
enum mire_err mire__store_location_open(struct store **store_out, char dir[MIRE_STORE_PATH_MAX],
                                        const mire_options *options);

/*
 * The process has given up the right to write its store: move the store to the directory of its present user. Returns
 * whether that can be written. Thread: any.
 */
bool mire__store_location_move(struct store *store, const mire_options *options);

/* The directory of a user's processes: /var/tmp/mire-<uid>/<name>. False if it is too long. */
bool mire__store_location_of_user(char out[MIRE_STORE_PATH_MAX], uint32_t uid, const char *name);

#endif
