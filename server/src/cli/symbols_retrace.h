/*
 * symbols_retrace.h - `mire symbols look` of a mapping of Java names. Inside cli/ only.
 */
#ifndef MIRE_CLI_SYMBOLS_RETRACE_H
#define MIRE_CLI_SYMBOLS_RETRACE_H

#include <stdbool.h>

/* Is the file such a mapping? */
bool symbols_is_mapping(const char *path);

/* Print `count` frames, or standard input, with the names of the source. Returns an exit status. */
int symbols_retrace(const char *path, char *const *frames, int count);

#endif
