/*
 * curl.c - one handle for all requests, which keeps the connection. No redirects: a POST would become a GET.
 */
#include "upload/curl.h"

#include "base/alloc.h"
#include "base/base.h"
#include "platform/platform.h"
#include "upload/inherit.h"
#include "upload/rules.h"
#include "upload/unpack.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CONNECT_MS   10000L
#define TRANSFER_MS  60000L
#define SLOW_BYTES_S 16L /* slower than this for SLOW_S is a dead connection */
#define SLOW_S       20L
#define CANCEL_MS    100

struct client {
    CURL *easy;
    CURLM *multi;
    char *url;                       /* the server's, without a slash at the end */
    struct curl_slist *post_headers; /* `get_headers` is its tail */
    struct curl_slist *get_headers;
    char error[CURL_ERROR_SIZE];
};

static size_t hear_body(char *bytes, size_t size, size_t count, void *context)
{
    struct upload_answer *answer = context;
    size_t length = size * count, room = answer->size < answer->cap ? answer->cap - answer->size : 0;

    if (answer->text && room > 0)
        memcpy(answer->text + answer->size, bytes, length < room ? length : room);
    answer->size += length;
    return length;
}

/* Copy the value of the header `name`, cut to `cap`. Another header leaves `out` unchanged. */
static void take_header(char *out, size_t cap, const char *name, const char *line, size_t length)
{
    size_t at = strlen(name), kept = 0;

    if (length < at || strncasecmp(line, name, at) != 0)
        return;
    while (at < length && (line[at] == ' ' || line[at] == '\t'))
        at++;
    while (at < length && line[at] != '\r' && line[at] != '\n' && kept + 1 < cap)
        out[kept++] = line[at++];
    while (kept > 0 && out[kept - 1] == ' ')
        kept--;
    out[kept] = '\0';
}

/* The headers of the last answer count: an interim "100 Continue" comes before it. */
static size_t hear_header(char *bytes, size_t size, size_t count, void *context)
{
    struct upload_answer *answer = context;

    take_header(answer->retry_after, sizeof(answer->retry_after), "retry-after:", bytes, size * count);
    take_header(answer->date, sizeof(answer->date), "date:", bytes, size * count);
    take_header(answer->etag, sizeof(answer->etag), "etag:", bytes, size * count);
    return size * count;
}

/* This loop checks `cancel` ten times a second; curl_easy_perform would check it once. */
static CURLcode perform(struct client *client, const atomic_bool *cancel)
{
    CURLcode code = CURLE_ABORTED_BY_CALLBACK;
    int running = 1, left;
    CURLMsg *message;

    if (curl_multi_add_handle(client->multi, client->easy) != CURLM_OK)
        return CURLE_OUT_OF_MEMORY;
    while (!atomic_load_explicit(cancel, memory_order_relaxed)) {
        if (curl_multi_perform(client->multi, &running) != CURLM_OK || running == 0)
            break;
        curl_multi_poll(client->multi, NULL, 0, CANCEL_MS, NULL);
    }
    while ((message = curl_multi_info_read(client->multi, &left)))
        if (message->msg == CURLMSG_DONE)
            code = message->data.result;
    curl_multi_remove_handle(client->multi, client->easy);
    return code;
}

/* The headers of this request alone: the device's clock, the body's media type or the ETag of a known document. NULL: no memory. */
static struct curl_slist *own_headers(const struct upload_request *request)
{
    char line[32 + MIRE_STORE_ETAG_BYTES];
    struct curl_slist *own, *more;

    mire__upload_clock(line, sizeof(line), mire__wall_now_ms());
    own = curl_slist_append(NULL, line);
    if (!own || (!request->body && !request->etag[0]))
        return own;
    snprintf(line, sizeof(line), "If-None-Match: %s", request->etag);
    more = curl_slist_append(own, request->body ? request->type : line);
    return more ? more : own;
}

static struct curl_slist *last_of(struct curl_slist *list)
{
    while (list->next)
        list = list->next;
    return list;
}

/* Returns the last of the request's own headers, *own_out the first; NULL: no memory, the request goes without them. */
static struct curl_slist *set_request(struct curl_slist **own_out, struct client *client,
                                      const struct upload_request *request)
{
    struct curl_slist *all = request->body ? client->post_headers : client->get_headers, *last = NULL;
    CURL *easy = client->easy;

    if (request->body) {
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->body);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->size);
    } else {
        curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    }
    *own_out = own_headers(request);
    if (*own_out) {
        last = last_of(*own_out);
        last->next = all;
        all = *own_out;
    }
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, all);
    return last;
}

static void unset_request(struct curl_slist *own, struct curl_slist *last)
{
    if (!own)
        return;
    last->next = NULL; /* the tail belongs to the client */
    curl_slist_free_all(own);
}

static void send_with_curl(void *context, struct upload_answer *answer, const struct upload_request *request,
                           const atomic_bool *cancel)
{
    struct client *client = context;
    size_t length = strlen(client->url) + strlen(request->path) + 1;
    char *target = mire__malloc(length);
    CURLcode code = CURLE_OUT_OF_MEMORY;
    long status = 0;

    client->error[0] = '\0';
    struct curl_slist *own, *last = set_request(&own, client, request);
    curl_easy_setopt(client->easy, CURLOPT_HEADERDATA, answer);
    curl_easy_setopt(client->easy, CURLOPT_WRITEDATA, answer);
    if (target) {
        snprintf(target, length, "%s%s", client->url, request->path);
        code = curl_easy_setopt(client->easy, CURLOPT_URL, target);
        mire__free(target);
    }
    if (code == CURLE_OK)
        code = perform(client, cancel);
    if (code == CURLE_OK)
        curl_easy_getinfo(client->easy, CURLINFO_RESPONSE_CODE, &status);
    else
        mire__text_copy(answer->problem, sizeof(answer->problem),
                        client->error[0] ? client->error : curl_easy_strerror(code));
    answer->status = (int)status;
    unset_request(own, last);
}

/* Prepend a header; the others become its tail. */
static enum mire_err add_header(struct curl_slist **headers, const char *line)
{
    struct curl_slist *more = curl_slist_append(NULL, line);

    if (!more)
        return MIRE_E_MEMORY;
    more->next = *headers;
    *headers = more;
    return MIRE_OK;
}

static enum mire_err set_headers(struct client *client, const char *key)
{
    /* An empty "Expect:" saves the round trip of "100-continue", which takes longer than sending a report. */
    static const char *const of_post[] = {mire__unpack_header, "Expect:"};
    char line[512];
    enum mire_err err;

    snprintf(line, sizeof(line), "Authorization: Bearer %s", key);
    err = add_header(&client->get_headers, line);
    client->post_headers = client->get_headers;
    for (size_t i = 0; i < MIRE_COUNT(of_post) && err == MIRE_OK; i++)
        err = add_header(&client->post_headers, of_post[i]);
    return err;
}

/* Set the trusted certificates and the pinned key. libcurl copies the texts. */
static enum mire_err set_trust(CURL *easy, const struct upload_options *options)
{
    CURLcode code = curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);

    if (code == CURLE_OK && options->ca_file && options->ca_file[0]) {
        code = curl_easy_setopt(easy, CURLOPT_CAINFO, options->ca_file);
        if (code == CURLE_OK)
            code = curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    }
    if (code == CURLE_OK && options->pins && options->pins[0])
        code = curl_easy_setopt(easy, CURLOPT_PINNEDPUBLICKEY, options->pins);
    if (code == CURLE_OUT_OF_MEMORY)
        return MIRE_E_MEMORY;
    return code == CURLE_OK ? MIRE_OK : MIRE_E_SYSTEM;
}

static enum mire_err set_options(struct client *client, const struct upload_options *options)
{
    CURL *easy = client->easy;
    const char *url = options->url;
    size_t length = strlen(url);

    client->url = mire__strdup(url);
    if (!client->url)
        return MIRE_E_MEMORY;
    while (length > 0 && url[length - 1] == '/')
        client->url[--length] = '\0';
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "libmire/" MIRE_VERSION);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, mire__socket_open);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, TRANSFER_MS);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, SLOW_BYTES_S);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, SLOW_S);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, client->error);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, hear_body);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, hear_header);
    /* Do not wait for a name server when the handle is closed. */
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    return set_trust(easy, options);
}

static void client_free(struct client *client)
{
    curl_slist_free_all(client->post_headers ? client->post_headers : client->get_headers);
    mire__free(client->url);
    curl_easy_cleanup(client->easy);
    curl_multi_cleanup(client->multi);
    mire__free(client);
}

enum mire_err mire__curl_init(struct transport *transport_out, const struct upload_options *options)
{
    struct client *client;
    enum mire_err err;

    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return MIRE_E_SYSTEM;
    client = mire__calloc(1, sizeof(*client));
    if (!client) {
        curl_global_cleanup();
        return MIRE_E_MEMORY;
    }
    client->easy = curl_easy_init();
    client->multi = mire__multi_init();
    err = client->easy && client->multi ? set_headers(client, options->key) : MIRE_E_SYSTEM;
    if (err == MIRE_OK)
        err = set_options(client, options);
    *transport_out = (struct transport){.send = send_with_curl, .context = client};
    if (err != MIRE_OK)
        mire__curl_fini(transport_out);
    return err;
}

void mire__curl_fini(struct transport *transport)
{
    client_free(transport->context);
    curl_global_cleanup();
    *transport = (struct transport){0};
}
