/*
 * box.c - the process's blackbox: see state.h.
 */
#include "core/state.h"

#include "exit/run.h"
#include "platform/apart.h"
#include "platform/platform.h"
#include "store/runs.h"

#include <unistd.h>

/*
 * Disk space is reserved for the first thread and the process now, and for other threads when they come. When the
 * process dies, the kernel writes to the page behind the box. Without disk space for that page the time of the death is
 * unknown, and the rest works.
 */
static enum mire_err make_box(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), mark_at = (sizeof(struct blackbox) + page - 1) / page * page;
    const size_t first = offsetof(struct blackbox, lanes[1]),
                 last = offsetof(struct blackbox, lanes[MIRE_LANE_PROCESS]);
    enum mire_err err =
        mire__store_box_open(&mire__core.box, mire__core.store, mire__run_id(), MIRE_STORE_BOX, mark_at + page, first);

    if (err == MIRE_OK)
        err = mire__store_box_reserve(&mire__core.box, last, sizeof(struct lane));
    mire__core.end_mark = NULL;
    if (err == MIRE_OK && mire__store_box_reserve(&mire__core.box, mark_at, page) == MIRE_OK)
        mire__core.end_mark = (_Atomic uint32_t *)((char *)mire__core.box.memory + mark_at);
    if (err != MIRE_OK)
        mire__store_box_close(&mire__core.box);
    return err;
}

static void open_box(void *err)
{
    *(enum mire_err *)err = make_box();
}

enum mire_err mire__core_box_open(void)
{
    enum mire_err err;

    mire__apart_run(open_box, &err);
    return err;
}

static void close_box(void *context)
{
    struct blackbox *box = mire__core.box.memory;
    bool leaves = *(bool *)context, waits;

    if (!box)
        return;
    waits = mire__store_save_drops(mire__core.store) != MIRE_OK;
    mire__store_wait_in(mire__core.store, NULL);
    if (!leaves && (waits || atomic_load(&box->losses.unkept) > 0)) {
        atomic_store(&box->session.on, MIRE_SESSION_RECORDED);
        leaves = true;
    }
    if (leaves)
        mire__store_box_leave(&mire__core.box);
    else
        mire__store_box_close(&mire__core.box);
}

void mire__core_box_close(bool leaves)
{
    mire__core.monitors.box = NULL;
    mire__apart_run(close_box, &leaves);
}
