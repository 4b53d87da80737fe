/*
 * account.h - people and their roles in apps.
 */
#ifndef MIRE_ROWS_ACCOUNT_H
#define MIRE_ROWS_ACCOUNT_H

#include "base/arena.h"
#include "pg/pg.h"

enum account_outcome { ACCOUNT_DONE = 0, ACCOUNT_NONE = 1, ACCOUNT_THERE = 2 };

#define MIRE_EVERY_APP 0 /* number of no app: a role in all of them */

/* Is `name` an account's name: an e-mail address or a word, in lower case? */
bool rows_account_is_name(const char *name);

struct account_row {
    int64_t account;
    const char *name, *source;
    const char *password; /* NULL: none */
    bool is_server_admin;
    int64_t created_us, seen_us, disabled_us; /* 0: never */
};

/* Find an account by name, disabled ones too. ACCOUNT_DONE with texts in the arena, ACCOUNT_NONE, or a fault. */
int rows_account_find(struct account_row *out, struct pg_tx *tx, struct arena *arena, const char *name);

/* Find an account by the subject of an OpenID provider. Result as above. */
int rows_account_of_subject(struct account_row *out, struct pg_tx *tx, struct arena *arena, const char *subject);

/* All accounts by name. 0 or a fault. */
int rows_account_list(struct account_row **out, size_t *count, struct pg_tx *tx, struct arena *arena);

/* The number of accounts. 0 or a fault. */
int rows_account_count(int64_t *out, struct pg_tx *tx);

/* Add an account. ACCOUNT_DONE, ACCOUNT_THERE (the name is taken), or a fault. source: local, proxy, oidc. */
int rows_account_add(int64_t *account_out, struct pg_tx *tx, const char *name, const char *source, const char *subject,
                     bool is_server_admin);

/* 0 or a fault. */
int rows_account_set_password(struct pg_tx *tx, int64_t account, const char *stored);
int rows_account_set_admin(struct pg_tx *tx, int64_t account, bool is_server_admin);
int rows_account_set_disabled(struct pg_tx *tx, int64_t account, bool is_disabled);

struct member_row {
    int64_t account;
    int32_t app;                    /* MIRE_EVERY_APP */
    const char *name, *slug, *role; /* slug "": every app */
};

/* Roles of an account (0: of all) in an app (-1: in all), by the account's name, then slug. 0 or a fault. */
int rows_member_list(struct member_row **out, size_t *count, struct pg_tx *tx, struct arena *arena, int64_t account,
                     int32_t app);

/* Set a role; "": none. *before_out is the role until now, "" for none. 0 or a fault. */
int rows_member_set(const char **before_out, struct pg_tx *tx, struct arena *arena, int64_t account, int32_t app,
                    const char *role);

/* --- for access -------------------------------------------------------------------------------------------------- */

/* A credential that is not revoked; it may have expired. */
struct credential_good {
    struct pg_bytes hash;
    int64_t credential, account, expires_us;
    const char *kind, *scope;
};

struct people_take {
    void *context;
    int (*account)(void *context, const struct account_row *account);
    int (*member)(void *context, const struct member_row *member);
    int (*credential)(void *context, const struct credential_good *credential);
};

/*
 * Hand over the accounts that are not disabled, their roles and credentials. 0, a function's other result, or a fault.
 */
int rows_people_each(struct pg *pg, const struct people_take *take);

#endif
