/*
 * departure.c - see departure.h.
 */
#include "core/departure.h"

#include "base/base.h"
#include "platform/platform.h"

#include <pthread.h>
#include <stdlib.h>

static struct {
    void (*stop)(bool exits);
    bool exit_hooked;
    bool end_hooked;
    pthread_key_t end; /* its destructor runs at the end of the watched thread */
    _Atomic uint32_t watched_tid;
} departure;

/* At exit, or when the library is unloaded and its code disappears. */
static void stop_at_exit(void)
{
    departure.stop(true);
    if (departure.end_hooked)
        pthread_key_delete(departure.end);
    departure.end_hooked = false;
}

/*
 * The watched thread ends by pthread_exit or cancellation, and the process continues with its other threads. It must
 * end with the last of these, so the SDK's threads end now. The end of a thread that was watched earlier has no effect.
 */
static void stop_at_thread_end(void *tid)
{
    if ((uint32_t)(uintptr_t)tid == atomic_load(&departure.watched_tid))
        departure.stop(false);
}

void mire__departure_hook(void (*stop)(bool exits))
{
    departure.stop = stop;
    if (!departure.exit_hooked)
        departure.exit_hooked = atexit(stop_at_exit) == 0;
    if (!departure.end_hooked)
        departure.end_hooked = pthread_key_create(&departure.end, stop_at_thread_end) == 0;
    atomic_store(&departure.watched_tid, mire__tid());
    if (departure.end_hooked)
        pthread_setspecific(departure.end, (void *)(uintptr_t)mire__tid());
}
