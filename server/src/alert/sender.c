/* sender.c - see sender.h. */
#include "alert/sender.h"
#include "alert/watch.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/metric.h"
#include "base/scope.h"
#include "base/vault.h"
#include "pg/pg.h"
#include "rows/outbox.h"

#include <curl/curl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#define US          1000000ll
#define POLL_MS     1000 /* between two looks at an outbox in which nothing is due */
#define AWAY_MS     2000 /* the same while the database is away */
#define BACKOFF_MAX 3600
#define GIVE_UP_US  (3 * 86400 * US)
#define ARENA_BYTES (1u << 20)

struct sender {
    struct sender_options options;
    _Atomic bool stopping;
    int stop_fd;
    pthread_t threads[MIRE_SENDER_THREADS];
    int started;
    _Atomic uint64_t sent, failed, given_up;
};

int64_t sender_backoff_s(int tries)
{
    int64_t wait = tries < 12 ? 1ll << (tries < 0 ? 0 : tries) : BACKOFF_MAX;

    return wait < BACKOFF_MAX ? wait : BACKOFF_MAX;
}

/* A fifth is random, so that messages that failed together are not tried together. */
static int64_t due_after(int tries, int64_t wait_s, int64_t now_us)
{
    int64_t wait_us = sender_backoff_s(tries) * US;
    uint32_t chance;

    if (wait_s > BACKOFF_MAX)
        wait_s = BACKOFF_MAX;
    if (wait_us < wait_s * US)
        wait_us = wait_s * US;
    random_fill(&chance, sizeof chance);
    return now_us + wait_us + (int64_t)((double)wait_us / 5 * (chance / 4294967296.0));
}

static int mark(struct sender *sender, struct pg_tx *tx, const struct outbox_message *message,
                const struct hook_outcome *outcome)
{
    const struct log *log = sender->options.log;
    char id[MIRE_UUID_TEXT];
    int64_t now_us = clock_wall_us();
    bool over = outcome->for_good || now_us - message->made_us > GIVE_UP_US;

    if (outcome->taken) {
        atomic_fetch_add(&sender->sent, 1);
        return rows_message_sent(tx, &message->id, now_us);
    }
    uuid_format(id, &message->id);
    atomic_fetch_add(over ? &sender->given_up : &sender->failed, 1);
    log_event(log, over ? MIRE_LOG_ERROR : MIRE_LOG_WARN, over ? "alert.message_lost" : "alert.message_waits",
              LOG_TEXT("message", id), LOG_TEXT("kind", message->to.kind), LOG_NUMBER("channel", message->channel),
              LOG_NUMBER("tries", message->tries + 1), LOG_TEXT("why", outcome->why));
    return rows_message_failed(tx, &message->id, now_us, over ? 0 : due_after(message->tries, outcome->wait_s, now_us),
                               outcome->why);
}

/* Open what is sealed of the message's channel, and send it. */
static void hand_over(struct hook_outcome *out, const struct hook_options *options, struct arena *arena,
                      struct outbox_message *message)
{
    struct outbox_channel *to = &message->to;
    int rc = vault_unseal(&to->target, options->vault, arena, MIRE_VAULT_CHANNEL_TARGET, to->app, to->target);

    if (!rc)
        rc = vault_unseal(&to->secret, options->vault, arena, MIRE_VAULT_CHANNEL_SECRET, to->app, to->secret);
    if (!rc) {
        hook_send(out, options, message, clock_wall_us());
        return;
    }
    *out = (struct hook_outcome){.taken = false};
    snprintf(out->why, sizeof out->why, "%s", vault_why(rc));
}

/* 1: one was sent or failed, 0: none is due, below zero a fault. */
static int send_one(struct sender *sender, struct arena *arena)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    struct outbox_message message;
    struct hook_outcome outcome;
    int rc = pg_begin(&tx, sender->options.pg, MIRE_PG_WRITE);
    int found = rc ? rc : rows_message_claim(&message, tx, arena, clock_wall_us());

    if (found <= 0)
        return found;
    hand_over(&outcome, &sender->options.hook, arena, &message);
    if (!outcome.taken && atomic_load(&sender->stopping))
        return 0;
    rc = mark(sender, tx, &message, &outcome);
    if (!rc)
        rc = pg_commit(&tx);
    return rc ? rc : 1;
}

static void *run(void *context)
{
    struct sender *sender = context;
    struct pollfd stop = {.fd = sender->stop_fd, .events = POLLIN};
    struct arena arena;

    arena_init(&arena, ARENA_BYTES);
    while (!atomic_load(&sender->stopping)) {
        int rc = send_one(sender, &arena);
        arena_reset(&arena);
        if (rc <= 0)
            poll(&stop, 1, rc < 0 ? AWAY_MS : POLL_MS);
    }
    arena_fini(&arena);
    return NULL;
}

/* Judge the rules. A fault is logged where it happens; the next round tries again. */
static void *run_watch(void *context)
{
    struct sender *sender = context;
    struct pollfd stop = {.fd = sender->stop_fd, .events = POLLIN};
    const struct sender_options *o = &sender->options;

    while (!atomic_load(&sender->stopping)) {
        (void)alert_watch(o->pg, o->log, o->base, &o->budget, clock_wall_us(), o->every_s);
        poll(&stop, 1, o->every_s * 1000);
    }
    return NULL;
}

int sender_start(struct sender **out, const struct sender_options *options)
{
    struct sender *sender = calloc(1, sizeof *sender);

    if (!sender)
        return MIRE_FAULT_MEMORY;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    sender->options = *options;
    sender->options.hook.stopping = &sender->stopping;
    sender->stop_fd = eventfd(0, EFD_CLOEXEC);
    while (sender->stop_fd >= 0 && sender->started < MIRE_SENDER_THREADS &&
           !pthread_create(&sender->threads[sender->started], NULL, sender->started ? run : run_watch, sender))
        sender->started++;
    *out = sender;
    if (sender->started == MIRE_SENDER_THREADS)
        return 0;
    sender_stop(sender);
    *out = NULL;
    return MIRE_FAULT_SYSTEM;
}

void sender_stop(struct sender *sender)
{
    if (!sender)
        return;
    atomic_store(&sender->stopping, true);
    if (sender->stop_fd >= 0)
        eventfd_write(sender->stop_fd, 1);
    for (int i = 0; i < sender->started; i++)
        pthread_join(sender->threads[i], NULL);
    close_fd(&sender->stop_fd);
    free(sender);
}

void sender_metrics(const struct sender *sender, struct text *out)
{
    metric_head(out, "mire_alert_messages_total", "counter", "Attempts to send a message about an alert, by outcome.");
    metric_value(out, "mire_alert_messages_total", "outcome=\"sent\"", (double)atomic_load(&sender->sent));
    metric_value(out, "mire_alert_messages_total", "outcome=\"failed\"", (double)atomic_load(&sender->failed));
    metric_value(out, "mire_alert_messages_total", "outcome=\"given_up\"", (double)atomic_load(&sender->given_up));
}
