/*
 * monitor_exit.c - see monitor_exit.h.
 */
#include "core/monitor_exit.h"

#include "capture/crash.h"
#include "core/facts.h"
#include "core/uncaught.h"
#include "exit/look.h"
#include "exit/marker.h"
#include "exit/run.h"
#include "mire/exit.h"
#include "platform/apart.h"
#include "platform/platform.h"
#include "store/runs.h"

#include <string.h>

#define ALONE_NS (10 * MIRE_NS_PER_S) /* between two looks if no call reports activity */

static struct {
    _Atomic uint32_t ground; /* 1 + enum mire__ground, 0: unknown; any thread writes */
    _Atomic(const struct monitor_context *)
        on;           /* written by the thread that starts or stops, read by the worker; NULL: off */
    struct look look; /* owner: the worker */
} exits;

static enum mire__ground ground_now(void)
{
    uint32_t ground = atomic_load(&exits.ground);

    return ground == 0 ? MIRE_GROUND_UNKNOWN : (enum mire__ground)(ground - 1);
}

void mire__monitor_exit_as_set_ground(enum mire__ground ground)
{
    atomic_store(&exits.ground, ground == MIRE_GROUND_UNKNOWN ? 0 : ground + 1u);
    mire__run_as_note_ground(ground);
}

void mire_set_quit(enum mire_quit why)
{
    mire__run_as_note_quit((unsigned)why <= MIRE_QUIT_SESSION ? why : MIRE_QUIT_NOT);
}

const char *mire_run(void)
{
    return mire__run_id();
}

struct opening {
    struct monitor_context *context;
    bool opened;
};

static void open_run(void *argument)
{
    struct opening *opening = argument;
    struct evidence_start start;

    mire__facts_of_run(&start, &opening->context->box->facts);
    mire__look_start(&start);
    opening->opened = mire__run_open(opening->context->store, &start, ground_now()) == MIRE_OK;
}

static void note_session(const char *name)
{
    struct evidence *evidence = mire__run_as_evidence();

    if (evidence)
        mire__text_copy(evidence->session, sizeof(evidence->session), name);
}

enum mire_err mire__monitor_exit_start(struct monitor_context *context)
{
    struct opening opening = {.context = context};
    unsigned signals = context->options->signals;
    char crash_path[MIRE_STORE_PATH_MAX];
    const struct marker_hooks hooks = {mire__crash_as_take, mire__crash_as_forget};

    mire__apart_run(open_run, &opening);
    if (!opening.opened)
        return MIRE_OK;
    note_session(context->options->session);
    if (!mire__variant_marks_quit(context->options))
        signals &= ~(unsigned)MIRE_SIGNALS_QUIT;
    if (mire__store_run_path(crash_path, context->store, mire__run_id(), MIRE_STORE_CRASH))
        mire__marker_start(crash_path, signals, &hooks);
    if (signals & MIRE_SIGNALS_CRASH)
        mire__uncaught_hear();
    memset(&exits.look, 0, sizeof(exits.look));
    atomic_store(&exits.on, context);
    mire__worker_wake(context->worker, MIRE_WAKE_LOOK);
    return MIRE_OK;
}

void mire__monitor_exit_end(void)
{
    mire__run_stop();
}

void mire__monitor_exit_stop(void)
{
    struct evidence *evidence = mire__run_as_evidence();

    atomic_store(&exits.on, NULL);
    mire__uncaught_forget();
    mire__marker_stop();
    if (evidence && atomic_load(&evidence->stopped_ns) == 0)
        mire__run_discard();
}

uint64_t mire__monitor_exit_look(void)
{
    const struct monitor_context *context = atomic_load(&exits.on);
    struct evidence *evidence = mire__run_as_evidence();
    uint64_t next_ns;

    if (!evidence || !context)
        return UINT64_MAX;
    next_ns = mire__look(&exits.look, evidence);
    if (next_ns == UINT64_MAX && !mire__monitor_runs(context, MIRE_PLUGIN_HANG))
        return mire__now_ns() + ALONE_NS;
    return next_ns;
}
