/*
 * report.h - the pieces of one report's answer. Inside api/ only.
 */
#ifndef MIRE_API_REPORTS_REPORT_H
#define MIRE_API_REPORTS_REPORT_H

#include "api/call.h"
#include "model/resolved.h"
#include "rows/reports.h"

/*
 * The report that the path names, by id or as latest, first or worst. If its stacks cannot be read the document is
 * empty but for a fact that says so. 0, CALL_REPLIED or a fault.
 */
int report_find(struct report_position *position, struct resolved *doc, struct call *call);

/* Its row, its position among the reports of its issue with the ids beside it, category and reason. */
void report_position(struct json_writer *w, const struct report_position *position);

/* The list of facts. */
void report_facts_list(struct json_writer *w, const struct resolved *doc);

/* Why this key: how it came to who is to blame, and the rules that frames name. */
void report_rules(struct json_writer *w, const struct resolved *doc);

/* A Frame that stands in `repeat` samples. */
void report_frame(struct json_writer *w, const char *key, const struct resolved_location *location, uint32_t repeat);

/* A number, or null. */
void report_fact(struct json_writer *w, const char *key, struct fact fact);

/* What happened: trigger, where the app was, how it was learnt, the lock waited for, loads, the watched thread. */
void report_event(struct json_writer *w, const struct resolved *doc);

/* Who is to blame, as the server and as the device see it. */
void report_verdicts(struct json_writer *w, const struct resolved *doc);

/* Everything else the device told, what capturing cost, and turns by length. */
void report_rest(struct json_writer *w, const struct resolved *doc);

#endif
