/*
 * point.c - see point.h.
 */
#include "preload/point.h"

#include "platform/platform.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIST_BYTES 4096
#define DEPTH_MAX  8 /* of processes that start each other */

static void add_file(struct points *points, const char *path)
{
    if (!path[0] || points->file_count == POINT_FILES_MAX)
        return;
    mire__text_copy(points->files[points->file_count], PATH_MAX, path);
    points->file_count++;
}

static bool is_of(const struct points *points, const void *memory, size_t size)
{
    const struct blackbox *box = memory;

    return mire__blackbox_check(box, size) == MIRE_OK &&
           strncmp(box->session.of, points->session, sizeof(box->session.of)) == 0;
}

/* A process of the program that has been killed, and is not added to the session yet. */
static bool look_at_dead(void *context, const void *memory, size_t size, bool lives)
{
    struct points *points = context;
    const struct blackbox *box = memory;
    char path[MIRE_PATH_BYTES];

    if (lives || !is_of(points, memory, size))
        return true;
    memcpy(path, box->facts.exe_path, sizeof(path));
    path[sizeof(path) - 1] = '\0';
    add_file(points, path);
    points->launcher &= atomic_load(&box->session.loop) == 0;
    return true;
}

void points_open(struct points *points, const struct store *store, const char *session, const char *path)
{
    char real[PATH_MAX];
    struct session_sum sum;

    *points = (struct points){.launcher = true};
    mire__text_copy(points->session, sizeof(points->session), session);
    if (realpath(path, real))
        add_file(points, real);
    if (mire__store_session_load(&sum, sizeof(sum), store, session) == MIRE_OK && sum.processes > 0) {
        sum.facts.exe_path[sizeof(sum.facts.exe_path) - 1] = '\0';
        add_file(points, sum.facts.exe_path);
        points->launcher = !sum.loop;
    }
    mire__store_visit_boxes(store, look_at_dead, points);
}

static bool look_at_live(void *context, const void *memory, size_t size, bool lives)
{
    struct points *points = context;
    const struct blackbox *box = memory;

    if (lives && is_of(points, memory, size) && atomic_load(&box->session.loop))
        points->loops[points->loop_count++] = box->facts.pid;
    return points->loop_count < POINT_LOOPS_MAX;
}

void points_look(struct points *points, const struct store *store)
{
    points->loop_count = 0;
    mire__store_visit_boxes(store, look_at_live, points);
}

static bool waits(const struct points *points, uint32_t pid)
{
    for (size_t i = 0; i < points->loop_count; i++)
        if (points->loops[i] == pid)
            return true;
    return false;
}

static bool is_the_program(const struct points *points, uint32_t pid)
{
    char link[64], path[PATH_MAX];
    ssize_t length;

    snprintf(link, sizeof(link), "/proc/%u/exe", (unsigned)pid);
    length = readlink(link, path, sizeof(path) - 1);
    if (length <= 0)
        return false;
    path[length] = '\0';
    for (size_t i = 0; i < points->file_count; i++)
        if (strcmp(points->files[i], path) == 0)
            return true;
    return false;
}

/* Its store is another one, and is not looked into. */
static bool is_anothers(uint32_t pid)
{
    char path[64];
    struct stat info;

    snprintf(path, sizeof(path), "/proc/%u", (unsigned)pid);
    return stat(path, &info) == 0 && info.st_uid != geteuid();
}

static enum point judge_one(const struct points *points, uint32_t pid)
{
    if (is_the_program(points, pid))
        return POINT_SERVICE;
    if (!points->launcher)
        return POINT_STRANGER;
    return waits(points, pid) || is_anothers(pid) ? POINT_SERVICE : POINT_UNKNOWN;
}

static enum point judge_deep(const struct points *points, uint32_t pid, unsigned depth);

/* The processes that one thread of it started. */
static enum point judge_started(const struct points *points, uint32_t pid, const char *tid, unsigned depth)
{
    char path[sizeof("/proc//task//children") + 32 + 256], list[LIST_BYTES];
    enum point best = POINT_STRANGER;

    snprintf(path, sizeof(path), "/proc/%u/task/%s/children", (unsigned)pid, tid);
    if (mire__file_read(list, sizeof(list), path) < 0)
        return best;
    for (char *end, *at = list;; at = end) {
        unsigned long child = strtoul(at, &end, 10);
        enum point one;

        if (end == at || best == POINT_SERVICE)
            return best;
        one = judge_deep(points, (uint32_t)child, depth + 1);
        best = one > best ? one : best;
    }
}

static enum point judge_deep(const struct points *points, uint32_t pid, unsigned depth)
{
    enum point best = judge_one(points, pid);
    char path[64];
    DIR *dir;

    if (best == POINT_SERVICE || depth == DEPTH_MAX)
        return best;
    snprintf(path, sizeof(path), "/proc/%u/task", (unsigned)pid);
    dir = opendir(path);
    for (struct dirent *entry; dir && best != POINT_SERVICE && (entry = readdir(dir));) {
        enum point one = entry->d_name[0] == '.' ? POINT_STRANGER : judge_started(points, pid, entry->d_name, depth);
        best = one > best ? one : best;
    }
    if (dir)
        closedir(dir);
    return best;
}

enum point points_judge(const struct points *points, uint32_t pid)
{
    return judge_deep(points, pid, 0);
}
