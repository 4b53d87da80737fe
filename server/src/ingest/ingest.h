/*
 * ingest.h - POST /api/v1/reports, and the endpoints of Sentry's SDKs: check or convert the body, make its reports
 * durable, answer. access.h has checked the key before.
 *
 *     Mire's own report  -> check -----\
 *     foreign media type -> convert ---+-> queue (bounded) -> writers -> store_batch = one COMMIT -> 202, or Sentry's
 *     /api/<n>/envelope/ -> convert --/                                                              200
 *
 * A foreign body holds one report or many; the answer is sent when all of them are durable.
 *
 * A few writer threads drain the queue. A batch is all that arrived during the previous commit, so no report is delayed
 * on purpose. If the database is away or the queue is full, the answer is 503 with Retry-After; the device keeps its
 * report and sends it again under the same id.
 */
#ifndef MIRE_INGEST_INGEST_H
#define MIRE_INGEST_INGEST_H

#include "base/id.h"
#include "base/problem.h"
#include "http/http.h"
#include "inbox/inbox.h"

#include <stdint.h>

#define MIRE_REPORT_MAX_BYTES (4u << 20) /* of a body as sent: ten times the largest report an SDK writes */

/* The result of the check of a body. */
enum ingest_check {
    MIRE_CHECK_GOOD = 0,
    MIRE_CHECK_MALFORMED, /* cannot be read: bad compression or JSON; problem has the position -> 400 */
    MIRE_CHECK_INVALID,   /* can be read and breaks the schema; problem has the path -> 422 */
    MIRE_CHECK_TOO_LARGE, /* larger than a report may be when decompressed -> 413 */
};

struct ingest_verdict {
    struct uuid report_id;
    const char *format; /* static */
};

/* A body of a foreign format, and its compression. */
struct ingest_foreign {
    const char *format;   /* name of the format */
    const char *encoding; /* identity, zstd, gzip, deflate or br */
    const void *body;
    size_t len;
};

/* Its reports, each as Mire writes it. */
struct ingest_converted {
    struct inbox_row *rows; /* without app_id and key_id; in the arena, as their bodies are */
    size_t count;           /* 0: the body is well formed and holds none */
    const char *own;        /* the sender's identifier of the first one; "" if there is none */
};

/* The outcome of a report at the door. */
enum ingest_outcome {
    MIRE_INGEST_STORED,
    MIRE_INGEST_DUPLICATE, /* it was there */
    MIRE_INGEST_QUOTA,     /* beyond the app's budget of the day: counted only */
    MIRE_INGEST_BUSY,      /* refused: the queue is full */
    MIRE_INGEST_DISK,      /* refused: the disk is nearly full */
    MIRE_INGEST_BODY,      /* refused: the body is no report */
    MIRE_INGEST_FAILED,    /* refused: the store failed */
    MIRE_INGEST_OFTEN,     /* refused: too many requests a second */
    MIRE_INGEST_OUTCOMES
};

extern const char *const ingest_outcomes[MIRE_INGEST_OUTCOMES]; /* their names, in door_day */

/* An app at the door (tally.h). */
struct ingest_app {
    int32_t app_id;
    int64_t reports[MIRE_INGEST_OUTCOMES], bytes[MIRE_INGEST_OUTCOMES]; /* not handed over yet */
    int64_t quota_reports, quota_bytes;                                 /* a day; 0: no limit */
    int64_t today_reports, today_bytes;                                 /* stored today, as handed over */
    int64_t coming_reports, coming_bytes;                               /* taken, and on their way to the store */
    uint64_t beyond;                                                    /* requests beyond the budget */
};

/* Functions of other folders that ingest calls, from many threads at once. */
struct ingest_needs {
    void *check_context;
    /*
     * Name of the foreign format of a media type; NULL if there is none. Static. May be NULL: no format is taken.
     */
    const char *(*foreign_format)(const char *media_type, size_t len);
    /* enum ingest_check or a fault. May take a second: called on handler threads alone. */
    int (*convert)(void *context, struct ingest_converted *out, struct problem *problem, struct arena *arena,
                   const struct ingest_foreign *foreign);
    /* Is the body checked soon enough for a network thread? Others go to a handler thread. NULL: all are. */
    bool (*is_small)(const char *encoding, const void *body, size_t len);

    /* enum ingest_check or a fault. `encoding` is identity, zstd or gzip. Does not block. */
    int (*check)(void *context, struct ingest_verdict *out, struct problem *problem, const void *body, size_t len,
                 const char *encoding);
    void *store_context;
    /* 0 when the rows are durable, otherwise a fault. stored_out[i]: 1 if row i is new, 0 if it was there. Blocks. */
    int (*store_batch)(void *context, const struct inbox_row *rows, size_t count, int64_t *stored_out);
    /* Add the counts to the table; fill in quota and today of each. 0 or a fault. Blocks; may be NULL. */
    int (*tally)(void *context, struct ingest_app *apps, size_t count);
    struct inbox_wakeup *wakeup; /* woken after each batch; may be NULL */
    void *full_context;
    bool (*is_full)(void *context); /* is the disk nearly full? Then reports get 503. Does not block; may be NULL */
};

struct ingest_options {
    struct ingest_needs needs;
    const struct log *log;
    int writers;            /* threads */
    size_t batch_rows_max;  /* 1..MIRE_BATCH_ROWS_MAX */
    size_t batch_bytes_max; /* a batch ends with the row that reaches it */
    size_t queue_bytes_max; /* bodies queued or being written; more is 503 */
    size_t queue_rows_max;
};

#define MIRE_BATCH_ROWS_MAX 128
#define MIRE_INGEST_OPTIONS_INIT                                                          \
    {                                                                                     \
        .writers = 3, .batch_rows_max = MIRE_BATCH_ROWS_MAX, .batch_bytes_max = 1u << 20, \
        .queue_bytes_max = 64u << 20, .queue_rows_max = 8192                              \
    }

struct ingest;

/* Start the writers. 0 or a fault. */
int ingest_start(struct ingest **out, const struct ingest_options *options);

/* Store the queued reports and stop the writers. No request may arrive any more. NULL is allowed. */
void ingest_stop(struct ingest *ingest);

/* The accepted Content-Encodings, NULL-ended. */
extern const char *const ingest_encodings[];

/* The routes, whose table's context must be the struct ingest. */
extern const struct http_route ingest_routes[];
extern const size_t ingest_route_count;

/* A request with reports of an app was refused for coming too often. Any thread. */
void ingest_too_often(void *ingest, int32_t app_id);

void ingest_metrics(struct ingest *ingest, struct text *out);

#endif
