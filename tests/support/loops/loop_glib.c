/* loop_glib.c - GMainLoop. */
#include "planted.h"

#include <glib.h>

static GMainLoop *loop;

static gboolean quit(gpointer unused)
{
    (void)unused;
    g_main_loop_quit(loop);
    return G_SOURCE_REMOVE;
}

static gboolean hang(gpointer unused)
{
    (void)unused;
    planted_hang();
    g_timeout_add(REST_MS, quit, NULL);
    return G_SOURCE_REMOVE;
}

int main(int argc, char **argv)
{
    (void)argc;
    planted_start(argv);
    loop = g_main_loop_new(NULL, FALSE);
    g_timeout_add(IDLE_MS, hang, NULL);
    g_main_loop_run(loop);
    return 0;
}
