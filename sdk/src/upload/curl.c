/*
 * curl.c - one handle, kept so that its connection is. No redirects: a POST would become a GET.
 */
#include "upload/curl.h"

#include "base/base.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PATH         "/api/v1/reports"
#define CONNECT_MS   10000L
#define TRANSFER_MS  60000L
#define SLOW_BYTES_S 16L /* slower than this for SLOW_S is a dead connection */
#define SLOW_S       20L
#define CANCEL_MS    100

struct client {
    CURL *easy;
    CURLM *multi;
    struct curl_slist *headers;
    char error[CURL_ERROR_SIZE];
};

static size_t hear_nothing(char *bytes, size_t size, size_t count, void *context)
{
    (void)bytes;
    (void)context;
    return size * count;
}

/* Redirects aside, the last answer's headers win: an interim "100 Continue" comes before them. */
static size_t hear_header(char *bytes, size_t size, size_t count, void *context)
{
    static const char name[] = "retry-after:";
    struct upload_answer *answer = context;
    size_t length = size * count, at = sizeof(name) - 1, kept = 0;

    if (length < at || strncasecmp(bytes, name, at) != 0)
        return length;
    while (at < length && (bytes[at] == ' ' || bytes[at] == '\t'))
        at++;
    while (at < length && bytes[at] != '\r' && bytes[at] != '\n' && kept + 1 < sizeof(answer->retry_after))
        answer->retry_after[kept++] = bytes[at++];
    while (kept > 0 && answer->retry_after[kept - 1] == ' ')
        kept--;
    answer->retry_after[kept] = '\0';
    return length;
}

/* curl_easy_perform would look at `cancel` once a second; this does ten times. */
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

static void send_with_curl(void *context, struct upload_answer *answer, const void *body, size_t size,
                           const atomic_bool *cancel)
{
    struct client *client = context;
    long status = 0;
    CURLcode code;

    memset(answer, 0, sizeof(*answer));
    client->error[0] = '\0';
    curl_easy_setopt(client->easy, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(client->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
    curl_easy_setopt(client->easy, CURLOPT_HEADERDATA, answer);
    code = perform(client, cancel);
    if (code == CURLE_OK)
        curl_easy_getinfo(client->easy, CURLINFO_RESPONSE_CODE, &status);
    else
        mire__text_copy(answer->problem, sizeof(answer->problem),
                        client->error[0] ? client->error : curl_easy_strerror(code));
    answer->status = (int)status;
}

static enum mire_err add_header(struct client *client, const char *line)
{
    struct curl_slist *more = curl_slist_append(client->headers, line);

    if (!more)
        return MIRE_E_MEMORY;
    client->headers = more;
    return MIRE_OK;
}

static enum mire_err set_headers(struct client *client, const char *key)
{
    char line[512];
    enum mire_err err;

    snprintf(line, sizeof(line), "Authorization: Bearer %s", key);
    err = add_header(client, line);
    if (err == MIRE_OK)
        err = add_header(client, "Content-Type: application/json");
    if (err == MIRE_OK)
        err = add_header(client, "Content-Encoding: zstd");
    /* A report is smaller than the round trip that "Expect: 100-continue" would cost. */
    if (err == MIRE_OK)
        err = add_header(client, "Expect:");
    return err;
}

static enum mire_err set_options(struct client *client, const char *url)
{
    CURL *easy = client->easy;
    size_t length = strlen(url);
    char *target = malloc(length + sizeof(PATH));
    CURLcode code;

    if (!target)
        return MIRE_E_MEMORY;
    while (length > 0 && url[length - 1] == '/')
        length--;
    snprintf(target, length + sizeof(PATH), "%.*s" PATH, (int)length, url);
    code = curl_easy_setopt(easy, CURLOPT_URL, target);
    free(target);
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, client->headers);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "libmire/" MIRE_VERSION);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, TRANSFER_MS);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, SLOW_BYTES_S);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, SLOW_S);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, client->error);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, hear_nothing);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, hear_header);
    /* Do not wait for a name server when the handle is closed. */
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    return code == CURLE_OK ? MIRE_OK : MIRE_E_MEMORY;
}

static void client_free(struct client *client)
{
    curl_slist_free_all(client->headers);
    curl_easy_cleanup(client->easy);
    curl_multi_cleanup(client->multi);
    free(client);
}

enum mire_err mire__curl_init(struct transport *transport_out, const char *url, const char *key)
{
    struct client *client;
    enum mire_err err;

    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return MIRE_E_SYSTEM;
    client = calloc(1, sizeof(*client));
    if (!client) {
        curl_global_cleanup();
        return MIRE_E_MEMORY;
    }
    client->easy = curl_easy_init();
    client->multi = curl_multi_init();
    err = client->easy && client->multi ? set_headers(client, key) : MIRE_E_SYSTEM;
    if (err == MIRE_OK)
        err = set_options(client, url);
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
