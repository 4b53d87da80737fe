/*
 * loops.c - the loops. Each records its turns right after its poll call and right before the next one.
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

static int (*ask_next)(void);
static int scene;         /* next scene; below 0: the loop ends */
static void (*arm)(void); /* let the loop call it, or end */

void loop_again(void)
{
    scene = ask_next();
    arm();
}

static void arm_epoll(void)
{
}

static bool run_epoll(void)
{
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event;

    arm = arm_epoll;
    for (scene = epoll < 0 ? -1 : ask_next(); scene >= 0;) {
        truth_end();
        epoll_wait(epoll, &event, 1, PAUSE_MS);
        truth_begin();
        scenes[scene](NULL);
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

static void arm_glib(void)
{
    if (scene >= 0)
        g_timeout_add(PAUSE_MS, scenes[scene], NULL);
    else
        g_main_loop_quit(glib_loop);
}

static bool run_glib(void)
{
    g_main_context_set_poll_func(NULL, poll_and_tell);
    glib_loop = g_main_loop_new(NULL, FALSE);
    arm = arm_glib;
    loop_again();
    g_main_loop_run(glib_loop);
    g_main_loop_unref(glib_loop);
    return true;
}
#endif

#ifdef WITH_UV
static uv_loop_t uv_loop;
static uv_timer_t uv_timer;

#define TIMER(n)                                   \
    STAY void planted_timer_##n(uv_timer_t *timer) \
    {                                              \
        (void)timer;                               \
        take_turn();                               \
        KEEP_FRAME();                              \
    }
#define DECLARE(n) void planted_timer_##n(uv_timer_t *timer);
EACH_PLANTED(DECLARE)
EACH_PLANTED(TIMER)

static const uv_timer_cb timers[PLANTED_COUNT] = {planted_timer_0, planted_timer_1, planted_timer_2, planted_timer_3,
                                                  planted_timer_4, planted_timer_5, planted_timer_6, planted_timer_7};

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

static void arm_uv(void)
{
    uv_update_time(&uv_loop); /* it is the time of the turn's beginning */
    if (scene >= 0)
        uv_timer_start(&uv_timer, timers[scene], PAUSE_MS, 0);
    else
        uv_stop(&uv_loop);
}

static bool run_uv(void)
{
    static uv_prepare_t prepare;
    static uv_check_t check;

    if (uv_loop_init(&uv_loop) != 0)
        return false;
    uv_prepare_init(&uv_loop, &prepare);
    uv_prepare_start(&prepare, on_uv_prepare);
    uv_check_init(&uv_loop, &check);
    uv_check_start(&check, on_uv_check);
    uv_timer_init(&uv_loop, &uv_timer);
    arm = arm_uv;
    loop_again();
    uv_run(&uv_loop, UV_RUN_DEFAULT);
    return true;
}
#endif

bool loop_run(const char *name, int (*next)(void))
{
    bool ran = false;

    ask_next = next;
    if (strcmp(name, "epoll") == 0)
        ran = run_epoll();
#ifdef WITH_GLIB
    if (strcmp(name, "glib") == 0)
        ran = run_glib();
#endif
#ifdef WITH_UV
    if (strcmp(name, "uv") == 0)
        ran = run_uv();
#endif
    return ran;
}
