/*
 * complete.h - the completeness of the recent days in an answer.
 */
#ifndef MIRE_API_COMPLETE_H
#define MIRE_API_COMPLETE_H

struct call;

/*
 * Add "completeness" to an answer: the days of the view that are usually incomplete by now, oldest first,
 * with the share that has usually arrived. `kind` is "event" or "session". 0 or a fault.
 */
int put_completeness(struct call *call, const char *kind);

#endif
