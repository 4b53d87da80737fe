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

/* Tell the report's installation, and its run if one alone can be meant; otherwise a note says why not. */
void metrickit_join(struct build *b, const struct json *json, const struct metrickit_period *period);

#define MIRE_METRICKIT_NAME 96

/* The text that the report's id is made of: the installation and the payload. Without libmire's member "": the id is then
 * made of the whole text. */
void metrickit_name(char out[MIRE_METRICKIT_NAME], const struct foreign *foreign, const struct report *report);

#endif
