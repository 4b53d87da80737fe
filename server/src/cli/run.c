/*
 * run.c - `mire run`: hands over to mire-run, which is small and knows nothing of servers or databases.
 *
 * Looked for beside this binary, in libexec, in the build tree beside ours, then in PATH.
 */
#include "cli/cli.h"
#include "cli/say.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const candidates[] = {"mire-run", "../libexec/mire/mire-run", "../libexec/mire-run",
                                         "../sdk/mire-run"};

int cli_run(int argc, char **argv)
{
    static char name[] = "mire-run";
    char self[PATH_MAX], path[PATH_MAX + 64];

    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);

    (void)argc;
    self[len > 0 ? len : 0] = '\0';
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
