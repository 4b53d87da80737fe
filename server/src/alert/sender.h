/*
 * sender.h - the threads of alerts: one judges rules (watch.h), two send what waits in the outbox (rows/outbox.h).
 *
 *     one transaction: claim (row lock) -> send -> mark -> commit
 *
 * A message is marked after the receiver took it, so none is lost: a sender that dies in between, or whose database went
 * away, leaves the message unmarked, and it is sent again. The receiver knows the repetition by the message's id, which is
 * the same in every attempt. Messages of one alert to one channel keep their order. After a failure the wait doubles from
 * a second to an hour; after three days the message is given up, logged, counted and shown.
 */
#ifndef MIRE_ALERT_SENDER_H
#define MIRE_ALERT_SENDER_H

#include "alert/hook.h"

struct log;
struct pg;
struct sender;
struct text;

#define MIRE_SENDER_THREADS 3 /* each takes a connection of the pool */

struct sender_options {
    struct pg *pg;
    const struct log *log;
    struct hook_options hook; /* `stopping` is set by the sender */
    const char *base;         /* address in links */
    int32_t every_s;          /* between two looks at a rule */
};

/* Start the threads. Options are copied, what they point to is borrowed until sender_stop. 0 or a fault. */
int sender_start(struct sender **out, const struct sender_options *options);

/* End them; a message on its way is given up and sent again later. NULL is fine. */
void sender_stop(struct sender *sender);

/* Counters in Prometheus' format. */
void sender_metrics(const struct sender *sender, struct text *out);

/* How long to wait after `tries` failures, seconds; without the part that is left to chance. */
int64_t sender_backoff_s(int tries);

#endif
