/*
 * rollout_app.c - an app that links libmire: starts it, waits in its loop for a line on standard input, hangs for 800
 * ms, waits a little more, allows FLUSH_MS for sending its reports, and prints the results of the calls.
 *
 *     rollout_app URL KEY STORE CHANNEL FLUSH_MS
 *
 * Its memory is sampled. It tells state, scene, user, a tag, a flag, a condition of the device and a breadcrumb.
 */
#include <mire/context.h>
#include <mire/memory.h>
#include <mire/mire.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Computes for 800 ms. A sleep called by main, which contains the loop, would count as the loop's wait. */
static __attribute__((noinline)) void hang(void)
{
    struct timespec now;

    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while (now.tv_sec == 0 && now.tv_nsec < 800000000);
}

int main(int argc, char **argv)
{
    struct pollfd input = {.fd = 0, .events = POLLIN};
    mire_options *options = mire_options_new();

    if (argc != 6)
        return 2;
    mire_options_set_app(options, "rollout-app", "2.1");
    mire_options_set_channel(options, argv[4]);
    mire_options_set_server(options, argv[1], argv[2]);
    mire_options_set_store(options, argv[3]);
    mire_options_set_threshold_ms(options, 400);
    mire_options_set_number(options, "depth_least", 0);
    mire_options_set_memory(options, MIRE_MEMORY_SAMPLED, 0);
    printf("start %s\n", mire_err_name(mire_start(options)));
    fflush(stdout);
    mire_options_free(options);
    mire_set_app_state(MIRE_APP_VISIBLE);
    mire_set_scene("Cart");
    mire_set_user("4711", MIRE_USER_HASHED);
    mire_set_tag("plan", "trial");
    mire_set_flag("new-cart", "on");
    mire_set_thermal(MIRE_THERMAL_FAIR);
    mire_breadcrumb("opened the cart");
    poll(&input, 1, -1);
    hang();
    poll(NULL, 0, 300);
    printf("flush %s\n", mire_err_name(mire_flush((uint32_t)atoi(argv[5]))));
    printf("stop %s\n", mire_err_name(mire_stop(NULL)));
    return 0;
}
