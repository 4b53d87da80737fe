/*
 * heap_file.h - the memory tables of a run, from a device's disk, as a report: the one that the device would make, but
 * complete, while the device reports the largest rows only. Inside cli/ only.
 */
#ifndef MIRE_CLI_HEAP_FILE_H
#define MIRE_CLI_HEAP_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* The trigger of such a report. */
#define HEAP_FILE_TRIGGER "as the run left it"

/* Does a file begin like tables do? */
bool heap_file_is(const char *bytes, size_t len);

/*
 * Make the report.
 *
 *   text_out  JSON, owned by the caller (free)
 *   bytes     aligned to 8; untrusted
 *
 * Returns NULL, or why not (static).
 */
const char *heap_file_report(char **text_out, size_t *len_out, const char *bytes, size_t len);

#endif
