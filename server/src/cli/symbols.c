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
    static const struct cli_page page = {
        .synopsis = "[OPTION]... PATH...",
        .about = "Find every debug file at or below a PATH, those in archives among them, ask the server which are "
                 "missing, and send only those. One line per file has its outcome. Archives are zip (.ipa, .apk, .aab, "
                 ".jar), tar and .deb, plain or by gzip, xz, zstd or bzip2, and archives in them.\n\nThe status is 0 "
                 "if all is there, each file that a PATH names among it, and nothing of it is damaged. An upload that "
                 "was interrupted continues where it stopped, in the next run too."};
    struct send_options send = {.server = fetch_server(),
                                .key = getenv("MIRE_KEY"),
                                .at_once = AT_ONCE,
                                .part_bytes = PART_BYTES,
                                .terminal = isatty(STDERR_FILENO)};
    bool all = false;
    const struct cli_option options[] = {
        {"jobs", "N", "files at a time, 1 to 16 (4)", .take = take_jobs, .context = &send},
        {"all", .help = "send all, also those that the server has", .flag = &all},
        {"version", "V",
         "the mapping of R8 or ProGuard, or the methodmap, below PATH is that of this version of the key's app; "
         "reports that do not name theirs find it so. That of an .aab or .apk is read from its manifest",
         .text = &send.version},
        {"build", "B", "and of this build", .text = &send.build},
        CLI_SERVER(send.server),
        CLI_KEY(send.key, "key of scope symbols"),
    };
    int status;

    if (!cli_begin(&status, &argc, &argv, options, CLI_COUNT(options), &page))
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
} verbs[] = {{{"upload", "[PATH]...", "send the debug files that the server is missing"}, upload},
             {{"look", "[FILE]...", "look up names in a debug file on this machine"}, cli_symbols_look}};

int cli_symbols(int argc, char **argv)
{
    static const struct cli_page page = {CLI_VERBS(verbs), .about = "Each of the two has its own --help."};
    int status = CLI_DONE;
    if (argc < 3 && (argc == 1 || !strcmp(argv[1], "--help")) && !cli_begin(&status, &argc, &argv, NULL, 0, &page))
        return status;
    int v = cli_pick_verb(argc, argv, &page);
    if (v < 0)
        return CLI_USAGE;
    char command[32]; /* who speaks */
    snprintf(command, sizeof command, "%s %s", argv[0], argv[1]);
    argv[1] = command;
    return verbs[v].run(argc - 1, argv + 1);
}
