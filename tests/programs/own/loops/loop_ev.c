/* loop_ev.c - libev; LIBEV_FLAGS in the environment selects its waiting call. */
#include "planted.h"

#include <ev.h>

static ev_timer idle, rest;

static void end(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop, (void)timer, (void)events;
}

static void hang(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)timer, (void)events;
    planted_hang();
    ev_now_update(loop);
    ev_timer_start(loop, &rest);
}

int main(int argc, char **argv)
{
    struct ev_loop *loop;

    (void)argc;
    planted_start(argv);
    loop = ev_default_loop(0);
    ev_timer_init(&idle, hang, IDLE_MS / 1000.0, 0);
    ev_timer_init(&rest, end, REST_MS / 1000.0, 0);
    ev_timer_start(loop, &idle);
    ev_run(loop, 0);
    return 0;
}
