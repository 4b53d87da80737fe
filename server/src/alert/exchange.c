/* exchange.c - see exchange.h. */
#include "alert/exchange.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#define CONNECT_S 10L

struct exchange_state {
    const struct hook_options *options;
    struct exchange_answer *answer;
    size_t most;
    bool refused; /* a private address */
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
    struct exchange_state *state = context;

    (void)purpose;
    if (!state->options->private_too && hook_is_private(&address->addr)) {
        state->refused = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* --- the exchange --- */

static size_t keep(char *bytes, size_t size, size_t count, void *context)
{
    struct exchange_state *state = context;

    if (state->answer->body.len + size * count > state->most) {
        state->answer->is_cut = true;
        return 0;
    }
    text_append(&state->answer->body, bytes, size * count);
    return size * count;
}

static int look_up(void *context, curl_off_t all, curl_off_t now, curl_off_t up_all, curl_off_t up)
{
    const struct exchange_state *state = context;
    (void)all, (void)now, (void)up_all, (void)up;
    return state->options->stopping && atomic_load(state->options->stopping);
}

static void prepare(CURL *curl, struct exchange_state *state, const struct exchange_ask *ask)
{
    const struct hook_options *options = state->options;

    curl_easy_setopt(curl, CURLOPT_URL, ask->url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "mired/" MIRE_VERSION);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)MIRE_EXCHANGE_S);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, state);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, state);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_up);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, state);
    if (*options->ca_file)
        curl_easy_setopt(curl, CURLOPT_CAINFO, options->ca_file);
    if (ask->body) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, ask->body);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(ask->body));
    }
}

static void explain(struct exchange_answer *out, CURL *curl, CURLcode code, bool refused)
{
    curl_off_t wait = 0;

    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &out->status);
    curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &wait);
    out->wait_s = (int64_t)wait;
    out->may_be_taken = code != CURLE_COULDNT_RESOLVE_HOST && code != CURLE_COULDNT_CONNECT &&
                        code != CURLE_UNSUPPORTED_PROTOCOL && code != CURLE_URL_MALFORMAT && !refused;
    if (refused)
        snprintf(out->why, sizeof out->why,
                 "the address is private; mired calls such ones with alert_private_hooks = yes alone");
    else if (code != CURLE_OK && !(out->is_cut && out->status / 100 == 2))
        snprintf(out->why, sizeof out->why, "%s", curl_easy_strerror(code));
    if (*out->why)
        out->status = 0;
}

void exchange(struct exchange_answer *out, const struct hook_options *options, const struct exchange_ask *ask)
{
    struct exchange_state state = {.options = options, .answer = out, .most = ask->most};
    struct curl_slist *headers = NULL;
    CURL *curl = curl_easy_init();

    *out = (struct exchange_answer){.why = "out of memory"};
    if (!curl)
        return;
    prepare(curl, &state, ask);
    for (size_t i = 0; ask->headers && ask->headers[i]; i++)
        headers = curl_slist_append(headers, ask->headers[i]);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    *out->why = '\0';
    CURLcode code = curl_easy_perform(curl);
    explain(out, curl, code, state.refused);
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
}
