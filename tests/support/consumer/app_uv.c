/* app_uv.c - a libuv app built against the installed libmire alone; C and C++ alike. Ends with 0 if it was watched. */
#include <mire/uv.h>

#include <stdio.h>

static mire_uv adapter;

static void quit(uv_timer_t *timer)
{
    mire_uv_detach(&adapter);
    uv_close((uv_handle_t *)timer, NULL);
}

int main(int argc, char **argv)
{
    mire_options *options = mire_options_new();
    uv_timer_t timer;
    enum mire_err err;

    if (argc != 2)
        return 2;
    mire_options_set_app(options, "consumer", mire_version());
    mire_options_set_store(options, argv[1]);
    err = mire_start(options);
    mire_options_free(options);
    if (err == MIRE_OK)
        err = mire_uv_attach(&adapter, uv_default_loop());
    if (err == MIRE_OK)
        err = mire_uv_ping(&adapter, 1);
    uv_timer_init(uv_default_loop(), &timer);
    uv_timer_start(&timer, quit, 50, 0);
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    if (err == MIRE_OK)
        err = mire_stop(NULL);
    printf("%s %s\n", mire_version(), mire_err_name(err));
    return uv_loop_close(uv_default_loop()) == 0 && err == MIRE_OK ? 0 : 1;
}
