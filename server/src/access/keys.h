/*
 * keys.h - all good keys at one time, sorted by hash; and token buckets in fixed memory.
 */
#ifndef MIRE_ACCESS_KEYS_H
#define MIRE_ACCESS_KEYS_H

#include "access/access.h"

#include <stdatomic.h>

struct access_keys {
    struct access_key *rows;
    _Atomic bool *used; /* one a row, of those that are sorted */
    size_t count, room;
};

/* Sort them; nothing is added afterwards. False: no memory. */
bool access_keys_sort(struct access_keys *keys);
void access_keys_free(struct access_keys *keys);

/* NULL: there is none. */
const struct access_key *access_keys_find(const struct access_keys *keys, const uint8_t hash[MIRE_KEY_HASH]);

#define MIRE_BUCKETS      16384
#define MIRE_BUCKETS_NEAR 8 /* places one may be in */

struct bucket {
    uint64_t name; /* hash of who; 0: free */
    uint64_t at_ns;
    double tokens;
};

struct buckets {
    struct bucket rows[MIRE_BUCKETS];
};

/*
 * Take one token of `name`. 0: it had one; else the seconds until it has.
 * A new name takes the place that was used longest ago of those it may be in, and begins full.
 */
unsigned buckets_take(struct buckets *buckets, uint64_t name, const struct access_rate *rate, uint64_t now_ns);

#endif
