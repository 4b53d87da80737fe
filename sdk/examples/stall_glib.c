/*
 * stall_glib.c - a GLib app that hangs in the three ways apps hang: on the disk, on a lock, on the processor.
 *
 *     stall_glib [--rounds N] [--seconds S] [--server URL --key KEY] [--store DIR] [--threshold MS] [--directory DIR]
 *
 * It has three jobs, run from its main loop one after the other, each for S seconds (default 3): saving a document with
 * a sync after every page, showing an album while another thread rebuilds its index under the lock, and laying out a
 * map. That is what its developers would see in Mire: a scene (on_...), the work in it, and the call that takes the
 * time.
 */
#include "mire/mire.h"

#include <fcntl.h>
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PAGE_BYTES (256 * 1024)

static struct {
    int rounds;
    double seconds;
    char *server, *key, *store, *directory;
    int threshold_ms;
} option = {.rounds = 1, .seconds = 3, .threshold_ms = 2000};

static GMainLoop *loop;
static GMutex album_lock;
static volatile double map_height;

static void say_job(const char *job)
{
    printf("stall_glib: %s for %.1f s\n", job, option.seconds);
    fflush(stdout);
}

/* ---- the disk ---- */

static void write_page_and_sync(int fd, const char *page)
{
    if (pwrite(fd, page, PAGE_BYTES, 0) != PAGE_BYTES || fsync(fd) != 0)
        g_usleep(1000);
}

static void save_document(void)
{
    char *page = g_malloc(PAGE_BYTES), *path = g_build_filename(option.directory, "document.XXXXXX", NULL);
    gint64 end_us = g_get_monotonic_time() + (gint64)(option.seconds * 1e6);
    int fd = g_mkstemp(path);

    memset(page, 'm', PAGE_BYTES);
    while (fd >= 0 && g_get_monotonic_time() < end_us)
        write_page_and_sync(fd, page);
    if (fd >= 0) {
        close(fd);
        unlink(path);
    }
    g_free(path);
    g_free(page);
}

static gboolean on_save_clicked(gpointer job)
{
    say_job(job);
    save_document();
    return G_SOURCE_REMOVE;
}

/* ---- a lock ---- */

static gpointer rebuild_album_index(gpointer ready)
{
    g_mutex_lock(&album_lock);
    g_atomic_int_set((gint *)ready, 1);
    g_usleep((gulong)(option.seconds * 1e6));
    g_mutex_unlock(&album_lock);
    return NULL;
}

static void read_album_index(void)
{
    g_mutex_lock(&album_lock);
    g_mutex_unlock(&album_lock);
}

static gboolean on_album_opened(gpointer job)
{
    static gint ready;
    GThread *indexer;

    say_job(job);
    g_atomic_int_set(&ready, 0);
    indexer = g_thread_new("indexer", rebuild_album_index, &ready);
    while (!g_atomic_int_get(&ready))
        g_thread_yield();
    read_album_index();
    g_thread_join(indexer);
    return G_SOURCE_REMOVE;
}

/* ---- the processor ---- */

static double smooth_tile(double height)
{
    for (int i = 1; i < 20000; i++)
        height += sin(height + i) / i;
    return height;
}

static void lay_out_map(void)
{
    gint64 end_us = g_get_monotonic_time() + (gint64)(option.seconds * 1e6);

    while (g_get_monotonic_time() < end_us)
        map_height = smooth_tile(map_height);
}

static gboolean on_map_zoomed(gpointer job)
{
    say_job(job);
    lay_out_map();
    return G_SOURCE_REMOVE;
}

/* ---- the app ---- */

/* Has the loop run the next job, and itself again a while later. */
static gboolean schedule_next(gpointer unused)
{
    static const struct {
        GSourceFunc scene;
        gpointer job;
    } jobs[] = {{on_save_clicked, "saving a document"},
                {on_album_opened, "opening an album"},
                {on_map_zoomed, "zooming a map"}};
    static int done;

    (void)unused;
    if (done == 3 * option.rounds) {
        g_main_loop_quit(loop);
        return G_SOURCE_REMOVE;
    }
    g_idle_add(jobs[done % 3].scene, jobs[done % 3].job);
    done++;
    g_timeout_add((guint)(option.seconds * 1000) + 300, schedule_next, NULL);
    return G_SOURCE_REMOVE;
}

static gboolean read_options(int *argc, char ***argv)
{
    const GOptionEntry entries[] = {
        {"rounds", 0, 0, G_OPTION_ARG_INT, &option.rounds, "times each job runs", "N"},
        {"seconds", 0, 0, G_OPTION_ARG_DOUBLE, &option.seconds, "how long one job takes", "S"},
        {"server", 0, 0, G_OPTION_ARG_STRING, &option.server, "where reports go", "URL"},
        {"key", 0, 0, G_OPTION_ARG_STRING, &option.key, "the app's ingest key", "KEY"},
        {"store", 0, 0, G_OPTION_ARG_FILENAME, &option.store, "where reports wait", "DIR"},
        {"threshold", 0, 0, G_OPTION_ARG_INT, &option.threshold_ms, "a hang is longer than this", "MS"},
        {"directory", 0, 0, G_OPTION_ARG_FILENAME, &option.directory, "where the document is saved; default: .", "DIR"},
        {0},
    };
    GOptionContext *context = g_option_context_new("- an app that hangs");
    GError *error = NULL;
    gboolean read;

    g_option_context_add_main_entries(context, entries, NULL);
    read = g_option_context_parse(context, argc, argv, &error);
    if (!read)
        fprintf(stderr, "stall_glib: %s\n", error->message);
    g_clear_error(&error);
    g_option_context_free(context);
    if (!option.directory)
        option.directory = g_strdup(".");
    return read;
}

static void start_mire(void)
{
    mire_options *options = mire_options_new();
    enum mire_err err;

    mire_options_set_app(options, "stall_glib", mire_version());
    mire_options_set_channel(options, "internal");
    mire_options_set_threshold_ms(options, (uint32_t)option.threshold_ms);
    if (option.store)
        mire_options_set_store(options, option.store);
    if (option.server && option.key)
        mire_options_set_server(options, option.server, option.key);
    err = mire_start(options);
    mire_options_free(options);
    if (err != MIRE_OK)
        fprintf(stderr, "stall_glib: not watched: %s\n", mire_err_text(err));
}

int main(int argc, char **argv)
{
    if (!read_options(&argc, &argv))
        return 2;
    start_mire();
    loop = g_main_loop_new(NULL, FALSE);
    g_timeout_add(300, schedule_next, NULL);
    g_main_loop_run(loop);
    mire_loop_leave(); /* the loop is over */
    if (option.server)
        mire_flush(10000);
    mire_stop(NULL);
    g_main_loop_unref(loop);
    return 0;
}
