/*
 * place.h - where an app's store lies. Private to core/ and mire-run.
 */
#ifndef MIRE_CORE_PLACE_H
#define MIRE_CORE_PLACE_H

#include "core/options.h"
#include "store/store.h"

/*
 * Open the store at the first of these places that can be made and written:
 *
 *   a directory is set   that one; where mire-run set it and the process has changed its user since: place_of_others
 *   else                 $XDG_STATE_HOME/mire/<app>, ~/.local/state/mire/<app>, /var/tmp/mire-<uid>/<app>
 *
 * What lies in /var/tmp is used only if it is this user's.
 *
 *   store_out  owned by the caller; NULL unless MIRE_OK
 *   dir        the place that was opened, else the last one tried
 *
 * Returns MIRE_OK, MIRE_E_MEMORY, MIRE_E_STORE.
 */
enum mire_err mire__place_open(struct store **store_out, char dir[MIRE_STORE_PATH_MAX], const mire_options *options);

/*
 * The process may not write its store any more, for it has given up rights: have the store go on at the place of the
 * user that it is now. Returns whether that can be written. Thread: any.
 */
bool mire__place_again(struct store *store, const mire_options *options);

/* The place of a user's processes: /var/tmp/mire-<uid>/<name>. False if it is too long. */
bool mire__place_of_user(char out[MIRE_STORE_PATH_MAX], uint32_t uid, const char *name);

#endif
