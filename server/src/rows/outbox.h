/*
 * outbox.h - channels, and the messages that wait to be sent to them or were.
 */
#ifndef MIRE_ROWS_OUTBOX_H
#define MIRE_ROWS_OUTBOX_H

#include "base/arena.h"
#include "base/id.h"
#include "pg/pg.h"

#define MIRE_ALERT_CHANNELS_OF_APP_MAX 100

struct outbox_channel {
    int64_t channel;
    int32_t app;
    const char *kind, *name, *target, *secret, *made_by;
    int64_t made_us;
    int64_t failed_us;     /* when a message to it was given up last; 0: never. Read only, as the next one */
    const char *failed_as; /* why */
};

/* Those in use, oldest first. 0 or a fault. */
int rows_channel_list(struct outbox_channel **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app);

/* One in use. 0, READ_NONE or a fault. */
int rows_channel_find(struct outbox_channel *out, struct pg_tx *tx, struct arena *arena, int32_t app, int64_t channel);

/* Add; its number is set. 0 or a fault. */
int rows_channel_add(struct outbox_channel *channel, struct pg_tx *tx);

/* Send nothing more to it; what waits is given up. 0, READ_NONE or a fault. */
int rows_channel_remove(struct pg_tx *tx, int32_t app, int64_t channel);

struct outbox_message {
    struct uuid id;
    int32_t app;
    int64_t alert; /* 0: a test */
    int64_t channel;
    const char *occasion, *title, *body;
    int64_t made_us, due_us, sent_us, failed_us;
    int32_t tries;
    const char *fault;
    struct outbox_channel to; /* of a claimed one */
    const char *channel_name; /* of a listed one */
};

/* Write a message, in the transaction of what it tells. 0 or a fault. */
int rows_message_add(struct pg_tx *tx, const struct outbox_message *message);

/*
 * Lock the message that is due for longest. The lock is the transaction's, so a sender that dies leaves the message to the
 * next one at once. 1: there is one, 0: none is due, below zero a fault.
 */
int rows_message_claim(struct outbox_message *out, struct pg_tx *tx, struct arena *arena, int64_t now_us);

/* Milliseconds until the next one is due, at most `most`. 0 or a fault. */
int rows_message_wait(int64_t *out, struct pg_tx *tx, int64_t now_us, int64_t most);

/* It was taken. 0 or a fault. */
int rows_message_sent(struct pg_tx *tx, const struct uuid *id, int64_t now_us);

/* The attempt failed: again at due_us, or, where that is 0, never. 0 or a fault. */
int rows_message_failed(struct pg_tx *tx, const struct uuid *id, int64_t now_us, int64_t due_us, const char *fault);

/* The newest of an app. 0 or a fault. */
int rows_message_list(struct outbox_message **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app,
                      int limit);

/* Waiting and given-up messages of all apps. 0 or a fault. */
int rows_message_count(int64_t *waiting_out, int64_t *failed_out, struct pg_tx *tx);

#endif
