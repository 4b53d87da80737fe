/*
 * upload.c - the round: list, send, and do what the answer says.
 *
 * One report that the server keeps failing on must not hold up the others: after each failure the next round begins one
 * report further on.
 */
#include "upload/upload.h"

#include "platform/platform.h"
#include "upload/curl.h"
#include "upload/rules.h"

#include <stdlib.h>
#include <string.h>

#define REPORTS     "/api/v1/reports"
#define ROUND_MAX   64u
#define PATIENCE_MS (24ull * 3600 * 1000) /* no server can silence a device for longer; nor can a clock that jumps */
#define JITTER_MS   5000u                 /* spread over which devices come back after a Retry-After */

struct upload {
    struct store *store;
    struct transport transport;
    bool transport_is_curl;
    atomic_bool cancel; /* any thread writes, the worker reads; relaxed: it only has to be seen soon */
    uint32_t failures;  /* in a row */
    uint64_t not_before_ms;
};

enum mire_err mire__upload_open(struct upload **upload_out, struct store *store, const char *url, const char *key,
                                const struct transport *transport)
{
    struct upload *upload = calloc(1, sizeof(*upload));
    enum mire_err err = MIRE_OK;

    *upload_out = NULL;
    if (!upload)
        return MIRE_E_MEMORY;
    upload->store = store;
    if (transport)
        upload->transport = *transport;
    else
        err = mire__curl_init(&upload->transport, url, key);
    upload->transport_is_curl = !transport;
    if (err != MIRE_OK) {
        free(upload);
        return err;
    }
    *upload_out = upload;
    return MIRE_OK;
}

void mire__upload_close(struct upload *upload)
{
    if (!upload)
        return;
    if (upload->transport_is_curl)
        mire__curl_fini(&upload->transport);
    free(upload);
}

void mire__upload_cancel(struct upload *upload, bool cancel)
{
    atomic_store_explicit(&upload->cancel, cancel, memory_order_relaxed);
}

static bool is_cancelled(const struct upload *upload)
{
    return atomic_load_explicit(&upload->cancel, memory_order_relaxed);
}

/* After a failure: when the next round may begin. */
static void put_off(struct upload *upload, const struct upload_answer *answer, uint64_t now_ms)
{
    uint64_t asked_ms;
    uint32_t random;

    mire__random(&random, sizeof(random));
    upload->failures++;
    upload->not_before_ms = now_ms + mire__upload_backoff_ms(upload->failures, random);
    if (!answer->retry_after[0] || !mire__upload_parse_retry_after(&asked_ms, answer->retry_after, now_ms))
        return;
    if (asked_ms > now_ms + PATIENCE_MS)
        asked_ms = now_ms + PATIENCE_MS;
    asked_ms += random % JITTER_MS;
    if (asked_ms > upload->not_before_ms)
        upload->not_before_ms = asked_ms;
    mire__store_set_after(upload->store, upload->not_before_ms);
}

/* False: nothing more in this round. */
static bool send_one(struct upload *upload, const char *id, struct upload_tally *tally, uint64_t now_ms)
{
    void *body;
    size_t size;
    enum mire_err err = mire__store_get(&body, &size, upload->store, id);

    if (err == MIRE_E_FORMAT) {
        mire__store_drop(upload->store, id, MIRE_DROP_BROKEN);
        tally->broken++;
    }
    if (err != MIRE_OK)
        return err != MIRE_E_MEMORY; /* another process has sent it, or it was dropped */
    const struct upload_request request = {.path = REPORTS, .body = body, .size = size, .etag = ""};
    tally->last = (struct upload_answer){0};
    upload->transport.send(upload->transport.context, &tally->last, &request, &upload->cancel);
    free(body);
    switch (mire__upload_verdict(tally->last.status)) {
    case UPLOAD_SENT:
        mire__store_done(upload->store, id);
        upload->failures = 0;
        tally->sent++;
        return true;
    case UPLOAD_REFUSED:
        mire__store_drop(upload->store, id, MIRE_DROP_REFUSED);
        upload->failures = 0;
        tally->refused++;
        return true;
    case UPLOAD_LATER:
        break;
    }
    if (!is_cancelled(upload))
        put_off(upload, &tally->last, now_ms);
    return false;
}

/* Milliseconds until the server may be asked; 0: now. */
static uint64_t wait_ms(const struct upload *upload, uint64_t now_ms)
{
    uint64_t after_ms = mire__store_after(upload->store);

    if (after_ms < upload->not_before_ms || after_ms > now_ms + PATIENCE_MS + JITTER_MS)
        after_ms = upload->not_before_ms;
    if (after_ms > now_ms + PATIENCE_MS + JITTER_MS)
        return 0;
    return after_ms > now_ms ? after_ms - now_ms : 0;
}

uint64_t mire__upload_round(struct upload *upload, struct upload_tally *tally_out, uint64_t now_ms)
{
    struct store_item items[ROUND_MAX];
    struct upload_tally tally = {0};
    size_t count = mire__store_list(items, ROUND_MAX, upload->store);
    uint64_t wait = wait_ms(upload, now_ms);
    size_t first = count ? upload->failures % count : 0;

    for (size_t i = 0; i < count && wait == 0 && !is_cancelled(upload); i++)
        if (!send_one(upload, items[(first + i) % count].id, &tally, now_ms))
            break;
    tally.waiting = (uint32_t)mire__store_list(items, ROUND_MAX, upload->store);
    if (tally_out)
        *tally_out = tally;
    return tally.waiting ? wait_ms(upload, now_ms) : UINT64_MAX;
}

enum upload_fetch mire__upload_fetch(struct upload *upload, struct upload_answer *answer, const char *path,
                                     const char *etag, uint64_t now_ms)
{
    const struct upload_request request = {.path = path, .etag = etag};

    *answer = (struct upload_answer){.text = answer->text, .cap = answer->cap};
    if (wait_ms(upload, now_ms) > 0 || is_cancelled(upload))
        return FETCH_LATER;
    upload->transport.send(upload->transport.context, answer, &request, &upload->cancel);
    if (answer->status == 200 && answer->size <= answer->cap)
        return FETCH_NEW;
    if (answer->status == 304 && etag[0])
        return FETCH_SAME;
    if (answer->status == 404)
        return FETCH_NONE;
    if (answer->retry_after[0] && !is_cancelled(upload))
        put_off(upload, answer, now_ms);
    return FETCH_LATER;
}
