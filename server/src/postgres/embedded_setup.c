/*
 * embedded_setup.c - the private cluster's user and place, its creation, and the wait for a postmaster of an earlier
 * process.
 */
#include "postgres/embedded_setup.h"

#include "base/fault.h"
#include "base/id.h"
#include "base/log.h"
#include "base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pwd.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SOCKET_NAME     "/.s.PGSQL.5432"
#define SOCKET_PATH_MAX 107  /* bytes of a unix socket's path */
#define LAST_WORDS      2000 /* bytes at the end of its log that are searched for the reason of its end */

__attribute__((format(printf, 3, 4))) static bool join(char *out, size_t room, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(out, room, format, args);
    va_end(args);
    return len >= 0 && (size_t)len < room;
}

/* Version of the cluster, "15"; false if there is none. */
static bool cluster_version(char out[16], const struct embedded_place *location)
{
    char path[PATH_MAX + 32];
    join(path, sizeof path, "%s/PG_VERSION", location->cluster);
    MIRE_SCOPED(close_file) FILE *file = fopen(path, "re");
    return file && fscanf(file, "%15[0-9]", out) == 1;
}

/* The newest of Debian's versioned directories, or that of the cluster's version. */
static bool find_installed(struct embedded_place *location, const char *version)
{
    char pattern[64];
    glob_t found;
    join(pattern, sizeof pattern, "/usr/lib/postgresql/%s/bin", version);
    bool ok = !glob(pattern, 0, NULL, &found) &&
              join(location->bin_dir, sizeof location->bin_dir, "%s", found.gl_pathv[found.gl_pathc - 1]);
    globfree(&found);
    return ok;
}

static int find_programs(struct embedded_place *location, struct problem *problem, const char *wanted)
{
    char version[16] = "*";
    char program[PATH_MAX + 16];
    bool has_cluster = cluster_version(version, location);
    bool ok =
        wanted ? join(location->bin_dir, sizeof location->bin_dir, "%s", wanted) : find_installed(location, version);

    join(program, sizeof program, "%s/postgres", location->bin_dir);
    if (ok && !access(program, X_OK))
        return 0;
    if (wanted)
        problem_set(problem, "postgres.missing", "postgres_bin: there is no program postgres in %.150s.", wanted);
    else if (has_cluster)
        problem_set(problem, "postgres.missing",
                    "%.120s was made by PostgreSQL %s, which is not installed here. Install postgresql-%s.",
                    location->cluster, version, version);
    else
        problem_set(problem, "postgres.missing",
                    "PostgreSQL's programs were not found. Install postgresql, or set database_url.");
    return MIRE_FAULT_SYSTEM;
}

static bool choose_user(struct embedded_place *location)
{
    location->drops = geteuid() == 0;
    const struct passwd *user = location->drops ? getpwnam("postgres") : getpwuid(geteuid());
    if (location->drops && !user)
        user = getpwnam("nobody");
    location->uid = user ? user->pw_uid : geteuid();
    location->gid = user ? user->pw_gid : getegid();
    join(location->user, sizeof location->user, "%s", user ? user->pw_name : "this user");
    return user || !location->drops;
}

/* Create a directory that only the cluster's user may enter. An existing one must belong to this user, because under
 * /tmp any user may have created it. */
static bool make_private_dir(const struct embedded_place *location, const char *path)
{
    struct stat info;

    if (mkdir(path, 0700) && errno != EEXIST)
        return false;
    int fd MIRE_SCOPED(close_fd) = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info))
        return false;
    if (info.st_uid != geteuid() && info.st_uid != location->uid) {
        errno = EPERM;
        return false;
    }

    return !fchmod(fd, 0700) && (!location->drops || !fchown(fd, location->uid, location->gid));
}

int embedded_run_dir(char *out, size_t room, const char *data_dir)
{
    uint8_t hash[16];
    char digits[33];
    char absolute[PATH_MAX];

    if (!realpath(data_dir, absolute))
        return MIRE_FAULT_SYSTEM;
    if (strlen(absolute) + strlen("/run" SOCKET_NAME) <= SOCKET_PATH_MAX)
        return join(out, room, "%s/run", absolute) ? 0 : MIRE_FAULT_SYSTEM;
    hash_blake2b(hash, sizeof hash, absolute, strlen(absolute));
    hex_format(digits, hash, sizeof hash);
    return join(out, room, "/tmp/mire-%.16s", digits) ? 0 : MIRE_FAULT_SYSTEM;
}

bool embedded_conninfo_format(char *out, size_t room, const char *run_dir)
{
    char quoted[2 * PATH_MAX];
    char *to = quoted;

    for (const char *from = run_dir; *from && to < quoted + sizeof quoted - 3; from++) {
        if (*from == '\'' || *from == '\\')
            *to++ = '\\';
        *to++ = *from;
    }
    *to = '\0';
    return join(out, room, "host='%s' port=5432 user=mire dbname=postgres", quoted);
}

static void set_child_ids(const struct embedded_place *location)
{
    if (location->drops && (setgroups(0, NULL) || setgid(location->gid) || setuid(location->uid)))
        _exit(126);
}

/* Can the cluster's user reach the directory? Asked as that user, because access depends on every directory above. */
static bool user_can_enter(const struct embedded_place *location, const char *path)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        set_child_ids(location);
        _exit(chdir(path) ? 1 : 0);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

int embedded_place_init(struct embedded_place *location, struct problem *problem,
                        const struct embedded_options *options)
{
    char root[PATH_MAX];

    *location = (struct embedded_place){0};
    if (!realpath(options->data_dir, root) || strlen(root) > PATH_MAX - 64) {
        problem_set(problem, "data_dir", "The data directory %s cannot be used: %s.", options->data_dir,
                    strerror(errno));
        return MIRE_FAULT_SYSTEM;
    }
    join(location->cluster, sizeof location->cluster, "%.4000s/postgres", root);
    join(location->fresh, sizeof location->fresh, "%.4000s/postgres.new", root);
    join(location->log_path, sizeof location->log_path, "%.4000s/postgres.log", root);
    if (!choose_user(location)) {
        problem_set(problem, "postgres.user",
                    "PostgreSQL does not run as root, and there is no user postgres or nobody.");
        return MIRE_FAULT_SYSTEM;
    }
    if (!embedded_has_cluster(location) && !getpwuid(location->uid)) {
        problem_set(
            problem, "postgres.user",
            "User id %u has no entry in /etc/passwd, and PostgreSQL's initdb needs one; add it, or set database_url.",
            (unsigned)location->uid);
        return MIRE_FAULT_SYSTEM;
    }
    if (find_programs(location, problem, options->bin_dir))
        return MIRE_FAULT_SYSTEM;
    int rc = embedded_run_dir(location->run_dir, sizeof location->run_dir, root);
    if (rc || !make_private_dir(location, location->run_dir) ||
        !embedded_conninfo_format(location->conninfo, sizeof location->conninfo, location->run_dir)) {
        problem_set(problem, "data_dir", "The socket directory %.150s cannot be created: %s.", location->run_dir,
                    strerror(errno));
        return MIRE_FAULT_SYSTEM;
    }
    if (!user_can_enter(location, location->run_dir)) {
        problem_set(problem, "data_dir",
                    "User %s, who runs PostgreSQL, cannot enter %.120s. Give it a data_dir every user can reach.",
                    location->user, root);
        return MIRE_FAULT_SYSTEM;
    }

    return 0;
}

/* In the child, after fork: async-signal-safe calls only. */
static void become(const struct embedded_place *location, int death_signal, int log_fd, pid_t parent)
{
    sigset_t none;
    int null = open("/dev/null", O_RDONLY);
    setsid(); /* the terminal's Ctrl-C is for us; we stop the cluster when all is written */
    set_child_ids(location);
    prctl(PR_SET_PDEATHSIG, death_signal); /* after setuid, which clears it */
    if (getppid() != parent)
        _exit(126);
    dup2(null, 0);
    dup2(log_fd, 1);
    dup2(log_fd, 2);
    close_range(3, ~0u, 0);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    if (chdir("/"))
        _exit(126);
}

pid_t embedded_spawn(const struct embedded_place *location, int death_signal, char *const argv[])
{
    int log_fd MIRE_SCOPED(close_fd) = open(location->log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    if (log_fd < 0)
        return -1;
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        become(location, death_signal, log_fd, parent);
        execv(argv[0], argv);
        _exit(127);
    }

    return pid;
}

static void remove_tree(const struct embedded_place *location, const char *path)
{
    int status;
    char rm[] = "/bin/rm", flags[] = "-rf", copy[PATH_MAX];

    join(copy, sizeof copy, "%s", path);
    char *const argv[] = {rm, flags, copy, NULL};
    struct embedded_place self = *location;
    self.drops = false;
    pid_t pid = embedded_spawn(&self, SIGTERM, argv);
    if (pid > 0)
        waitpid(pid, &status, 0);
}

bool embedded_has_cluster(const struct embedded_place *location)
{
    char version[PATH_MAX + 16];
    join(version, sizeof version, "%s/PG_VERSION", location->cluster);
    return !access(version, F_OK);
}

pid_t embedded_begin_cluster(const struct embedded_place *location)
{
    char program[PATH_MAX + 16], target[PATH_MAX];
    char pgdata[] = "-D", user[] = "--username=mire", trust[] = "--auth=trust", encoding[] = "--encoding=UTF8",
         locale[] = "--locale=C", quiet[] = "--no-instructions";
    remove_tree(location, location->fresh);
    join(program, sizeof program, "%s/initdb", location->bin_dir);
    join(target, sizeof target, "%s", location->fresh);
    char *const argv[] = {program, pgdata, target, user, trust, encoding, locale, quiet, NULL};
    return make_private_dir(location, location->fresh) ? embedded_spawn(location, SIGTERM, argv) : -1;
}

bool embedded_end_cluster(const struct embedded_place *location)
{
    return !rename(location->fresh, location->cluster);
}

pid_t embedded_left_behind(const struct embedded_place *location)
{
    char path[PATH_MAX + 32], name[32] = "";
    int pid = 0;

    join(path, sizeof path, "%s/postmaster.pid", location->cluster);
    MIRE_SCOPED(close_file) FILE *pid_file = fopen(path, "re");
    if (!pid_file || fscanf(pid_file, "%d", &pid) != 1 || pid <= 1)
        return 0;
    join(path, sizeof path, "/proc/%d/comm", pid);
    MIRE_SCOPED(close_file) FILE *name_file = fopen(path, "re");
    if (!name_file || fscanf(name_file, "%31s", name) != 1 || strncmp(name, "postgres", 8) != 0)
        return 0;
    return pid;
}

/* The reason in a line of PostgreSQL's log: the text after these words of the server or of initdb. NULL: none. */
static const char *complaint(const char *line)
{
    static const char *const words[] = {"FATAL:", "PANIC:", "DETAIL:", "error:"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *found = strstr(line, words[i]);
        if (found)
            return found + strlen(words[i]) + strspn(found + strlen(words[i]), " ");
    }
    return NULL;
}

void embedded_last_words(char *out, size_t room, const struct embedded_place *location)
{
    char line[256];

    out[0] = '\0';
    MIRE_SCOPED(close_file) FILE *file = fopen(location->log_path, "re");
    if (!file)
        return;
    if (fseek(file, -LAST_WORDS, SEEK_END))
        rewind(file);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        const char *why = complaint(line);
        if (why)
            join(out, room, "%s", why);
    }
}
