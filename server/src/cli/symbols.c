/*
 * symbols.c - `mire symbols`: upload finds debug files, asks the server for the missing ones, and sends these.
 */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/fetch.h"
#include "cli/say.h"
#include "cli/symbols_send.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT_ONCE    4
#define JOBS_MAX   16
#define PART_BYTES (8u << 20)

static const char usage[] =
    "Usage: mire symbols upload [--server URL] [--key KEY] [--jobs N] [--all] [--version V [--build B]] PATH...\n\n"
    "Find every debug file at or below a PATH, those in archives among them, ask the server which are missing, and "
    "send\n"
    "only those, N at a time (4). --all: send all. One line a file tells what came of it. Archives are zip (.ipa, "
    ".apk,\n"
    ".aab, .jar), tar and .deb, plain or by gzip, xz, zstd or bzip2, and archives in them.\n"
    "The status is 0 if all is there, each file that a PATH names among it, and nothing of it is damaged.\n"
    "An upload that was interrupted is gone on with where it stopped, by the next run too.\n"
    "--version: the mapping of R8 or ProGuard, or the methodmap, below PATH is that of this version (and build) of "
    "the\n"
    "key's app; reports that do not name theirs find it so. That of an .aab or .apk is read from its manifest.\n"
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
        say(stderr, "mire symbols: --version is of one mapping of Java names; %zu are there\n", mappings);
        rc = -1;
    }
    if (!rc && !found.count)
        say(stderr, "mire symbols: no file with a build id and symbols there\n");
    if (!rc && !all)
        rc = symbols_ask_missing(&found, options);
    for (size_t i = 0; i < found.count; i++)
        found.files[i].missing |=
            all || (symbols_is_java(&found.files[i]) && (options->version || found.files[i].version.version[0]));
    if (!rc && found.count) {
        symbols_send_files(&result, &found, options);
        say(stdout, "%zu stored, %zu there already, %zu failed; %.1f MB sent\n", result.stored, result.known,
            result.failed, (double)result.bytes / 1e6);
        if (result.damaged)
            say(stderr, "mire symbols: %zu damaged: what can be read is used; send whole ones in their place\n",
                result.damaged);
    }
    bool good = !rc && found.count && !found.missed && !result.failed && !result.damaged;
    symbols_found_free(&found);
    return good ? CLI_DONE : CLI_FAILED;
}

static const char *take_jobs(void *context, char *value)
{
    struct send_options *send = context;
    int jobs = atoi(value);
    if (jobs < 1 || jobs > JOBS_MAX)
        return "--jobs is 1 to 16";
    send->at_once = (unsigned)jobs;
    return NULL;
}

static int upload(int argc, char **argv)
{
    struct send_options send = {.server = fetch_server(),
                                .key = getenv("MIRE_KEY"),
                                .at_once = AT_ONCE,
                                .part_bytes = PART_BYTES,
                                .terminal = isatty(STDERR_FILENO)};
    bool all = false;
    const struct cli_option options[] = {{"server", .text = &send.server},
                                         {"key", .text = &send.key},
                                         {"jobs", .take = take_jobs, .context = &send},
                                         {"all", .flag = &all},
                                         {"version", .text = &send.version},
                                         {"build", .text = &send.build}};
    int status;

    if (!cli_take_options(&status, &argc, &argv, options, CLI_COUNT(options), usage))
        return status;
    if (argc == 1)
        return cli_wrong(argv[0], "which files? Say a PATH");
    if (!send.key || !*send.key)
        return cli_wrong(argv[0], "which key? Say --key KEY");
    if (send.build && !send.version)
        return cli_wrong(argv[0], "--build goes with --version");
    return upload_all(&send, all, argv + 1);
}

static const struct {
    struct cli_verb verb;
    int (*run)(int argc, char **argv);
} verbs[] = {{{"upload", "[PATH]..."}, upload}, {{"look", "[FILE]..."}, cli_symbols_look}};

int cli_symbols(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--help")) {
        fputs(usage, stdout);
        return CLI_DONE;
    }
    int v = cli_pick_verb(argc, argv, &verbs->verb, sizeof *verbs, CLI_COUNT(verbs));
    if (v < 0)
        return CLI_USAGE;
    char command[32]; /* who speaks */
    snprintf(command, sizeof command, "%s %s", argv[0], argv[1]);
    argv[1] = command;
    return verbs[v].run(argc - 1, argv + 1);
}
