/*
 * handlers.c - the threads that run handlers which may wait for the database.
 */
#include "http/inside.h"

#include "base/fault.h"

static void run(struct exchange *exchange)
{
    struct request *request = &exchange->request;
    request->may_block = true;
    if (exchange->connection->state == MIRE_AT_ADMIT) {
        exchange_admit(exchange);
        exchange_finish(request);
        return;
    }
    int rc = http_call(exchange->context, request, &exchange->reply);
    if (rc == MIRE_HTTP_LATER)
        return;
    if (rc == MIRE_HTTP_SLOW && !request->may_be_slow) {
        request->may_be_slow = true;
        handlers_push(&exchange->server->slow, exchange);
        return;
    }
    if (rc == MIRE_HTTP_BLOCKS || rc == MIRE_HTTP_SLOW)
        reply_error(&exchange->reply, request, 500, "internal", "The handler did not answer.");
    exchange_compress(exchange);
    exchange_finish(request);
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
        run(exchange);
        pthread_mutex_lock(&handlers->mutex);
    }
    pthread_mutex_unlock(&handlers->mutex);
    return NULL;
}

int handlers_start(struct handlers *handlers, int count)
{
    int most = (int)(sizeof handlers->threads / sizeof *handlers->threads);
    *handlers = (struct handlers){.last = &handlers->first};
    pthread_mutex_init(&handlers->mutex, NULL);
    pthread_cond_init(&handlers->more, NULL);
    while (handlers->count < count && handlers->count < most) {
        if (pthread_create(&handlers->threads[handlers->count], NULL, work, handlers) != 0) {
            handlers_stop(handlers);
            return MIRE_FAULT_SYSTEM;
        }
        handlers->count++;
    }
    return 0;
}

void handlers_stop(struct handlers *handlers)
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

void handlers_push(struct handlers *handlers, struct exchange *exchange)
{
    exchange->next = NULL;
    pthread_mutex_lock(&handlers->mutex);
    *handlers->last = exchange;
    handlers->last = &exchange->next;
    pthread_cond_signal(&handlers->more);
    pthread_mutex_unlock(&handlers->mutex);
}
