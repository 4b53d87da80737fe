/*
 * keys.c - see keys.h.
 */
#include "access/keys.h"

#include "base/grow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool access_keys_add(struct access_keys *keys, const struct access_key *key)
{
    if (!GROW(keys))
        return false;
    keys->rows[keys->count++] = *key;
    return true;
}

static int by_hash(const void *a, const void *b)
{
    return memcmp(((const struct access_key *)a)->hash, ((const struct access_key *)b)->hash, MIRE_KEY_HASH);
}

bool access_keys_sort(struct access_keys *keys)
{
    keys->used = calloc(keys->count + 1, sizeof *keys->used);
    if (keys->count)
        qsort(keys->rows, keys->count, sizeof *keys->rows, by_hash);
    return keys->used != NULL;
}

void access_keys_free(struct access_keys *keys)
{
    if (!keys)
        return;
    free(keys->rows);
    free(keys->used);
    free(keys);
}

const struct access_key *access_keys_find(const struct access_keys *keys, const uint8_t hash[MIRE_KEY_HASH])
{
    struct access_key wanted;
    memcpy(wanted.hash, hash, MIRE_KEY_HASH);
    return keys->count ? bsearch(&wanted, keys->rows, keys->count, sizeof *keys->rows, by_hash) : NULL;
}

static struct bucket *place(struct buckets *buckets, uint64_t name, const struct access_rate *rate, uint64_t now_ns)
{
    struct bucket *oldest = NULL;
    for (size_t i = 0; i < MIRE_BUCKETS_NEAR; i++) {
        struct bucket *one = &buckets->rows[(name + i) % MIRE_BUCKETS];
        if (one->name == name)
            return one;
        if (!oldest || one->at_ns < oldest->at_ns)
            oldest = one;
    }
    *oldest = (struct bucket){.name = name, .at_ns = now_ns, .tokens = rate->burst};
    return oldest;
}

unsigned buckets_take(struct buckets *buckets, uint64_t name, const struct access_rate *rate, uint64_t now_ns)
{
    struct bucket *bucket = place(buckets, name, rate, now_ns);
    bucket->tokens += (double)(now_ns - bucket->at_ns) / 1e9 * rate->per_s;
    if (bucket->tokens > rate->burst)
        bucket->tokens = rate->burst;
    bucket->at_ns = now_ns;
    if (bucket->tokens < 1)
        return (unsigned)ceil((1 - bucket->tokens) / rate->per_s);
    bucket->tokens -= 1;
    return 0;
}
