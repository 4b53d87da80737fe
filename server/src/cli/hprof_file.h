/*
 * hprof_file.h - a heap dump of a Java machine or of Android on the command line. Inside cli/ only.
 */
#ifndef MIRE_CLI_HPROF_FILE_H
#define MIRE_CLI_HPROF_FILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Is it a heap dump? The file is looked at, not read: "-" is none, for a dump is read more than once.
 */
bool hprof_file_is(const char *path);

/*
 * Its report.
 *
 *   command  for messages: "mire memory"
 *
 * Returns JSON, owned by the caller (free); NULL after it said why on stderr.
 */
char *hprof_file_report(size_t *len_out, const char *command, const char *path);

#endif
