/*
 * dsn.h - the key of a request that a Sentry SDK sends: SCHEME://KEY@HOST/PROJECT, the project being the number of the
 * key's app.
 */
#ifndef MIRE_ACCESS_DSN_H
#define MIRE_ACCESS_DSN_H

#include "access/access.h"

/* Does the request's route begin with MIRE_SENTRY_PATH? */
bool dsn_is_of(const struct request *request);

/*
 * The key: of Authorization: Bearer, X-Sentry-Auth, Authorization: Sentry, or ?sentry_key=. NULL if there is none.
 * `room` may hold it.
 */
const char *dsn_key(char room[MIRE_KEY_TEXT], const struct request *request);

/* Is the project of the path this app? */
bool dsn_names_app(const struct request *request, int32_t app_id);

#endif
