/*
 * dsn.h - the key of a request that a Sentry SDK sends: SCHEME://KEY@HOST/PROJECT, the project being the number of the
 * key's app.
 */
#ifndef MIRE_ACCESS_DSN_H
#define MIRE_ACCESS_DSN_H

#include "base/id.h"
#include "http/http.h"

/*
 * Prefix of the paths of Sentry's SDKs. A request there has its key where an SDK puts it: in X-Sentry-Auth, in
 * Authorization: Sentry, or as ?sentry_key=. The project is the number of the key's app.
 */
#define MIRE_SENTRY_PATH "/api/{project}/"

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
