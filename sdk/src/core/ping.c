/*
 * ping.c - the public calls of mire/ping.h. A thread-specific key has the number of the thread's ping, and its
 * destructor ends the ping with the thread.
 */
#include "mire/ping.h"

#include "capture/asking.h"
#include "gate/gate.h"

#include <pthread.h>

#define INTERVAL_MAX_MS 60000u

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key;

static void stop_at_thread_end(void *number)
{
    mire__asking_stop((uintptr_t)number);
}

static void make_key(void)
{
    has_key = pthread_key_create(&key, stop_at_thread_end) == 0;
}

enum mire_err mire_ping_start(mire_post_fn *post, void *context, uint32_t interval_ms)
{
    int lane = mire__gate_as_lane();
    enum mire_err err;
    uint64_t number;

    if (!post)
        return MIRE_E_ARG;
    if (interval_ms > INTERVAL_MAX_MS)
        return MIRE_E_RANGE;
    if (lane < 0)
        return MIRE_E_STATE;
    pthread_once(&once, make_key);
    if (!has_key)
        return MIRE_E_SYSTEM;
    err = mire__asking_start(&number, (uint32_t)lane, post, context, interval_ms);
    if (err != MIRE_OK)
        return err;
    if (pthread_setspecific(key, (void *)(uintptr_t)number) != 0) {
        mire__asking_stop(number);
        return MIRE_E_SYSTEM;
    }
    mire__gate_as_wake();
    return MIRE_OK;
}

void mire_ping_answer(uint64_t token)
{
    if (mire__asking_as_answer(token))
        mire__gate_as_answered();
}

enum mire_err mire_ping_stop(void)
{
    enum mire_err err;

    pthread_once(&once, make_key);
    err = has_key ? mire__asking_stop((uintptr_t)pthread_getspecific(key)) : MIRE_E_STATE;
    if (err != MIRE_OK)
        return err;
    pthread_setspecific(key, NULL);
    if (mire__gate_as_lane() >= 0)
        mire__gate_as_wake(); /* an open hang ends now */
    return MIRE_OK;
}
