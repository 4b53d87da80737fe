/* fetch.h - asks a mired over HTTP. */
#ifndef MIRE_CLI_FETCH_H
#define MIRE_CLI_FETCH_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/* http://127.0.0.1:7117, or MIRE_SERVER. Borrowed from the environment or static. */
const char *fetch_server(void);

/*
 * GET a URL whose answer is JSON.
 *
 *   out  the body is appended
 *   key  sent if the server, or a proxy in front of it, does not answer without one; NULL: the token that `mire login`
 *        keeps for it
 *
 * Returns 0; or, after printing the reason on stderr, in the server's words if possible: FETCH_MISSING for 404,
 * otherwise -1.
 */
#define FETCH_MISSING 1
int fetch_get(struct text *out, const char *url, const char *key);

/*
 * The same for a change: send `body`, JSON.
 *   key     NULL: none, or where the server refuses that, the token that `mire login` keeps for it
 *   method  "PUT" or "POST"
 */
int fetch_send(struct text *out, const char *method, const char *url, const char *key, const struct text *body);

/* Steps of one visit: a cookie that the server gives is sent from then on. */
struct fetch_step {
    const char *method, *path;
    const struct text *body; /* NULL: none */
    struct text *out;        /* the answer is appended */
};

/* Returns 0, or -1 after saying which step was refused. */
int fetch_steps(const char *server, const struct fetch_step *steps, size_t count);

/* Questions to one server that print nothing. Start with `server` and `key` (NULL or "": the token of `mire login`). */
struct fetch_session {
    const char *server; /* without a path; borrowed */
    const char *key;
    bool needs_key; /* the server did not answer without one */
};

/*
 * Ask, and append the answer's body to `out`, whatever the status; without an answer the reason.
 *   method  "GET", "POST", "PUT" or "DELETE"; body: JSON, or NULL
 *   path    begins with /, and is escaped
 * Returns the HTTP status; 0: there was no answer.
 */
long fetch_ask(struct fetch_session *session, struct text *out, const char *method, const char *path,
               const struct text *body);

/* Print why fetch_ask did not give what was wanted, on stderr. */
void fetch_say_problem(const char *path, long status, const struct text *body);

/* The personal token that `mire login` keeps for a server; NULL: none. Good until the next call. */
const char *fetch_token(const char *server);

/* Keep another one, or none (NULL). False: the file cannot be written. */
bool fetch_keep_token(const char *server, const char *token);

/* The length of a server's address without the slashes at its end. */
size_t fetch_server_length(const char *server);

/* Append SERVER/api/v1, without the slashes at the end of the server's address. */
void fetch_api_url(struct text *url, const char *server);

/* Append SERVER/api/v1/apps/APP, likewise. */
void fetch_app_url(struct text *url, const char *server, const char *app);

/* Append `value`, escaped for a query string. */
void fetch_escape(struct text *out, const char *value);

#endif
