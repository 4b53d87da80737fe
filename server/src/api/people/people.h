/*
 * people.h - what the files of people/ share: cookies of sign-ins, and accounts by the name in a path.
 */
#ifndef MIRE_API_PEOPLE_H
#define MIRE_API_PEOPLE_H

#include "api/call.h"
#include "rows/account.h"

/* A name as accounts have it, in the arena; NULL: it cannot be one. */
const char *people_fold(struct call *call, const char *name);

/* Make a sign-in of the account and give it to the browser; the transaction commits later. 0 or a fault. */
int people_sign_in(struct call *call, int64_t account, int lasts_s);

/* The sign-in of the request ends, if it is one: no secret outlives the moment at which more is allowed. 0 or a fault. */
int people_end_own(struct call *call);

/* The same as people_sign_in after people_end_own, with a row of the audit log, and commit. 0 or a fault. */
struct people_enter {
    int64_t account;
    const char *name, *reason; /* reason: how, "" for by password */
    int lasts_s;
};
int people_enter(struct call *call, const struct people_enter *enter);

/* Scheme and host under which the browser reaches this server, in the arena; NULL: no memory. */
const char *people_base(const struct call *call);

/* The browser forgets its sign-in. 0 or a fault. */
int people_drop_cookie(struct call *call);

/* The account of the path's parameter. 0, CALL_REPLIED, or a fault. */
int people_of_path(struct account_row *out, struct call *call, size_t param);

/* Is it of these lengths? 0, or CALL_REPLIED. */
int people_check_password(struct call *call, const char *password);

/* Make a one-time link to set a password: "/-/welcome#mk_...", returned once; earlier ones end. 0 or a fault. */
int people_make_link(const char **path_out, struct call *call, int64_t account);

/* A number of a path. 0, or CALL_REPLIED. */
int people_number(int64_t *out, struct call *call, size_t param, const char *what);

/* Commit, and have the next request judged by what holds now. 0 or a fault. */
int people_commit(struct call *call);

#endif
