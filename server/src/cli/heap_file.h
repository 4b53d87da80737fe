/*
 * heap_file.h - the memory tables of a run, as they lie on a device's disk, as the report that the device would make of
 * them; but all of it, where the device tells of the largest only. Inside cli/ only.
 */
#ifndef MIRE_CLI_HEAP_FILE_H
#define MIRE_CLI_HEAP_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* What such a report says it was made for. */
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
