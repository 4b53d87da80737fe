/*
 * write.h - a report in memory -> a document of Mire's own format (schema/wire/report.schema.json).
 *
 * Reading the document back (decode_report) gives an equal report: so a report of a foreign format is stored, sent and
 * derived again like one of Mire's own.
 */
#ifndef MIRE_DECODE_WRITE_H
#define MIRE_DECODE_WRITE_H

#include "model/report.h"

#include <stddef.h>

/*
 * Write a report. A session record is written with the ends of runs and its length only.
 *
 *   text_out  JSON, owned by caller (free)
 *
 * Returns 0, or -1 out of memory.
 */
int report_write(char **text_out, size_t *len_out, const struct report *report);

/* The same, compressed by zstd. */
int report_pack(unsigned char **bytes_out, size_t *len_out, const struct report *report);

#endif
