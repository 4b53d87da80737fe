/* seek.c - one image after the other; no transaction is open while the network is asked. */
#include "fetch/seek.h"
#include "fetch/debuginfod.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/scope.h"
#include "object/object.h"
#include "rows/rekey.h"
#include "rows/symbol.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_MS    2000
#define STEP_MS     50    /* of a pause; a stop is seen within it */
#define AGAIN_S     3600  /* after a search without result; doubles */
#define AGAIN_MAX_S 86400 /* also after a find, for reports that still lack the file */
#define FAILED_S    300   /* after a server did not answer; doubles */
#define HELD_MAX_S  3600  /* most, where the servers were not asked */
#define HOUR_MS     3600000
#define DIRS_MS     10000 /* between two looks for new files in the directories */
#define DIRS_MAX    2000  /* images in one look */

struct seek {
    struct seek_options options;
    pthread_t thread;
    _Atomic bool stopping; /* written by seek_stop, read by the thread; relaxed */
    uint64_t hour_ms;      /* the thread's: the hour of the budget began */
    int64_t asked;         /* the thread's: requests to servers in that hour */
};

struct seeking {
    struct seek *seek;
    struct symbol_wanted wanted;
    char hex[2 * MIRE_SYMBOL_ID_MAX + 1];
    char answer[256]; /* for people */
    bool found, failed;
    bool held; /* the servers were not asked: too few installations, or the budget is used up */
};

/* Is the file the debug file of the wanted build id? */
static bool is_wanted(struct object_facts *facts, const struct seeking *seeking, int fd)
{
    struct file_bytes bytes;

    if (!file_bytes_map_fd(&bytes, fd))
        return false;
    const struct symbol_wanted *wanted = &seeking->wanted;
    bool good = !object_look(facts, bytes.bytes, bytes.len, wanted->id, wanted->id_len) &&
                facts->id_len == wanted->id_len && !memcmp(facts->id, wanted->id, wanted->id_len) &&
                (facts->has_dwarf || facts->has_symbols);
    file_bytes_unmap(&bytes);
    return good;
}

/* Does a file with lines lie in a directory, in which, and since when? */
static bool find_in_dirs(size_t *at_out, int64_t *since_us_out, const struct seeking *seeking)
{
    struct stat st;
    const struct seek_options *options = &seeking->seek->options;
    struct object_facts facts;
    char path[PATH_MAX];

    for (size_t i = 0; i < options->symbol_dir_count; i++) {
        snprintf(path, sizeof path, "%s/.build-id/%.2s/%s.debug", options->symbol_dirs[i], seeking->hex,
                 seeking->hex + 2);
        MIRE_SCOPED(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (fd < 0 || fstat(fd, &st) != 0 || !is_wanted(&facts, seeking, fd) || !facts.has_dwarf)
            continue;
        *at_out = i;
        *since_us_out = (int64_t)st.st_ctim.tv_sec * 1000000 + st.st_ctim.tv_nsec / 1000;
        return true;
    }

    return false;
}

/* Files in a directory are not stored: the symbolizer looks in the directories itself. */
static void seek_in_dirs(struct seeking *seeking)
{
    const struct seek_options *options = &seeking->seek->options;
    size_t at;
    int64_t since_us;
    seeking->found = find_in_dirs(&at, &since_us, seeking);
    if (seeking->found)
        snprintf(seeking->answer, sizeof seeking->answer, "found in %.200s", options->symbol_dirs[at]);
}

/* Make images due at once that lay in no directory, or in one as a damaged file, and lie in a directory now. 0 or a
 * fault. */
static int look_into_dirs(struct seek *seek)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    MIRE_SCOPED(pg_rows_free) struct pg_rows *rows = NULL;
    struct seeking seeking = {.seek = seek};
    size_t at;
    int64_t since_us;
    int rc = pg_begin(&tx, seek->options.pg, MIRE_PG_EACH);
    if (!rc)
        rc = rows_symbols_sought(&rows, tx, DIRS_MAX, AGAIN_MAX_S);
    for (size_t i = 0; !rc && i < pg_row_count(rows); i++) {
        struct pg_bytes id = pg_bytes(rows, i, 0);
        seeking.wanted.id_len = id.len;
        memcpy(seeking.wanted.id, id.bytes, id.len);
        hex_format(seeking.hex, id.bytes, id.len);
        bool lay_there = !pg_is_null(rows, i, 1);
        if (find_in_dirs(&at, &since_us, &seeking) && (!lay_there || since_us > pg_time(rows, i, 1)))
            rc = rows_symbol_due(tx, id);
    }

    return rc;
}

/* Store the file of a server, and queue its reports. */
static int store(const struct seeking *seeking, int fd, const struct object_facts *facts, const char *server)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    struct pg_bytes id = {facts->id, facts->id_len};
    uint8_t hash[32];
    struct file_bytes file;
    if (!file_bytes_map_fd(&file, fd))
        return MIRE_FAULT_SYSTEM;
    int rc = pg_begin(&tx, seeking->seek->options.pg, MIRE_PG_WRITE);
    struct symbol_file kept = {.app_id = MIRE_SYMBOL_OF_ALL,
                               .build_id = id,
                               .debug = facts->has_dwarf,
                               .arch = facts->arch,
                               .name = seeking->wanted.name,
                               .size_bytes = (int64_t)file.len,
                               .hash = {hash, sizeof hash},
                               .defect = "",
                               .depth = ""};
    hash_blake2b(hash, sizeof hash, file.bytes, file.len);
    if (!rc)
        rc = rows_symbol_begin(tx, &kept);
    if (rc > 0) { /* another process stored a better file meanwhile */
        file_bytes_unmap(&file);
        return 0;
    }
    if (!rc)
        rc = rows_symbol_source(tx, id, facts->has_dwarf, server);
    if (!rc)
        rc = rows_symbol_put(tx, kept.hash, file.bytes, file.len);
    if (!rc)
        rc = rows_symbol_arrived(tx, MIRE_SYMBOL_OF_ALL, id);
    file_bytes_unmap(&file);
    return rc ? rc : pg_commit(&tx);
}

static int ask_server(struct seeking *seeking, const char *server)
{
    struct seek *seek = seeking->seek;
    struct debuginfod_options options = {.server = server,
                                         .most_bytes = seek->options.debuginfod_max_bytes,
                                         .within_s = seek->options.debuginfod_within_s,
                                         .stopping = &seek->stopping};
    struct object_facts facts;
    char why[160];

    MIRE_SCOPED(close_fd)
    int fd = seek->options.cache_dir ? open(seek->options.cache_dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)
                                     : memfd_create("mire-debuginfod", MFD_CLOEXEC);
    if (fd < 0)
        return MIRE_FAULT_SYSTEM;
    enum debuginfod_answer answer = debuginfod_get(why, sizeof why, fd, &options, seeking->hex);
    seek->asked++;
    if (answer == DEBUGINFOD_FOUND && !is_wanted(&facts, seeking, fd)) {
        snprintf(why, sizeof why, "sent something else");
        answer = DEBUGINFOD_FAILED;
    }
    size_t len = strlen(seeking->answer);
    if (answer == DEBUGINFOD_FAILED) {
        seeking->failed = true;
        snprintf(seeking->answer + len, sizeof seeking->answer - len, "%s%.100s %s", len ? "; " : "", server, why);
        log_event(seek->options.log, MIRE_LOG_WARN, "seek.failed", LOG_TEXT("server", server),
                  LOG_TEXT("build_id", seeking->hex), LOG_TEXT("reason", why));
    }
    if (answer != DEBUGINFOD_FOUND)
        return 0;
    seeking->found = true;
    snprintf(seeking->answer, sizeof seeking->answer, "fetched from %.200s", server);
    return store(seeking, fd, &facts, server);
}

/* Seconds until the next search for the image. */
static int64_t again_s(const struct seeking *seeking)
{
    int64_t seconds = seeking->failed || seeking->held ? FAILED_S : AGAIN_S;
    int64_t most_s = seeking->held ? HELD_MAX_S : AGAIN_MAX_S;
    if (seeking->found)
        return AGAIN_MAX_S;
    for (int64_t i = 1; i < seeking->wanted.looks && seconds < most_s; i++)
        seconds *= 2;
    return seconds < most_s ? seconds : most_s;
}

static void say_nowhere(char *out, size_t room, size_t dirs, size_t servers)
{
    int len = snprintf(out, room, "not in %zu director%s", dirs, dirs == 1 ? "y" : "ies");
    if (servers)
        snprintf(out + len, room - (size_t)len, ", nor at %zu debuginfod server%s", servers, servers == 1 ? "" : "s");
    else
        snprintf(out + len, room - (size_t)len, "; no debuginfod server is asked");
}

static int store_result(struct seeking *seeking)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    const struct seek_options *options = &seeking->seek->options;
    struct pg_bytes id = {seeking->wanted.id, seeking->wanted.id_len};
    if (!seeking->answer[0])
        say_nowhere(seeking->answer, sizeof seeking->answer, options->symbol_dir_count, options->debuginfod_count);
    int rc = pg_begin(&tx, options->pg, MIRE_PG_WRITE);
    if (!rc)
        rc = rows_symbol_answer(tx, id, seeking->answer, again_s(seeking));
    return rc ? rc : pg_commit(&tx);
}

static int claim(struct seeking *seeking)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    int rc = pg_begin(&tx, seeking->seek->options.pg, MIRE_PG_WRITE);
    int found = rc ? rc : rows_symbol_wanted(&seeking->wanted, tx);
    if (found <= 0)
        return found;
    rc = pg_commit(&tx);
    return rc ? rc : 1;
}

static int arrived_in_dir(const struct seeking *seeking)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    int rc = pg_begin(&tx, seeking->seek->options.pg, MIRE_PG_WRITE);
    if (!rc)
        rc = rows_symbol_arrived(tx, MIRE_SYMBOL_OF_ALL, (struct pg_bytes){seeking->wanted.id, seeking->wanted.id_len});
    return rc ? rc : pg_commit(&tx);
}

/* May the servers be asked for the image? If not, the answer says why. 0 or a fault. */
static int check_budget(struct seeking *seeking)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    struct seek *seek = seeking->seek;
    const struct seek_options *options = &seek->options;
    struct pg_bytes id = {seeking->wanted.id, seeking->wanted.id_len};
    uint64_t now_ms = clock_mono_ns() / 1000000;
    int64_t installs = options->debuginfod_installs;

    if (!options->debuginfod_count)
        return 0;
    if (!seek->hour_ms || now_ms - seek->hour_ms >= HOUR_MS) {
        seek->hour_ms = now_ms;
        seek->asked = 0;
    }
    int rc = installs > 1 ? pg_begin(&tx, options->pg, MIRE_PG_EACH) : 0;
    if (!rc && installs > 1)
        rc = rows_symbol_installs(&installs, tx, id, options->debuginfod_installs);
    if (rc)
        return rc;
    if (installs < options->debuginfod_installs)
        snprintf(seeking->answer, sizeof seeking->answer,
                 "debuginfod is asked once %" PRId64 " installations lack it (debuginfod_installs); %" PRId64 " so far",
                 options->debuginfod_installs, installs);
    else if (seek->asked >= options->debuginfod_hour)
        snprintf(seeking->answer, sizeof seeking->answer,
                 "debuginfod was asked %" PRId64 " times in this hour (debuginfod_hour); this file waits", seek->asked);
    seeking->held = seeking->answer[0] != '\0';
    return 0;
}

/* The next image that is due. 1: there was one; 0: none is due; below zero a fault. */
static int step(struct seek *seek)
{
    struct seeking seeking = {.seek = seek};

    int rc = claim(&seeking);
    if (rc <= 0)
        return rc;
    hex_format(seeking.hex, seeking.wanted.id, seeking.wanted.id_len);
    seek_in_dirs(&seeking);
    rc = seeking.found ? arrived_in_dir(&seeking) : 0;
    if (!rc && !seeking.found)
        rc = check_budget(&seeking);
    for (size_t i = 0; !rc && i < seek->options.debuginfod_count && !seeking.found && !seeking.held; i++)
        rc = ask_server(&seeking, seek->options.debuginfod[i]);
    if (!rc)
        rc = store_result(&seeking);
    return rc ? rc : 1;
}

static bool is_stopping(const struct seek *seek)
{
    return atomic_load_explicit(&seek->stopping, memory_order_relaxed);
}

static void *seek_main(void *argument)
{
    struct seek *seek = argument;
    uint64_t looked_ms = clock_mono_ns() / 1000000;

    while (!is_stopping(seek)) {
        uint64_t now_ms = clock_mono_ns() / 1000000;
        bool looks = seek->options.symbol_dir_count && now_ms - looked_ms >= DIRS_MS;
        int rc = looks ? look_into_dirs(seek) : 0;
        looked_ms = looks ? now_ms : looked_ms;
        rc = rc ? rc : step(seek);
        for (int waited = 0; rc <= 0 && waited < PAUSE_MS && !is_stopping(seek); waited += STEP_MS)
            nanosleep(&(struct timespec){.tv_nsec = STEP_MS * 1000000}, NULL);
    }

    return NULL;
}

int seek_start(struct seek **out, const struct seek_options *options)
{
    struct seek *seek = NULL;

    *out = NULL;
    if (!options->symbol_dir_count && !options->debuginfod_count)
        return 0;
    seek = calloc(1, sizeof *seek);
    if (!seek)
        return MIRE_FAULT_MEMORY;
    seek->options = *options;
    if (pthread_create(&seek->thread, NULL, seek_main, seek)) {
        free(seek);
        return MIRE_FAULT_SYSTEM;
    }
    *out = seek;
    return 0;
}

void seek_stop(struct seek *seek)
{
    if (!seek)
        return;
    atomic_store_explicit(&seek->stopping, true, memory_order_relaxed);
    pthread_join(seek->thread, NULL);
    free(seek);
}
