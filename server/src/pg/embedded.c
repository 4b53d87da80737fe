/*
 * embedded.c - the private cluster's life: lock, start, watch, start again, stop.
 *
 * The keeper thread is the postmaster's parent for as long as this process lives: PR_SET_PDEATHSIG goes by the parent
 * thread. `mutex` guards pid, stopping and starts.
 */
#include "pg/embedded.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/scope.h"
#include "pg/embedded_setup.h"

#include <libpq-fe.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>

#define READY_PATIENCE_S 120  /* crash recovery of a large WAL */
#define RESTART_MOST_MS  5000 /* longest pause between two starts */

struct embedded {
    struct embedded_place place;
    const struct log *log;
    int lock_fd; /* data_dir/mired.lock, held while we live */
    pthread_t keeper;
    pthread_mutex_t mutex;
    pid_t pid; /* 0: does not run */
    bool stopping;
    unsigned starts;
};

/* --- keeper ------------------------------------------------------------------------------------------------------ */

static pid_t start_postmaster(const struct embedded_place *place)
{
    static const char *const settings[] = {
        "listen_addresses=",
        "unix_socket_permissions=0700",
        "port=5432",
        "max_connections=64",
        "shared_buffers=128MB",
        "max_wal_size=2GB",
        "wal_compression=on",
        "jit=off",
        "checkpoint_timeout=15min",
        "log_line_prefix=%m [%p] ",
        "restart_after_crash=on",
        "logging_collector=off",
    };
    enum { COUNT = sizeof settings / sizeof *settings };
    char program[PATH_MAX + 16];
    snprintf(program, sizeof program, "%s/postgres", place->bin_dir);
    const char *argv[6 + 2 * COUNT] = {program, "-D", place->cluster, "-k", place->run_dir};
    for (int i = 0; i < COUNT; i++) {
        argv[5 + 2 * i] = "-c";
        argv[6 + 2 * i] = settings[i];
    }
    return embedded_spawn(place, SIGINT, (char *const *)(uintptr_t)argv);
}

/* Start it unless we are stopping. Its process number, 0 if stopping, -1 if it cannot be started. */
static pid_t launch(struct embedded *embedded)
{
    pthread_mutex_lock(&embedded->mutex);
    pid_t pid = embedded->stopping ? 0 : start_postmaster(&embedded->place);
    embedded->pid = pid > 0 ? pid : 0;
    embedded->starts++;
    pthread_mutex_unlock(&embedded->mutex);
    if (pid > 0)
        log_event(embedded->log, MIRE_LOG_INFO, "postgres.started", LOG_NUMBER("pid", pid));
    return pid;
}

/* Wait until it has ended. Its number is free for others only after the lock is ours, so a stop cannot hit a stranger.
 */
static void await_end(struct embedded *embedded, pid_t pid)
{
    siginfo_t info;
    int status = 0;
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) && errno == EINTR)
        ;
    pthread_mutex_lock(&embedded->mutex);
    waitpid(pid, &status, 0);
    embedded->pid = 0;
    bool expected = embedded->stopping;
    pthread_mutex_unlock(&embedded->mutex);
    log_event(embedded->log, expected ? MIRE_LOG_INFO : MIRE_LOG_WARN, "postgres.ended", LOG_NUMBER("pid", pid),
              LOG_NUMBER("signal", WIFSIGNALED(status) ? WTERMSIG(status) : 0),
              LOG_NUMBER("status", WIFEXITED(status) ? WEXITSTATUS(status) : 0));
}

static void *keep(void *context)
{
    struct embedded *embedded = context;
    int pause_ms = 100;
    for (;;) {
        uint64_t begun = clock_mono_ns();
        pid_t pid = launch(embedded);
        if (pid == 0)
            return NULL;
        if (pid > 0)
            await_end(embedded, pid);
        bool lived = clock_mono_ns() - begun > UINT64_C(10000000000);
        pause_ms = lived ? 100 : pause_ms * 2 < RESTART_MOST_MS ? pause_ms * 2 : RESTART_MOST_MS;
        pthread_mutex_lock(&embedded->mutex);
        bool stopping = embedded->stopping;
        pthread_mutex_unlock(&embedded->mutex);
        if (!stopping)
            usleep((useconds_t)pause_ms * 1000); /* its backends leave, too, before their memory is free again */
    }
}

/* --- start and stop ---------------------------------------------------------------------------------------------- */

static int take_lock(struct embedded *embedded, struct problem *problem, const char *data_dir)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/mired.lock", data_dir);
    embedded->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (embedded->lock_fd >= 0 && !flock(embedded->lock_fd, LOCK_EX | LOCK_NB))
        return 0;
    problem_set(problem, "data_dir.busy",
                errno == EWOULDBLOCK ? "Another mired runs on %s." : "The data directory %s cannot be written to.",
                data_dir);
    return MIRE_FAULT_SYSTEM;
}

static bool is_ready(struct embedded *embedded)
{
    const char *names[] = {"dbname", "connect_timeout", NULL};
    const char *values[] = {embedded->place.conninfo, "2", NULL};
    return PQpingParams(names, values, 1) == PQPING_OK;
}

static int await_ready(struct embedded *embedded, struct problem *problem)
{
    for (int tick = 0; tick < READY_PATIENCE_S * 20; tick++) {
        if (is_ready(embedded))
            return 0;
        pthread_mutex_lock(&embedded->mutex);
        bool fails = embedded->starts > 5;
        pthread_mutex_unlock(&embedded->mutex);
        if (fails)
            break;
        usleep(50000);
    }
    problem_set(problem, "postgres.start", "PostgreSQL does not start; see %.180s.", embedded->place.log_path);
    return MIRE_FAULT_AWAY;
}

int embedded_start(struct embedded **out, struct problem *problem, const struct embedded_options *options)
{
    struct embedded *embedded = calloc(1, sizeof *embedded);
    if (!embedded)
        return MIRE_FAULT_MEMORY;
    embedded->log = options->log;
    int rc = take_lock(embedded, problem, options->data_dir);
    if (!rc)
        rc = embedded_place_init(&embedded->place, problem, options);
    if (!rc)
        rc = embedded_await_stale(problem, &embedded->place, options->log);
    if (!rc)
        rc = embedded_make_cluster(problem, &embedded->place);
    if (rc) {
        close_fd(&embedded->lock_fd);
        free(embedded);
        return rc;
    }
    pthread_mutex_init(&embedded->mutex, NULL);
    if (pthread_create(&embedded->keeper, NULL, keep, embedded) != 0) {
        problem_set(problem, "threads", "No thread can be started.");
        close_fd(&embedded->lock_fd);
        free(embedded);
        return MIRE_FAULT_SYSTEM;
    }
    rc = await_ready(embedded, problem);
    if (rc)
        embedded_stop(embedded);
    else
        *out = embedded;
    return rc;
}

const char *embedded_conninfo(const struct embedded *embedded)
{
    return embedded->place.conninfo;
}

void embedded_stop(struct embedded *embedded)
{
    if (!embedded)
        return;
    pthread_mutex_lock(&embedded->mutex);
    embedded->stopping = true;
    if (embedded->pid > 0)
        kill(embedded->pid, SIGINT);
    pthread_mutex_unlock(&embedded->mutex);
    pthread_join(embedded->keeper, NULL);
    pthread_mutex_destroy(&embedded->mutex);
    close_fd(&embedded->lock_fd);
    free(embedded);
}

int embedded_find(char *out, size_t room, const char *data_dir)
{
    char run_dir[PATH_MAX];
    int rc = embedded_run_dir(run_dir, sizeof run_dir, data_dir);
    if (rc || access(run_dir, F_OK) || !embedded_conninfo_format(out, room, run_dir))
        return MIRE_FAULT_AWAY;
    return 0;
}
