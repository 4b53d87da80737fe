/*
 * keys.c - keys that were looked up not long ago, so that a report does not cost a query.
 */
#include "ingest/inside.h"

#include <string.h>

static struct cached_key *place(struct key_cache *cache, const uint8_t *hash)
{
    uint32_t bits;
    memcpy(&bits, hash, sizeof bits);
    return &cache->keys[bits % MIRE_KEYS_CACHED];
}

enum key_answer key_cache_get(int32_t *app_out, struct key_cache *cache, const uint8_t *hash, uint64_t now_ns)
{
    enum key_answer answer = MIRE_KEY_ASK;
    pthread_mutex_lock(&cache->mutex);
    const struct cached_key *key = place(cache, hash);
    if (now_ns < key->until_ns && !memcmp(key->hash, hash, MIRE_KEY_HASH)) {
        *app_out = key->app_id;
        answer = key->app_id ? MIRE_KEY_OPENS : MIRE_KEY_REFUSED;
    }
    pthread_mutex_unlock(&cache->mutex);
    return answer;
}

void key_cache_put(struct key_cache *cache, const uint8_t *hash, int32_t app_id, uint64_t until_ns)
{
    pthread_mutex_lock(&cache->mutex);
    struct cached_key *key = place(cache, hash);
    memcpy(key->hash, hash, MIRE_KEY_HASH);
    key->app_id = app_id;
    key->until_ns = until_ns;
    pthread_mutex_unlock(&cache->mutex);
}
