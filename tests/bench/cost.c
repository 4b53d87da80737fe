/* cost.c - see cost.h. */
#include "cost.h"

#include "support/pgtest.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

double cost_own_s(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* CPU of a process, with what it waited for of its children; *parent_out: whose child it is. */
static double process_cpu_s(const char *pid, int *parent_out)
{
    char path[300], line[1024] = "";
    unsigned long user, system;
    long user_of_children, system_of_children;

    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    const char *rest = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    fclose(file);
    if (!rest || sscanf(rest + 2, "%*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld", parent_out, &user,
                        &system, &user_of_children, &system_of_children) != 5)
        return 0;
    return (double)(user + system + (unsigned long)(user_of_children + system_of_children)) /
           (double)sysconf(_SC_CLK_TCK);
}

/* The postmaster, its children, and those that have ended. */
double cost_postgres_s(void)
{
    char postmaster[16];
    int parent;
    DIR *proc = opendir("/proc");

    snprintf(postmaster, sizeof postmaster, "%d", pgtest_postmaster());
    double sum = process_cpu_s(postmaster, &parent);
    for (const struct dirent *entry; proc && (entry = readdir(proc));) {
        parent = 0;
        double one = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? process_cpu_s(entry->d_name, &parent) : 0;
        if (parent == pgtest_postmaster())
            sum += one;
    }
    if (proc)
        closedir(proc);
    return sum;
}

double cost_wal(struct pg *pg)
{
    return (double)pgtest_number(pg, "SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint");
}
