/*
 * start_apple.c - opens the gate where loops report their turns (run_loop.h): no call is hooked.
 */
#include "gate/state.h"

#include <pthread.h>

static void register_once(void)
{
    pthread_atfork(NULL, NULL, mire__gate_as_forked);
}

void mire__gate_open(const struct gate_options *options)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, register_once);
    mire__ticks_choose();
    mire__gate_publish(options, MIRE_WAITS_MARKED);
}
