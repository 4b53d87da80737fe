/*
 * keys.c - see keys.h.
 */
#include "access/keys.h"

#include "base/grow.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool access_keys_add(struct access_keys *keys, const struct access_key *key)
{
    if (!GROW(keys))
        return false;
    keys->rows[keys->count++] = *key;
    return true;
}

bool access_keys_add_account(struct access_keys *keys, const struct access_account *account)
{
    struct people *people = &keys->accounts;
    if (!GROW(people))
        return false;
    people->rows[people->count++] = *account;
    return true;
}

bool access_keys_add_member(struct access_keys *keys, const struct access_member *member)
{
    struct members *members = &keys->members;
    if (!GROW(members))
        return false;
    members->rows[members->count++] = *member;
    return true;
}

static int by_number(const void *a, const void *b)
{
    int64_t x = ((const struct access_account *)a)->account_id, y = ((const struct access_account *)b)->account_id;
    return (x > y) - (x < y);
}

static int by_account(const void *a, const void *b)
{
    const struct access_member *x = a, *y = b;
    int order = (x->account_id > y->account_id) - (x->account_id < y->account_id);
    return order ? order : strcmp(x->slug, y->slug);
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
    if (keys->accounts.count)
        qsort(keys->accounts.rows, keys->accounts.count, sizeof *keys->accounts.rows, by_number);
    if (keys->members.count)
        qsort(keys->members.rows, keys->members.count, sizeof *keys->members.rows, by_account);
    return keys->used != NULL;
}

void access_keys_free(struct access_keys *keys)
{
    if (!keys)
        return;
    free(keys->rows);
    free(keys->used);
    free(keys->accounts.rows);
    free(keys->members.rows);
    free(keys);
}

const struct access_key *access_keys_find(const struct access_keys *keys, const uint8_t hash[MIRE_KEY_HASH])
{
    struct access_key wanted;
    memcpy(wanted.hash, hash, MIRE_KEY_HASH);
    return keys->count ? bsearch(&wanted, keys->rows, keys->count, sizeof *keys->rows, by_hash) : NULL;
}

const struct access_account *access_account_find(const struct access_keys *keys, int64_t account_id)
{
    struct access_account wanted = {.account_id = account_id};
    const struct people *all = &keys->accounts;
    return all->count ? bsearch(&wanted, all->rows, all->count, sizeof *all->rows, by_number) : NULL;
}

const struct access_account *access_account_named(const struct access_keys *keys, const char *name)
{
    for (size_t i = 0; i < keys->accounts.count; i++)
        if (!strcasecmp(keys->accounts.rows[i].name, name))
            return &keys->accounts.rows[i];
    return NULL;
}

static enum access_role role_found(const struct access_keys *keys, int64_t account_id, const char *slug)
{
    struct access_member wanted = {.account_id = account_id};
    const struct members *all = &keys->members;
    snprintf(wanted.slug, sizeof wanted.slug, "%s", slug);
    const struct access_member *found =
        all->count ? bsearch(&wanted, all->rows, all->count, sizeof *all->rows, by_account) : NULL;
    return found ? found->role : MIRE_ACCESS_NOBODY;
}

enum access_role access_role_in(const struct access_keys *keys, const struct access_account *account, const char *slug)
{
    if (account->is_server_admin)
        return MIRE_ACCESS_SERVER;
    if (!*slug)
        return MIRE_ACCESS_VIEWER;
    enum access_role here = role_found(keys, account->account_id, slug);
    enum access_role everywhere = role_found(keys, account->account_id, "");
    return here > everywhere ? here : everywhere;
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
