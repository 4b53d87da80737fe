/*
 * arguments.c - see arguments.h.
 */
#include "preload/arguments.h"

#include "base/path.h"
#include "preload/program.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const char usage[] =
    "Usage: mire-run [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
    "Run PROGRAM and report its hangs, its memory and why it ended.\n"
    "\n"
    "  --server URL         server that receives the reports; without it they stay in the store [MIRE_SERVER]\n"
    "  --key KEY            ingest key of the app [MIRE_KEY]\n"
    "  --key-file FILE      read the key from the first line of FILE [MIRE_KEY_FILE]\n"
    "  --app NAME           name of the app; default: PROGRAM's file name [MIRE_APP]\n"
    "  --app-version V      version of the app; default: from PROGRAM's build id [MIRE_APP_VERSION]\n"
    "  --channel NAME       internal (default), gray or public [MIRE_CHANNEL]\n"
    "  --store DIR          directory in which reports wait [MIRE_STORE]\n"
    "  --threshold MS       report hangs longer than this; default 2000 [MIRE_THRESHOLD_MS]\n"
    "  --period MS          time between stack samples; default 50 [MIRE_PERIOD_MS]\n"
    "  --verbose            print to standard error what was sent and what waits\n"
    "  --help, --version\n"
    "\n"
    "Further environment variables:\n"
    "  MIRE_SETTINGS=\"NAME=VALUE ...\"        parameters of mire_options_set_number in mire.h; suppress_ms=0\n"
    "                                        reports every hang, also repeated ones of one stack\n"
    "  MIRE_MEMORY=exact|sampled[:BYTES]|off recorded blocks of PROGRAM; default: one sample in 524288 bytes\n"
    "  MIRE_STORE_SYNC=seal|always|never     when DIR is synced to disk; default seal\n"
    "  MIRE_THREADS=\"NAME,NAME\"              names of further threads to watch\n"
    "  MIRE_SECOND_LIBC=0                    run mire's threads on PROGRAM's C library, as perf's call graphs\n"
    "                                        by DWARF need\n"
    "  MIRE_CA_FILE=FILE, MIRE_PINS=\"sha256//...\", MIRE_PLAIN_HTTP=1, MIRE_DAILY_BYTES=N\n"
    "                                        trusted certificates, server keys, unencrypted http over a network,\n"
    "                                        bytes per day: see docs/delivery.md\n"
    "\n"
    "mire-run serves processes that PROGRAM leaves behind, such as a daemon, in the background until they end.\n"
    "A process that changes its user has its reports in /var/tmp/mire-UID; mire-run sends them too if root started it.\n"
    "\n"
    "Exit status: that of PROGRAM; 128 + N if signal N killed it; 127 if it is not found; 126 if it cannot be\n"
    "executed; 125 if mire-run itself fails.\n";
/* clang-format on */

void run_complain(const char *what, const char *about, const char *why)
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

/* Each value: from the option, otherwise from the environment, otherwise NULL. Index: enum option_code. */
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

/* Returns -1 to continue, or the exit status. */
static int read_arguments(struct run *run, const char *values[], int argc, char **argv)
{
    int code;

    while ((code = getopt_long(argc, argv, "+", long_options, NULL)) != -1) {
        if (code == O_HELP || code == O_VERSION) {
            fputs(code == O_HELP ? usage : "mire-run " MIRE_VERSION "\n", stdout);
            return 0;
        }
        if (code == '?') {
            run_complain("see", "mire-run --help", "");
            return EXIT_OURS;
        }
        if (code == O_VERBOSE)
            run->verbose = true;
        else
            values[code] = optarg;
    }
    if (optind == argc) {
        run_complain("no program given", "", "name one after the options, see mire-run --help");
        return EXIT_OURS;
    }
    run->argv = argv + optind;
    return -1;
}

static int refuse(const char *option, const char *value)
{
    run_complain(option, value ? value : "", "not a valid value, see mire-run --help");
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
        run_complain("cannot read the key in", values[O_KEY_FILE], strerror(errno));
        return EXIT_OURS;
    }
    if (!key[0]) {
        run_complain("the server needs a key", "", "give --key or --key-file; mire key create NAME makes one");
        return EXIT_OURS;
    }
    if (mire_options_set_server(options, values[O_SERVER], key) != MIRE_OK)
        return refuse("--server", values[O_SERVER]);
    if (!mire__options_server_is_safe(options)) {
        run_complain("plain http over a network is not allowed:", values[O_SERVER],
                     "use https, or set MIRE_PLAIN_HTTP=1");
        return EXIT_OURS;
    }
    return -1;
}

static int set_options(struct run *run, const char *values[])
{
    mire_options *options = &run->options;
    const char *refused;

    mire__options_init(options);
    mire__options_set_sync(options, getenv("MIRE_STORE_SYNC"));
    mire_options_set_daily_bytes(options, 0); /* the person at the terminal decides about the costs */
    if ((refused = mire__options_delivery_from_environment(options)))
        return refuse(refused, getenv(refused));
    mire_options_set_channel(options, "internal"); /* a user who runs a program by hand wants all events */
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

/* Returns -1 if found, or the exit status. The app's default name is the program's. */
static int set_program(struct run *run, const char *values[])
{
    enum program_found found = program_find(run->path, sizeof(run->path), run->argv[0]);
    const char *name = values[O_APP] ? values[O_APP] : mire__path_base(run->argv[0]);
    struct program_facts facts;
    char version[32];

    if (found != PROGRAM_FOUND) {
        if (found == PROGRAM_NOT_FOUND)
            run_complain("program not found:", run->argv[0], "give its path, or a name that is in PATH");
        else
            run_complain("not executable:", run->argv[0], "check its permissions and its format");
        return found;
    }
    program_inspect(&facts, run->path);
    if (facts.is_static)
        run_complain("warning:", run->argv[0],
                     "statically linked, so it runs but cannot be watched; link it with libmire instead");
    run->is_foreign = facts.is_foreign || facts.first[0];
    if (facts.first[0])
        run_complain("warning: it runs but cannot be watched, because a sanitizer must be loaded first:", facts.first,
                     "");
    if (facts.is_foreign)
        run_complain(
            "warning:", run->argv[0],
            "for another processor or C library, so it runs but cannot be watched; use a mire-run of its kind");
    if (facts.is_privileged)
        run_complain("warning:", run->argv[0],
                     "has privileges of its own (set-uid, capabilities), so it runs but cannot be watched; run a copy "
                     "without them");
    snprintf(version, sizeof(version), facts.build_id[0] ? "build-%.12s" : "unknown", facts.build_id);
    if (mire_options_set_app(&run->options, name, values[O_APP_VERSION] ? values[O_APP_VERSION] : version) != MIRE_OK)
        return refuse("--app or --app-version", name);
    return -1;
}

int run_read(struct run *run, int argc, char **argv)
{
    const char *values[O_PERIOD + 1] = {NULL};
    int code = read_arguments(run, values, argc, argv);

    if (code < 0) {
        values_from_environment(values);
        code = set_options(run, values);
    }
    return code < 0 ? set_program(run, values) : code;
}
