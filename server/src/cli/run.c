/*
 * run.c - `mire run`: hands over to mire-run, which is small and knows nothing of servers or databases.
 *
 * Looked for beside this binary, in libexec, in the build tree beside ours, then in PATH.
 */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/say.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HELP_MAX 16384

static const char *const candidates[] = {"mire-run", "../libexec/mire/mire-run", "../libexec/mire-run",
                                         "../sdk/mire-run"};

/* The help of mire-run, as it prints it. */
static void describe(char *help, size_t room, const char *self)
{
    char command[2 * PATH_MAX + 64];
    size_t len = 0;

    snprintf(command, sizeof command, "'%s' run --help 2>/dev/null", self);
    FILE *from = strchr(self, '\'') ? NULL : popen(command, "re");
    if (from) {
        len = fread(help, 1, room - 1, from);
        pclose(from);
    }
    help[len] = '\0';
}

int cli_run(int argc, char **argv)
{
    static char name[] = "mire-run", help[HELP_MAX];
    const struct cli_page page = {.usage = help};
    char self[PATH_MAX], path[PATH_MAX + 64];
    int status = CLI_DONE;

    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);

    self[len > 0 ? len : 0] = '\0';
    if (cli_is_describing()) {
        describe(help, sizeof help, self);
        cli_begin(&status, &argc, &argv, NULL, 0, &page);
        return status;
    }
    char *slash = strrchr(self, '/');
    argv[0] = name;
    for (size_t i = 0; slash && i < sizeof candidates / sizeof *candidates; i++) {
        snprintf(path, sizeof path, "%.*s/%s", (int)(slash - self), self, candidates[i]);
        execv(path, argv);
        if (errno != ENOENT && errno != ENOTDIR)
            break;
    }

    if (!slash || errno == ENOENT || errno == ENOTDIR)
        execvp(name, argv);
    say(stderr,
        "mire run: cannot start mire-run: %s.\n"
        "It is installed with the SDK; it should lie beside mire, in ../libexec/mire, or on PATH.\n",
        strerror(errno));
    return CLI_FAILED;
}
