/*
 * outbox.h - channels, and the messages to them: waiting, sent and given up.
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
    const char *kind, *name, *made_by;
    const char *target, *secret; /* sealed, as they are stored (base/vault.h) */
    int64_t made_us;
    int64_t failed_us;     /* when the last message to it was given up; 0: never. Read only, as failed_as */
    const char *failed_as; /* why */
};

/* The channels in use, oldest first. 0 or a fault. */
int rows_channel_list(struct outbox_channel **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app);

/* A channel in use. 0, READ_NONE or a fault. */
int rows_channel_find(struct outbox_channel *out, struct pg_tx *tx, struct arena *arena, int32_t app, int64_t channel);

/* Add a channel; its number is set. 0 or a fault. */
int rows_channel_add(struct outbox_channel *channel, struct pg_tx *tx);

/* Remove a channel, and erase its target and secret; waiting messages to it are given up. 0, READ_NONE or a fault. */
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
    struct outbox_channel to; /* set by rows_message_claim */
    const char *channel_name; /* set by rows_message_list */
};

/* Write a message, in the transaction of the change that it is about. 0 or a fault. */
int rows_message_add(struct pg_tx *tx, const struct outbox_message *message);

/*
 * Lock the message that has been due for longest. The transaction holds the lock, so the message of a sender that dies
 * is free at once. 1: there is one, 0: none is due, below zero a fault.
 */
int rows_message_claim(struct outbox_message *out, struct pg_tx *tx, struct arena *arena, int64_t now_us);

/* Milliseconds until the next message is due, at most `most`. 0 or a fault. */
int rows_message_wait(int64_t *out, struct pg_tx *tx, int64_t now_us, int64_t most);

/* The channel accepted the message. 0 or a fault. */
int rows_message_sent(struct pg_tx *tx, const struct uuid *id, int64_t now_us);

/* An attempt failed; the next one is at due_us, or never if that is 0. 0 or a fault. */
int rows_message_failed(struct pg_tx *tx, const struct uuid *id, int64_t now_us, int64_t due_us, const char *fault);

/* The newest messages of an app. 0 or a fault. */
int rows_message_list(struct outbox_message **out, size_t *count, struct pg_tx *tx, struct arena *arena, int32_t app,
                      int limit);

/* The numbers of waiting and of given-up messages of all apps. 0 or a fault. */
int rows_message_count(int64_t *waiting_out, int64_t *failed_out, struct pg_tx *tx);

#endif
