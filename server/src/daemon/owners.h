/*
 * owners.h - assigns new issues to their owners, by the rules of apps (model/owners.h).
 */
#ifndef MIRE_DAEMON_OWNERS_H
#define MIRE_DAEMON_OWNERS_H

struct log;
struct pg;

/*
 * Look once at every issue of an app with rules, and again when the app's rules or the names change. An open issue that is
 * nobody's is assigned to the first owner that is an account with a role in the app. The activity and the audit log have it, and
 * it is undone like an assignment by a person. 0 or a fault, which is logged. Thread: upkeep's.
 */
int owners_step(struct pg *pg, const struct log *log);

#endif
