/*
 * truth.c - the record of the program's turns. It is kept in memory until the end, so that writing it is not part of a
 * turn.
 */
#include "hanger.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TURNS_MAX 4096
#define LONG_NS   50000000u /* shortest unplanned turn that is recorded */

struct turn {
    int step;
    uint64_t begin_ns, end_ns, waited_ns;
    uint32_t owner;
    unsigned cut;
};

static struct turn turns[TURNS_MAX], current = {.step = -1};
static size_t turn_count;
static const char *file_path;

uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void sleep_until_ns(uint64_t deadline_ns)
{
    struct timespec at = {(time_t)(deadline_ns / 1000000000u), (long)(deadline_ns % 1000000000u)};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) != 0)
        ;
}

static bool read_line(char *out, size_t room, const char *task, const char *name)
{
    char path[300];
    FILE *file;
    bool got;

    snprintf(path, sizeof(path), "/proc/self/task/%s/%s", task, name);
    file = fopen(path, "re");
    got = file && fgets(out, (int)room, file);
    if (file)
        fclose(file);
    return got;
}

/* Time in the scheduler's queue, of this thread and of the check thread, which must run to see a hang's full length. */
static uint64_t queued_ns(void)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry;
    uint64_t sum = 0;
    char line[200];

    while (tasks && (entry = readdir(tasks))) {
        bool ours = atoi(entry->d_name) == syscall(SYS_gettid) ||
                    (read_line(line, sizeof(line), entry->d_name, "comm") && strcmp(line, "mire-check\n") == 0);

        if (ours && read_line(line, sizeof(line), entry->d_name, "schedstat"))
            sum += strtoull(strchr(line, ' ') + 1, NULL, 10);
    }
    if (tasks)
        closedir(tasks);
    return sum;
}

void truth_begin(void)
{
    current = (struct turn){.step = -1, .begin_ns = now_ns()};
}

void truth_end(void)
{
    current.end_ns = now_ns();
    if (turn_count < TURNS_MAX && current.begin_ns &&
        (current.step >= 0 || current.end_ns - current.begin_ns > LONG_NS))
        turns[turn_count++] = current;
}

void truth_step(int step)
{
    uint64_t queued = queued_ns();

    /* Called twice for a step: before its hang and after it. */
    current.waited_ns = current.step == step ? queued - current.waited_ns : queued;
    current.step = step;
}

void truth_owner(uint32_t tid)
{
    current.owner = tid;
}

void truth_cut(void)
{
    current.cut++;
}

void truth_file(const char *path)
{
    file_path = path;
}

bool truth_write(void)
{
    FILE *file = fopen(file_path, "we");

    if (!file)
        return false;
    for (size_t i = 0; i < turn_count; i++)
        fprintf(file, "turn %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u\n", turns[i].step, turns[i].begin_ns,
                turns[i].end_ns, turns[i].waited_ns, turns[i].owner, turns[i].cut);
    return fclose(file) == 0;
}

bool truth_write_open(void)
{
    turns[turn_count] = current;
    turns[turn_count++].waited_ns = 0;
    return truth_write();
}

void truth_killed(void)
{
    FILE *file = fopen(file_path, "ae");

    if (!file)
        return;
    fprintf(file, "killed %" PRIu64 "\n", now_ns());
    fclose(file);
}
