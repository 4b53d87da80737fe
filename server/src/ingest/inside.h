/*
 * inside.h - what the files of ingest/ share.
 */
#ifndef MIRE_INGEST_INSIDE_H
#define MIRE_INGEST_INSIDE_H

#include "base/metric.h"
#include "ingest/ingest.h"

#include <pthread.h>
#include <stdatomic.h>

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
    struct queue queue;
    pthread_t threads[32];
    int thread_count;
    struct histogram batch_rows;
    struct histogram store_seconds;
    _Atomic uint64_t stored, duplicates, refused_full, refused_store, refused_body; /* any thread, relaxed */
};

/* Queue a report. False: the queue is full. Once true, the report's request is answered by a writer. */
bool queue_push(struct queue *queue, struct queued *report, const struct ingest_options *options);

/* Take the next batch off the queue: 1..batch_rows_max reports, linked. Waits; NULL: stopping and nothing is left. */
struct queued *queue_take(struct queue *queue, const struct ingest_options *options);

void *ingest_write(void *ingest);

#endif
