/*
 * mire/glib.h - an adapter for GLib's main loop: only the loop's own wait counts as idle.
 *
 *     static mire_glib adapter;
 *     mire_start(options);
 *     mire_glib_attach(&adapter, NULL);      NULL: the default context
 *     mire_glib_ping(&adapter, 0);           optional
 *
 * The library watches GLib's loop without this adapter, because the loop's poll is a waiting call. But then every other
 * poll of the thread counts as idle too: a synchronous D-Bus call freezes the window unnoticed. With the adapter the
 * thread is idle only inside the poll of the attached context. Nested main loops on the context (a modal dialog) are
 * turns of their own. The ping notices sources that are never reached because sources of higher priority keep the loop
 * busy.
 *
 * All functions are inline: libmire does not depend on GLib. Build with `pkg-config --cflags --libs mire glib-2.0`.
 */
#ifndef MIRE_GLIB_H
#define MIRE_GLIB_H

#include <mire/mire.h>
#include <mire/ping.h>

#include <glib-unix.h>
#include <glib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Owned by the caller and zeroed at first. It must not move between attach and detach. */
typedef struct mire_glib {
    GMainContext *context;
    GPollFunc poll; /* the one that was there */
    GSource *source;
    int fd; /* eventfd that carries a token to the source */
} mire_glib;

/* The previous poll function. It is a thread's variable, because a GPollFunc has no context argument. */
static __thread GPollFunc mire__glib_poll_before;

static inline gint mire__glib_poll(GPollFD *fds, guint count, gint timeout_ms)
{
    gint ready;

    mire_loop_leave();
    ready = mire__glib_poll_before(fds, count, timeout_ms);
    mire_loop_enter();
    return ready;
}

/*
 * Attach to a context: from now on the calling thread is idle only in this context's poll.
 *
 *   context  NULL: the default context. The adapter holds a reference until detach
 *
 * Returns MIRE_OK, MIRE_E_STATE (this adapter, or another one on this thread, is attached).
 * Thread: the watched thread that runs the context; one context per thread.
 */
static inline enum mire_err mire_glib_attach(mire_glib *adapter, GMainContext *context)
{
    if (adapter->context || mire__glib_poll_before)
        return MIRE_E_STATE;
    adapter->context = g_main_context_ref(context ? context : g_main_context_default());
    adapter->poll = mire__glib_poll_before = g_main_context_get_poll_func(adapter->context);
    g_main_context_set_poll_func(adapter->context, mire__glib_poll);
    mire_loop_set_waits(MIRE_WAITS_MARKED);
    return MIRE_OK;
}

static inline int mire__glib_post(void *adapter, uint64_t token)
{
    return write(((mire_glib *)adapter)->fd, &token, sizeof(token)) == (ssize_t)sizeof(token) ? 0 : -1;
}

/* At most one token is in the eventfd, so its counter is the token. */
static inline gboolean mire__glib_answer(gint fd, GIOCondition condition, gpointer unused)
{
    uint64_t token;

    (void)condition;
    (void)unused;
    if (read(fd, &token, sizeof(token)) == (ssize_t)sizeof(token))
        mire_ping_answer(token);
    return G_SOURCE_CONTINUE;
}

static inline void mire__glib_ping_end(mire_glib *adapter)
{
    g_source_destroy(adapter->source);
    g_source_unref(adapter->source);
    adapter->source = NULL;
    close(adapter->fd);
}

/*
 * Ping the attached context at G_PRIORITY_DEFAULT, the priority of events.
 *
 *   interval_ms  as mire_ping_start
 *
 * Returns as mire_ping_start; also MIRE_E_STATE (not attached) and MIRE_E_SYSTEM (no eventfd).
 * Thread: as attach.
 */
static inline enum mire_err mire_glib_ping(mire_glib *adapter, uint32_t interval_ms)
{
    enum mire_err err;

    if (!adapter->context || adapter->source)
        return MIRE_E_STATE;
    adapter->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (adapter->fd < 0)
        return MIRE_E_SYSTEM;
    adapter->source = g_unix_fd_source_new(adapter->fd, G_IO_IN);
    g_source_set_callback(adapter->source, G_SOURCE_FUNC(mire__glib_answer), NULL, NULL);
    g_source_set_name(adapter->source, "mire-ping");
    g_source_attach(adapter->source, adapter->context);
    err = mire_ping_start(mire__glib_post, adapter, interval_ms);
    if (err != MIRE_OK)
        mire__glib_ping_end(adapter);
    return err;
}

/* Undo attach and ping: all waiting calls count again. No effect if not attached. Thread: as attach. */
static inline void mire_glib_detach(mire_glib *adapter)
{
    if (!adapter->context)
        return;
    if (adapter->source) {
        mire_ping_stop();
        mire__glib_ping_end(adapter);
    }
    mire_loop_set_waits(MIRE_WAITS_ALL);
    g_main_context_set_poll_func(adapter->context, adapter->poll);
    mire__glib_poll_before = NULL;
    g_main_context_unref(adapter->context);
    adapter->context = NULL;
}

#ifdef __cplusplus
}
#endif
#endif
