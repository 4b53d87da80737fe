/*
 * mire-run - runs a program nobody has changed under the SDK.
 *
 *     mire-run ── fork, LD_PRELOAD ──▶ PROG with libmire-preload.so
 *        │                                │ seals reports, keeps its blackbox
 *        └── courier thread ──▶ store ◀───┘
 *                 └── POST ──▶ server
 *
 * The program's input, output and arguments are its own; nothing is written to them unless something is wrong or
 * --verbose is given. When the program ends, however it ends, its blackbox is recovered and what waits is sent.
 */
#include "core/options.h"
#include "core/place.h"
#include "platform/platform.h"
#include "preload/child.h"
#include "preload/courier.h"
#include "preload/program.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_OURS   125 /* mire-run itself failed, as env and timeout say it */
#define PATIENCE_MS 5000u
#define PRELOAD     "libmire-preload.so"

struct run {
    mire_options options;
    bool verbose;
    char **argv; /* the program and its arguments */
    char path[PATH_MAX];
    char preload[PATH_MAX];
};

static const char usage[] =
    "Usage: mire-run [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
    "Run PROGRAM and report what makes it hang.\n"
    "\n"
    "  --server URL         where reports go; without it they stay in the store [MIRE_SERVER]\n"
    "  --key KEY            ingest key of the app [MIRE_KEY]\n"
    "  --key-file FILE      the same, first line of FILE [MIRE_KEY_FILE]\n"
    "  --app NAME           name of the app; default: PROGRAM's file name [MIRE_APP]\n"
    "  --app-version V      its version; default: from its build id [MIRE_APP_VERSION]\n"
    "  --channel NAME       public (default), gray or internal [MIRE_CHANNEL]\n"
    "  --store DIR          where reports wait [MIRE_STORE]\n"
    "  --threshold MS       a hang is longer than this; default 2000 [MIRE_THRESHOLD_MS]\n"
    "  --period MS          time between stack samples; default 50 [MIRE_PERIOD_MS]\n"
    "  --verbose            say on stderr what is done\n"
    "  --help, --version\n"
    "\n"
    "Exits as PROGRAM does; 128 + N if signal N killed it, 127 if it is not found, 126 if it cannot be executed,\n"
    "125 if mire-run itself fails.\n";

static void complain(const char *what, const char *about, const char *why)
{
    fprintf(stderr, "mire-run: %s%s%s%s%s\n", what, about[0] ? " " : "", about, why[0] ? ": " : "", why);
}

static enum mire_err set_number(mire_options *options, const char *text,
                                enum mire_err (*set)(mire_options *options, uint32_t value))
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    if (*text < '0' || *text > '9' || *end || value > UINT32_MAX)
        return MIRE_E_ARG;
    return set(options, (uint32_t)value);
}

static bool read_key(char key[MIRE_KEY_BYTES], const char *path)
{
    FILE *file = fopen(path, "re");
    bool got = file && fgets(key, MIRE_KEY_BYTES, file);

    if (file)
        fclose(file);
    if (got)
        key[strcspn(key, "\r\n")] = '\0';
    return got;
}

enum option_code { O_SERVER = 1, O_KEY, O_KEY_FILE, O_APP, O_APP_VERSION, O_CHANNEL, O_STORE, O_THRESHOLD, O_PERIOD };
enum { O_VERBOSE = O_PERIOD + 1, O_HELP, O_VERSION };

static const struct option long_options[] = {
    {"server", required_argument, NULL, O_SERVER},
    {"key", required_argument, NULL, O_KEY},
    {"key-file", required_argument, NULL, O_KEY_FILE},
    {"app", required_argument, NULL, O_APP},
    {"app-version", required_argument, NULL, O_APP_VERSION},
    {"channel", required_argument, NULL, O_CHANNEL},
    {"store", required_argument, NULL, O_STORE},
    {"threshold", required_argument, NULL, O_THRESHOLD},
    {"period", required_argument, NULL, O_PERIOD},
    {"verbose", no_argument, NULL, O_VERBOSE},
    {"help", no_argument, NULL, O_HELP},
    {"version", no_argument, NULL, O_VERSION},
    {0},
};

/* Each value: the option's, else the environment's, else NULL. Index: enum option_code. */
static void values_from_environment(const char *values[])
{
    static const char *const names[] = {
        [O_SERVER] = "MIRE_SERVER",
        [O_KEY] = "MIRE_KEY",
        [O_KEY_FILE] = "MIRE_KEY_FILE",
        [O_APP] = "MIRE_APP",
        [O_APP_VERSION] = "MIRE_APP_VERSION",
        [O_CHANNEL] = "MIRE_CHANNEL",
        [O_STORE] = "MIRE_STORE",
        [O_THRESHOLD] = "MIRE_THRESHOLD_MS",
        [O_PERIOD] = "MIRE_PERIOD_MS",
    };

    for (size_t i = O_SERVER; i <= O_PERIOD; i++) {
        const char *value = getenv(names[i]);

        if (!values[i] && value && *value)
            values[i] = value;
    }
}

/* -1: go on; else what to exit with. */
static int read_arguments(struct run *run, const char *values[], int argc, char **argv)
{
    int code;

    while ((code = getopt_long(argc, argv, "+", long_options, NULL)) != -1) {
        if (code == O_HELP || code == O_VERSION) {
            fputs(code == O_HELP ? usage : "mire-run " MIRE_VERSION "\n", stdout);
            return 0;
        }
        if (code == '?') {
            complain("see", "mire-run --help", "");
            return EXIT_OURS;
        }
        if (code == O_VERBOSE)
            run->verbose = true;
        else
            values[code] = optarg;
    }
    if (optind == argc) {
        complain("no program given", "", "see mire-run --help");
        return EXIT_OURS;
    }
    run->argv = argv + optind;
    return -1;
}

static int refuse(const char *option, const char *value)
{
    complain(option, value, "not a value this can have");
    return EXIT_OURS;
}

static int set_server(mire_options *options, const char *values[])
{
    char key[MIRE_KEY_BYTES] = "";

    if (!values[O_SERVER])
        return -1;
    if (values[O_KEY]) {
        mire__text_copy(key, sizeof(key), values[O_KEY]);
    } else if (values[O_KEY_FILE] && !read_key(key, values[O_KEY_FILE])) {
        complain("cannot read the key in", values[O_KEY_FILE], strerror(errno));
        return EXIT_OURS;
    }
    if (!key[0]) {
        complain("a server needs a key", "", "give --key or --key-file");
        return EXIT_OURS;
    }
    if (mire_options_set_server(options, values[O_SERVER], key) != MIRE_OK)
        return refuse("--server", values[O_SERVER]);
    return -1;
}

static int set_options(struct run *run, const char *values[])
{
    mire_options *options = &run->options;

    mire__options_init(options);
    if (values[O_CHANNEL] && mire_options_set_channel(options, values[O_CHANNEL]) != MIRE_OK)
        return refuse("--channel", values[O_CHANNEL]);
    if (values[O_STORE] && mire_options_set_store(options, values[O_STORE]) != MIRE_OK)
        return refuse("--store", values[O_STORE]);
    if (values[O_THRESHOLD] && set_number(options, values[O_THRESHOLD], mire_options_set_threshold_ms) != MIRE_OK)
        return refuse("--threshold", values[O_THRESHOLD]);
    if (values[O_PERIOD] && set_number(options, values[O_PERIOD], mire_options_set_period_ms) != MIRE_OK)
        return refuse("--period", values[O_PERIOD]);
    return set_server(options, values);
}

/* -1: found; else what to exit with. Names the app after it where nothing better was given. */
static int set_program(struct run *run, const char *values[])
{
    enum program_found found = program_find(run->path, sizeof(run->path), run->argv[0]);
    const char *slash = strrchr(run->argv[0], '/');
    const char *name = values[O_APP] ? values[O_APP] : slash ? slash + 1 : run->argv[0];
    struct program_facts facts;
    char version[32];

    if (found != PROGRAM_FOUND) {
        complain(found == PROGRAM_NOT_FOUND ? "program not found:" : "not executable:", run->argv[0], "");
        return found;
    }
    program_inspect(&facts, run->path);
    if (facts.is_static)
        complain("warning:", run->argv[0], "statically linked, so it runs but cannot be watched");
    if (facts.is_privileged)
        complain("warning:", run->argv[0], "has privileges of its own, so it runs but cannot be watched");
    snprintf(version, sizeof(version), facts.build_id[0] ? "build-%.12s" : "unknown", facts.build_id);
    if (mire_options_set_app(&run->options, name, values[O_APP_VERSION] ? values[O_APP_VERSION] : version) != MIRE_OK)
        return refuse("--app or --app-version", name);
    return -1;
}

/* libmire-preload.so: beside this program, or where an installation puts it. */
static bool find_preload(struct run *run)
{
    static const char *const places[] = {"", "../lib/", "../lib/mire/", "../../lib/mire/", "../libexec/mire/"};
    char here[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", here, sizeof(here) - 1);

    if (length <= 0)
        return false;
    here[length] = '\0';
    *(strrchr(here, '/') + 1) = '\0';
    for (size_t i = 0; i < MIRE_COUNT(places); i++) {
        char path[PATH_MAX + 64];
        snprintf(path, sizeof(path), "%s%s" PRELOAD, here, places[i]);
        if (realpath(path, run->preload) && access(run->preload, R_OK) == 0)
            return true;
    }
    return false;
}

/* The program learns what the preload library needs, and not the key. */
static bool set_environment(const struct run *run, const char *store_dir)
{
    const mire_options *options = &run->options;
    const char *others = getenv("LD_PRELOAD");
    char preload[2 * PATH_MAX], threshold[16], period[16];
    int length =
        snprintf(preload, sizeof(preload), "%s%s%s", run->preload, others && *others ? ":" : "", others ? others : "");

    snprintf(threshold, sizeof(threshold), "%u", options->settings.foreground_ms);
    snprintf(period, sizeof(period), "%u", options->settings.period_ms);
    return length > 0 && (size_t)length < sizeof(preload) && setenv("LD_PRELOAD", preload, 1) == 0 &&
           setenv("MIRE_APP", options->app_name, 1) == 0 && setenv("MIRE_APP_VERSION", options->app_version, 1) == 0 &&
           setenv("MIRE_CHANNEL", options->channel, 1) == 0 && setenv("MIRE_STORE", store_dir, 1) == 0 &&
           setenv("MIRE_THRESHOLD_MS", threshold, 1) == 0 && setenv("MIRE_PERIOD_MS", period, 1) == 0 &&
           unsetenv("MIRE_KEY") == 0 && unsetenv("MIRE_KEY_FILE") == 0 && unsetenv("MIRE_SERVER") == 0;
}

static void tell(const struct run *run, const struct courier *courier)
{
    const struct upload_tally *total = &courier->total;

    if (total->refused > 0)
        fprintf(stderr, "mire-run: the server refused %u reports (status %d)\n", total->refused, total->last.status);
    if (!run->verbose)
        return;
    if (!courier->upload)
        fprintf(stderr, "mire-run: reports stay in %s\n", mire__store_dir(courier->store));
    else
        fprintf(stderr, "mire-run: %u reports sent, %u waiting in %s\n", total->sent, total->waiting,
                mire__store_dir(courier->store));
    if (total->waiting > 0 && total->last.problem[0])
        fprintf(stderr, "mire-run: cannot send: %s\n", total->last.problem);
    else if (total->waiting > 0 && total->last.status)
        fprintf(stderr, "mire-run: cannot send: status %d\n", total->last.status);
}

static int run_program(const struct run *run, struct courier *courier)
{
    struct report_ended ended = {0};
    bool killed = true;
    pid_t pid;
    int failed, code;

    if (courier_start(courier) != MIRE_OK) {
        complain("cannot start a thread", "", "");
        return EXIT_OURS;
    }
    failed = child_start(&pid, run->path, run->argv);
    if (!failed)
        ended = (struct report_ended){(uint32_t)pid, mire__process_start_ticks((uint32_t)pid)};
    code = failed ? PROGRAM_NOT_EXECUTABLE : child_wait(&killed, pid);
    if (!killed)
        courier->ended = ended;
    if (failed)
        complain("cannot execute", run->path, strerror(failed));
    courier_finish(courier, failed ? 0 : PATIENCE_MS);
    tell(run, courier);
    return code;
}

static int run_with_store(const struct run *run)
{
    struct courier courier = {0};
    char dir[MIRE_STORE_PATH_MAX];
    int code = EXIT_OURS;

    if (mire__place_open(&courier.store, dir, &run->options) != MIRE_OK) {
        complain("cannot make or write the store", dir, strerror(errno));
        return EXIT_OURS;
    }
    if (!set_environment(run, mire__store_dir(courier.store)))
        complain("cannot set the environment", "", "");
    else if (run->options.server_url[0] && mire__upload_open(&courier.upload, courier.store, run->options.server_url,
                                                             run->options.server_key, NULL) != MIRE_OK)
        complain("cannot start libcurl", "", "");
    else
        code = run_program(run, &courier);
    mire__upload_close(courier.upload);
    mire__store_close(courier.store);
    return code;
}

int main(int argc, char **argv)
{
    const char *values[O_PERIOD + 1] = {NULL};
    static struct run run;
    int code = read_arguments(&run, values, argc, argv);

    if (code < 0) {
        values_from_environment(values);
        code = set_options(&run, values);
    }
    if (code < 0)
        code = set_program(&run, values);
    if (code >= 0)
        return code;
    if (!find_preload(&run)) {
        complain("cannot find", PRELOAD, "it belongs beside mire-run or in ../lib");
        return EXIT_OURS;
    }
    child_prepare();
    return run_with_store(&run);
}
