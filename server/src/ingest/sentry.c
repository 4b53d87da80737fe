/*
 * sentry.c - the two endpoints that Sentry's SDKs send to: /api/<n>/envelope/ and the older /api/<n>/store/.
 *
 * Events become reports. All else in an envelope is left out, and the answer asks the SDK to keep it to itself for an
 * hour (X-Sentry-Rate-Limits). A full queue is 429 here, because an SDK pauses after 429 and goes on after 503.
 * Source: develop.sentry.dev, "Envelopes" and "Rate limiting".
 */
#include "ingest/inside.h"

#include <stdio.h>
#include <string.h>

#define UNWANTED                                                                                                    \
    "3600:transaction;span;session;profile;profile_chunk;replay;attachment;monitor;log_item;feedback;metric_bucket" \
    ";trace_metric:organization"

/* Identifiers of events are 32 hex digits; any other text stays out of the answer. */
static void answer(struct reply *reply, const char *own)
{
    if (strlen(own) == 32 && strspn(own, "0123456789abcdefABCDEF") == 32)
        text_printf(&reply->text, "{\"id\":\"%s\"}", own);
    else
        text_printf(&reply->text, "{}");
    reply_header(reply, "X-Sentry-Rate-Limits", UNWANTED);
    (void)reply_json(reply, 200);
}

static void answer_stored(const struct delivery *delivery, struct reply *reply)
{
    answer(reply, delivery->own);
}

static int post(struct ingest *ingest, struct request *request, struct reply *reply, const char *format)
{
    struct delivery *delivery;
    int rc = ingest_convert(&delivery, ingest, request, reply, format, answer_stored);
    if (rc != MIRE_HTTP_LATER)
        return rc;
    if (!delivery) {
        answer(reply, "");
        return MIRE_HTTP_DONE;
    }
    enum ingest_queued queued = ingest_queue(ingest, delivery, reply);
    if (queued != MIRE_INGEST_FULL)
        return queued == MIRE_INGEST_QUEUED ? MIRE_HTTP_LATER : MIRE_HTTP_DONE;
    reply_header(reply, "Retry-After", "5");
    reply_header(reply, "X-Sentry-Rate-Limits", "5::organization");
    return reply_error(reply, request, 429, "busy", "Too many reports are waiting to be stored. Send it again soon.");
}

int ingest_post_envelope(void *context, struct request *request, struct reply *reply)
{
    return post(context, request, reply, "sentry-envelope");
}

int ingest_post_event(void *context, struct request *request, struct reply *reply)
{
    return post(context, request, reply, "sentry");
}
