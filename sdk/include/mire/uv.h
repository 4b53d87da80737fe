/*
 * mire/uv.h - an adapter for libuv: only the loop's own wait counts as idle.
 *
 *     static mire_uv adapter;
 *     mire_start(options);
 *     mire_uv_attach(&adapter, uv_default_loop());
 *     mire_uv_ping(&adapter, 0);             optional
 *
 * The library watches libuv's loop without this adapter, because the loop's epoll_pwait is a waiting call. But then
 * every other poll of the thread counts as idle too: a synchronous transfer blocks the loop unnoticed. With the adapter
 * the thread is idle only while it waits on the loop's descriptor (uv_backend_fd). The ping notices a loop that turns
 * but never reaches its queue. (Marks in uv_prepare and uv_check would not work: libuv calls the callbacks of
 * descriptors between the two.)
 *
 * All functions are inline: libmire does not depend on libuv. Build with `pkg-config --cflags --libs mire libuv`.
 */
#ifndef MIRE_UV_H
#define MIRE_UV_H

#include <mire/mire.h>
#include <mire/ping.h>

#include <uv.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Owned by the caller and zeroed at first. It must not move between attach and detach; see mire_uv_detach. */
typedef struct mire_uv {
    uv_loop_t *loop;
    uv_async_t async;
    uint64_t token; /* posted last: a thread of libmire stores it, the loop's thread reads it */
    int pings;
} mire_uv;

/*
 * Attach to a loop: from now on the calling thread is idle only in this loop's wait. After uv_loop_fork, detach and
 * attach again.
 *
 * Returns MIRE_OK, MIRE_E_STATE (attached already), MIRE_E_ARG (the loop has no descriptor to wait on).
 * Thread: the watched thread that runs the loop; one loop per thread.
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
 * Ping the attached loop. The ping's handle does not keep the loop alive.
 *
 *   interval_ms  as mire_ping_start
 *
 * Returns as mire_ping_start; also MIRE_E_STATE (not attached) and MIRE_E_SYSTEM (no handle).
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
 * Undo attach and ping: all waiting calls count again. No effect if not attached.
 * Ownership: after a ping the adapter must stay in place until the loop has run once more and closed the handle;
 * without a ping it is free at once.
 * Thread: as attach.
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
