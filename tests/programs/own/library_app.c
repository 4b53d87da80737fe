/*
 * library_app.c - an app that links libmire: starts it, hangs for 800 ms, flushes, and prints the results of the calls.
 *
 *     library_app URL KEY STORE
 */
#include <mire/mire.h>

#include <poll.h>
#include <stdio.h>
#include <time.h>

static void print_log(void *context, enum mire_log_level level, const char *text)
{
    (void)context;
    fprintf(stderr, "%d %s\n", (int)level, text);
}

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
    mire_options *options = mire_options_new();

    if (argc != 4)
        return 2;
    mire_options_set_app(options, "library-app", "2.1");
    mire_options_set_channel(options, "gray");
    mire_options_set_server(options, argv[1], argv[2]);
    mire_options_set_store(options, argv[3]);
    mire_options_set_threshold_ms(options, 400);
    mire_options_set_period_ms(options, 10);
    mire_options_set_sampling(options, 1);
    mire_options_set_log(options, print_log, NULL);
    printf("start %s\n", mire_err_name(mire_start(options)));
    mire_options_free(options);
    poll(NULL, 0, 20);
    hang();
    poll(NULL, 0, 0); /* the hang ends here; its report comes later */
    printf("flush %s\n", mire_err_name(mire_flush(10000)));
    printf("stop %s\n", mire_err_name(mire_stop(NULL)));
    return 0;
}
