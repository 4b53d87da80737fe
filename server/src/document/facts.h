/*
 * facts.h - the facts of a report that reports, documents and the API all have, a table each: name, type and bounds are
 * here and nowhere else. decode/ reads by these tables, document/ writes and reads, api/ writes.
 */
#ifndef MIRE_DOCUMENT_FACTS_H
#define MIRE_DOCUMENT_FACTS_H

#include "json/bind.h"

extern const struct bind_table facts_lock;       /* struct report_lock */
extern const struct bind_table facts_cpu;        /* struct report_cpu */
extern const struct bind_table facts_disk;       /* struct report_disk */
extern const struct bind_table facts_frames;     /* struct report_frames */
extern const struct bind_table facts_suppressed; /* struct report_suppressed */
extern const struct bind_table facts_watched;    /* struct report_watched */
extern const struct bind_table facts_cost;       /* struct report_cost */
extern const struct bind_table facts_memory;     /* struct memory: the numbers of the process */

/* Read the object at `at` by a table. */
enum bind_outcome facts_read(struct bind *bind, void *out, uint32_t at, const struct bind_table *table);

#endif
