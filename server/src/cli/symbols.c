/*
 * symbols.c - `mire symbols`: upload finds debug files, asks which the server lacks, and sends those.
 */
#include "cli/cli.h"
#include "cli/symbols_send.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT_ONCE    4
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
    "MIRE_SERVER and MIRE_KEY stand in for the options.\n\n"
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

/* Options before the paths; where the paths begin, or -1. */
static int read_options(struct send_options *out, bool *all, int argc, char **argv)
{
    int at = 2;
    for (; at < argc && argv[at][0] == '-'; at++) {
        if (!strcmp(argv[at], "--all")) {
            *all = true;
            continue;
        }
        if (at + 1 == argc)
            return -1;
        const char *value = argv[at + 1];
        if (!strcmp(argv[at], "--server"))
            out->server = value;
        else if (!strcmp(argv[at], "--key"))
            out->key = value;
        else if (!strcmp(argv[at], "--version"))
            out->version = value;
        else if (!strcmp(argv[at], "--build"))
            out->build = value;
        else if (!strcmp(argv[at], "--jobs") && atoi(value) >= 1 && atoi(value) <= 16)
            out->at_once = (unsigned)atoi(value);
        else
            return -1;
        at++;
    }
    return at < argc && (out->version || !out->build) ? at : -1;
}

int cli_symbols(int argc, char **argv)
{
    struct send_options options = {.server = getenv("MIRE_SERVER"),
                                   .key = getenv("MIRE_KEY"),
                                   .at_once = AT_ONCE,
                                   .part_bytes = PART_BYTES,
                                   .terminal = isatty(STDERR_FILENO)};
    bool all = false;
    if (argc > 1 && !strcmp(argv[1], "look"))
        return cli_symbols_look(argc - 2, argv + 2);
    if (argc == 2 && !strcmp(argv[1], "--help")) {
        fputs(usage, stdout);
        return CLI_DONE;
    }
    int at = argc > 2 && !strcmp(argv[1], "upload") ? read_options(&options, &all, argc, argv) : -1;
    if (at < 0 || !options.server || !options.key) {
        fputs(usage, stderr);
        return CLI_USAGE;
    }
    return upload_all(&options, all, argv + at);
}
