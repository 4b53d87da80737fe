/*
 * inside.h - what the files of ingest/ share.
 *
 *     request -> delivery -> a queued row for each report -> writers -> the last row's writer answers the request
 */
#ifndef MIRE_INGEST_INSIDE_H
#define MIRE_INGEST_INSIDE_H

#include "base/metric.h"
#include "ingest/ingest.h"
#include "ingest/tally.h"

#include <pthread.h>
#include <stdatomic.h>

struct ingest;
struct queued;

/* The reports of one request on their way to the store; lies in the request's arena, as its rows do. */
struct delivery {
    struct request *request;
    struct queued *rows; /* `count` of them, each linked to the next */
    size_t count, bytes;
    const char *own;   /* the sender's identifier of the first report; "" if there is none */
    bool counted_only; /* beyond the budget: nothing is stored */
    /* Fill the reply: every row is durable. On a writer's thread. */
    void (*stored)(const struct delivery *delivery, struct reply *reply);
    _Atomic size_t left; /* rows that are not written yet */
    _Atomic int fault;   /* of a row that could not be stored; MIRE_FAULT_SQL outweighs all others */
};

struct queued {
    struct inbox_row row;
    struct delivery *delivery;
    struct queued *next;
};

/* Reports that wait for a writer. */
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
    struct door_tally tally;
    pthread_t tally_thread;
    bool has_tally_thread;
    _Atomic bool stopping; /* of the tally's thread */
    struct histogram batch_rows;
    struct histogram store_seconds;
    _Atomic uint64_t stored, duplicates, refused_full, refused_store, refused_body, refused_disk,
        over_quota; /* any thread, relaxed */
};

/* Queue all reports of a delivery, or none. False: the queue is full. Once true, a writer answers the request. */
bool queue_push(struct queue *queue, struct delivery *delivery, const struct ingest_options *options);

/* Queue a delivery if the app's budget has room. */
enum ingest_queued {
    MIRE_INGEST_QUEUED,  /* a writer answers the request */
    MIRE_INGEST_COUNTED, /* the reply is filled: beyond the budget, nothing is stored */
    MIRE_INGEST_FULL,    /* refused: the queue is full */
};
enum ingest_queued ingest_queue(struct ingest *ingest, struct delivery *delivery, struct reply *reply);

/* Take the next batch off the queue: 1..batch_rows_max reports, linked. Waits; NULL: stopping and nothing is left. */
struct queued *queue_take(struct queue *queue, const struct ingest_options *options);

void *ingest_write(void *ingest);

/* The row is of the request's app, key and country; its id is the app's. */
void ingest_grant(struct inbox_row *row, const struct request *request);

/* A delivery with room for `count` rows; NULL without memory. */
struct delivery *ingest_delivery(struct request *request, size_t count,
                                 void (*stored)(const struct delivery *delivery, struct reply *reply));

/*
 * Turn the body, which is of a foreign format, into a delivery of Mire's own reports; *out is NULL if it holds none.
 * MIRE_HTTP_LATER: *out is set. MIRE_HTTP_DONE: the reply is filled. MIRE_HTTP_BLOCKS, or a fault.
 *
 *   format  name of a format
 */
int ingest_convert(struct delivery **out, struct ingest *ingest, struct request *request, struct reply *reply,
                   const char *format, void (*stored)(const struct delivery *delivery, struct reply *reply));

/* The Content-Encoding for check and convert. http has refused all others. */
const char *ingest_encoding(const struct request *request);

/* Answer that a body is refused; `check` is an enum ingest_check. */
int ingest_refuse(struct ingest *ingest, const struct request *request, struct reply *reply, int check,
                  const struct problem *problem);

/* --- handlers: own.c, foreign.c, sentry.c */

int ingest_post_report(void *ingest, struct request *request, struct reply *reply);
int ingest_post_foreign(struct ingest *ingest, struct request *request, struct reply *reply, const char *format);
int ingest_post_envelope(void *ingest, struct request *request, struct reply *reply);
int ingest_post_event(void *ingest, struct request *request, struct reply *reply);

#endif
