/*
 * embedded.c - the private cluster's life: lock, make, start, watch, start again, stop.
 *
 * The keeper thread is the parent of initdb and of the postmaster for as long as this process lives: PR_SET_PDEATHSIG
 * goes by the parent thread. `mutex` guards pid, is_group, stopping, starts and failed; `changed` tells of stopping.
 */
#include "postgres/embedded.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/scope.h"
#include "postgres/embedded_setup.h"

#include <libpq-fe.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>

#define STALE_PATIENCE_S 60   /* a fast shutdown writes a checkpoint first */
#define STARTS_MOST      5    /* starts without success, before the first answer */
#define RESTART_MOST_MS  5000 /* longest pause between two starts */

struct embedded {
    struct embedded_place location;
    const struct log *log;
    int lock_fd; /* data_dir/mired.lock, held while we live */
    pthread_t keeper;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pid_t pid;     /* of initdb or the postmaster; 0: none runs */
    bool is_group; /* it is initdb, which is ended with its children */
    bool stopping;
    unsigned starts;
    struct problem failed; /* code set: the cluster cannot be made, or its stale postmaster does not end */
};

/* --- stopping and waiting ----------------------------------------------------------------------------------------- */

/* Wait `ms`, or until the stop. True: stopping. */
static bool rest(struct embedded *embedded, int ms)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000L;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_mutex_lock(&embedded->mutex);
    while (!embedded->stopping && !pthread_cond_timedwait(&embedded->changed, &embedded->mutex, &until))
        ;
    bool stopping = embedded->stopping;
    pthread_mutex_unlock(&embedded->mutex);
    return stopping;
}

/* --- keeper ------------------------------------------------------------------------------------------------------ */

static pid_t start_postmaster(const struct embedded_place *location)
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

    snprintf(program, sizeof program, "%s/postgres", location->bin_dir);
    const char *argv[6 + 2 * COUNT] = {program, "-D", location->cluster, "-k", location->run_dir};
    for (int i = 0; i < COUNT; i++) {
        argv[5 + 2 * i] = "-c";
        argv[6 + 2 * i] = settings[i];
    }

    return embedded_spawn(location, SIGINT, (char *const *)(uintptr_t)argv);
}

/* Start a child, unless stopping. Returns its process number, 0 if stopping, -1 if it cannot be started. */
static pid_t launch(struct embedded *embedded, pid_t (*begin)(const struct embedded_place *), bool is_group)
{
    pthread_mutex_lock(&embedded->mutex);
    pid_t pid = embedded->stopping ? 0 : begin(&embedded->location);
    embedded->pid = pid > 0 ? pid : 0;
    embedded->is_group = is_group;
    embedded->starts += !is_group;
    pthread_mutex_unlock(&embedded->mutex);
    return pid;
}

/*
 * Wait for a child's end; returns its wait status. The child is reaped under the lock, so that a stop cannot hit
 * another process with the same number.
 */
static int await_end(struct embedded *embedded, pid_t pid, bool *stopping_out)
{
    siginfo_t info;
    int status = 0;
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) && errno == EINTR)
        ;
    pthread_mutex_lock(&embedded->mutex);
    waitpid(pid, &status, 0);
    embedded->pid = 0;
    *stopping_out = embedded->stopping;
    pthread_mutex_unlock(&embedded->mutex);
    return status;
}

/* Create the cluster if there is none. False: it cannot be created, or stopping. */
static bool make_cluster(struct embedded *embedded, struct problem *problem)
{
    bool stopping = false;
    char why[256];

    if (embedded_has_cluster(&embedded->location))
        return true;
    pid_t pid = launch(embedded, embedded_begin_cluster, true);
    if (pid == 0)
        return false;
    int status = pid > 0 ? await_end(embedded, pid, &stopping) : -1;
    if (!status && !stopping && embedded_end_cluster(&embedded->location))
        return true;
    embedded_last_words(why, sizeof why, &embedded->location);
    problem_set(problem, "postgres.initdb", "PostgreSQL's initdb failed: %.100s; see %.80s.", why,
                embedded->location.log_path);
    return false;
}

/* Wait for a postmaster left behind. False: it does not end, or we are stopping. */
static bool await_stale(struct embedded *embedded, struct problem *problem)
{
    pid_t pid = embedded_left_behind(&embedded->location);
    if (pid)
        log_event(embedded->log, MIRE_LOG_INFO, "postgres.awaiting", LOG_NUMBER("pid", pid));
    for (int tick = 0; pid && tick < STALE_PATIENCE_S * 20; tick++) {
        if (tick == 20) /* the signal at its parent's death did not end it */
            kill(pid, SIGINT);
        if (rest(embedded, 50))
            return false;
        pid = embedded_left_behind(&embedded->location);
    }
    if (pid)
        problem_set(problem, "postgres.stale", "PostgreSQL process %d still runs on %.150s. End it: kill -INT %d.",
                    (int)pid, embedded->location.cluster, (int)pid);
    return !pid;
}

/* Run the postmaster, again and again, until the stop. */
static void keep_running(struct embedded *embedded)
{
    int pause_ms = 100;
    bool stopping = false;

    while (!stopping) {
        uint64_t begun = clock_mono_ns();
        pid_t pid = launch(embedded, start_postmaster, false);
        if (pid == 0)
            return;
        if (pid > 0) {
            log_event(embedded->log, MIRE_LOG_INFO, "postgres.started", LOG_NUMBER("pid", pid));
            int status = await_end(embedded, pid, &stopping);
            log_event(embedded->log, stopping ? MIRE_LOG_INFO : MIRE_LOG_WARN, "postgres.ended", LOG_NUMBER("pid", pid),
                      LOG_NUMBER("signal", WIFSIGNALED(status) ? WTERMSIG(status) : 0),
                      LOG_NUMBER("status", WIFEXITED(status) ? WEXITSTATUS(status) : 0));
        }
        bool lived = clock_mono_ns() - begun > UINT64_C(10000000000);
        pause_ms = lived ? 100 : pause_ms * 2;
        if (pause_ms > RESTART_MOST_MS)
            pause_ms = RESTART_MOST_MS;
        if (!stopping) /* its backends end too, before their memory is free again */
            stopping = rest(embedded, pause_ms);
    }
}

static void *keep(void *context)
{
    struct embedded *embedded = context;
    struct problem problem = MIRE_PROBLEM_INIT;
    if (await_stale(embedded, &problem) && make_cluster(embedded, &problem))
        keep_running(embedded);
    pthread_mutex_lock(&embedded->mutex);
    embedded->failed = problem;
    pthread_mutex_unlock(&embedded->mutex);
    return NULL;
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
    const char *values[] = {embedded->location.conninfo, "2", NULL};
    return PQpingParams(names, values, 1) == PQPING_OK;
}

int embedded_probe(struct embedded *embedded, struct problem *problem)
{
    char why[256];

    if (is_ready(embedded))
        return 0;
    pthread_mutex_lock(&embedded->mutex);
    bool vain = embedded->starts > STARTS_MOST;
    *problem = embedded->failed;
    pthread_mutex_unlock(&embedded->mutex);
    if (problem->code)
        return MIRE_FAULT_SYSTEM;
    if (!vain)
        return MIRE_FAULT_AWAY;
    embedded_last_words(why, sizeof why, &embedded->location);
    problem_set(problem, "postgres.start", "PostgreSQL does not start: %.120s; see %.80s.", why,
                embedded->location.log_path);
    return MIRE_FAULT_SYSTEM;
}

static int start_keeper(struct embedded *embedded, struct problem *problem)
{
    pthread_condattr_t monotonic;

    pthread_mutex_init(&embedded->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&embedded->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (!pthread_create(&embedded->keeper, NULL, keep, embedded))
        return 0;
    problem_set(problem, "threads", "No thread can be started.");
    return MIRE_FAULT_SYSTEM;
}

int embedded_start(struct embedded **out, struct problem *problem, const struct embedded_options *options)
{
    struct embedded *embedded = calloc(1, sizeof *embedded);
    if (!embedded)
        return MIRE_FAULT_MEMORY;
    embedded->log = options->log;
    int rc = take_lock(embedded, problem, options->data_dir);
    if (!rc)
        rc = embedded_place_init(&embedded->location, problem, options);
    if (!rc)
        rc = start_keeper(embedded, problem);
    if (!rc) {
        *out = embedded;
        return 0;
    }
    close_fd(&embedded->lock_fd);
    free(embedded);
    return rc;
}

const char *embedded_conninfo(const struct embedded *embedded)
{
    return embedded->location.conninfo;
}

void embedded_stop(struct embedded *embedded)
{
    if (!embedded)
        return;
    pthread_mutex_lock(&embedded->mutex);
    embedded->stopping = true;
    if (embedded->pid > 0) {
        pid_t target = embedded->is_group ? -embedded->pid : embedded->pid;
        kill(target, SIGINT);
        kill(target, SIGCONT); /* a stopped process would never handle the signal */
    }
    pthread_cond_broadcast(&embedded->changed);
    pthread_mutex_unlock(&embedded->mutex);
    pthread_join(embedded->keeper, NULL);
    pthread_cond_destroy(&embedded->changed);
    pthread_mutex_destroy(&embedded->mutex);
    close_fd(&embedded->lock_fd);
    free(embedded);
}

bool embedded_is_kept(const char *data_dir)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/mired.lock", data_dir);
    int fd MIRE_SCOPED(close_fd) = open(path, O_RDWR | O_CLOEXEC);
    return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
}

int embedded_find(char *out, size_t room, const char *data_dir)
{
    char run_dir[PATH_MAX];
    int rc = embedded_run_dir(run_dir, sizeof run_dir, data_dir);
    if (rc || access(run_dir, F_OK) || !embedded_conninfo_format(out, room, run_dir))
        return MIRE_FAULT_AWAY;
    return 0;
}
