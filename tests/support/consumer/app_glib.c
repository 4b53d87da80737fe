/* app_glib.c - a GLib app built against the installed libmire alone; C and C++ alike. Ends with 0 if it was watched. */
#include <mire/glib.h>

#include <stdio.h>

static gboolean quit(gpointer loop)
{
    g_main_loop_quit((GMainLoop *)loop);
    return G_SOURCE_REMOVE;
}

int main(int argc, char **argv)
{
    mire_options *options = mire_options_new();
    GMainLoop *loop = g_main_loop_new(NULL, FALSE);
    static mire_glib adapter;
    enum mire_err err;

    if (argc != 2)
        return 2;
    mire_options_set_app(options, "consumer", mire_version());
    mire_options_set_store(options, argv[1]);
    err = mire_start(options);
    mire_options_free(options);
    if (err == MIRE_OK)
        err = mire_glib_attach(&adapter, NULL);
    if (err == MIRE_OK)
        err = mire_glib_ping(&adapter, 1);
    g_timeout_add(50, quit, loop);
    g_main_loop_run(loop);
    mire_glib_detach(&adapter);
    if (err == MIRE_OK)
        err = mire_stop(NULL);
    g_main_loop_unref(loop);
    printf("%s %s\n", mire_version(), mire_err_name(err));
    return err == MIRE_OK ? 0 : 1;
}
