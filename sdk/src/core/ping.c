/*
 * ping.c - the public calls of mire/ping.h.
 */
#include "mire/ping.h"

#include "capture/asking.h"
#include "capture/capture.h"
#include "gate/gate.h"

#define INTERVAL_MAX_MS 60000u

enum mire_err mire_ping_start(mire_post_fn *post, void *context, uint32_t interval_ms)
{
    int lane = mire__gate_as_lane();
    enum mire_err err;

    if (!post)
        return MIRE_E_ARG;
    if (interval_ms > INTERVAL_MAX_MS)
        return MIRE_E_RANGE;
    if (lane < 0)
        return MIRE_E_STATE;
    err = mire__asking_start((uint32_t)lane, post, context, interval_ms);
    if (err == MIRE_OK)
        mire__gate_as_wake();
    return err;
}

void mire_ping_answer(uint64_t token)
{
    if (mire__asking_as_answer(token))
        mire__gate_as_answered();
}

enum mire_err mire_ping_stop(void)
{
    int lane = mire__gate_as_lane();
    enum mire_err err = lane < 0 ? MIRE_E_STATE : mire__asking_stop((uint32_t)lane);

    if (err == MIRE_OK)
        mire__gate_as_wake(); /* a hang that is open ends now */
    return err;
}
