/*
 * keys.h - all valid keys and accounts, sorted; and token buckets in fixed memory.
 */
#ifndef MIRE_ACCESS_KEYS_H
#define MIRE_ACCESS_KEYS_H

#include "access/access.h"

#include <stdatomic.h>

struct access_keys {
    struct access_key *rows;
    _Atomic bool *used; /* of each sorted row: the key was used */
    size_t count, room;
    struct people {
        struct access_account *rows;
        size_t count, room;
    } accounts; /* by number */
    struct members {
        struct access_member *rows;
        size_t count, room;
    } members; /* by account, then app */
};

/* Sort keys, accounts and members; nothing is added afterwards. False: no memory. */
bool access_keys_sort(struct access_keys *keys);
void access_keys_free(struct access_keys *keys);

/* NULL: there is no such key. */
const struct access_key *access_keys_find(const struct access_keys *keys, const uint8_t hash[MIRE_KEY_HASH]);

/* NULL: there is no such account. Names match in any case. */
const struct access_account *access_account_find(const struct access_keys *keys, int64_t account_id);
const struct access_account *access_account_named(const struct access_keys *keys, const char *name);

/* Role of an account in an app. Slug "": on the server, where every account is a viewer. */
enum access_role access_role_in(const struct access_keys *keys, const struct access_account *account, const char *slug);

#define MIRE_BUCKETS      16384
#define MIRE_BUCKETS_NEAR 8 /* rows in which a name may be */

struct bucket {
    uint64_t name; /* hash of the limited key, app or address; 0: free */
    uint64_t at_ns;
    double tokens;
};

struct buckets {
    struct bucket rows[MIRE_BUCKETS];
};

/*
 * Take one token of `name`. 0: taken; otherwise the seconds until there is one.
 * A new name begins full, in the row that was used longest ago among the MIRE_BUCKETS_NEAR rows in which it may be.
 */
unsigned buckets_take(struct buckets *buckets, uint64_t name, const struct access_rate *rate, uint64_t now_ns);

#endif
