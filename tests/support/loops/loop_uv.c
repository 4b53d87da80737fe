/* loop_uv.c - libuv; the hang is in the callback of a descriptor, which libuv calls from inside its poll phase. */
#include "planted.h"

#include <unistd.h>
#include <uv.h>

static uv_timer_t timer;
static uv_poll_t readable;
static int ends[2];

static void rest(uv_timer_t *handle)
{
    uv_close((uv_handle_t *)handle, NULL);
}

static void hang(uv_poll_t *handle, int status, int events)
{
    (void)status, (void)events;
    uv_close((uv_handle_t *)handle, NULL);
    planted_hang();
    uv_timer_start(&timer, rest, REST_MS, 0);
}

static void feed(uv_timer_t *handle)
{
    (void)handle;
    if (write(ends[1], "x", 1) != 1)
        _exit(3);
}

int main(int argc, char **argv)
{
    (void)argc;
    planted_start(argv);
    if (pipe(ends) != 0)
        return 3;
    uv_timer_init(uv_default_loop(), &timer);
    uv_timer_start(&timer, feed, IDLE_MS, 0);
    uv_poll_init(uv_default_loop(), &readable, ends[0]);
    uv_poll_start(&readable, UV_READABLE, hang);
    return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
