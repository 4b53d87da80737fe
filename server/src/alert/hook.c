/* hook.c - one POST to a hook, signed as its receiver wants it. */
#include "alert/hook.h"
#include "alert/exchange.h"
#include "alert/message.h"

#include "base/scope.h"
#include "base/text.h"
#include "json/json.h"
#include "json/write.h"
#include "rows/outbox.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MAX 65536
#define SECRET     "whsec_"
#define KEY_MAX    64

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
static void sign_url(struct text *url, const char *secret, int64_t now_ms)
{
    uint8_t mac[MIRE_SHA256];
    char text[300], base64[MIRE_BASE64_TEXT(MIRE_SHA256)];
    int len = snprintf(text, sizeof text, "%" PRId64 "\n%.200s", now_ms, secret);

    hash_hmac_sha256(mac, secret, strlen(secret), text, (size_t)len);
    base64_format(base64, mac, sizeof mac, MIRE_BASE64);
    char *escaped = curl_easy_escape(NULL, base64, 0);
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

/* PagerDuty's routing key is a member of the body. */
static void add_routing_key(struct text *body, const char *plain, const char *secret)
{
    struct json_writer w;

    json_write_begin(&w);
    json_write_open(&w, NULL, '{');
    json_write_text(&w, "routing_key", secret);
    if (!w.failed)
        text_append(body, w.text, w.len);
    text_printf(body, ",%s", plain + 1);
    free(w.text);
}

/* --- the exchange --- */

struct hook_headers {
    char id[64], timestamp[48], signature[24 + MIRE_HOOK_SIGNATURE];
    const char *lines[5]; /* NULL-ended */
};

static void set_headers(struct hook_headers *out, const struct outbox_message *message, const char *body, int64_t now_s)
{
    char id[MIRE_UUID_TEXT], signature[MIRE_HOOK_SIGNATURE];

    uuid_format(id, &message->id);
    snprintf(out->id, sizeof out->id, "webhook-id: %s", id);
    snprintf(out->timestamp, sizeof out->timestamp, "webhook-timestamp: %" PRId64, now_s);
    out->lines[0] = "Content-Type: application/json; charset=utf-8";
    out->lines[1] = out->id;
    out->lines[2] = out->timestamp;
    out->lines[3] = out->lines[4] = NULL;
    if (strcmp(message->to.kind, "webhook") != 0 || !hook_sign(signature, message->to.secret, id, now_s, body))
        return;
    snprintf(out->signature, sizeof out->signature, "webhook-signature: %s", signature);
    out->lines[3] = out->signature;
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
        text_format(out->why, sizeof out->why, "answered %.*s",
                    TEXT_CUT(answer->bytes ? answer->bytes : "nothing", 150));
    return good;
}

static void judge(struct hook_outcome *out, const struct exchange_answer *answer, const char *kind)
{
    if (*answer->why)
        text_format(out->why, sizeof out->why, "%s", answer->why);
    else if (answer->status / 100 != 2)
        snprintf(out->why, sizeof out->why, "answered %ld", answer->status);
    else
        out->taken = answer_is_good(out, kind, &answer->body);
    out->for_good = answer->status == 410; /* gone, says Standard Webhooks */
    out->wait_s = answer->status / 100 == 2 ? 0 : answer->wait_s;
}

void hook_send(struct hook_outcome *out, const struct hook_options *options, const struct outbox_message *message,
               int64_t now_us)
{
    MIRE_SCOPED(text_fini) struct text url = {0};
    MIRE_SCOPED(text_fini) struct text body = {0};
    const struct outbox_channel *to = &message->to;
    struct exchange_answer answer;
    struct hook_headers headers;

    *out = (struct hook_outcome){.why = "out of memory"};
    if (!strcmp(to->kind, "email")) {
        mail_send(out, options, message, now_us);
        return;
    }
    text_add(&url, to->target);
    if (!strcmp(to->kind, "dingtalk") && *to->secret && !text_failed(&url))
        sign_url(&url, to->secret, now_us / 1000);
    if (!strcmp(to->kind, "feishu") && *to->secret)
        sign_body(&body, message->body, to->secret, now_us / 1000000);
    else if (!strcmp(to->kind, "pagerduty"))
        add_routing_key(&body, message->body, to->secret);
    else
        text_add(&body, message->body);
    if (text_failed(&url) || text_failed(&body))
        return;
    set_headers(&headers, message, body.bytes, now_us / 1000000);
    *out->why = '\0';
    exchange(&answer, options, &(struct exchange_ask){url.bytes, headers.lines, body.bytes, ANSWER_MAX});
    judge(out, &answer, to->kind);
    text_fini(&answer.body);
}
