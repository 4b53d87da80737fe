/*
 * cookie.h - the cookie of a sign-in. Pure.
 *
 * Over TLS its name begins with __Host-: the browser then takes it from this host alone, over TLS alone, for all paths.
 * On plain HTTP, which loopback is allowed, it has a plain name.
 */
#ifndef MIRE_ACCESS_COOKIE_H
#define MIRE_ACCESS_COOKIE_H

#include "base/id.h"
#include "http/http.h"

#define MIRE_SIGN_IN_DAYS 30 /* a sign-in ends so long after it began */

/* Value of a cookie whose name is mire_NAME, or __Host-mire_NAME. False: there is none, or it has no room. */
bool cookie_find(char *out, size_t room, const struct request *request, const char *name, bool is_secure);

/* Value of Set-Cookie, in the arena; NULL: no memory. lasts_s 0: the browser forgets it. */
const char *cookie_of(struct arena *arena, const char *name, const char *value, int lasts_s, bool is_secure);

/* The secret in the request's cookie. False: it has none that is well-formed. */
bool cookie_read(char out[MIRE_KEY_TEXT], const struct request *request, bool is_secure);

/* Value of Set-Cookie for a sign-in, the same. */
const char *cookie_of_sign_in(struct arena *arena, const char *secret, int lasts_s, bool is_secure);

#endif
