/*
 * origin.h - from which page a request comes, and for which host. Pure.
 *
 * A page of another origin can make a browser send requests here: by a form, by fetch, or by a name of its own that it
 * lets lead to this server's address (DNS rebinding). The last one names a host that is not ours; the others name a
 * foreign origin, and cannot add a header of ours.
 */
#ifndef MIRE_ACCESS_ORIGIN_H
#define MIRE_ACCESS_ORIGIN_H

#include "http/http.h"

#define MIRE_CHANGE_HEADER "X-Mire-Change" /* any value; of requests that change something and bear no key */

/* Is the name (with or without a port) an address, localhost, or one of `hosts`? */
bool origin_knows_host(const char *hosts, const char *host);

/* Does one of `urls`, separated by spaces, have this scheme ("https") and host (with or without a port)? */
bool origin_is_named(const char *urls, const char *scheme, const char *host);

/* Is the host localhost, or an address of the loopback interface? */
bool origin_is_loopback(const char *host);

/*
 * True: the reply says why the request is refused: 403 or 421.
 *   may_be_nobody  the request bears no key and needs none: a change then needs the header
 */
bool origin_refuse(const char *hosts, bool may_be_nobody, const struct request *request, struct reply *reply);

#endif
