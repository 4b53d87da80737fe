/*
 * credential.h - secrets of people: sign-ins of browsers, personal tokens, one-time links and codes. A secret is
 * returned once, by the function that makes it; the table has its hash.
 */
#ifndef MIRE_ROWS_CREDENTIAL_H
#define MIRE_ROWS_CREDENTIAL_H

#include "base/arena.h"
#include "pg/pg.h"

enum credential_outcome { CREDENTIAL_DONE = 0, CREDENTIAL_NONE = 1 };

struct credential_new {
    int64_t account; /* 0: of a link, for the first admin */
    const char *kind, *scope, *label, *address;
    int64_t lasts_s; /* 0: for ever */
};

/* 0 or a fault. */
int rows_credential_add(char secret_out[MIRE_KEY_TEXT], struct pg_tx *tx, const struct credential_new *made);

struct credential_row {
    int64_t credential;
    const char *scope, *prefix, *label, *address;
    int64_t created_us, expires_us, used_us; /* 0: never */
};

/* An account's valid credentials of a kind, newest first. 0 or a fault. */
int rows_credential_list(struct credential_row **out, size_t *count, struct pg_tx *tx, struct arena *arena,
                         int64_t account, const char *kind);

/* Revoke one. CREDENTIAL_DONE, CREDENTIAL_NONE (the account has no such valid credential), or a fault. */
int rows_credential_revoke(struct pg_tx *tx, int64_t account, const char *kind, int64_t credential);

/* Revoke all of a kind except `but` (0: all). *count_out is their number. 0 or a fault. */
int rows_credential_revoke_all(int64_t *count_out, struct pg_tx *tx, int64_t account, const char *kind, int64_t but);

/* Use up a link. CREDENTIAL_DONE with its account (0: the first admin's), CREDENTIAL_NONE, or a fault. */
int rows_credential_use_link(int64_t *account_out, const char **name_out, struct pg_tx *tx, struct arena *arena,
                             const char *secret);

/* The account of a link, which stays usable. Result as above. */
int rows_credential_read_link(int64_t *account_out, const char **name_out, struct pg_tx *tx, struct arena *arena,
                              const char *secret);

/* Use up a code that signs in a command line. Result as above; the account is never 0. */
int rows_credential_use_code(int64_t *account_out, const char **name_out, struct pg_tx *tx, struct arena *arena,
                             const char *secret);

/* Revoke the unused links of an account, or the first admin's (0). 0 or a fault. */
int rows_credential_end_links(struct pg_tx *tx, int64_t account);

/* Record that credentials were just used, and their people seen. 0 or a fault. */
int rows_credential_used(struct pg *pg, const int64_t *credentials, size_t count);

#endif
