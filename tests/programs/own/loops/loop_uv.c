/*
 * loop_uv.c - libuv; the hang is in the callback of a descriptor, which libuv calls from inside its poll phase.
 * argv[2]:
 *
 *     plain  a hang
 *     soon   a hang in a timer's callback after the first wait, whose stack nobody has taken yet
 *     exact  mire/uv.h, and a wait inside a turn
 */
#include "planted.h"

#include <string.h>
#include <unistd.h>
#include <uv.h>
#ifdef WITH_MIRE
#include <mire/uv.h>

static mire_uv adapter;
#endif

enum { SOON_MS = 5 };

static const char *mode = "plain";
static uv_timer_t timer;
static uv_poll_t readable;
static int ends[2];

static void rest(uv_timer_t *handle)
{
    uv_close((uv_handle_t *)handle, NULL);
#ifdef WITH_MIRE
    mire_uv_detach(&adapter);
#endif
}

static void hang(uv_poll_t *handle, int status, int events)
{
    (void)status, (void)events;
    uv_close((uv_handle_t *)handle, NULL);
    if (strcmp(mode, "exact") == 0)
        planted_hang_waiting();
    else
        planted_hang();
    uv_update_time(uv_default_loop()); /* its clock did not advance during the hang */
    uv_timer_start(&timer, rest, REST_MS, 0);
}

static void hang_soon(uv_timer_t *handle)
{
    uv_poll_stop(&readable);
    planted_hang();
    uv_update_time(uv_default_loop());
    uv_timer_start(handle, rest, REST_MS, 0);
}

static void feed(uv_timer_t *handle)
{
    (void)handle;
    if (write(ends[1], "x", 1) != 1)
        _exit(3);
}

int main(int argc, char **argv)
{
    if (argc > 2)
        mode = argv[2];
    planted_start(argv);
    if (pipe(ends) != 0)
        return 3;
#ifdef WITH_MIRE
    if (strcmp(mode, "exact") == 0) {
        planted_expect(mire_uv_attach(&adapter, uv_default_loop()));
        planted_expect(mire_uv_ping(&adapter, PING_MS));
    }
#endif
    uv_timer_init(uv_default_loop(), &timer);
    uv_timer_start(&timer, strcmp(mode, "soon") == 0 ? hang_soon : feed, strcmp(mode, "soon") == 0 ? SOON_MS : IDLE_MS,
                   0);
    uv_poll_init(uv_default_loop(), &readable, ends[0]);
    uv_poll_start(&readable, UV_READABLE, hang);
    return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
