/*
 * loop_glib.c - GMainLoop. argv[2]:
 *
 *     plain    a hang
 *     waited   the same, after a callback that waited for a file itself
 *     exact    mire/glib.h, and a wait inside a turn
 *     nested   mire/glib.h, and a modal dialog: a main loop inside a turn, which idles and is no hang
 *     starved  mire/glib.h with a ping, and a descriptor of high priority that starves everything else
 */
#include "planted.h"

#include <glib-unix.h>
#include <glib.h>
#include <string.h>
#include <sys/eventfd.h>
#ifdef WITH_MIRE
#include <mire/glib.h>

static mire_glib adapter;
#endif

static GMainLoop *loop;
static const char *mode = "plain";

static gboolean quit(gpointer which)
{
    g_main_loop_quit(which ? which : loop);
    return G_SOURCE_REMOVE;
}

static void run_dialog(void)
{
    GMainLoop *dialog = g_main_loop_new(NULL, FALSE);

    g_timeout_add(HANG_MS, quit, dialog);
    g_main_loop_run(dialog);
    g_main_loop_unref(dialog);
    puts("hung 0");
}

static gboolean turn(gint fd, GIOCondition condition, gpointer begin_ns)
{
    (void)fd, (void)condition;
    if (planted_turn(*(uint64_t *)begin_ns))
        return G_SOURCE_CONTINUE;
    g_timeout_add(REST_MS, quit, NULL);
    return G_SOURCE_REMOVE;
}

static gboolean wait_once(gpointer unused)
{
    (void)unused;
    poll(NULL, 0, IDLE_MS / 2);
    return G_SOURCE_REMOVE;
}

static gboolean hang(gpointer unused)
{
    static uint64_t begin_ns;

    (void)unused;
    if (strcmp(mode, "starved") == 0) {
        begin_ns = planted_now_ns();
        g_unix_fd_add_full(G_PRIORITY_HIGH, eventfd(1, 0), G_IO_IN, turn, &begin_ns, NULL); /* always readable */
        return G_SOURCE_REMOVE;
    }
    if (strcmp(mode, "exact") == 0)
        planted_hang_waiting();
    else if (strcmp(mode, "nested") == 0)
        run_dialog();
    else
        planted_hang();
    g_timeout_add(REST_MS, quit, NULL);
    return G_SOURCE_REMOVE;
}

int main(int argc, char **argv)
{
    if (argc > 2)
        mode = argv[2];
    planted_start(argv);
    loop = g_main_loop_new(NULL, FALSE);
#ifdef WITH_MIRE
    if (strcmp(mode, "plain") != 0 && strcmp(mode, "waited") != 0)
        planted_expect(mire_glib_attach(&adapter, NULL));
    if (strcmp(mode, "starved") == 0)
        planted_expect(mire_glib_ping(&adapter, PING_MS));
#endif
    if (strcmp(mode, "waited") == 0)
        g_timeout_add(IDLE_MS / 3, wait_once, NULL);
    g_timeout_add(IDLE_MS, hang, NULL);
    g_main_loop_run(loop);
#ifdef WITH_MIRE
    mire_glib_detach(&adapter);
    mire_glib_detach(&adapter);
#endif
    g_main_loop_unref(loop);
    return 0;
}
