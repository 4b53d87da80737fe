/*
 * context_app.c - an app that tells Mire of its moment, hangs in a child or in itself, and is killed.
 *
 *     context_app URL STORE kill|end|fork|start
 *
 *   kill  is killed by SIGKILL while it hangs
 *   end   the hang ends; the report is made in the process
 *   fork  a child, which inherits the context, hangs and is killed
 *   start sends what earlier ones left
 */
#include <mire/context.h>
#include <mire/delivery.h>

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static __attribute__((noinline)) void hang(int cpu_ms)
{
    struct timespec now;

    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < cpu_ms);
}

/* From a thread of its own: the main thread hangs. */
static void *leave_crumbs(void *how)
{
    struct timespec nap = {0, 20000000};

    for (int i = 1; i <= 100; i++) {
        char text[32];

        snprintf(text, sizeof(text), "step %d", i);
        mire_breadcrumb(text);
    }
    mire_set_tag("plan", "paid");
    for (int i = 0; i < 50; i++) /* for a hang that has been sampled */
        nanosleep(&nap, NULL);
    if (strcmp(how, "end") != 0)
        kill(getpid(), SIGKILL);
    return NULL;
}

static void work(const char *how)
{
    pthread_t thread;

    poll(NULL, 0, 20);
    pthread_create(&thread, NULL, leave_crumbs, (void *)how);
    hang(strcmp(how, "end") == 0 ? 800 : 60000);
    pthread_join(thread, NULL);
    poll(NULL, 0, 0);
}

int main(int argc, char **argv)
{
    mire_options *options = mire_options_new();

    if (argc != 4)
        return 2;
    mire_options_set_app(options, "context-app", "1");
    mire_options_set_server(options, argv[1], "mk_test");
    mire_options_set_store(options, argv[2]);
    mire_options_set_device(options, "Pixel 8", "8gb");
    mire_options_set_os(options, "android", "14");
    mire_options_set_threshold_ms(options, 300);
    mire_set_tag("plan", "trial"); /* before the start */
    mire_set_tag("gone", "soon");
    mire_breadcrumb("before the start");
    if (mire_start(options) != MIRE_OK)
        return 3;
    mire_set_tag("gone", NULL);
    mire_set_scene("CartActivity");
    mire_set_user("4711", MIRE_USER_HASHED);
    mire_set_app_state(MIRE_APP_VISIBLE);
    mire_set_flag("new-cart", "on");
    mire_set_battery(34, 1);
    mire_set_battery(35, 0);
    mire_set_thermal(MIRE_THERMAL_SERIOUS);
    mire_set_orientation(MIRE_ORIENTATION_LANDSCAPE);
    mire_set_network(MIRE_NETWORK_UNMETERED);
    mire_options_free(options);
    if (strcmp(argv[3], "fork") == 0) {
        pid_t child = fork();

        if (child == 0)
            work("kill");
        return waitpid(child, NULL, 0) == child ? 0 : 4;
    }
    if (strcmp(argv[3], "start") != 0)
        work(argv[3]);
    for (int i = 0; i < 40 && strcmp(argv[3], "start") == 0; i++)
        poll(NULL, 0, 50); /* the worker looks for dead runs after the start */
    mire_flush(20000);
    mire_stop(NULL);
    return 0;
}
