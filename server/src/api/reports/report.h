/*
 * report.h - the pieces of one report's answer. Inside api/ only.
 */
#ifndef MIRE_API_REPORTS_REPORT_H
#define MIRE_API_REPORTS_REPORT_H

#include "api/call.h"
#include "model/resolved.h"
#include "rows/reports.h"

/*
 * The report in the path, by id or as latest, first or worst. With unreadable stacks the document is empty except for a
 * fact with the reason. 0, CALL_REPLIED or a fault.
 */
int report_find(struct report_position *position, struct resolved *doc, struct call *call);

/* Its row, its position among the reports of its issue with the ids of its neighbours, category and reason. */
void report_position(struct json_writer *w, const struct report_position *position);

/* The list of facts. */
void report_facts_list(struct json_writer *w, const struct resolved *doc);

/* The explanation of the key: the reasons for the function to blame, and the rules that frames name. */
void report_rules(struct json_writer *w, const struct resolved *doc);

/* A Frame that is in `repeat` samples. */
void report_frame(struct json_writer *w, const char *key, const struct resolved_location *location, uint32_t repeat);

/* A number, or null. */
void report_fact(struct json_writer *w, const char *key, struct fact fact);

/* The event: trigger, state of the app, gate, lock, loads, the watched thread. */
void report_event(struct json_writer *w, const struct resolved *doc);

/* The function to blame, by the server and by the device. */
void report_verdicts(struct json_writer *w, const struct resolved *doc);

/* All other facts of the device, the cost of capturing, and turns by length. */
void report_rest(struct json_writer *w, const struct resolved *doc);

#endif
