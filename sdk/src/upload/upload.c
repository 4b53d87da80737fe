/*
 * upload.c - a round: list the reports, check the conditions, send, and obey the answer.
 *
 * A report on which the server fails must not delay the others, so after each failure the next round begins one report
 * further on. Waits use the boot clock, which does not jump. A time in the store is of the wall clock, and becomes such
 * a wait when it is first seen.
 */
#include "upload/upload.h"

#include "base/alloc.h"
#include "platform/platform.h"
#include "store/sending.h"
#include "upload/curl.h"
#include "upload/filter.h"
#include "upload/host.h"
#include "upload/rules.h"

#include <stdlib.h>
#include <string.h>

#define REPORTS   "/api/v1/reports"
#define DAY_MS    (24ull * 3600 * 1000)
#define ACK_BYTES 512 /* mired's answer has about 60 */

struct upload {
    struct store *store;
    struct upload_options options; /* its texts are not read after open */
    struct transport transport;
    void (*fini)(struct transport *transport); /* NULL: a test's */
    atomic_bool cancel;      /* any thread writes, the worker reads; relaxed: no other memory depends on it */
    uint32_t failures;       /* in a row */
    struct store_after seen; /* the store's value at the last look */
    /* By the boot clock, in milliseconds. */
    uint64_t backoff_until; /* after a failure */
    uint64_t silent_until;  /* the server has asked for it */
    uint64_t broke_until;   /* the day's bytes are spent */
    /* Bytes spent, if the store cannot count them. */
    uint64_t spent_day, spent;
};

static enum mire_err open_transport(struct upload *upload, const struct upload_options *options)
{
    upload->fini = options->transport ? mire__host_fini : mire__curl_fini;
    return options->transport ? mire__host_init(&upload->transport, options)
                              : mire__curl_init(&upload->transport, options);
}

enum mire_err mire__upload_open(struct upload **upload_out, struct store *store, const struct upload_options *options,
                                const struct transport *transport)
{
    struct upload *upload = mire__calloc(1, sizeof(*upload));
    enum mire_err err = MIRE_OK;

    *upload_out = NULL;
    if (!upload)
        return MIRE_E_MEMORY;
    upload->store = store;
    upload->options = *options;
    if (transport)
        upload->transport = *transport;
    else
        err = open_transport(upload, options);
    if (err != MIRE_OK) {
        mire__free(upload);
        return err;
    }
    *upload_out = upload;
    return MIRE_OK;
}

void mire__upload_close(struct upload *upload)
{
    if (!upload)
        return;
    if (upload->fini)
        upload->fini(&upload->transport);
    mire__free(upload);
}

void mire__upload_cancel(struct upload *upload, bool cancel)
{
    atomic_store_explicit(&upload->cancel, cancel, memory_order_relaxed);
}

static bool is_cancelled(const struct upload *upload)
{
    return atomic_load_explicit(&upload->cancel, memory_order_relaxed);
}

static enum mire_network network_of(const struct upload *upload)
{
    const _Atomic uint32_t *network = upload->options.network;

    return network ? (enum mire_network)atomic_load_explicit(network, memory_order_relaxed) : MIRE_NETWORK_UNMETERED;
}

bool mire__upload_may_ask(struct upload *upload)
{
    enum mire_consent consent = mire__store_consent(upload->store);

    return network_of(upload) != MIRE_NETWORK_NONE && consent != MIRE_CONSENT_REFUSED &&
           (consent == MIRE_CONSENT_GIVEN || !upload->options.consent_required);
}

static uint32_t random32(void)
{
    uint32_t random;

    mire__random(&random, sizeof(random));
    return random;
}

/* The server wants no request for this time: stored, for other processes and later runs. */
static void fall_silent(struct upload *upload, uint64_t wait_ms, const struct upload_now *now)
{
    wait_ms += 1;                                           /* clocks are rounded down to milliseconds */
    wait_ms += random32() % upload->options.retry_first_ms; /* spreads the devices */
    upload->silent_until = now->boot_ms + wait_ms;
    upload->seen = (struct store_after){.until_ms = now->wall_ms + wait_ms, .said_ms = now->wall_ms};
    mire__store_set_after(upload->store, &upload->seen);
}

/* After a failure: set the begin of the next round. */
static void put_off(struct upload *upload, const struct upload_answer *answer, const struct upload_now *now)
{
    const struct upload_options *options = &upload->options;
    uint64_t asked_ms;

    upload->failures++;
    upload->backoff_until = now->boot_ms + mire__upload_backoff_ms(upload->failures, options->retry_first_ms,
                                                                   options->retry_limit_ms, random32());
    if (answer->retry_after[0] && mire__upload_asked_ms(&asked_ms, answer->retry_after, answer->date, now->wall_ms) &&
        asked_ms > 0)
        fall_silent(upload, asked_ms, now);
}

/* Milliseconds until the server may be asked; 0: now. */
static uint64_t wait_ms(struct upload *upload, const struct upload_now *now)
{
    struct store_after after;
    uint64_t until = upload->backoff_until;

    mire__store_after(&after, upload->store);
    if (after.until_ms != upload->seen.until_ms || after.said_ms != upload->seen.said_ms) {
        upload->seen = after;
        upload->silent_until = now->boot_ms + mire__upload_left_ms(after.until_ms, after.said_ms, now->wall_ms);
    }
    if (upload->silent_until > until)
        until = upload->silent_until;
    return until > now->boot_ms ? until - now->boot_ms : 0;
}

/* The same for reports, which count against the daily limit. */
static uint64_t reports_wait_ms(struct upload *upload, const struct upload_now *now)
{
    uint64_t wait = wait_ms(upload, now);

    if (upload->broke_until > now->boot_ms && upload->broke_until - now->boot_ms > wait)
        wait = upload->broke_until - now->boot_ms;
    return wait;
}

/* Count the bytes against the day's limit `cap`. False: they exceed it. */
static bool spend(struct upload *upload, uint64_t bytes, uint64_t cap, const struct upload_now *now)
{
    uint64_t day = now->wall_ms / DAY_MS, spent;
    enum mire_err err;

    if (upload->options.daily_bytes == 0)
        return true;
    err = mire__store_spend(&spent, upload->store, day, bytes, cap);
    if (err != MIRE_E_STORE)
        return err == MIRE_OK;
    if (upload->spent_day != day || upload->spent < spent)
        upload->spent = spent;
    upload->spent_day = day;
    if (bytes > cap || upload->spent > cap - bytes)
        return false;
    upload->spent += bytes;
    return true;
}

/* Wait until the next day, and a random time more, which spreads the devices. */
static void go_broke(struct upload *upload, const struct upload_now *now)
{
    upload->broke_until =
        now->boot_ms + DAY_MS - now->wall_ms % DAY_MS + random32() % (upload->options.retry_limit_ms + 1);
}

static const char *type_of(enum store_format format)
{
    return format == MIRE_FORMAT_METRICKIT ? "Content-Type: application/vnd.apple.metrickit+json"
                                           : "Content-Type: application/json";
}

/* POST one body, and check that the answer names this report; of another format, the reports that were made of it. */
static enum upload_verdict post(struct upload *upload, struct upload_answer *answer, const struct store_item *item,
                                const void *body, size_t size)
{
    const struct upload_request request = {
        .path = REPORTS, .body = body, .type = type_of(item->format), .size = size, .etag = ""};
    const char *id = item->format == MIRE_FORMAT_OWN ? item->id : NULL;
    char text[ACK_BYTES];
    enum upload_verdict verdict;

    *answer = (struct upload_answer){.text = text, .cap = sizeof(text)};
    upload->transport.send(upload->transport.context, answer, &request, &upload->cancel);
    verdict = mire__upload_verdict(answer->status);
    if (verdict == UPLOAD_SENT &&
        !mire__upload_is_ack(text, answer->size < sizeof(text) ? answer->size : sizeof(text), id)) {
        mire__text_copy(answer->problem, sizeof(answer->problem), "the answer is not the server's: it names no report");
        verdict = UPLOAD_LATER;
    }
    answer->text = NULL;
    return verdict;
}

/* Get the report's body. False: do not send this report; *stop_out: send no other one now either. */
static bool take_out(void **body_out, size_t *size_out, bool *stop_out, struct upload *upload, const char *id,
                     struct upload_tally *tally)
{
    const uint64_t most = upload->options.daily_bytes;
    enum mire_err err = mire__store_get(body_out, size_out, upload->store, id);

    if (err == MIRE_OK && most && *size_out + MIRE_REQUEST_BYTES > most) {
        mire__store_drop(upload->store, id, MIRE_DROP_BIG);
        err = MIRE_E_FULL;
    } else if (err == MIRE_OK) {
        err = mire__filter_ask(&upload->options, *body_out, *size_out);
        if (err == MIRE_E_STATE) {
            mire__store_drop(upload->store, id, MIRE_DROP_FILTERED);
            tally->filtered++;
        }
    }
    if (err == MIRE_E_FORMAT) {
        mire__store_drop(upload->store, id, MIRE_DROP_BROKEN);
        tally->broken++;
    }
    *stop_out = err == MIRE_E_MEMORY;
    if (err == MIRE_OK)
        return true;
    mire__free(*body_out); /* MIRE_E_STORE: another process has sent it, or it was dropped */
    return false;
}

/* False: the round ends. */
static bool send_one(struct upload *upload, const struct store_item *item, struct upload_tally *tally,
                     const struct upload_now *now)
{
    const char *id = item->id;
    enum upload_verdict verdict;
    void *body;
    size_t size;
    bool stop;

    if (!take_out(&body, &size, &stop, upload, id, tally))
        return !stop;
    if (!spend(upload, size + MIRE_REQUEST_BYTES, upload->options.daily_bytes, now)) {
        mire__free(body);
        go_broke(upload, now);
        return false;
    }
    verdict = post(upload, &tally->last, item, body, size);
    mire__free(body);
    if (verdict == UPLOAD_LATER) {
        if (!is_cancelled(upload))
            put_off(upload, &tally->last, now);
        return false;
    }
    upload->failures = 0;
    if (verdict == UPLOAD_SENT) {
        mire__store_done(upload->store, id);
        tally->sent++;
    } else {
        mire__store_drop(upload->store, id, MIRE_DROP_REFUSED);
        tally->refused++;
    }
    return true;
}

/* The most valuable first; the oldest among equals. */
static int by_worth(const void *a, const void *b)
{
    const struct store_item *one = a, *other = b;

    return one->value != other->value ? (one->value < other->value ? 1 : -1) : strcmp(one->id, other->id);
}

/*
 * List the reports that may be sent over this network, in the order of sending.
 *   items        room for MIRE_STORE_LIST_MAX
 *   waiting_out  number of all reports in the store
 * Returns the number of items.
 */
static size_t list(struct store_item *items, uint32_t *waiting_out, struct upload *upload)
{
    size_t count = mire__store_list(items, MIRE_STORE_LIST_MAX, upload->store), kept = 0;
    bool metered = network_of(upload) == MIRE_NETWORK_METERED;

    *waiting_out = (uint32_t)count;
    for (size_t i = 0; i < count; i++)
        if (!metered || mire__upload_on_metered(items[i].bytes, items[i].value))
            items[kept++] = items[i];
    qsort(items, kept, sizeof(*items), by_worth);
    return kept;
}

static void send_all(struct upload *upload, struct upload_tally *tally, const struct store_item *items, size_t count,
                     const struct upload_now *now)
{
    size_t first = count ? upload->failures % count : 0;

    for (size_t i = 0; i < count; i++)
        if (is_cancelled(upload) || !mire__upload_may_ask(upload) ||
            !send_one(upload, &items[(first + i) % count], tally, now))
            return;
}

uint64_t mire__upload_round(struct upload *upload, struct upload_tally *tally_out, const struct upload_now *now)
{
    struct store_item *items = mire__calloc(MIRE_STORE_LIST_MAX, sizeof(*items));
    struct upload_tally tally = {0};
    size_t count = 0;

    if (!items)
        return upload->options.retry_limit_ms;
    mire__store_refused(upload->store);
    count = list(items, &tally.waiting, upload);
    if (reports_wait_ms(upload, now) == 0 && !is_cancelled(upload)) {
        send_all(upload, &tally, items, count, now);
        count = list(items, &tally.waiting, upload);
    }
    mire__free(items);
    if (tally_out)
        *tally_out = tally;
    return count > 0 && mire__upload_may_ask(upload) ? reports_wait_ms(upload, now) : UINT64_MAX;
}

enum upload_fetch mire__upload_fetch(struct upload *upload, struct upload_answer *answer, const char *path,
                                     const char *etag, const struct upload_now *now)
{
    const struct upload_request request = {.path = path, .etag = etag};

    *answer = (struct upload_answer){.text = answer->text, .cap = answer->cap};
    if (!mire__upload_may_ask(upload) || wait_ms(upload, now) > 0 || is_cancelled(upload))
        return FETCH_LATER;
    spend(upload, MIRE_REQUEST_BYTES, UINT64_MAX, now); /* no limit: the document may be the kill switch */
    upload->transport.send(upload->transport.context, answer, &request, &upload->cancel);
    if (answer->status == 200 && answer->size <= answer->cap)
        return FETCH_NEW;
    if (answer->status == 304 && etag[0])
        return FETCH_SAME;
    if (answer->status == 404)
        return FETCH_NONE;
    if (answer->retry_after[0] && !is_cancelled(upload))
        put_off(upload, answer, now);
    return FETCH_LATER;
}
