/*
 * inside.h - what the files of ingest/ share.
 */
#ifndef MIRE_INGEST_INSIDE_H
#define MIRE_INGEST_INSIDE_H

#include "base/metric.h"
#include "ingest/ingest.h"

#include <pthread.h>
#include <stdatomic.h>

#define MIRE_KEYS_CACHED 1024

/* A key that was looked up not long ago. */
struct cached_key {
    uint8_t hash[MIRE_KEY_HASH];
    int32_t app_id; /* 0: unknown key */
    uint64_t until_ns;
};

/* Direct-mapped by hash: a newcomer replaces who was there, so it cannot grow. */
struct key_cache {
    pthread_mutex_t mutex;
    struct cached_key keys[MIRE_KEYS_CACHED]; /* guarded by mutex */
};

/* A report on its way to the store; lies in its request's arena. */
struct queued {
    struct inbox_row row;
    struct request *request;
    struct queued *next;
};

/* What waits for the writers. */
struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t more;
    struct queued *first, **last; /* all guarded by mutex */
    size_t rows, bytes;           /* waiting */
    size_t held_rows, held_bytes; /* waiting and being written */
    bool stopping;
};

struct ingest {
    struct ingest_options options;
    struct key_cache keys;
    struct queue queue;
    pthread_t threads[32];
    int thread_count;
    struct histogram batch_rows;
    struct histogram store_seconds;
    _Atomic uint64_t accepted, refused_full, refused_store, refused_key, refused_body; /* any thread, relaxed */
};

enum key_answer { MIRE_KEY_OPENS, MIRE_KEY_REFUSED, MIRE_KEY_ASK };

/* What the cache knows of a key at `now_ns`. MIRE_KEY_ASK: nothing. */
enum key_answer key_cache_get(int32_t *app_out, struct key_cache *cache, const uint8_t *hash, uint64_t now_ns);
void key_cache_put(struct key_cache *cache, const uint8_t *hash, int32_t app_id, uint64_t until_ns);

/* Queue a report. False: the queue is full. Once true, the report's request is answered by a writer. */
bool queue_push(struct queue *queue, struct queued *report, const struct ingest_options *options);

/* Take the next batch off the queue: 1..batch_rows_max reports, linked. Waits; NULL: stopping and nothing is left. */
struct queued *queue_take(struct queue *queue, const struct ingest_options *options);

void *ingest_write(void *ingest);

#endif
