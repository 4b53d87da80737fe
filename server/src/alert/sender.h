/*
 * sender.h - the threads of alerts: one judges rules (watch.h), two send the messages of the outbox (rows/outbox.h).
 *
 *     one transaction: claim (row lock) -> send -> mark -> commit
 *
 * A message is marked after the receiver accepted it, so none is lost. If the sender dies in between, or its database
 * goes away, the message stays unmarked and is sent again. The receiver knows the repetition by the message's id,
 * which is the same in every attempt. Messages of one alert to one channel keep their order. After a failure the wait
 * doubles from a second to an hour; after three days the message is given up, logged, counted and shown.
 */
#ifndef MIRE_ALERT_SENDER_H
#define MIRE_ALERT_SENDER_H

#include "alert/hook.h"
#include "alert/points.h"

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
    struct alert_budget budget;
    int32_t every_s; /* between two looks at a rule */
};

/* Start the threads. Options are copied; the objects they point to are borrowed until sender_stop. 0 or a fault. */
int sender_start(struct sender **out, const struct sender_options *options);

/* End the threads. A message that is being sent is given up and sent again after the next start. NULL is allowed. */
void sender_stop(struct sender *sender);

/* Counters in Prometheus' format. */
void sender_metrics(const struct sender *sender, struct text *out);

/* Seconds to wait after `tries` failures, without the random part. */
int64_t sender_backoff_s(int tries);

#endif
