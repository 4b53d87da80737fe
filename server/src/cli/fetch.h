/* fetch.h - asks a mired over HTTP. */
#ifndef MIRE_CLI_FETCH_H
#define MIRE_CLI_FETCH_H

#include "base/text.h"

/* http://127.0.0.1:7117, or MIRE_SERVER. Borrowed from the environment or static. */
const char *fetch_server(void);

/*
 * GET a URL whose answer is JSON.
 *
 *   out  the body is appended
 *   key  sent if the server, or a proxy in front of it, does not answer without one; NULL: none
 *
 * Returns 0; or, after printing the reason on stderr, in the server's words if possible: FETCH_MISSING for 404,
 * otherwise -1.
 */
#define FETCH_MISSING 1
int fetch_get(struct text *out, const char *url, const char *key);

/*
 * The same for a change: send `body`, JSON.
 *   key     NULL: none
 *   method  "PUT" or "POST"
 */
int fetch_send(struct text *out, const char *method, const char *url, const char *key, const struct text *body);

/* Append `value`, escaped for a query string. */
void fetch_escape(struct text *out, const char *value);

#endif
