/*
 * host.c - see host.h. Texts of the app are cut to the room for them.
 */
#include "upload/host.h"

#include "base/alloc.h"
#include "base/base.h"
#include "platform/platform.h"
#include "upload/rules.h"
#include "upload/unpack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADERS_MAX 6

struct host {
    mire_transport_fn *transport;
    void *context;
    char *url; /* the server's, without a slash at the end */
    char *authorization;
};

/* A request of the app's transport, and the SDK's own state of it. */
struct host_request {
    mire_request request; /* first */
    const atomic_bool *cancel;
};

static int is_cancelled(const mire_request *request)
{
    return atomic_load_explicit(((const struct host_request *)request)->cancel, memory_order_relaxed);
}

static char *join(const char *one, const char *other)
{
    size_t size = strlen(one) + strlen(other) + 1;
    char *text = mire__malloc(size);

    if (text)
        snprintf(text, size, "%s%s", one, other);
    return text;
}

static void set_headers(const char *headers[HEADERS_MAX], const struct host *host, const char *clock, const char *known,
                        const char *type)
{
    size_t count = 0;

    headers[count++] = host->authorization;
    headers[count++] = "User-Agent: libmire/" MIRE_VERSION;
    headers[count++] = clock;
    if (type) {
        headers[count++] = type;
        headers[count++] = mire__unpack_header;
    } else if (known[0]) {
        headers[count++] = known;
    }
    headers[count] = NULL;
}

/* The app's texts may have no NUL: copy at most their room. */
static void take(struct upload_answer *answer, mire_response *response)
{
    response->retry_after[sizeof(response->retry_after) - 1] = '\0';
    response->date[sizeof(response->date) - 1] = '\0';
    response->etag[sizeof(response->etag) - 1] = '\0';
    mire__text_copy(answer->retry_after, sizeof(answer->retry_after), response->retry_after);
    mire__text_copy(answer->date, sizeof(answer->date), response->date);
    mire__text_copy(answer->etag, sizeof(answer->etag), response->etag);
    answer->status = response->status;
    answer->size = response->body_size;
    if (response->status == 0)
        mire__text_copy(answer->problem, sizeof(answer->problem), "the app's transport had no answer");
}

static void send_with_host(void *context, struct upload_answer *answer, const struct upload_request *request,
                           const atomic_bool *cancel)
{
    struct host *host = context;
    char known[32 + MIRE_STORE_ETAG_BYTES], clock[MIRE_CLOCK_LINE_BYTES];
    const char *headers[HEADERS_MAX];
    char *url = join(host->url, request->path);
    mire_response response = {.body = answer->text, .body_cap = answer->text ? answer->cap : 0};

    snprintf(known, sizeof(known), request->etag && request->etag[0] ? "If-None-Match: %s" : "%s",
             request->etag ? request->etag : "");
    mire__upload_clock(clock, sizeof(clock), mire__wall_now_ms());
    set_headers(headers, host, clock, known, request->body ? request->type : NULL);
    const struct host_request sent = {.request = {.method = request->body ? "POST" : "GET",
                                                  .url = url,
                                                  .headers = headers,
                                                  .body = request->body,
                                                  .body_size = request->size,
                                                  .is_cancelled = is_cancelled},
                                      .cancel = cancel};
    if (url)
        host->transport(host->context, &sent.request, &response);
    take(answer, &response);
    mire__free(url);
}

enum mire_err mire__host_init(struct transport *transport_out, const struct upload_options *options)
{
    struct host *host = mire__calloc(1, sizeof(*host));

    if (!host)
        return MIRE_E_MEMORY;
    *host = (struct host){.transport = options->transport,
                          .context = options->transport_context,
                          .url = join(options->url, ""),
                          .authorization = join("Authorization: Bearer ", options->key)};
    *transport_out = (struct transport){.send = send_with_host, .context = host};
    if (!host->url || !host->authorization) {
        mire__host_fini(transport_out);
        return MIRE_E_MEMORY;
    }
    for (size_t length = strlen(host->url); length > 0 && host->url[length - 1] == '/';)
        host->url[--length] = '\0';
    return MIRE_OK;
}

void mire__host_fini(struct transport *transport)
{
    struct host *host = transport->context;

    mire__free(host->url);
    mire__free(host->authorization);
    mire__free(host);
    *transport = (struct transport){0};
}
