/*
 * limits.c - from which address a request comes, and how often.
 */
#include "access/inside.h"

#include "base/clock.h"
#include "base/hash.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define UNKNOWN "XX" /* of Cloudflare and others, where they do not know */

/* --- addresses --------------------------------------------------------------------------------------------------- */

bool access_is_proxy(const struct access *access, const struct http_peer *peer)
{
    return http_peer_is_among(peer, access->options.proxies, access->options.proxy_count);
}

void access_client_of(struct http_peer *out, const struct access *access, const struct request *request)
{
    const char *sent = request_header_last(request, "X-Forwarded-For");
    char list[512];
    *out = request->peer;
    if (!sent || !http_peer_is_among(out, access->options.proxies, access->options.proxy_count))
        return;
    size_t len = strlen(sent), from = len < sizeof list ? 0 : len - sizeof list + 1;
    memcpy(list, sent + from, len - from + 1);
    for (char *comma = list + strlen(list); comma != list;) {
        comma = strrchr(list, ',');
        char *part = comma ? comma + 1 : list;
        struct http_peer peer;
        if (!http_peer_parse(&peer, part + strspn(part, " \t")))
            return;
        *out = peer;
        if (!comma || !http_peer_is_among(&peer, access->options.proxies, access->options.proxy_count))
            return;
        *comma = '\0';
    }
}

void access_country_of(char out[3], const struct access *access, const struct request *request)
{
    const char *header = access->options.proxy_country_header;
    const char *sent =
        header && *header && access_is_proxy(access, &request->peer) ? request_header(request, header) : NULL;

    out[0] = '\0';
    if (!sent || strlen(sent) != 2 || !isalpha((unsigned char)sent[0]) || !isalpha((unsigned char)sent[1]) ||
        strcasecmp(sent, UNKNOWN) == 0)
        return;
    out[0] = (char)toupper((unsigned char)sent[0]);
    out[1] = (char)toupper((unsigned char)sent[1]);
    out[2] = '\0';
}

static uint64_t name_of(const char *kind, const void *bytes, size_t len)
{
    return fnv_bytes(fnv_text(MIRE_HASH_START, kind), bytes, len) | 1;
}

/* One client has 64 bits of an IPv6 address. */
static uint64_t name_of_address(const char *kind, const struct http_peer *client)
{
    return name_of(kind, client->address, http_peer_is_v4(client) ? 16 : 8);
}

uint64_t access_asker(const struct http_grant *grant)
{
    if (grant->account_id)
        return name_of("account", &grant->account_id, sizeof grant->account_id);
    if (grant->key_id)
        return name_of("key of an asker", &grant->key_id, sizeof grant->key_id);
    return http_peer_is_loopback(&grant->client) ? 0 : name_of_address("asker", &grant->client);
}

unsigned access_take_tokens(const char **what_out, struct access *access, const struct request *request,
                            const struct access_key *key)
{
    const struct access_options *options = &access->options;
    const struct http_peer client = request->grant.client;
    const struct {
        const char *what;
        const struct access_rate *rate;
        uint64_t name;
    } limits[] = {
        {"address", http_peer_is_loopback(&client) ? NULL : &options->address, name_of_address("address", &client)},
        {"key", key->key_id ? &options->key : NULL, name_of("key", key->hash, sizeof key->hash)},
        {"app", key->app_id ? &options->app : NULL, name_of("app", &key->app_id, sizeof key->app_id)}};
    unsigned wait = 0;
    uint64_t now_ns = clock_mono_ns();
    pthread_mutex_lock(&access->mutex);
    for (size_t i = 0; !wait && i < sizeof limits / sizeof *limits; i++) {
        if (!limits[i].rate || limits[i].rate->per_s <= 0)
            continue;
        wait = buckets_take(&access->buckets, limits[i].name, limits[i].rate, now_ns);
        *what_out = limits[i].what;
    }
    pthread_mutex_unlock(&access->mutex);
    return wait;
}

/* --- passwords --------------------------------------------------------------------------------------------------- */

/* Tries: of a name from one address, of a name, from an address, of all. */
static const struct access_rate tries[] = {{1 / 30.0, 8}, {1 / 5.0, 60}, {1 / 6.0, 30}, {5, 40}};

unsigned access_wait_to_sign_in(struct access *access, const char *name, const struct http_peer *client)
{
    char folded[MIRE_ACCESS_NAME];
    size_t len = 0;
    unsigned wait = 0;
    for (; name[len] && len < sizeof folded; len++)
        folded[len] = (char)tolower((unsigned char)name[len]);
    uint64_t by_name = name_of("sign-in name", folded, len), by_address = name_of_address("sign-in address", client);
    uint64_t both = name_of("sign-in both", (const uint64_t[]){by_name, by_address}, 2 * sizeof by_name);
    const uint64_t names[] = {both, by_name, by_address, name_of("sign-in", "", 0)};
    pthread_mutex_lock(&access->mutex);
    for (size_t i = 0; !wait && i < sizeof names / sizeof *names; i++)
        wait = buckets_take(&access->buckets, names[i], &tries[i], clock_mono_ns());
    pthread_mutex_unlock(&access->mutex);
    if (wait)
        atomic_fetch_add_explicit(&access->limited, 1, memory_order_relaxed);
    return wait;
}

unsigned access_wait_for_provider(struct access *access, const struct http_peer *client)
{
    static const struct access_rate each = {1, 60};
    if (http_peer_is_loopback(client))
        return 0;
    uint64_t name = name_of_address("provider", client);
    pthread_mutex_lock(&access->mutex);
    unsigned wait = buckets_take(&access->buckets, name, &each, clock_mono_ns());
    pthread_mutex_unlock(&access->mutex);
    if (wait)
        atomic_fetch_add_explicit(&access->limited, 1, memory_order_relaxed);
    return wait;
}
