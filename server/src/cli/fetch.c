/* fetch.c - libcurl, and telling a problem in words. */
#include "cli/fetch.h"
#include "cli/say.h"

#include "base/scope.h"
#include "json/json.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MAX   (64u << 20)
#define TIMEOUT_S    60L
#define DEFAULT_HOST "http://127.0.0.1:7117"

const char *fetch_server(void)
{
    const char *server = getenv("MIRE_SERVER");
    return server && *server ? server : DEFAULT_HOST;
}

void fetch_escape(struct text *out, const char *value)
{
    for (const unsigned char *p = (const unsigned char *)value; *p; p++)
        if ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || strchr("-._~", *p))
            text_append(out, p, 1);
        else
            text_printf(out, "%%%02X", *p);
}

size_t fetch_server_length(const char *server)
{
    size_t len = strlen(server);

    while (len && server[len - 1] == '/')
        len--;
    return len;
}

void fetch_api_url(struct text *url, const char *server)
{
    text_append(url, server, fetch_server_length(server));
    text_add(url, "/api/v1");
}

void fetch_app_url(struct text *url, const char *server, const char *app)
{
    fetch_api_url(url, server);
    text_add(url, "/apps/");
    fetch_escape(url, app);
}

static size_t keep(char *bytes, size_t size, size_t count, void *context)
{
    struct text *out = context;

    if (out->len + size * count > ANSWER_MAX)
        return 0;
    text_append(out, bytes, size * count);
    return text_failed(out) ? 0 : size * count;
}

static void say_member(const struct json *json, const char *name, const char *before)
{
    uint32_t at = json_member(json, 0, name);
    char text[1024];

    if (!at || json_kind(json, at) != MIRE_JSON_STRING || json_size(json, at) >= sizeof text)
        return;
    text[json_text(text, json, at)] = '\0';
    say(stderr, "%s%s", before, text);
}

static void say_problem(const char *url, long status, const struct text *body)
{
    const struct json_limits limits = MIRE_JSON_LIMITS;
    struct json_fault fault;
    struct json json;

    json_init(&json);
    say(stderr, "mire: %s answered %ld", url, status);
    if (json_read(&json, &fault, body->bytes ? body->bytes : "", body->len, &limits) == MIRE_JSON_OK &&
        json_kind(&json, 0) == MIRE_JSON_OBJECT) {
        say_member(&json, "title", ": ");
        say_member(&json, "detail", ". ");
        say_member(&json, "request_id", " Request ");
    }
    fputc('\n', stderr);
    json_fini(&json);
}

#define REFUSED 2 /* 401, without an explanation */

/* Send a request. `curl` has its other settings already, `why` CURL_ERROR_SIZE bytes. */
static CURLcode send_request(long *status, char *why, struct text *out, CURL *curl, const char *url)
{
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, out);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, TIMEOUT_S);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "mire/" MIRE_VERSION);
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, status);
    return code;
}

/* The same, and print an error. */
static int exchange(struct text *out, CURL *curl, const char *url, bool may_refuse)
{
    char why[CURL_ERROR_SIZE] = "";
    long status = 0;

    CURLcode code = send_request(&status, why, out, curl, url);
    if (code == CURLE_OK && status == 401 && may_refuse)
        return REFUSED;
    if (code != CURLE_OK)
        say(stderr,
            "mire: cannot reach %s: %s\nIs mired running there? Name another server with --server URL or "
            "MIRE_SERVER.\n",
            url, *why ? why : curl_easy_strerror(code));
    else if (status / 100 != 2)
        say_problem(url, status, out);
    if (code == CURLE_OK && status == 404)
        return FETCH_MISSING;
    return code == CURLE_OK && status / 100 == 2 ? 0 : -1;
}

static int perform(struct text *out, CURL *curl, const char *url, bool may_refuse)
{
    int rc = exchange(out, curl, url, may_refuse);

    curl_easy_cleanup(curl);
    return rc;
}

static CURL *begin(void)
{
    CURL *curl = curl_easy_init();

    if (!curl)
        fputs("mire: no memory for a connection\n", stderr);
    return curl;
}

/* The token kept for the server of a URL. */
static const char *token_of(const char *url)
{
    const char *path = strstr(url, "/api/v1/");
    char server[1024];

    if (!path || (size_t)(path - url) >= sizeof server)
        return NULL;
    snprintf(server, sizeof server, "%.*s", (int)(path - url), url);
    return fetch_token(server);
}

/* The list of headers with the one that has the key. */
static struct curl_slist *add_key(struct curl_slist *headers, const char *key)
{
    char authorization[256];

    snprintf(authorization, sizeof authorization, "Authorization: Bearer %.200s", key);
    return curl_slist_append(headers, authorization);
}

int fetch_steps(const char *server, const struct fetch_step *steps, size_t count)
{
    CURL *curl = begin();
    int rc = curl ? 0 : -1;

    if (curl)
        curl_easy_setopt(curl, CURLOPT_COOKIEFILE, ""); /* none is read; those that come are kept */
    for (size_t i = 0; !rc && i < count; i++) {
        MIRE_SCOPED(text_fini) struct text url = {0};
        struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
        headers = curl_slist_append(headers, "X-Mire-Change: 1");
        text_append(&url, server, fetch_server_length(server));
        text_add(&url, steps[i].path);
        curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, steps[i].method);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, steps[i].body ? steps[i].body->bytes : "");
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)(steps[i].body ? steps[i].body->len : 0));
        rc = text_failed(&url) ? -1 : exchange(steps[i].out, curl, url.bytes, false);
        curl_slist_free_all(headers);
    }
    curl_easy_cleanup(curl);
    return rc;
}

/* One exchange. Returns as fetch_ask. */
static long ask_once(const struct fetch_session *session, const char *key, struct text *out, const char *method,
                     const char *path, const struct text *body)
{
    MIRE_SCOPED(text_fini) struct text url = {0};
    char why[CURL_ERROR_SIZE] = "";
    long status = 0;
    CURL *curl = begin();

    text_append(&url, session->server, fetch_server_length(session->server));
    text_add(&url, path);
    if (!curl || text_failed(&url))
        return 0;
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    headers = key && *key ? add_key(headers, key) : curl_slist_append(headers, "X-Mire-Change: 1");
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    if (body) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body->bytes ? body->bytes : "");
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->len);
    }
    CURLcode code = send_request(&status, why, out, curl, url.bytes);
    if (code != CURLE_OK) {
        out->len = 0;
        text_printf(out, "The server at %s cannot be reached: %s", session->server,
                    *why ? why : curl_easy_strerror(code));
    }
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    return code == CURLE_OK ? status : 0;
}

long fetch_ask(struct fetch_session *session, struct text *out, const char *method, const char *path,
               const struct text *body)
{
    const char *key = session->key && *session->key ? session->key : fetch_token(session->server);
    size_t len = out->len;
    long status = 401;

    if (!session->needs_key || !key)
        status = ask_once(session, NULL, out, method, path, body);
    if (status != 401 || !key)
        return status;
    session->needs_key = true;
    out->len = len;
    return ask_once(session, key, out, method, path, body);
}

void fetch_say_problem(const char *path, long status, const struct text *body)
{
    if (status)
        say_problem(path, status, body);
    else
        say(stderr, "mire: %s\nIs mired running there? Name another server with --server URL or MIRE_SERVER.\n",
            body->bytes ? body->bytes : "no answer");
}

int fetch_get(struct text *out, const char *url, const char *asked_key)
{
    size_t len = out->len;
    const char *key = asked_key && *asked_key ? asked_key : token_of(url);
    bool has_key = key && *key;
    CURL *curl = begin();
    int rc = curl ? perform(out, curl, url, has_key) : -1;

    if (rc != REFUSED)
        return rc;
    out->len = len;
    curl = begin();
    if (!curl)
        return -1;
    struct curl_slist *headers = add_key(NULL, key);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    rc = perform(out, curl, url, false);
    curl_slist_free_all(headers);
    return rc;
}

static int send_once(struct text *out, const char *method, const char *url, const char *key, const struct text *body,
                     bool may_refuse)
{
    CURL *curl = begin();

    if (!curl)
        return -1;
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    headers = key ? add_key(headers, key) : curl_slist_append(headers, "X-Mire-Change: 1");
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body->bytes);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->len);
    int rc = perform(out, curl, url, may_refuse);
    curl_slist_free_all(headers);
    return rc;
}

int fetch_send(struct text *out, const char *method, const char *url, const char *key, const struct text *body)
{
    const char *token = key ? NULL : token_of(url);
    size_t len = out->len;
    int rc = send_once(out, method, url, key, body, token != NULL);

    if (rc != REFUSED)
        return rc;
    out->len = len;
    return send_once(out, method, url, token, body, false);
}
