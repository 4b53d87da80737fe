/* worker.c - see worker.h. */
#include "ticket/worker.h"
#include "ticket/tracker.h"

#include "alert/sender.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/scope.h"
#include "base/text.h"
#include "base/vault.h"
#include "rows/ticket.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#define US          1000000ll
#define POLL_MS     1000 /* between two looks at tickets of which none is due */
#define AWAY_MS     2000 /* the same while the database is away */
#define LEASE_S     60   /* of an attempt: LOOK_S, an exchange, and ten seconds to spare */
#define LOOK_S      30
#define PAGES_MAX   50
#define INDEX_S     30 /* Jira finds a label so late */
#define GIVE_UP_US  (3 * 86400 * US)
#define ARENA_BYTES (64u << 20)

struct ticket_worker {
    struct ticket_options options;
    _Atomic bool stopping;
    int stop_fd;
    pthread_t thread;
};

struct attempt {
    struct ticket_worker *worker;
    struct arena *arena;
    struct ticket_row ticket;
    struct tracker_row tracker;
    int64_t wait_s;
    uint64_t begun_ns;
    bool is_unsure; /* it may have been made */
    char why[MIRE_HOOK_WHY];
};

/* Room for the answer of a tracker in the log and on the page: its words, without controls. */
static void take_answer(struct attempt *attempt, const struct exchange_answer *answer)
{
    const char *bytes = answer->body.bytes ? answer->body.bytes : "";
    size_t len = text_cut(bytes, answer->body.len, 150);

    if (*answer->why)
        text_format(attempt->why, sizeof attempt->why, "%s", answer->why);
    else
        snprintf(attempt->why, sizeof attempt->why, "answered %ld %.*s", answer->status, (int)len,
                 text_is_valid(bytes, len) ? bytes : "");
    for (char *c = attempt->why; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    attempt->wait_s = answer->wait_s;
}

typedef int (*reader)(struct ticket_row *, struct arena *, const struct tracker_row *, const struct text *);

/* Ask, and read an answer with 2xx by `read`. Its result, or TRACKER_UNREADABLE with the reason in attempt->why. */
static int ask(struct attempt *attempt, const struct tracker_request *request, reader read)
{
    struct exchange_answer answer;
    struct exchange_ask asked = request->ask;

    asked.headers = request->headers;
    exchange(&answer, &attempt->worker->options.hook, &asked);
    attempt->is_unsure = answer.may_be_taken && (answer.status < 400 || answer.status >= 500);
    int rc = answer.status / 100 == 2 && !answer.is_cut
                 ? read(&attempt->ticket, attempt->arena, &attempt->tracker, &answer.body)
                 : TRACKER_UNREADABLE;
    if (rc == TRACKER_UNREADABLE)
        take_answer(attempt, &answer);
    text_fini(&answer.body);
    return rc;
}

static bool has_time(const struct attempt *attempt)
{
    return clock_mono_ns() - attempt->begun_ns < LOOK_S * 1000000000ull;
}

/* Is it there from an earlier attempt? An enum tracker_answer but MORE, or a fault. */
static int look(struct attempt *attempt)
{
    struct tracker_request request;
    int rc = TRACKER_MORE;

    for (int page = 1; rc == TRACKER_MORE && page <= PAGES_MAX && has_time(attempt); page++) {
        rc = tracker_look(&request, attempt->arena, &attempt->tracker, &attempt->ticket, page);
        if (!rc)
            rc = ask(attempt, &request, tracker_seen);
    }
    if (rc == TRACKER_MORE)
        snprintf(attempt->why, sizeof attempt->why, "the tracker has too many tickets to look through");
    return rc == TRACKER_MORE ? TRACKER_UNREADABLE : rc;
}

/* Open the token of the tracker. 0, TRACKER_UNREADABLE (see attempt->why) or a fault. */
static int open_token(struct attempt *attempt)
{
    struct tracker_row *tracker = &attempt->tracker;
    int rc = vault_unseal(&tracker->token, attempt->worker->options.hook.vault, attempt->arena,
                          MIRE_VAULT_TRACKER_TOKEN, attempt->ticket.app, tracker->token);

    if (rc > 0)
        snprintf(attempt->why, sizeof attempt->why, "%s", vault_why(rc));
    return rc > 0 ? TRACKER_UNREADABLE : rc;
}

/* Make it, or find it made. THERE, UNREADABLE (see attempt->why) or a fault. */
static int make(struct attempt *attempt)
{
    struct tracker_request request;
    int rc = open_token(attempt);

    if (rc)
        return rc;
    rc = attempt->ticket.tries > 1 ? look(attempt) : TRACKER_NOT_THERE;
    if (rc == TRACKER_NOT_THERE && !has_time(attempt)) {
        snprintf(attempt->why, sizeof attempt->why, "the tracker is slow");
        rc = TRACKER_UNREADABLE;
    }
    if (rc != TRACKER_NOT_THERE)
        return rc;
    rc = tracker_make(&request, attempt->arena, &attempt->tracker, &attempt->ticket);
    return rc ? rc : ask(attempt, &request, tracker_made);
}

static int64_t wait_of(const struct attempt *attempt, bool *over_out)
{
    int64_t wait_s = sender_backoff_s(attempt->ticket.tries - 1);

    *over_out = clock_wall_us() - attempt->ticket.made_us > GIVE_UP_US;
    if (wait_s < attempt->wait_s)
        wait_s = attempt->wait_s < 3600 ? attempt->wait_s : 3600;
    if (attempt->is_unsure && !strcmp(attempt->tracker.kind, "jira") && wait_s < INDEX_S)
        wait_s = INDEX_S;
    return *over_out ? 0 : wait_s;
}

static int mark(struct attempt *attempt, struct pg_tx *tx, bool is_made)
{
    const struct log *log = attempt->worker->options.log;
    struct ticket_row *ticket = &attempt->ticket;
    char id[MIRE_UUID_TEXT];
    bool over;

    if (is_made)
        return rows_ticket_made(tx, ticket);
    int64_t wait_s = wait_of(attempt, &over);
    uuid_format(id, &ticket->id);
    log_event(log, over ? MIRE_LOG_ERROR : MIRE_LOG_WARN, over ? "ticket.lost" : "ticket.waits", LOG_TEXT("ticket", id),
              LOG_TEXT("kind", ticket->kind), LOG_NUMBER("tries", ticket->tries), LOG_TEXT("why", attempt->why));
    ticket->fault = attempt->why;
    return rows_ticket_failed(tx, ticket, wait_s);
}

/* Begin an attempt. 1, 0: nothing is due, below zero a fault. */
static int begin(struct attempt *attempt, struct pg *pg)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    int rc = pg_begin(&tx, pg, MIRE_PG_WRITE);
    int found = rc ? rc : rows_ticket_begin(&attempt->ticket, &attempt->tracker, tx, attempt->arena, LEASE_S);

    if (found < 0)
        return found;
    rc = pg_commit(&tx);
    return rc ? rc : found;
}

/* 1: an attempt ended, 0: none is due, below zero a fault. */
static int step(struct ticket_worker *worker, struct arena *arena)
{
    MIRE_SCOPED(pg_end) struct pg_tx *tx = NULL;
    struct attempt attempt = {.worker = worker, .arena = arena, .begun_ns = clock_mono_ns()};
    int found = begin(&attempt, worker->options.pg);

    if (found <= 0)
        return found;
    int rc = make(&attempt);
    if (rc < 0)
        return rc;
    bool is_made = rc == TRACKER_THERE;
    rc = pg_begin(&tx, worker->options.pg, MIRE_PG_WRITE);
    if (!rc)
        rc = mark(&attempt, tx, is_made);
    if (!rc)
        rc = pg_commit(&tx);
    return rc ? rc : 1;
}

static void *run(void *context)
{
    struct ticket_worker *worker = context;
    struct pollfd stop = {.fd = worker->stop_fd, .events = POLLIN};
    struct arena arena;

    arena_init(&arena, ARENA_BYTES);
    while (!atomic_load(&worker->stopping)) {
        int rc = step(worker, &arena);
        arena_reset(&arena);
        if (rc <= 0)
            poll(&stop, 1, rc < 0 ? AWAY_MS : POLL_MS);
    }
    arena_fini(&arena);
    return NULL;
}

int ticket_worker_start(struct ticket_worker **out, const struct ticket_options *options)
{
    struct ticket_worker *worker = calloc(1, sizeof *worker);

    *out = NULL;
    if (!worker)
        return MIRE_FAULT_MEMORY;
    worker->options = *options;
    worker->options.hook.stopping = &worker->stopping;
    worker->stop_fd = eventfd(0, EFD_CLOEXEC);
    if (worker->stop_fd < 0 || pthread_create(&worker->thread, NULL, run, worker)) {
        close_fd(&worker->stop_fd);
        free(worker);
        return MIRE_FAULT_SYSTEM;
    }
    *out = worker;
    return 0;
}

void ticket_worker_stop(struct ticket_worker *worker)
{
    if (!worker)
        return;
    atomic_store(&worker->stopping, true);
    eventfd_write(worker->stop_fd, 1);
    pthread_join(worker->thread, NULL);
    close_fd(&worker->stop_fd);
    free(worker);
}
