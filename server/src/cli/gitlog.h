/* gitlog.h - reads the output of `git log --name-only`. Inside cli/ only. */
#ifndef MIRE_CLI_GITLOG_H
#define MIRE_CLI_GITLOG_H

#include "base/text.h"

#include <stdbool.h>
#include <stdio.h>

struct gitlog_counts {
    size_t commits, files;
    size_t more; /* commits beyond the first `most`, which are left out */
};

/*
 * Append the commits of a log as a JSON array, as openapi.yaml has them: newest first. Understands --name-only and
 * --name-status, git's default date and those of --date=iso and --date=iso-strict, and quoted paths.
 *
 *   most  commits, and 1,000 files each, are appended
 *
 * NULL, or the reason why it is no such log; static.
 */
const char *gitlog_read(struct text *out, struct gitlog_counts *counts, FILE *log, size_t most);

#endif
