/*
 * cookie.h - the cookie of a sign-in. Pure.
 *
 * Over TLS the name begins with __Host-: the browser then accepts the cookie from this host only, over TLS only, for
 * all paths. On plain HTTP, which is allowed on loopback, the name has no prefix.
 */
#ifndef MIRE_ACCESS_COOKIE_H
#define MIRE_ACCESS_COOKIE_H

#include "base/id.h"
#include "http/http.h"

#define MIRE_SIGN_IN_DAYS 30 /* longest life of a sign-in */

/* Value of the cookie mire_NAME or __Host-mire_NAME. False: no such cookie, or no room. */
bool cookie_find(char *out, size_t room, const struct request *request, const char *name, bool is_secure);

/* Value of Set-Cookie, in the arena; NULL: no memory. lasts_s 0: the browser deletes the cookie. */
const char *cookie_of(struct arena *arena, const char *name, const char *value, int lasts_s, bool is_secure);

/* The secret in the request's cookie. False: no well-formed cookie. */
bool cookie_read(char out[MIRE_KEY_TEXT], const struct request *request, bool is_secure);

/* Value of Set-Cookie for a sign-in, the same. */
const char *cookie_of_sign_in(struct arena *arena, const char *secret, int lasts_s, bool is_secure);

#endif
