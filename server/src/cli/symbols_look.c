/*
 * symbols_look.c - `mire symbols look`: the names for addresses of a file on this machine, as the server finds them.
 */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/say.h"
#include "cli/symbols_maps.h"
#include "cli/symbols_pick.h"
#include "cli/symbols_retrace.h"

#include "symbolizer/symbolizer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_ROOM 8192
#define LINE_ROOM 64

static void print_place(const struct symbol_frame *frame)
{
    if (frame->file)
        say(stdout, "%s:%" PRIu32 "\n", frame->file, frame->line);
    else
        puts("??:0");
}

static void look_in(const struct module *module, uint64_t address, bool mangled)
{
    struct symbol_frame frames[MIRE_SYMBOL_CHAIN_MAX];
    char name[NAME_ROOM];

    size_t count = module_lookup(frames, module, address);
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

struct slices {
    struct module *modules[MIRE_PICK_MAX]; /* one for each slice */
    const char *archs[MIRE_PICK_MAX];      /* printed above the slice's answers; NULL: nothing is */
    size_t count;
    bool mangled;
};

static void look(const struct slices *asked, const char *text)
{
    for (size_t i = 0; i < asked->count; i++) {
        if (asked->archs[i])
            say(stdout, "%s:\n", asked->archs[i]);
        look_in(asked->modules[i], strtoull(text, NULL, 16), asked->mangled);
    }
}

static void open_with_map(struct module **out, char *why, const char *path, const uint8_t *id, size_t id_len,
                          const char *dir)
{
    char joined[32];
    int fd = symbols_maps_beside(path, id, id_len);
    snprintf(joined, sizeof joined, "/proc/self/fd/%d", fd);
    (void)module_open(out, why, fd < 0 ? path : joined, id, id_len, &dir, 1);
    if (fd >= 0)
        close(fd);
}

/* Convert the slice; NULL: it cannot be converted; the error is printed. */
static struct module *open_slice(const char *who, const struct pick *pick, const struct pick_slice *slice,
                                 const char *dir)
{
    char why[MIRE_SYMBOL_WHY];
    struct module *module = NULL;
    bool one = pick->count < 2;

    if (!one && !slice->id_len && slice != pick->slices)
        snprintf(why, sizeof why, "has a slice for %s without a UUID; cut it out (lipo -thin)", slice->arch);
    else
        open_with_map(&module, why, pick->path, slice->id, one ? 0 : slice->id_len, dir);
    if (why[0])
        say(stderr, "%s: %s %s\n", who, pick->path, why);
    return module;
}

/* Open the slices of an architecture, all of them, or the first one. False: one cannot be opened, or there is none. */
static bool open_slices(struct slices *asked, const char *who, const char *path, const char *arch, const char *dir)
{
    struct pick pick;
    char list[MIRE_PICK_MAX * MIRE_OBJECT_ARCH];
    bool all = arch && !strcmp(arch, "all");

    symbols_pick(&pick, path);
    symbols_pick_list(list, sizeof list, &pick);
    pick.count += !pick.count; /* unreadable; module_open prints the error */
    if (!arch && pick.count > 1)
        say(stderr, "%s: %s has slices for %s; the answers are of %s. Say --arch for another, --arch all for each\n",
            who, pick.path, list, pick.slices[0].arch);
    for (size_t i = 0; i < pick.count; i++) {
        const struct pick_slice *slice = &pick.slices[i];
        if (arch && !all && !symbols_pick_is(slice, arch))
            continue;
        if (!arch && i)
            break;
        asked->archs[asked->count] = all ? slice->arch : NULL;
        asked->modules[asked->count] = open_slice(who, &pick, slice, dir);
        if (!asked->modules[asked->count])
            return false;
        asked->count++;
    }

    if (!asked->count)
        say(stderr, "%s: %s has no slice for %s, but for %s\n", who, pick.path, arch, list[0] ? list : "none");
    return asked->count != 0;
}

int cli_symbols_look(int argc, char **argv)
{
    static const struct cli_page page = {
        .synopsis = "[OPTION]... FILE [ADDRESS]...\nMAPPING [FRAME]...",
        .about = "The names at each ADDRESS (hexadecimal, as in the file's program headers) of an ELF, Mach-O or "
                 "Breakpad FILE: functions inlined there first, the function itself last, each with its place below "
                 "it. Without an ADDRESS they are read from standard input, one a line. Unknown names are ??. FILE.dwp "
                 "and .dwo files beside FILE are used. FILE may be a dSYM bundle; a BCSymbolMap of its archive "
                 "(.xcarchive) gives hidden names back.\n\nMAPPING is one of ProGuard or R8, or Matrix's methodmap: "
                 "each FRAME of Java, a.b.c(SourceFile:12), or of a whole stack trace on standard input, with the "
                 "names of the source; of a methodmap, each number of a method."};
    char line[LINE_ROOM];
    struct slices asked = {0};
    const char *dir = "/usr/lib/debug", *arch = NULL;
    const struct cli_option options[] = {
        {"mangled", .help = "names as they are in the file", .flag = &asked.mangled},
        {"arch", "ARCH",
         "the slice of a universal FILE for an architecture (x86_64, arm64e, armv7s, ...), or all of them; the first "
         "unless given",
         "all x86_64 arm64 arm64e armv7s", .text = &arch},
        {"dir", "DIR",
         "holds .build-id/xx/yyyy.debug, for a file that FILE's DWARF refers to (dwz); /usr/lib/debug unless given",
         "DIR", .text = &dir},
    };
    int status;

    if (!cli_begin(&status, &argc, &argv, options, CLI_COUNT(options), &page))
        return status;
    if (argc == 1)
        return cli_wrong(argv[0], "which file? Say FILE");
    const char *path = argv[1];
    if (symbols_is_mapping(path))
        return symbols_retrace(path, argv + 2, argc - 2);
    bool good = open_slices(&asked, argv[0], path, arch, dir);
    for (int i = 2; good && i < argc; i++)
        look(&asked, argv[i]);
    while (good && argc == 2 && fgets(line, sizeof line, stdin))
        look(&asked, line);
    for (size_t i = 0; i < asked.count; i++)
        module_close(asked.modules[i]);
    return good ? CLI_DONE : CLI_FAILED;
}
