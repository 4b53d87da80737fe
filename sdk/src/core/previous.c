/* previous.c - the end of the app's previous run, as it was judged: mire_previous_end of mire/exit.h. */
#include "base/alloc.h"
#include "core/state.h"
#include "mire/exit.h"
#include "platform/platform.h"
#include "store/ends.h"

#include <string.h>

#define LOOK_NS (10 * MIRE_NS_PER_MS) /* between two looks whether the library was stopped */

/* The last one of this program that has ended. Other programs may share the store. */
static enum mire_err find(struct mire_run_end *out)
{
    struct store_end *ends = mire__calloc(MIRE_STORE_ENDS, sizeof(*ends));
    const char *process = mire__core.monitors.box->facts.process_name;
    size_t count;

    if (!ends)
        return MIRE_E_MEMORY;
    count = mire__store_ends(ends, MIRE_STORE_ENDS, mire__core.store);
    for (size_t i = 0; i < count; i++) {
        const struct store_end *end = &ends[i];

        if (strncmp(end->process, process, sizeof(end->process) - 1) != 0 || end->seen_wall_ms < out->seen_wall_ms)
            continue;
        mire__text_copy(out->verdict, sizeof(out->verdict), end->verdict);
        out->confidence_ppm = end->confidence_ppm;
        out->start_wall_ms = end->start_wall_ms;
        out->seen_wall_ms = end->seen_wall_ms;
    }
    mire__free(ends);
    return MIRE_OK;
}

static enum mire_err look(struct mire_run_end *out)
{
    enum mire_err err = MIRE_E_TIMEOUT;
    uint32_t state;

    if (mire__core.owner_pid != mire__pid() || atomic_load(&mire__core.state) == MIRE_CORE_OFF)
        return MIRE_E_STATE;
    if (!mire__core_enter(&state, MIRE_CORE_HELD))
        return err; /* another thread has it for a moment */
    if (!mire__core.works || atomic_load(&mire__core.worker.recovered))
        err = find(out);
    mire__core_leave(state);
    return err;
}

enum mire_err mire_previous_end(struct mire_run_end *out, uint32_t timeout_ms)
{
    const uint64_t end_ns = mire__now_ns() + (uint64_t)timeout_ms * MIRE_NS_PER_MS;
    enum mire_err err;

    if (!out)
        return MIRE_E_ARG;
    memset(out, 0, sizeof(*out));
    while ((err = look(out)) == MIRE_E_TIMEOUT && mire__now_ns() < end_ns)
        mire__futex_wait(&mire__core.worker.recovered, 0, mire__now_ns() + LOOK_NS);
    return err;
}
