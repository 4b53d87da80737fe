/*
 * loops.c - the loops. Each tells the truth right after its poll call and right before the next.
 */
#include "hanger.h"

#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#ifdef WITH_GLIB
#include <glib.h>
#endif
#ifdef WITH_UV
#include <uv.h>
#endif

#define PAUSE_MS 20

static bool (*take_step)(void);

static bool run_epoll(void)
{
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event;
    bool more = epoll >= 0;

    while (more) {
        truth_end();
        epoll_wait(epoll, &event, 1, PAUSE_MS);
        truth_begin();
        more = take_step();
    }
    return close(epoll) == 0;
}

#ifdef WITH_GLIB
static GMainLoop *glib_loop;

static gint poll_and_tell(GPollFD *fds, guint count, gint timeout)
{
    gint ready;

    truth_end();
    ready = g_poll(fds, count, timeout);
    truth_begin();
    return ready;
}

static gboolean on_glib_timer(gpointer unused)
{
    (void)unused;
    if (take_step())
        return G_SOURCE_CONTINUE;
    g_main_loop_quit(glib_loop);
    return G_SOURCE_REMOVE;
}

static bool run_glib(void)
{
    g_main_context_set_poll_func(NULL, poll_and_tell);
    glib_loop = g_main_loop_new(NULL, FALSE);
    g_timeout_add(PAUSE_MS, on_glib_timer, NULL);
    g_main_loop_run(glib_loop);
    g_main_loop_unref(glib_loop);
    return true;
}
#endif

#ifdef WITH_UV
/* libuv polls between its prepare and its check handles. */
static void on_uv_prepare(uv_prepare_t *unused)
{
    (void)unused;
    truth_end();
}

static void on_uv_check(uv_check_t *unused)
{
    (void)unused;
    truth_begin();
}

static void on_uv_timer(uv_timer_t *timer)
{
    if (!take_step())
        uv_stop(timer->loop);
}

static bool run_uv(void)
{
    static uv_loop_t loop;
    static uv_prepare_t prepare;
    static uv_check_t check;
    static uv_timer_t timer;

    if (uv_loop_init(&loop) != 0)
        return false;
    uv_prepare_init(&loop, &prepare);
    uv_prepare_start(&prepare, on_uv_prepare);
    uv_check_init(&loop, &check);
    uv_check_start(&check, on_uv_check);
    uv_timer_init(&loop, &timer);
    uv_timer_start(&timer, on_uv_timer, PAUSE_MS, PAUSE_MS);
    uv_run(&loop, UV_RUN_DEFAULT);
    return true;
}
#endif

bool loop_run(const char *name, bool (*step)(void))
{
    take_step = step;
    if (strcmp(name, "epoll") == 0)
        return run_epoll();
#ifdef WITH_GLIB
    if (strcmp(name, "glib") == 0)
        return run_glib();
#endif
#ifdef WITH_UV
    if (strcmp(name, "uv") == 0)
        return run_uv();
#endif
    return false;
}
