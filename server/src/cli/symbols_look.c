/*
 * symbols_look.c - `mire symbols look`: what lies at addresses of a file at hand, as the server would say.
 */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/say.h"
#include "cli/symbols_retrace.h"

#include "symbols/symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_ROOM 8192
#define LINE_ROOM 64

static const char usage[] =
    "Usage: mire symbols look [--mangled] [--dir DIR] FILE [ADDRESS]...\n"
    "       mire symbols look MAPPING [FRAME]...\n\n"
    "What lies at each ADDRESS (hexadecimal, as in the file's program headers) of an ELF, Mach-O or Breakpad FILE:\n"
    "functions inlined there first, the function itself last, each with its place below it. Without an ADDRESS they\n"
    "are read from standard input, one a line. What is not known is ??. DIR holds .build-id/xx/yyyy.debug, for a file\n"
    "that FILE's DWARF refers to (dwz); /usr/lib/debug unless given. FILE.dwp and .dwo files beside FILE are used.\n\n"
    "MAPPING is one of ProGuard or R8, or Matrix's methodmap: each FRAME of Java, a.b.c(SourceFile:12), or of a whole\n"
    "stack trace on standard input, with the names of the source; of a methodmap, each number of a method.\n";

static void print_place(const struct symbol_frame *frame)
{
    if (frame->file)
        say(stdout, "%s:%" PRIu32 "\n", frame->file, frame->line);
    else
        puts("??:0");
}

static void look(const struct module *module, const char *text, bool mangled)
{
    struct symbol_frame frames[MIRE_SYMBOL_CHAIN_MAX];
    char name[NAME_ROOM];
    size_t count = module_lookup(frames, module, strtoull(text, NULL, 16));
    if (!count)
        puts("??\n??:0");
    for (size_t i = 0; i < count; i++) {
        const char *shown = frames[i].function ? frames[i].function : "??";
        if (!mangled && frames[i].function && symbol_demangle(name, sizeof name, shown))
            shown = name;
        say(stdout, "%s\n", shown);
        print_place(&frames[i]);
    }
    putchar('\n');
}

int cli_symbols_look(int argc, char **argv)
{
    char why[MIRE_SYMBOL_WHY];
    char line[LINE_ROOM];
    struct module *module;
    const char *dir = "/usr/lib/debug";
    bool mangled = false;
    const struct cli_option options[] = {{"mangled", .flag = &mangled}, {"dir", .text = &dir}};
    int status;
    if (!cli_take_options(&status, &argc, &argv, options, CLI_COUNT(options), usage))
        return status;
    if (argc == 1)
        return cli_wrong(argv[0], "which file? Say FILE");
    const char *path = argv[1];
    if (symbols_is_mapping(path))
        return symbols_retrace(path, argv + 2, argc - 2);
    if (!module_open(&module, why, path, &dir, 1)) {
        say(stderr, "%s: %s %s\n", argv[0], path, why);
        return CLI_FAILED;
    }
    if (why[0])
        say(stderr, "%s: %s %s\n", argv[0], path, why);
    for (int i = 2; i < argc; i++)
        look(module, argv[i], mangled);
    while (argc == 2 && fgets(line, sizeof line, stdin))
        look(module, line, mangled);
    module_close(module);
    return CLI_DONE;
}
