/*
 * symbols.c - `mire symbols`: upload finds debug files, asks which the server lacks, and sends those.
 */
#include "cli/cli.h"
#include "cli/fetch.h"
#include "cli/symbols_send.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT_ONCE    4
#define JOBS_MAX   16
#define PART_BYTES (8u << 20)

static const char usage[] =
    "Usage: mire symbols upload [--server URL] [--key KEY] [--jobs N] [--all] [--version V [--build B]] PATH...\n\n"
    "Find every debug file at or below a PATH, those in archives (zip, tar, tar.gz, dSYM) among them, ask the server\n"
    "which it lacks, and send only those, N at a time (4). --all: send all. One line a file tells what came of it.\n"
    "An upload that was interrupted is gone on with where it stopped, by the next run too.\n"
    "--version: the mapping of R8 or ProGuard, or the methodmap, below PATH is that of this version (and build) of "
    "the\n"
    "key's app; reports that do not name theirs find it so.\n"
    "The key needs the scope symbols (mire key create APP --scope symbols).\n"
    "MIRE_SERVER and MIRE_KEY stand in for the options; the server is http://127.0.0.1:7117 unless told.\n\n"
    "mire symbols look FILE [ADDRESS]... asks a file at hand; see its --help.\n";

static int upload_all(const struct send_options *options, bool all, char *const *paths)
{
    struct found found;
    struct send_result result = {0};
    int rc = symbols_find_files(&found, paths);
    size_t mappings = 0;
    for (size_t i = 0; i < found.count; i++)
        mappings += symbols_is_java(&found.files[i]);
    if (!rc && options->version && mappings != 1) {
        fprintf(stderr, "mire symbols: --version is of one mapping of Java names; %zu are there\n", mappings);
        rc = -1;
    }
    if (!rc && !found.count)
        fprintf(stderr, "mire symbols: no file with a build id and symbols there\n");
    if (!rc && !all)
        rc = symbols_ask_lacking(&found, options);
    for (size_t i = 0; i < found.count; i++)
        found.files[i].lacking |= all || (options->version && symbols_is_java(&found.files[i]));
    if (!rc && found.count) {
        symbols_send_files(&result, &found, options);
        printf("%zu stored, %zu there already, %zu failed; %.1f MB sent\n", result.stored, result.known, result.failed,
               (double)result.bytes / 1e6);
    }
    bool good = !rc && found.count && !result.failed;
    symbols_found_free(&found);
    return good ? CLI_DONE : CLI_FAILED;
}

/* CLI_USAGE, after it is said why. */
static int wrong(const char *what)
{
    fprintf(stderr, "mire symbols: %s\n%s", what, usage);
    return CLI_USAGE;
}

static int upload(int argc, char **argv)
{
    static const struct option options[] = {
        {"server", required_argument, NULL, 's'},  {"key", required_argument, NULL, 'k'},
        {"jobs", required_argument, NULL, 'j'},    {"all", no_argument, NULL, 'a'},
        {"version", required_argument, NULL, 'v'}, {"build", required_argument, NULL, 'b'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};
    struct send_options send = {.server = fetch_server(),
                                .key = getenv("MIRE_KEY"),
                                .at_once = AT_ONCE,
                                .part_bytes = PART_BYTES,
                                .terminal = isatty(STDERR_FILENO)};
    bool all = false;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 's':
            send.server = optarg;
            break;
        case 'k':
            send.key = optarg;
            break;
        case 'j':
            if (atoi(optarg) < 1 || atoi(optarg) > JOBS_MAX)
                return wrong("--jobs is 1 to 16");
            send.at_once = (unsigned)atoi(optarg);
            break;
        case 'a':
            all = true;
            break;
        case 'v':
            send.version = optarg;
            break;
        case 'b':
            send.build = optarg;
            break;
        case 'h':
            fputs(usage, stdout);
            return CLI_DONE;
        default:
            return CLI_USAGE;
        }
    }
    if (optind == argc)
        return wrong("which files? Say a PATH");
    if (!send.key || !*send.key)
        return wrong("which key? Say --key KEY");
    if (send.build && !send.version)
        return wrong("--build goes with --version");
    return upload_all(&send, all, argv + optind);
}

int cli_symbols(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "look"))
        return cli_symbols_look(argc - 2, argv + 2);
    if (argc > 1 && !strcmp(argv[1], "upload")) {
        argv[1] = argv[0]; /* who speaks where getopt does */
        return upload(argc - 1, argv + 1);
    }
    if (argc == 2 && !strcmp(argv[1], "--help")) {
        fputs(usage, stdout);
        return CLI_DONE;
    }
    return wrong("upload, or look?");
}
