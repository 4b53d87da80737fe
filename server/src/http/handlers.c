/*
 * handlers.c - the lanes: threads that run handlers which may wait for the database.
 */
#include "http/inside.h"

#include "base/clock.h"
#include "base/fault.h"

#define EXPENSIVE_PATIENCE_NS UINT64_C(20000000000)
#define RETRY_S               5

/* The lane to which a handler's outcome leads; MIRE_LANES: to none. */
static enum http_lane lane_of(int outcome)
{
    if (outcome == MIRE_HTTP_EXPENSIVE)
        return MIRE_LANE_EXPENSIVE;
    return outcome == MIRE_HTTP_SLOW ? MIRE_LANE_SLOW : MIRE_LANES;
}

static void run(struct exchange *exchange, enum http_lane lane)
{
    struct request *request = &exchange->request;
    request->may_block = true;
    if (exchange->connection->state == MIRE_AT_ADMIT) {
        exchange_admit(exchange);
        exchange_finish(request);
        return;
    }
    request->lane = lane;
    int rc = http_call(exchange->context, request, &exchange->reply);
    if (rc == MIRE_HTTP_LATER)
        return;
    enum http_lane next = lane_of(rc);
    if (next != MIRE_LANES && next != lane) {
        lanes_push(exchange, next);
        return;
    }
    if (rc != MIRE_HTTP_DONE)
        reply_error(&exchange->reply, request, 500, "internal", "The handler did not answer.");
    exchange_compress(exchange);
    exchange_finish(request);
}

static void give_up(struct exchange *exchange, struct handlers *handlers)
{
    atomic_fetch_add_explicit(&handlers->given_up, 1, memory_order_relaxed);
    reply_retry(&exchange->reply, &exchange->request, RETRY_S, "busy",
                "Many expensive queries are waiting. Choose a shorter range, or try again soon.");
    exchange_finish(&exchange->request);
}

static void *work(void *context)
{
    struct handlers *handlers = context;
    pthread_mutex_lock(&handlers->mutex);
    for (;;) {
        while (!handlers->first && !handlers->stopping)
            pthread_cond_wait(&handlers->more, &handlers->mutex);
        struct exchange *exchange = handlers->first;
        if (!exchange)
            break;
        handlers->first = exchange->next;
        if (!handlers->first)
            handlers->last = &handlers->first;
        pthread_mutex_unlock(&handlers->mutex);
        if (handlers->patience_ns && clock_mono_ns() - exchange->pushed_ns > handlers->patience_ns)
            give_up(exchange, handlers);
        else
            run(exchange, handlers->lane);
        pthread_mutex_lock(&handlers->mutex);
    }
    pthread_mutex_unlock(&handlers->mutex);
    return NULL;
}

static void stop(struct handlers *handlers)
{
    pthread_mutex_lock(&handlers->mutex);
    handlers->stopping = true;
    pthread_cond_broadcast(&handlers->more);
    pthread_mutex_unlock(&handlers->mutex);
    for (int i = 0; i < handlers->count; i++)
        pthread_join(handlers->threads[i], NULL);
    pthread_cond_destroy(&handlers->more);
    pthread_mutex_destroy(&handlers->mutex);
}

static int start(struct handlers *handlers, enum http_lane lane, int count)
{
    int most = (int)(sizeof handlers->threads / sizeof *handlers->threads);
    *handlers = (struct handlers){
        .lane = lane, .last = &handlers->first, .patience_ns = lane == MIRE_LANE_EXPENSIVE ? EXPENSIVE_PATIENCE_NS : 0};
    pthread_mutex_init(&handlers->mutex, NULL);
    pthread_cond_init(&handlers->more, NULL);
    while (handlers->count < count && handlers->count < most) {
        if (pthread_create(&handlers->threads[handlers->count], NULL, work, handlers) != 0) {
            stop(handlers);
            return MIRE_FAULT_SYSTEM;
        }
        handlers->count++;
    }
    return 0;
}

int lanes_start(struct http_server *server)
{
    const int counts[MIRE_LANES] = {
        [MIRE_LANE_QUICK] = server->options.handler_threads, [MIRE_LANE_FILES] = 1, [MIRE_LANE_REPORTS] = 2,
        [MIRE_LANE_EXPENSIVE] = MIRE_HTTP_EXPENSIVE_THREADS, [MIRE_LANE_SLOW] = 1,
    };
    for (int lane = MIRE_LANES - 1; lane >= 0; lane--) {
        int rc = start(&server->lanes[lane], (enum http_lane)lane, counts[lane]);
        if (!rc)
            continue;
        while (++lane < MIRE_LANES)
            stop(&server->lanes[lane]);
        return rc;
    }
    return 0;
}

/* In this order: a lane hands over only to later ones. */
void lanes_stop(struct http_server *server)
{
    for (int lane = 0; lane < MIRE_LANES; lane++)
        stop(&server->lanes[lane]);
}

void lanes_push(struct exchange *exchange, enum http_lane lane)
{
    struct handlers *handlers = &exchange->server->lanes[lane];
    exchange->next = NULL;
    exchange->pushed_ns = clock_mono_ns();
    pthread_mutex_lock(&handlers->mutex);
    *handlers->last = exchange;
    handlers->last = &exchange->next;
    pthread_cond_signal(&handlers->more);
    pthread_mutex_unlock(&handlers->mutex);
}
