/* call.c - one request to the provider: TLS is checked, time and bytes are bounded, redirects are not followed. */
#include "oidc/inside.h"

#include "base/fault.h"
#include "base/scope.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

#define CONNECT_S  5L
#define WITHIN_S   10L
#define ANSWER_MAX (1u << 20) /* bytes */

static size_t keep(char *bytes, size_t size, size_t count, void *context)
{
    struct text *out = context;
    size_t len = size * count;
    if (len > ANSWER_MAX - out->len)
        return 0;
    text_append(out, bytes, len);
    return text_failed(out) ? 0 : len;
}

static int look_up(void *context, curl_off_t all, curl_off_t now, curl_off_t up_all, curl_off_t up)
{
    const struct oidc *oidc = context;
    (void)all, (void)now, (void)up_all, (void)up;
    return atomic_load(&oidc->is_stopping);
}

static void prepare(CURL *curl, struct text *out, struct oidc *oidc, const struct oidc_call *call)
{
    bool is_plain = !strncmp(call->url, "http:", 5);
    curl_easy_setopt(curl, CURLOPT_URL, call->url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, is_plain ? "http" : "https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "mired/" MIRE_VERSION);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, WITHIN_S);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, out);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_up);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, oidc);
    if (*oidc->options.ca_file)
        curl_easy_setopt(curl, CURLOPT_CAINFO, oidc->options.ca_file);
    if (call->form)
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, call->form);
    if (call->user) {
        curl_easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        curl_easy_setopt(curl, CURLOPT_USERNAME, call->user);
        curl_easy_setopt(curl, CURLOPT_PASSWORD, call->secret);
    }
    if (call->bearer) {
        curl_easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
        curl_easy_setopt(curl, CURLOPT_XOAUTH2_BEARER, call->bearer);
    }
}

int oidc_call(struct text *out, long *status, char why[MIRE_OIDC_WHY], struct oidc *oidc, const struct oidc_call *call)
{
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(NULL, "Accept: application/json");
    CURLcode code = CURLE_OUT_OF_MEMORY;
    if (curl && headers) {
        prepare(curl, out, oidc, call);
        curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
        code = curl_easy_perform(curl);
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, status);
    }
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    if (code == CURLE_OUT_OF_MEMORY)
        return MIRE_FAULT_MEMORY;
    if (code == CURLE_OK)
        return OIDC_DONE;
    snprintf(why, MIRE_OIDC_WHY, "%.120s: %s", call->url,
             code == CURLE_WRITE_ERROR ? "it sends more than a megabyte" : curl_easy_strerror(code));
    return OIDC_UNREACHABLE;
}

void oidc_add_pair(struct text *out, const char *name, const char *value)
{
    static const char hex[] = "0123456789ABCDEF";
    if (out->len)
        text_add(out, "&");
    text_add(out, name);
    text_add(out, "=");
    for (const unsigned char *at = (const unsigned char *)value; *at; at++) {
        bool is_plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9') ||
                        strchr("-._~", *at) != NULL;
        if (is_plain)
            text_append(out, at, 1);
        else
            text_append(out, (char[]){'%', hex[*at >> 4], hex[*at & 15]}, 3);
    }
}
