/*
 * cookie.h - the cookie that bears a sign-in. Pure.
 *
 * Over TLS its name begins with __Host-: the browser then takes it from this host alone, over TLS alone, for all paths.
 * On plain HTTP, which loopback is allowed, it has a plain name.
 */
#ifndef MIRE_ACCESS_COOKIE_H
#define MIRE_ACCESS_COOKIE_H

#include "base/id.h"
#include "http/http.h"

#define MIRE_SIGN_IN_DAYS 30 /* a sign-in ends so long after it began */
#define MIRE_COOKIE_TEXT  192

/* The secret in the request's cookie. False: it has none that is well-formed. */
bool cookie_read(char out[MIRE_KEY_TEXT], const struct request *request, bool is_secure);

/* Value of Set-Cookie. secret "": the browser forgets it. */
void cookie_write(char out[MIRE_COOKIE_TEXT], const char *secret, bool is_secure);

#endif
