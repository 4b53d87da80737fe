/* hook.c - one POST to a hook, signed as its receiver wants it. */
#include "alert/hook.h"
#include "alert/message.h"

#include "base/scope.h"
#include "base/text.h"
#include "json/json.h"
#include "rows/outbox.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CONNECT_S  10L
#define WHOLE_S    20L
#define ANSWER_MAX 65536
#define SECRET     "whsec_"
#define KEY_MAX    64

struct hook_call {
    const struct hook_options *options;
    struct text answer;
    bool refused; /* a private address */
    bool long_answer;
};

/* --- addresses --- */

static const struct {
    uint8_t net[4];
    int bits;
} private_v4[] = {
    {{0, 0, 0, 0}, 8},      {{10, 0, 0, 0}, 8},    {{100, 64, 0, 0}, 10},   {{127, 0, 0, 0}, 8},
    {{169, 254, 0, 0}, 16}, {{172, 16, 0, 0}, 12}, {{192, 0, 0, 0}, 24},    {{192, 0, 2, 0}, 24},
    {{192, 168, 0, 0}, 16}, {{198, 18, 0, 0}, 15}, {{198, 51, 100, 0}, 24}, {{203, 0, 113, 0}, 24},
    {{224, 0, 0, 0}, 3},
};

static bool v4_is_private(const uint8_t a[4])
{
    uint32_t address = (uint32_t)a[0] << 24 | (uint32_t)a[1] << 16 | (uint32_t)a[2] << 8 | a[3];

    for (size_t i = 0; i < sizeof private_v4 / sizeof *private_v4; i++) {
        const uint8_t *n = private_v4[i].net;
        uint32_t net = (uint32_t)n[0] << 24 | (uint32_t)n[1] << 16 | (uint32_t)n[2] << 8 | n[3];
        if ((address ^ net) >> (32 - private_v4[i].bits) == 0)
            return true;
    }
    return false;
}

/* Global unicast is 2000::/3; within it the documentation's, and those that carry an IPv4 address. */
static bool v6_is_private(const uint8_t a[16])
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    static const uint8_t nat64[12] = {0, 0x64, 0xff, 0x9b};

    if (!memcmp(a, mapped, sizeof mapped) || !memcmp(a, nat64, sizeof nat64))
        return v4_is_private(a + 12);
    if (a[0] == 0x20 && a[1] == 0x02) /* 6to4 */
        return v4_is_private(a + 2);
    if (a[0] == 0x20 && a[1] == 0x01 &&
        (a[2] < 0x02 || (a[2] == 0x0d && a[3] == 0xb8))) /* Teredo and other, documents */
        return true;
    return (a[0] & 0xe0) != 0x20;
}

bool hook_is_private(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof v4);
        return v4_is_private((const uint8_t *)&v4.sin_addr);
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, address, sizeof v6);
        return v6_is_private(v6.sin6_addr.s6_addr);
    }
    return true;
}

static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct hook_call *exchange = context;

    (void)purpose;
    if (!exchange->options->private_too && hook_is_private(&address->addr)) {
        exchange->refused = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* --- signatures --- */

void hook_make_secret(char out[MIRE_HOOK_SECRET])
{
    uint8_t key[32];

    random_fill(key, sizeof key);
    memcpy(out, SECRET, sizeof SECRET);
    base64_format(out + strlen(SECRET), key, sizeof key, MIRE_BASE64);
}

bool hook_sign(char out[MIRE_HOOK_SIGNATURE], const char *secret, const char *id, int64_t now_s, const char *body)
{
    MIRE_SCOPED(text_fini) struct text signed_text = {0};
    uint8_t key[KEY_MAX], mac[MIRE_SHA256];
    size_t len;

    if (strncmp(secret, SECRET, strlen(SECRET)) != 0 || !base64_parse(key, sizeof key, &len, secret + strlen(SECRET)))
        return false;
    text_printf(&signed_text, "%s.%" PRId64 ".", id, now_s);
    text_add(&signed_text, body);
    if (text_failed(&signed_text))
        return false;
    hash_hmac_sha256(mac, key, len, signed_text.bytes, signed_text.len);
    memcpy(out, "v1,", 3);
    base64_format(out + 3, mac, sizeof mac, MIRE_BASE64);
    return true;
}

/* DingTalk's signature is in the URL: of "milliseconds\nsecret" under the secret. */
static void sign_url(struct text *url, CURL *curl, const char *secret, int64_t now_ms)
{
    uint8_t mac[MIRE_SHA256];
    char text[300], base64[MIRE_BASE64_TEXT(MIRE_SHA256)];
    int len = snprintf(text, sizeof text, "%" PRId64 "\n%.200s", now_ms, secret);

    hash_hmac_sha256(mac, secret, strlen(secret), text, (size_t)len);
    base64_format(base64, mac, sizeof mac, MIRE_BASE64);
    char *escaped = curl_easy_escape(curl, base64, 0);
    text_printf(url, "%ctimestamp=%" PRId64 "&sign=%s", strchr(url->bytes, '?') ? '&' : '?', now_ms,
                escaped ? escaped : "");
    curl_free(escaped);
}

/* Feishu's signature is in the body: of the empty text under "seconds\nsecret". */
static void sign_body(struct text *body, const char *plain, const char *secret, int64_t now_s)
{
    uint8_t mac[MIRE_SHA256];
    char key[300], base64[MIRE_BASE64_TEXT(MIRE_SHA256)];
    int len = snprintf(key, sizeof key, "%" PRId64 "\n%.200s", now_s, secret);

    hash_hmac_sha256(mac, key, (size_t)len, "", 0);
    base64_format(base64, mac, sizeof mac, MIRE_BASE64);
    text_printf(body, "{\"timestamp\":\"%" PRId64 "\",\"sign\":\"%s\",", now_s, base64);
    text_add(body, plain + 1);
}

/* --- the exchange --- */

static size_t keep(char *bytes, size_t size, size_t count, void *context)
{
    struct hook_call *exchange = context;

    if (exchange->answer.len + size * count > ANSWER_MAX) {
        exchange->long_answer = true;
        return 0;
    }
    text_append(&exchange->answer, bytes, size * count);
    return size * count;
}

static int look_up(void *context, curl_off_t all, curl_off_t now, curl_off_t up_all, curl_off_t up)
{
    const struct hook_call *exchange = context;
    (void)all, (void)now, (void)up_all, (void)up;
    return exchange->options->stopping && atomic_load(exchange->options->stopping);
}

static void prepare(CURL *curl, struct hook_call *exchange, const char *url, const struct text *body)
{
    const struct hook_options *options = exchange->options;

    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "mired/" MIRE_VERSION);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, WHOLE_S);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, exchange);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, exchange);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_up);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, exchange);
    if (*options->ca_file)
        curl_easy_setopt(curl, CURLOPT_CAINFO, options->ca_file);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body->bytes);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->len);
}

static struct curl_slist *headers_of(const struct outbox_message *message, const struct text *body, int64_t now_s)
{
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json; charset=utf-8");
    char id[MIRE_UUID_TEXT], line[200], signature[MIRE_HOOK_SIGNATURE];

    uuid_format(id, &message->id);
    snprintf(line, sizeof line, "webhook-id: %s", id);
    headers = curl_slist_append(headers, line);
    snprintf(line, sizeof line, "webhook-timestamp: %" PRId64, now_s);
    headers = curl_slist_append(headers, line);
    if (!strcmp(message->to.kind, "webhook") && hook_sign(signature, message->to.secret, id, now_s, body->bytes)) {
        snprintf(line, sizeof line, "webhook-signature: %s", signature);
        headers = curl_slist_append(headers, line);
    }
    return headers;
}

/* Some receivers answer 200 with a refusal in the body. */
static bool answer_is_good(struct hook_outcome *out, const char *kind, const struct text *answer)
{
    const struct json_limits limits = MIRE_JSON_LIMITS;
    const char *member = alert_answer_member(kind);
    struct json_fault fault;
    struct json json;
    int64_t code = 0;

    if (!member)
        return true;
    json_init(&json);
    bool good = json_read(&json, &fault, answer->bytes ? answer->bytes : "", answer->len, &limits) == MIRE_JSON_OK &&
                json_kind(&json, 0) == MIRE_JSON_OBJECT && json_i64(&code, &json, json_member(&json, 0, member)) &&
                !code;
    json_fini(&json);
    if (!good)
        snprintf(out->why, sizeof out->why, "answered %.150s", answer->bytes ? answer->bytes : "nothing");
    return good;
}

static void judge(struct hook_outcome *out, CURL *curl, CURLcode code, const struct hook_call *exchange,
                  const char *kind)
{
    curl_off_t wait = 0;
    long status = 0;

    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &wait);
    if (exchange->long_answer && status / 100 == 2)
        code = CURLE_OK;
    if (exchange->refused)
        snprintf(out->why, sizeof out->why,
                 "the address is private; mired calls such ones with alert_private_hooks = yes alone");
    else if (code != CURLE_OK)
        snprintf(out->why, sizeof out->why, "%s", curl_easy_strerror(code));
    else if (status / 100 != 2)
        snprintf(out->why, sizeof out->why, "answered %ld", status);
    else
        out->taken = answer_is_good(out, kind, &exchange->answer);
    out->for_good = status == 410; /* gone, says Standard Webhooks */
    out->wait_s = status / 100 == 2 ? 0 : (int64_t)wait;
}

void hook_send(struct hook_outcome *out, const struct hook_options *options, const struct outbox_message *message,
               int64_t now_us)
{
    MIRE_SCOPED(text_fini) struct text url = {0};
    MIRE_SCOPED(text_fini) struct text body = {0};
    struct hook_call exchange = {.options = options};
    const struct outbox_channel *to = &message->to;

    *out = (struct hook_outcome){.why = "out of memory"};
    if (!strcmp(to->kind, "email")) {
        mail_send(out, options, message, now_us);
        return;
    }
    CURL *curl = curl_easy_init();
    text_add(&url, to->target);
    if (curl && !strcmp(to->kind, "dingtalk") && *to->secret && !text_failed(&url))
        sign_url(&url, curl, to->secret, now_us / 1000);
    if (!strcmp(to->kind, "feishu") && *to->secret)
        sign_body(&body, message->body, to->secret, now_us / 1000000);
    else
        text_add(&body, message->body);
    if (!curl || text_failed(&url) || text_failed(&body)) {
        curl_easy_cleanup(curl);
        return;
    }
    prepare(curl, &exchange, url.bytes, &body);
    struct curl_slist *headers = headers_of(message, &body, now_us / 1000000);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    *out->why = '\0';
    judge(out, curl, curl_easy_perform(curl), &exchange, to->kind);
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    text_fini(&exchange.answer);
}
