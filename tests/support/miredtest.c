/*
 * miredtest.c - runs mired as a child process.
 */
#include "support/miredtest.h"

#include "base/clock.h"
#include "postgres/embedded.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define READY_PATIENCE_S 60

static void run(const struct miredtest *mired, const char *const *flags, const char *port_file)
{
    static const char program[] = MIRE_BINARY_DIR "/server/mired";
    const char *argv[32] = {program,          mired->role ? mired->role : "serve",
                            "--listen",       "127.0.0.1:0",
                            "--data-dir",     mired->dir,
                            "--port-file",    port_file,
                            "--local-images", "no"};
    char log_path[96];
    int at = 10;
    while (flags && *flags && at < 31)
        argv[at++] = *flags++;
    snprintf(log_path, sizeof log_path, "%s.log", mired->dir);
    int log_fd = open(log_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    unsetenv("DATABASE_URL");
    dup2(log_fd, 2);
    execv(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

int miredtest_spawn(struct miredtest *mired, const char *const *flags)
{
    char port_file[96];
    snprintf(port_file, sizeof port_file, "%s.port", mired->dir);
    unlink(port_file);
    mired->port = 0;
    mired->pid = fork();
    if (mired->pid == 0)
        run(mired, flags, port_file);
    return mired->pid > 0 ? 0 : -1;
}

int miredtest_listening(struct miredtest *mired)
{
    char log_path[96], line[512];
    snprintf(log_path, sizeof log_path, "%s.log", mired->dir);
    for (int tick = 0; tick < READY_PATIENCE_S * 50 && !waitpid(mired->pid, NULL, WNOHANG); tick++) {
        FILE *file = fopen(log_path, "r");
        while (file && fgets(line, sizeof line, file)) {
            const char *port = strstr(line, " mired.listening ") ? strstr(line, " port=") : NULL;
            mired->port = port ? (uint16_t)strtoul(port + 6, NULL, 10) : mired->port;
        }
        if (file)
            fclose(file);
        if (mired->port)
            return 0;
        usleep(10000);
    }
    return -1;
}

int miredtest_run(struct miredtest *mired, const char *const *flags)
{
    int status = -1;
    if (!miredtest_spawn(mired, flags))
        waitpid(mired->pid, &status, 0);
    mired->pid = 0;
    return status;
}

int miredtest_start(struct miredtest *mired, const char *const *flags)
{
    char port_file[96];
    snprintf(port_file, sizeof port_file, "%s.port", mired->dir);
    if (miredtest_spawn(mired, flags))
        return -1;
    for (int tick = 0; tick < READY_PATIENCE_S * 50; tick++) {
        unsigned port;
        FILE *file = fopen(port_file, "r");
        if (file) {
            int got = fscanf(file, "%u", &port);
            fclose(file);
            mired->port = (uint16_t)port;
            return got == 1 ? 0 : -1;
        }
        if (waitpid(mired->pid, NULL, WNOHANG) == mired->pid)
            return -1;
        usleep(20000);
    }
    return -1;
}

int miredtest_end(struct miredtest *mired, int signal)
{
    int status = -1;
    if (mired->pid <= 0)
        return status;
    kill(mired->pid, signal);
    waitpid(mired->pid, &status, 0);
    mired->pid = 0;
    return status;
}

void miredtest_remove(struct miredtest *mired)
{
    char command[256];
    snprintf(command, sizeof command, "rm -rf %s %s.log %s.port", mired->dir, mired->dir, mired->dir);
    if (system(command))
        fprintf(stderr, "%s failed\n", command);
}

struct pg *miredtest_pg(const struct miredtest *mired)
{
    char conninfo[PATH_MAX];
    struct pg *pg = NULL;
    struct pg_options options = {.conninfo = conninfo, .connections = 4, .wait_ms = 5000, .read_limit_ms = 10000};
    if (embedded_find(conninfo, sizeof conninfo, mired->dir) || pg_open(&pg, &options)) {
        fprintf(stderr, "no database in %s\n", mired->dir);
        exit(1);
    }
    return pg;
}

pid_t miredtest_postmaster(const struct miredtest *mired)
{
    char path[128];
    int pid = -1;
    snprintf(path, sizeof path, "%s/postgres/postmaster.pid", mired->dir);
    FILE *file = fopen(path, "r");
    if (!file)
        return -1;
    if (fscanf(file, "%d", &pid) != 1)
        pid = -1;
    fclose(file);
    return pid;
}

static char sample[4096];

static void read_sample(void)
{
    FILE *file = fopen(MIRE_SOURCE_DIR "/schema/wire/vectors/valid/smallest/report.json", "r");
    size_t len = file ? fread(sample, 1, sizeof sample - 1, file) : 0;
    sample[len] = '\0';
    if (file)
        fclose(file);
}

size_t miredtest_report(char *out, size_t room, struct uuid *id_out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    char text[MIRE_UUID_TEXT];
    pthread_once(&once, read_sample);
    const char *id = strstr(sample, "\"id\"");
    id = id ? strchr(id + 4, '"') : NULL;
    if (!id || strlen(sample) >= room) {
        fprintf(stderr, "the smallest report has no id\n");
        exit(1);
    }
    uuid_make(id_out, clock_wall_us());
    uuid_format(text, id_out);
    strcpy(out, sample);
    memcpy(out + (id + 1 - sample), text, sizeof text - 1);
    return strlen(out);
}
