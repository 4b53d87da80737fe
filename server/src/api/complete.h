/*
 * complete.h - how much of the recent days in an answer has usually arrived by now.
 */
#ifndef MIRE_API_COMPLETE_H
#define MIRE_API_COMPLETE_H

struct call;

/*
 * Add "completeness" to an answer: the days of the view of which a part has usually not arrived by now, oldest first,
 * with the share that has. `kind` is "event" or "session". 0 or a fault.
 */
int put_completeness(struct call *call, const char *kind);

#endif
