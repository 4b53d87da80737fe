/*
 * watch.h - judges the rules of all apps, once a minute each, and writes messages into the outbox.
 *
 *     per rule, one transaction: lock the rule -> values (points.h) -> alerts move on (model/alert.h) -> messages -> commit
 *
 * An alert and its messages change in one transaction, so none is sent twice and none is forgotten. Among several
 * servers, one at a time judges a rule. Values are by the time of the events, and days with too few arrivals yet
 * wait (model/completeness.h).
 */
#ifndef MIRE_ALERT_WATCH_H
#define MIRE_ALERT_WATCH_H

#include <stdint.h>

struct alert_budget;
struct alert_row;
struct arena;
struct log;
struct outbox_channel;
struct pg;
struct pg_tx;

/*
 * Judge all rules that were not looked at for every_s seconds. `base` is the address in links, `budget` the budget of
 * apps that set none (points.h). 0 or a fault. Thread: one at a time in a process.
 */
int alert_watch(struct pg *pg, const struct log *log, const char *base, const struct alert_budget *budget,
                int64_t now_us, int32_t every_s);

/* Write a test message to a channel. 0 or a fault. */
int alert_send_test(struct pg_tx *tx, struct arena *arena, const struct outbox_channel *channel, const char *slug,
                    const char *base, int64_t now_us);

#endif
