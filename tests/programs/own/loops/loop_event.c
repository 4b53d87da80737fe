/* loop_event.c - libevent; EVENT_NOEPOLL and similar variables in the environment select its waiting call. */
#include "planted.h"

#include <event2/event.h>

static struct event_base *base;

static void rest(evutil_socket_t fd, short what, void *unused)
{
    (void)fd, (void)what, (void)unused;
}

static void hang(evutil_socket_t fd, short what, void *unused)
{
    const struct timeval after = {0, REST_MS * 1000};

    (void)fd, (void)what, (void)unused;
    planted_hang();
    event_base_once(base, -1, EV_TIMEOUT, rest, NULL, &after);
}

int main(int argc, char **argv)
{
    const struct timeval after = {IDLE_MS / 1000, IDLE_MS % 1000 * 1000};
    struct event_config *config = event_config_new();

    (void)argc;
    planted_start(argv);
    base = event_base_new_with_config(config);
    event_config_free(config);
    fprintf(stderr, "%s\n", event_base_get_method(base));
    event_base_once(base, -1, EV_TIMEOUT, hang, NULL, &after);
    event_base_dispatch(base);
    event_base_free(base);
    return 0;
}
