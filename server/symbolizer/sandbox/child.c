/*
 * child.c - starts the child and waits for it; the child's main function.
 */
#include "sandbox/child.h"
#include "sandbox/check.h"
#include "archive/contents.h"
#include "java/retrace.h"
#include "sandbox/sandbox.h"

#include "base/bytes.h"
#include "base/id.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define UNPACK   "unpack"
#define CHECK    "check"
#define ASK      "ask"
#define FIRST_FD 3 /* in the child: the cache, the dwz file, the split files (or /dev/null), then the files */
#define PLACES   3 /* descriptors before the files */
#define THREADS  2
#define WAIT_MS  (300 * 1000)

extern char **environ;

struct split_files {
    struct file_bytes bytes;
    struct convert_split *rows;
    size_t count;
};

/* Open the concatenated split files. An unreadable one has no object. */
static void open_splits(struct split_files *out, int fd)
{
    struct child_split stated;
    *out = (struct split_files){0};
    if (fd < 0 || !file_bytes_map_fd(&out->bytes, fd) || !(out->rows = calloc(MIRE_CONVERT_WANTS, sizeof(*out->rows))))
        return;
    size_t at = 0;
    while (out->count < MIRE_CONVERT_WANTS && out->bytes.len - at >= sizeof stated) {
        memcpy(&stated, out->bytes.bytes + at, sizeof stated);
        at += sizeof stated;
        if (stated.len > out->bytes.len - at)
            return;
        struct file_bytes one = {out->bytes.bytes + at, (size_t)stated.len, 0};
        struct convert_split *split = &out->rows[out->count++];
        *split = (struct convert_split){.id = stated.id, .contents_id = stated.contents_id, .package = stated.package};
        if (stated.len && object_open(&split->object, &one, NULL, 0, THREADS))
            split->object = NULL;
        at += (size_t)stated.len;
    }
}

/* Add the split units that a program itself contains. */
static void open_own_splits(struct split_files *splits, const struct object *object)
{
    struct object *own;
    if (!object || !object->facts.both || splits->count == MIRE_CONVERT_WANTS ||
        (!splits->rows && !(splits->rows = calloc(1, sizeof(*splits->rows)))))
        return;
    if (!object_open_split(&own, &object->file, THREADS))
        splits->rows[splits->count++] = (struct convert_split){.object = own, .contents_id = 1, .package = true};
}

static void close_splits(struct split_files *splits)
{
    for (size_t i = 0; i < splits->count; i++)
        object_close(splits->rows[i].object);
    free(splits->rows);
    file_bytes_unmap(&splits->bytes);
}

/* A mapping of Java names is a single file. */
static bool is_mapping(const struct object *object)
{
    return object && (object->facts.format == MIRE_FORMAT_MAPPING || object->facts.format == MIRE_FORMAT_METHODMAP);
}

static const char *convert_mapping(int fd, const struct object *object)
{
    struct retrace *retrace;
    const char *wrong = retrace_open(&retrace, object);
    if (wrong)
        return wrong;
    bool good = retrace_write(fd, retrace);
    retrace_close(retrace);
    return good ? NULL : "could not be written";
}

static enum child_answer convert_here(char *why, int fd, const struct child_files *files, const uint8_t *id,
                                      size_t id_len)
{
    struct file_bytes bytes[MIRE_CONVERT_OBJECTS + 1] = {0};
    struct object *objects[MIRE_CONVERT_OBJECTS + 1] = {0};
    struct convert_source source = {.object_count = files->count,
                                    .alt_contents_id = files->alt_contents_id,
                                    .asks = files->asks,
                                    .id = id,
                                    .id_len = id_len};
    struct convert_facts facts = {0};
    struct split_files splits;
    const char *wrong = NULL;
    for (size_t i = 0; i < files->count && !wrong; i++) {
        wrong = file_bytes_map_fd(&bytes[i], files->fds[i]) ? object_open(&objects[i], &bytes[i], id, id_len, THREADS)
                                                            : "cannot be mapped";
        source.objects[i] = objects[i];
    }
    if (!wrong && files->alt >= 0 && file_bytes_map_fd(&bytes[files->count], files->alt) &&
        !object_open(&objects[files->count], &bytes[files->count], NULL, 0, THREADS))
        source.alt = objects[files->count];
    open_splits(&splits, files->splits);
    open_own_splits(&splits, objects[0]);
    source.splits = splits.rows;
    source.split_count = splits.count;
    if (!wrong)
        wrong = is_mapping(objects[0]) ? convert_mapping(fd, objects[0]) : convert(&facts, fd, &source, THREADS);
    for (size_t i = 0; i <= files->count; i++) {
        object_close(objects[i]);
        file_bytes_unmap(&bytes[i]);
    }
    close_splits(&splits);
    snprintf(why, MIRE_SYMBOL_WHY, "%s", wrong ? wrong : "");
    if (wrong)
        return CHILD_WRONG;
    return facts.wanted ? CHILD_WANTS : CHILD_DONE;
}

static enum child_answer unpack_here(char *why, int out, int in)
{
    return contents_unpack(why, out, in) ? CHILD_DONE : CHILD_WRONG;
}

static enum child_answer check_here(char *why, int in, uint64_t at, uint64_t len)
{
    struct file_bytes file;
    if (!file_bytes_map_fd(&file, in) || at > file.len || len > file.len - at)
        return CHILD_REFUSED;
    struct file_bytes item = {file.bytes + at, (size_t)len, 0};
    enum symbol_depth depth;
    char defect[MIRE_SYMBOL_WHY];
    bool whole = symbols_check(defect, &depth, &item);
    snprintf(why, MIRE_SYMBOL_WHY, "%d%.*s", (int)depth, MIRE_SYMBOL_WHY - 2, defect);
    file_bytes_unmap(&file);
    return whole ? CHILD_DONE : CHILD_WRONG;
}

static enum child_answer convert_arguments(char *why, int argc, char **argv)
{
    struct child_files files = {.alt = FIRST_FD + 1, .splits = FIRST_FD + 2};
    uint8_t id[MIRE_SYMBOL_ID_MAX];
    size_t id_len = argc > 2 ? strlen(argv[2]) / 2 : 0;
    files.count = argc > 1 ? (size_t)atoi(argv[1]) : 0;
    if (!files.count || files.count > MIRE_CONVERT_OBJECTS || id_len > sizeof id ||
        (id_len && !hex_parse(id, argv[2], id_len)))
        return CHILD_REFUSED;
    for (size_t i = 0; i < files.count; i++)
        files.fds[i] = FIRST_FD + PLACES + (int)i;
    files.alt_contents_id = argc > 3 ? strtoull(argv[3], NULL, 16) : 0;
    files.asks = argc > 4 && !strcmp(argv[4], ASK);
    return convert_here(why, FIRST_FD, &files, id, id_len);
}

int symbols_child(int argc, char **argv)
{
    char why[MIRE_SYMBOL_WHY] = "";
    sandbox_enter();
    bool unpack = argc > 1 && !strcmp(argv[1], UNPACK);
    bool check = argc > 3 && !strcmp(argv[1], CHECK);
    enum child_answer answer =
        unpack  ? unpack_here(why, FIRST_FD, FIRST_FD + PLACES)
        : check ? check_here(why, FIRST_FD + PLACES, strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10))
                : convert_arguments(why, argc, argv);
    if (why[0] && write(STDOUT_FILENO, why, strlen(why)) < 0)
        return CHILD_REFUSED;
    return answer;
}

/* The descriptor for position i of the child's files. */
static int given_fd(int i, int fd, const struct child_files *files, int null)
{
    const int first[PLACES] = {fd, files->alt, files->splits};
    int given = i < PLACES ? first[i] : files->fds[i - PLACES];
    return given >= 0 ? given : null;
}

/*
 * Start the child with its files at fixed descriptors. Files of this process may have those numbers, so all are first
 * duplicated above them.
 */
static pid_t start(int fd, const struct child_files *files, int out, int null, char *const *argv)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    pid_t pid = -1;
    int count = PLACES + (int)files->count;
    int far[PLACES + MIRE_CONVERT_OBJECTS];
    bool good = posix_spawn_file_actions_init(&actions) == 0 && posix_spawnattr_init(&attributes) == 0;
    if (!good)
        return -1;
    good = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO) == 0; /* before its descriptor is reused */
    for (int i = 0; i < count; i++) {
        far[i] = fcntl(given_fd(i, fd, files, null), F_DUPFD_CLOEXEC, FIRST_FD + count);
        good = good && far[i] >= 0 && posix_spawn_file_actions_adddup2(&actions, far[i], FIRST_FD + i) == 0;
    }
    sigemptyset(&none);
    good = good && posix_spawn_file_actions_addclosefrom_np(&actions, FIRST_FD + count) == 0 &&
           posix_spawnattr_setsigmask(&attributes, &none) == 0 &&
           posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK) == 0;
    if (good && posix_spawn(&pid, argv[0], &actions, &attributes, argv, environ) != 0)
        pid = -1;
    for (int i = 0; i < count; i++)
        if (far[i] >= 0)
            close(far[i]);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return pid;
}

/* Read the child's output until it ends or the time is up. */
static bool listen_to(char *why, int fd)
{
    size_t len = 0;
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (;;) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        clock_gettime(CLOCK_MONOTONIC, &now);
        long left = WAIT_MS - (now.tv_sec - begin.tv_sec) * 1000;
        int ready = left > 0 ? poll(&wait, 1, (int)left) : 0;
        if (!ready)
            return false;
        if (ready < 0)
            continue;
        char scratch[MIRE_SYMBOL_WHY];
        ssize_t n = read(fd, scratch, sizeof scratch);
        if (n == 0 || (n < 0 && errno != EINTR))
            return true;
        size_t take = n > 0 && (size_t)n < MIRE_SYMBOL_WHY - 1 - len ? (size_t)n : 0;
        memcpy(why + len, scratch, take);
        len += take;
        why[len] = '\0';
    }
}

static enum child_answer judge(char *why, int status, bool ended)
{
    if (!ended)
        snprintf(why, MIRE_SYMBOL_WHY, "takes more than %d seconds", WAIT_MS / 1000);
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
        snprintf(why, MIRE_SYMBOL_WHY, "takes more than %d seconds of computing", MIRE_SANDBOX_CPU_S);
    else if (WIFSIGNALED(status))
        snprintf(why, MIRE_SYMBOL_WHY, "ended its reader by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) <= CHILD_WANTS)
        return (enum child_answer)WEXITSTATUS(status);
    else
        return CHILD_REFUSED;
    return CHILD_WRONG;
}

/* Run the child with its files until it ends. */
static enum child_answer run(char *why, int fd, const struct child_files *files, char *const *argv)
{
    int pipes[2];
    int status = 0;
    why[0] = '\0';
    if (pipe2(pipes, O_CLOEXEC) != 0)
        return CHILD_REFUSED;
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    pid_t pid = null >= 0 ? start(fd, files, pipes[1], null, argv) : -1;
    close(pipes[1]);
    if (null >= 0)
        close(null);
    bool ended = pid > 0 && listen_to(why, pipes[0]);
    close(pipes[0]);
    if (pid <= 0)
        return CHILD_REFUSED;
    if (!ended)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return judge(why, status, ended);
}

enum child_answer child_convert(char *why, int fd, const struct child_files *files, const uint8_t *id, size_t id_len,
                                const char *converter)
{
    char hex[2 * MIRE_SYMBOL_ID_MAX + 1] = "";
    char count[16], contents_id[24];
    if (!converter)
        return convert_here(why, fd, files, id, id_len);
    hex_format(hex, id, id_len);
    snprintf(count, sizeof count, "%zu", files->count);
    snprintf(contents_id, sizeof contents_id, "%" PRIx64, files->alt_contents_id);
    char *argv[] = {(char *)(uintptr_t)converter,
                    (char[]){"symbol-child"},
                    count,
                    hex,
                    contents_id,
                    files->asks ? (char[]){ASK} : NULL,
                    NULL};
    return run(why, fd, files, argv);
}

enum child_answer child_unpack(char *why, int out, int in, const char *converter)
{
    struct child_files files = {.fds = {in}, .count = 1, .alt = -1, .splits = -1};
    if (!converter)
        return unpack_here(why, out, in);
    char *argv[] = {(char *)(uintptr_t)converter, (char[]){"symbol-child"}, (char[]){UNPACK}, NULL};
    return run(why, out, &files, argv);
}

enum child_answer child_check(char *why, int in, uint64_t at, uint64_t len, const char *converter)
{
    struct child_files files = {.fds = {in}, .count = 1, .alt = -1, .splits = -1};
    char from[24], bytes[24];
    if (!converter)
        return check_here(why, in, at, len);
    snprintf(from, sizeof from, "%" PRIu64, at);
    snprintf(bytes, sizeof bytes, "%" PRIu64, len);
    char *argv[] = {(char *)(uintptr_t)converter, (char[]){"symbol-child"}, (char[]){CHECK}, from, bytes, NULL};
    return run(why, -1, &files, argv);
}
