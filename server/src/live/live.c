/* live.c - see live.h. */
#include "live/live.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/metric.h"
#include "pg/pg.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND  UINT64_C(1000000000) /* ns */
#define HOLD_NS (50 * SECOND)        /* below the minute after which proxies give up */
#define CALM_NS (5 * SECOND)         /* before new reports alone are told */

struct waiting {
    struct request *request;
    struct reply *reply;
    int32_t app;
    uint64_t asker;
    struct news seen;
    uint64_t since_ns;
};

struct live {
    struct pg *pg;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t more;
    bool stopping; /* guarded by mutex, as the members below are */
    struct waiting board[MIRE_LIVE_MAX];
    size_t count;
    uint64_t answered, refused;
    int32_t apps[MIRE_LIVE_MAX]; /* the thread's: apps that requests wait for, each once */
    struct news news[MIRE_LIVE_MAX];
    size_t app_count;
};

int live_announce(struct reply *reply, const struct news *news)
{
    text_fini(&reply->text);
    text_printf(&reply->text,
                "retry: 1000\nid: %" PRId64 ".%" PRId64 ".%" PRId64 "\ndata: {\"acts\":%" PRId64 ",\"data\":%" PRId64
                ",\"alerts\":%" PRId64 "}\n\n",
                news->acts, news->data, news->alerts, news->acts, news->data, news->alerts);
    if (text_failed(&reply->text))
        return MIRE_FAULT_MEMORY;
    reply->status = 200;
    reply->type = "text/event-stream";
    reply->body = NULL;
    reply->body_len = 0;
    return MIRE_HTTP_DONE;
}

bool live_parse(struct news *out, const char *id)
{
    int64_t *to[] = {&out->acts, &out->data, &out->alerts};

    for (int i = 0; i < 3; i++) {
        char *end;
        errno = 0;
        if (*id < '0' || *id > '9')
            return false;
        *to[i] = strtoll(id, &end, 10);
        if (errno || *end != (i < 2 ? '.' : '\0'))
            return false;
        id = end + 1;
    }
    return true;
}

static bool has_enough(const struct live *live, uint64_t asker)
{
    size_t count = 0;

    for (size_t i = 0; asker && i < live->count; i++)
        count += live->board[i].asker == asker;
    return count >= MIRE_LIVE_EACH;
}

int live_wait(struct live *live, struct request *request, struct reply *reply, int32_t app, uint64_t asker,
              const struct news *seen)
{
    pthread_mutex_lock(&live->mutex);
    bool is_too_many = has_enough(live, asker);
    bool has_room = !is_too_many && !live->stopping && live->count < MIRE_LIVE_MAX;
    if (has_room)
        live->board[live->count++] = (struct waiting){request, reply, app, asker, *seen, clock_mono_ns()};
    else
        live->refused++;
    if (has_room && live->count == 1)
        pthread_cond_signal(&live->more);
    pthread_mutex_unlock(&live->mutex);
    if (has_room)
        return MIRE_HTTP_LATER;
    if (!is_too_many)
        return reply_retry(reply, request, 60, "busy", "Too many pages wait for changes now. Try again later.");
    reply_header(reply, "Retry-After", "60");
    return reply_error(reply, request, 429, "too_often", "%d requests of yours wait for changes. Close some pages.",
                       MIRE_LIVE_EACH);
}

/* Take one off the board, and answer it. */
static void answer(struct live *live, size_t at, struct news news)
{
    struct waiting one = live->board[at];

    live->board[at] = live->board[--live->count];
    live->answered++;
    if (live_announce(one.reply, &news) != MIRE_HTTP_DONE)
        one.reply->status = 500;
    one.request->finish(one.request);
}

static void collect_apps(struct live *live)
{
    live->app_count = 0;
    for (size_t i = 0; i < live->count; i++) {
        size_t at = 0;
        while (at < live->app_count && live->apps[at] != live->board[i].app)
            at++;
        if (at == live->app_count)
            live->apps[live->app_count++] = live->board[i].app;
    }
}

static bool is_due(const struct waiting *one, const struct news *news, uint64_t now_ns)
{
    uint64_t age_ns = now_ns - one->since_ns;
    bool is_urgent = one->seen.acts != news->acts || one->seen.alerts != news->alerts;

    return age_ns > HOLD_NS || is_urgent || (one->seen.data != news->data && age_ns > CALM_NS);
}

/* `known`: the news of live->apps were read. Otherwise only requests that have waited long enough are answered. */
static void answer_due(struct live *live, bool known)
{
    uint64_t now_ns = clock_mono_ns();

    for (size_t i = live->count; i-- > 0;) {
        const struct news *news = &live->board[i].seen;
        for (size_t at = 0; known && at < live->app_count; at++)
            if (live->apps[at] == live->board[i].app)
                news = &live->news[at];
        if (is_due(&live->board[i], news, now_ns))
            answer(live, i, *news);
    }
}

static int read_news(struct live *live)
{
    struct pg_tx *tx MIRE_SCOPED(pg_end) = NULL;
    int rc = pg_begin(&tx, live->pg, MIRE_PG_READ);

    return rc ? rc : rows_news_read(live->news, tx, live->apps, live->app_count);
}

static void *run(void *context)
{
    struct live *live = context;

    pthread_mutex_lock(&live->mutex);
    while (!live->stopping) {
        struct timespec until;
        if (!live->count) {
            pthread_cond_wait(&live->more, &live->mutex);
            continue;
        }
        collect_apps(live);
        pthread_mutex_unlock(&live->mutex);
        int rc = read_news(live);
        pthread_mutex_lock(&live->mutex);
        answer_due(live, !rc);
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec++;
        while (!live->stopping && pthread_cond_timedwait(&live->more, &live->mutex, &until) != ETIMEDOUT)
            ;
    }
    while (live->count)
        answer(live, live->count - 1, live->board[live->count - 1].seen);
    pthread_mutex_unlock(&live->mutex);
    return NULL;
}

int live_start(struct live **out, struct pg *pg)
{
    struct live *live = calloc(1, sizeof *live);
    pthread_condattr_t monotonic;

    if (!live)
        return MIRE_FAULT_MEMORY;
    live->pg = pg;
    pthread_mutex_init(&live->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&live->more, &monotonic);
    pthread_condattr_destroy(&monotonic);
    *out = live;
    if (!pthread_create(&live->thread, NULL, run, live))
        return 0;
    *out = NULL;
    live_free(live);
    return MIRE_FAULT_SYSTEM;
}

void live_stop(struct live *live)
{
    if (!live)
        return;
    pthread_mutex_lock(&live->mutex);
    live->stopping = true;
    pthread_cond_signal(&live->more);
    pthread_mutex_unlock(&live->mutex);
    pthread_join(live->thread, NULL);
}

void live_free(struct live *live)
{
    if (!live)
        return;
    pthread_cond_destroy(&live->more);
    pthread_mutex_destroy(&live->mutex);
    free(live);
}

void live_metrics(struct live *live, struct text *out)
{
    if (!live)
        return;
    pthread_mutex_lock(&live->mutex);
    size_t count = live->count;
    uint64_t answered = live->answered, refused = live->refused;
    pthread_mutex_unlock(&live->mutex);
    metric_head(out, "mire_live_waiting", "gauge", "Requests of pages that wait for a change.");
    metric_value(out, "mire_live_waiting", NULL, (double)count);
    metric_head(out, "mire_live_total", "counter", "Such requests, by outcome.");
    metric_value(out, "mire_live_total", "outcome=\"answered\"", (double)answered);
    metric_value(out, "mire_live_total", "outcome=\"refused\"", (double)refused);
}
