/*
 * metrickit_run.h - the installation and the run that a diagnostic of MetricKit is of. Inside decode/ only.
 */
#ifndef MIRE_DECODE_METRICKIT_RUN_H
#define MIRE_DECODE_METRICKIT_RUN_H

#include "decode/build.h"
#include "decode/foreign.h"

struct metrickit_period {
    struct fact begin, end; /* milliseconds since 1970 */
};

struct metrickit_run {
    uint64_t pid, start_ms, seen_ms; /* milliseconds since 1970 */
    const char *verdict;             /* libmire's own; "": the run lasts */
};

/* Tell the report's installation. */
void metrickit_install(struct build *b, const struct json *json);

/* Tell the report's run: its process, and of a report that ended it the time. */
void metrickit_take(struct build *b, const struct metrickit_run *run);

/* The runs of libmire's member that ended in the period. In the arena; NULL: no memory. */
struct metrickit_run *metrickit_runs(size_t *count_out, struct build *b, const struct json *json,
                                     const struct metrickit_period *period);

/* Tell the report's installation, and its run if one alone can be meant; otherwise a note says why not. */
void metrickit_join(struct build *b, const struct json *json, const struct metrickit_period *period);

#define MIRE_METRICKIT_NAME 96

/* The text that the report's id is made of: the installation and the payload. Without libmire's member "": the id is then
 * made of the whole text. */
void metrickit_name(char out[MIRE_METRICKIT_NAME], const struct foreign *foreign, const struct report *report);

#endif
