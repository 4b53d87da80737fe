/*
 * mire/uv.h - a libuv loop, watched exactly.
 *
 *     static mire_uv adapter;
 *     mire_start(options);
 *     mire_uv_attach(&adapter, uv_default_loop());
 *     mire_uv_ping(&adapter, 0);             optional
 *
 * libuv's loop is watched without this: its epoll_pwait is a waiting call like any other. But so is every other poll of
 * the thread, also one inside a turn: a synchronous transfer blocks the loop and looks idle. With the adapter idle is
 * only what waits on the descriptor of this very loop (uv_backend_fd). The ping adds what no wait can tell: a loop
 * that turns and turns and never comes to its queue. uv_prepare and uv_check would not do: libuv calls the callbacks
 * of descriptors between the two.
 *
 * Everything here is inline: libmire does not depend on libuv. Build with `pkg-config --cflags --libs mire libuv`.
 */
#ifndef MIRE_UV_H
#define MIRE_UV_H

#include <mire/mire.h>
#include <mire/ping.h>

#include <uv.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Owned by the caller, zero at first; in place from attach to detach, with a ping until its handle is closed. */
typedef struct mire_uv {
    uv_loop_t *loop;
    uv_async_t async;
    uint64_t token; /* the one under way: stored by a thread of libmire, read by the loop's */
    int pings;
} mire_uv;

/*
 * From now on only this loop's wait is idleness of the calling thread. After uv_loop_fork: detach and attach again.
 *
 * Returns MIRE_OK, MIRE_E_STATE: attached already, MIRE_E_ARG: the loop has no descriptor to wait on.
 * Thread: the watched one that runs the loop; one loop a thread.
 */
static inline enum mire_err mire_uv_attach(mire_uv *adapter, uv_loop_t *loop)
{
    if (adapter->loop)
        return MIRE_E_STATE;
    if (uv_backend_fd(loop) < 0)
        return MIRE_E_ARG;
    adapter->loop = loop;
    mire_loop_set_waits(uv_backend_fd(loop));
    return MIRE_OK;
}

static inline void mire__uv_answer(uv_async_t *async)
{
    mire_ping_answer(__atomic_load_n(&((mire_uv *)async->data)->token, __ATOMIC_ACQUIRE));
}

static inline int mire__uv_post(void *adapter, uint64_t token)
{
    __atomic_store_n(&((mire_uv *)adapter)->token, token, __ATOMIC_RELEASE);
    return uv_async_send(&((mire_uv *)adapter)->async);
}

/*
 * Ask the attached loop, by a handle that does not keep it alive; see mire_ping_start.
 *
 *   interval_ms  as there
 *
 * Returns as mire_ping_start, MIRE_E_STATE also where the adapter is not attached, MIRE_E_SYSTEM: no handle.
 * Thread: as attach.
 */
static inline enum mire_err mire_uv_ping(mire_uv *adapter, uint32_t interval_ms)
{
    enum mire_err err;

    if (!adapter->loop || adapter->pings)
        return MIRE_E_STATE;
    if (uv_async_init(adapter->loop, &adapter->async, mire__uv_answer) != 0)
        return MIRE_E_SYSTEM;
    adapter->async.data = adapter;
    uv_unref((uv_handle_t *)&adapter->async);
    err = mire_ping_start(mire__uv_post, adapter, interval_ms);
    if (err != MIRE_OK)
        uv_close((uv_handle_t *)&adapter->async, NULL);
    adapter->pings = err == MIRE_OK;
    return err;
}

/*
 * All waiting calls count again, nothing is asked. The adapter's memory is the caller's again when the loop has run
 * once more, which closes the handle, if there was a ping; else at once. Detached already is fine. Thread: as attach.
 */
static inline void mire_uv_detach(mire_uv *adapter)
{
    if (!adapter->loop)
        return;
    if (adapter->pings) {
        mire_ping_stop();
        uv_close((uv_handle_t *)&adapter->async, NULL);
    }
    adapter->pings = 0;
    adapter->loop = NULL;
    mire_loop_set_waits(MIRE_WAITS_ALL);
}

#ifdef __cplusplus
}
#endif
#endif
